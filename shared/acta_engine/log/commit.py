"""A commit: one numbered entry of a session's log, with its events and the head after them (design §3, §6.1)."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from acta_engine.log.conversation import Content, Entry
from acta_engine.log.events import Event
from acta_engine.log.head import Head
from acta_engine.store.schema import StoredModel, VersionedModel

NextState = Literal["plan", "think", "act", "ask", "wait", "roll_over", "done", "failed"]


class Position(StoredModel):
    """The point in the run that the engine has reached. The state machine carries this and the decision, nothing else.

    `first`: the number of the commit that this turn began with. Workers read the log from there.
    """

    tenant: str
    session_id: str
    run_id: str
    generation: int
    turn: int
    first: int

    def key(self, kind: str) -> str:
        """The commit key for this turn and `kind` (`plan`, `think`, `ask`, …)."""
        return f"{self.run_id}/{self.generation}/{self.turn}/{kind}"

    def call_key(self, call_id: str, kind: str) -> str:
        """The commit key for the start or the finish of a call. It is the same in every generation."""
        return f"{self.run_id}/{call_id}/{kind}"


class Decision(StoredModel):
    """What the engine does next.

    `calls`: for `act`, the ids of the calls to run. `wait_seconds` and `then`: for `wait`, how long
    (`wait_out` in `shared/acta_engine/recovery/wait_out.py`), and the state after it. `wake_at`: for `ask`, seconds
    since 1970 at which a warning or an expiry is due (`wait_decision` in `shared/acta_engine/turn/engine.py`);
    empty: none is.
    """

    next: NextState
    at: Position
    calls: tuple[str, ...] | None = None
    wait_seconds: int | None = None
    then: Literal["plan", "think"] | None = None
    wake_at: tuple[int, ...] | None = None

    def to_engine(self) -> dict[str, object]:
        """The JSON object that the state machine gets. Fields that are None are left out."""
        return self.model_dump(mode="json", exclude_none=True)


class StepRecord(StoredModel):
    """A row of the step log. `attempt`: the engine's retry count. Tokens are 0 where no model was called. `cost_usd`
    None: the model's price is unknown. `error`: the code of what failed.

    `estimated_tokens`, `estimated_cost_usd`: charged for an attempt that gave no usage, at what was reserved for it.
    Below 0: an attempt that was charged so has answered after all, with this row.
    `fused`: made by a worker that went on by itself, without a state of the engine in between (ADR 57).
    """

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
    estimated_tokens: int = 0
    estimated_cost_usd: float = 0.0
    fused: bool = False


def milliseconds(start: datetime, end: datetime) -> int:
    """The milliseconds between two times; 0 where the clocks of two machines make it negative."""
    return max(0, round((end - start).total_seconds() * 1000))


class Commit(VersionedModel):
    """`entries`: replies and results join the conversation in this order. A user's entry joins it later, with the
    commit that names the message in `delivered`.
    `decision`: what the engine does next. A repeated attempt returns it unchanged.
    `compacted`: a `Compacted` as JSON. It is the conversation from this commit on.
    `failed_attempts`: rows of the step log before `step`: the attempts that led to it and failed.
    """

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
    failed_attempts: tuple[StepRecord, ...] = ()


KEY_LIFE = timedelta(hours=24)
"""How long an idempotency key is known."""


class IdempotencyRecord(NamedTuple):
    """How a POST with this key was answered, and the hash of the body it came with.

    `commit`: the number of the commit that the request made. A repeat is answered from that commit, in the session that
    `answer` names, and with `answer` alone once the session is deleted. None: `answer` is the whole answer, of a
    request about a definition.
    """

    tenant: str
    route: str
    key: str
    body_hash: str
    status: int
    answer: Mapping[str, Any]
    expires_at: datetime
    commit: int | None = None


class IdempotencyKey(NamedTuple):
    """A POST that may be sent again. `route`: method and concrete path, so that one key used for two sessions means two
    requests. `key`: with who sent it, so that one key used by two people means two requests. `body_hash`: SHA-256 of
    the raw bytes, so `{"a":1}` and `{ "a": 1 }` are two bodies. `status`: of the answer if the request succeeds.
    """

    tenant: str
    route: str
    key: str
    body_hash: str
    status: int

    def record(
        self, answer: Mapping[str, Any], now: datetime, commit: int | None = None
    ) -> IdempotencyRecord:
        return IdempotencyRecord(*self, answer, now + KEY_LIFE, commit)
