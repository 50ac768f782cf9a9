"""A session's entry in its tenant's index: its coarse state, and what recovery looks for it as (design §2, §6.1)."""

from datetime import datetime

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
    live = None if sought is None else Live(sought[0], sought[1] or commit.at)
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


def _sought(head: Head) -> tuple[LiveKind, datetime | None] | None:
    """As what recovery looks for the session when its execution or its wake-up is lost (design §2), and when its wait
    ends by itself, which an active session has only while it is parked. None: it is at rest.

    Only a session whose execution waits for a token is `woken`: a scan has to ask for that execution, since the list of
    running ones has it either way. A start that may be lost leaves none in that list, so the session is `active`.
    """
    match head.coarse_state:
        case "active":
            is_parked = head.run is not None and head.run.parked
            if is_parked and head.delay is not None and head.delay.until is not None:
                return "active", head.delay.until
            return ("active" if head.wait is None else "woken"), None
        case "waiting_for_user":
            times = (one.timeout_at for one in head.interventions if one.timeout_at is not None)
            first = min(times, default=None)
            return ("parked" if first is None else "waiting"), first
        case _:
            return None
