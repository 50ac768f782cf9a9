"""One numbered entry of a session's log: its events and the head after them (design §3, §6.1)."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from shared.domain.session.conversation import Content, Entry
from shared.domain.session.head import Head
from shared.domain.value import Value

EventType = Literal[
    "run.started", "run.finished", "state.changed", "message.user", "message.assistant", "thought",
    "plan.created", "plan.revised", "plan.step", "plan.closed", "plan.rejected",
    "tool.requested", "tool.started", "tool.finished",
    "intervention.opened", "intervention.warned", "intervention.resolved", "intervention.expired",
    "hint.injected", "budget.warning", "llm.retried", "context.compacted",
]  # fmt: skip


class EventDraft(Value):
    """An event before the commit that gives it its number. `message.*` and `thought` name a `message_id`; the
    text itself is the conversation entry's and is added when the event is read.
    """

    type: EventType
    data: dict[str, Any] = Field(default_factory=dict)


class Event(Value):
    """`seq` is dense from 1 over the session; `step_number` is the step log's, None outside a step."""

    seq: int
    at: datetime
    type: EventType
    step_number: int | None = None
    data: dict[str, Any] = Field(default_factory=dict)


COMMIT_VERSION = 1

NextState = Literal["plan", "think", "act", "ask", "wait", "roll_over", "done", "failed"]


class Position(Value):
    """Where the engine stands; all that travels through the state machine besides the decision.

    `first` is the number of the commit this turn began with: a worker reads the log from there.
    """

    tenant: str
    session_id: str
    run_id: str
    generation: int
    turn: int
    first: int

    def key(self, kind: str) -> str:
        """The commit key of this turn's step of that kind (`plan`, `think`, `ask`, …)."""
        return f"{self.run_id}/{self.generation}/{self.turn}/{kind}"

    def call_key(self, call_id: str, kind: str) -> str:
        """The commit key of a call's start or finish: the same in every generation, as the call is."""
        return f"{self.run_id}/{call_id}/{kind}"


class Decision(Value):
    """What the engine does next. `calls`: for `act`; `wait_seconds` and `then`: for `wait`; `wake_at`: for `ask`,
    the seconds since 1970 at which the wait looks again (warnings and expiries), empty: people have all the time.
    """

    next: NextState
    at: Position
    calls: tuple[str, ...] | None = None
    wait_seconds: int | None = None
    then: Literal["plan", "think"] | None = None
    wake_at: tuple[int, ...] | None = None

    def to_engine(self) -> dict[str, object]:
        return self.model_dump(mode="json", exclude_none=True)


class StepRecord(Value):
    """A row of the step log. `attempt` is the engine's retry count; tokens are 0 where no model was called."""

    step_number: int
    kind: Literal["plan", "llm", "tool", "intervention"]
    name: str | None = None
    started_at: datetime
    completed_at: datetime
    duration_ms: int
    attempt: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    cost_usd: float | None = 0.0
    error: str | None = None


def milliseconds(start: datetime, end: datetime) -> int:
    """Of a step: never negative, whatever two clocks say."""
    return max(0, round((end - start).total_seconds() * 1000))


class Commit(Value):
    """`entries` join the conversation in order, user entries excepted: those wait until a later commit names them
    in `delivered`. `decision` is what the engine was, or will be, told; a repeated step returns it unchanged.
    `compacted`: a `Compacted` as JSON, which is the conversation from here on.
    """

    version: int = COMMIT_VERSION
    number: int
    key: str
    at: datetime
    head: Head
    events: tuple[Event, ...] = ()
    entries: tuple[Entry, ...] = ()
    delivered: tuple[str, ...] = ()
    step: StepRecord | None = None
    decision: Decision | None = None
    compacted: Content | None = None
