"""A session's entry in its tenant's index: its coarse state, and what recovery looks for it as (design §2, §6.1)."""

from datetime import datetime
from typing import NamedTuple

from shared.domain.session.commit import Commit
from shared.domain.session.head import Head
from shared.domain.session.listed import Listed
from shared.ports.log import IndexEntry, Live, LiveKind


def listed(before: Head | None, commit: Commit) -> IndexEntry | None:
    """The index item, where it has to be written: the coarse state, what recovery looks for or whether the session
    counts as open has changed. Otherwise None: a plain put is cheaper than a transaction (design §6.1).
    """
    head = commit.head
    sought = _sought(head)
    now = (head.coarse_state, sought, head.counted)
    if (
        before is not None
        and commit.number > 1
        and (before.coarse_state, _sought(before), before.counted) == now
    ):
        return None
    live = None if sought is None else Live(sought.kind, sought.ends or commit.at)
    return IndexEntry(
        head.tenant,
        head.session_id,
        head.agent_id,
        head.coarse_state,
        live,
        head.private_to,
        head.counted,
        Listed.of(head),
    )


class _Sought(NamedTuple):
    """As what recovery looks for a session. `ends`: when its wait ends by itself. An active session has that only while
    it is parked.
    """

    kind: LiveKind
    ends: datetime | None = None


def _sought(head: Head) -> _Sought | None:
    """What recovery has to know of the session to find it when its execution or its wake-up is lost (design §2). None:
    it is at rest.

    Only a session whose execution waits for a token is `woken`: a scan has to ask for that execution, since the list of
    running ones has it either way. A start that may be lost leaves none in that list, so the session is `active`.
    """
    match head.coarse_state:
        case "active":
            is_parked = head.run is not None and head.run.parked
            if is_parked and head.delay is not None and head.delay.until is not None:
                return _Sought("active", head.delay.until)
            return _Sought("active" if head.wait is None else "woken")
        case "waiting_for_user":
            ends = _ends(head)
            return _Sought("parked") if ends is None else _Sought("waiting", ends)
        case _:
            return None


def _ends(head: Head) -> datetime | None:
    """When the first open intervention expires; None: none does."""
    return min((one.timeout_at for one in head.interventions if one.timeout_at is not None), default=None)
