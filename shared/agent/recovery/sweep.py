"""Finds, each minute, the sessions whose execution is gone and those whose wake-up was lost (design §2)."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from shared.agent.recovery.recover import RecoveryResult, recover
from shared.agent.session.repository import SessionRepository
from shared.domain.errors import Fenced, SessionNotFound
from shared.ports.log import LiveKind, LiveSession, SessionIndex
from shared.ports.workflow import Workflow

PAGE = 500
WOKEN_WITHIN = timedelta(hours=1)
"""For so long after a session became active a lost wake-up is looked for."""

Unreadable = Callable[[str, Exception], None]


class SweepDeps(NamedTuple):
    """What a sweep needs. `grace`: seconds for which a session is left to the worker it may have
    (`Settings.recovery_grace_seconds`). `warn`: seconds before its end at which a wait is looked after
    (`Settings.intervention_warn_seconds`). `time_is_left`: whether another session can be looked at. `unreadable`: is
    called with the id and the error of a session that cannot be read.
    """

    repository: SessionRepository
    session_index: SessionIndex
    workflow: Workflow
    grace: float
    warn: float
    time_is_left: Callable[[], bool] = lambda: True
    unreadable: Unreadable = lambda session_id, error: None


class Tally(NamedTuple):
    """Numbers of sessions. `looked`: that were read; `failed`: given up; `unreadable`: that raised an error; `left`:
    for which no time was left.
    """

    looked: int = 0
    started: int = 0
    restarted: int = 0
    woken: int = 0
    failed: int = 0
    unreadable: int = 0
    left: int = 0

    def plus(self, *names: str) -> "Tally":
        return self._replace(**{name: getattr(self, name) + 1 for name in names})


def sweep(deps: SweepDeps, *, everything: bool = False) -> Tally:
    """Recovers every session that needs it; those without an execution come first.

    `everything`: looks at every live session, however young, and at those that wait for people without a deadline. An
    error of one session does not stop the others. Raises what the index and the engine's listing raise.
    """
    running = frozenset(deps.workflow.running())
    lost, doubtful = [], []
    for kind, session in _live(deps, everything):
        if session.session_id not in running:
            lost.append(session)
        elif everything or (kind == "active" and session.at > deps.repository.clock.now() - WOKEN_WITHIN):
            doubtful.append(session)
    tally = Tally()
    for session in (*lost, *doubtful):
        tally = tally.plus(*_look(deps, session)) if deps.time_is_left() else tally.plus("left")
    return tally


def _live(deps: SweepDeps, everything: bool) -> Iterator[tuple[LiveKind, LiveSession]]:
    late = deps.repository.clock.now() - timedelta(seconds=deps.grace)
    soon = late + timedelta(seconds=deps.warn)
    wanted: dict[LiveKind, datetime | None] = {"active": late, "waiting": soon}
    if everything:
        wanted = {"active": None, "waiting": None, "parked": None}
    for kind, before in wanted.items():
        cursor: str | None = None
        while True:
            page = deps.session_index.live(kind, before=before, limit=PAGE, cursor=cursor)
            yield from ((kind, session) for session in page.sessions)
            cursor = page.cursor
            if cursor is None:
                break


def _look(deps: SweepDeps, session: LiveSession) -> tuple[str, ...]:
    """What to count."""
    try:
        outcome: RecoveryResult = recover(deps.repository, deps.workflow, session.tenant, session.session_id)
    except (SessionNotFound, Fenced):  # deleted; the index is a moment behind
        return ("looked",)
    except Exception as error:  # whatever it is, it is this session's alone
        deps.unreadable(session.session_id, error)
        return ("looked", "unreadable")
    return ("looked",) if outcome == "nothing" else ("looked", outcome)
