"""What the state machine sends a Lambda: ids, counters and the decision, never content (docs/design/engine.md 3)."""

from collections.abc import Mapping
from math import inf
from typing import Any, Literal

from pydantic import AwareDatetime, ValidationError

from acta_engine.errors import Refused
from acta_engine.log.commit import Position
from acta_engine.store.schema import FrozenModel

COMMIT_SECONDS = 30
"""Kept back of an invocation's time for reading and committing: a commit that begins at the last moment (`ROOM` in
`shared/acta_engine/turn/model_call.py`) may hang through all tries of the SDK before the reply is kept elsewhere."""
LEAST_SECONDS = 1.0

Op = Literal["plan", "think", "tool", "lost_tool", "ask", "handle_error", "roll_over", "park"]


class EngineEvent(FrozenModel):
    """`attempt`: how often the engine has retried this state. `error`: the name of the error class that it caught.
    `entered`: of `ask`, when it came to this state.
    """

    op: Op
    at: Position
    attempt: int = 0
    call_id: str = ""
    task_token: str = ""
    entered: AwareDatetime | None = None
    error: str = ""

    @property
    def ids(self) -> dict[str, Any]:
        """For the log line: no token, no content."""
        at = self.at
        ids = {"op": self.op, "session_id": at.session_id, "turn": at.turn, "generation": at.generation}
        return ids | ({"call_id": self.call_id} if self.call_id else {}) | {"attempt": self.attempt}


def engine_event(event: Mapping[str, Any]) -> EngineEvent:
    """Raises Refused for an event that this release does not know."""
    try:
        return EngineEvent.model_validate(event)
    except ValidationError as error:
        raise Refused(f"not an event of this engine: {error.error_count()} fields are wrong") from None


def seconds_for_work(remaining_ms: int, at_most: float = inf) -> float:
    """How long a model or a tool may take: what is left of the invocation once there is room to commit
    (docs/design/turn.md 31).

    `remaining_ms`: of the invocation. `at_most`: a setting that may allow less, never more:
    `Settings.step_deadline_seconds` for a turn, none for a tool, whose own limit comes in `_run` of
    `shared/acta_engine/tools/execute.py`.
    """
    return max(LEAST_SECONDS, min(at_most, remaining_ms / 1_000 - COMMIT_SECONDS))
