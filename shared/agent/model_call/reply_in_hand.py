"""A reply that was paid for is not thrown away because the store has no time for it (design §6.2)."""

from collections.abc import Callable
from datetime import timedelta

from shared.agent.model_call.turn_context import Turn
from shared.agent.session.engine_decision import is_at
from shared.agent.session.kept_replies import KeptReply, is_next, keep
from shared.agent.session.repository import Build
from shared.agent.session.session import Recorded
from shared.domain.errors import Fenced, TransientError
from shared.domain.session.attempt import Attempt

PATIENCE = timedelta(seconds=20)
"""How long the commit alone is tried. After that the reply is kept elsewhere."""
ROOM = timedelta(seconds=5)
"""What of the time after the models' deadline may be used: the rest is for the last request's own retries."""
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0
"""Seconds, doubled after each try."""


def commit_reply(
    turn: Turn, key: str, build: Build, reply: KeptReply, open_ones: tuple[Attempt, ...]
) -> Recorded | None:
    """Commits, and tries again while the store refuses and there is time; then keeps the reply for the next attempt.

    `open_ones`: as in `keep`. Returns what `SessionRepository.commit` does, and raises that, too. Where the session was
    moved on without a reply while the model thought, the turn that it is at now finds this one.
    """
    deps, at = turn.deps, turn.at

    def kept() -> bool:
        return keep(deps.repository, deps.attempts, at, reply, open_ones)

    try:
        return commit_while_there_is_time(turn, key, build, kept)
    except Fenced:
        head = turn.session.head
        if not is_at(head, at) and is_next(head, reply):
            kept()
        raise


def commit_while_there_is_time(
    turn: Turn, key: str, build: Build, kept: Callable[[], bool] = lambda: False
) -> Recorded | None:
    """Commits, and tries again while the store refuses and there is time. `kept`: keeps elsewhere what is committed,
    and says whether it could; it is asked once the commit has been tried for long. Raises what the commit raises.
    """
    deps = turn.deps
    begun, last, pause = deps.clock.now(), turn.deadline + ROOM, FIRST_PAUSE
    while True:
        try:
            return deps.repository.commit(turn.session, key, build)
        except TransientError:
            now = deps.clock.now()
            is_late = now + timedelta(seconds=pause) >= last
            if is_late or now - begun >= PATIENCE:
                is_kept = kept()
                if is_kept or is_late:
                    raise
        deps.clock.back_off(pause)
        pause = min(LONGEST_PAUSE, 2 * pause)
