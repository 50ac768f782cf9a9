"""What the state machine sends a Lambda: ids, counters and the decision, never content (design §2)."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import AwareDatetime, ValidationError

from shared.domain.errors import Refused
from shared.domain.session.commit import Position
from shared.domain.value import Value

Op = Literal["plan", "think", "tool", "lost_tool", "ask", "give_up", "roll_over"]


class EngineEvent(Value):
    """`attempt`: the engine's retry count of this state. `entered`: when it came to this state, for `ask`; executions
    begun on the previous release do not tell. `error`: the name of the class that was left.
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
    """Raises Refused: an event this release does not know is not guessed at."""
    try:
        return EngineEvent.model_validate(event)
    except ValidationError as error:
        raise Refused(f"not an event of this engine: {error.error_count()} fields are wrong") from None
