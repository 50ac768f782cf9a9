"""A commit: one numbered entry of a session's log, with its events and the head after them (docs/design/api.md 40,
log.md)."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from acta_engine.log.conversation import Content, Entry
from acta_engine.log.events import Event
from acta_engine.log.head import Head
from acta_engine.store.schema import StoredModel, VersionedModel

NextState = Literal["plan", "think", "act", "ask", "wait", "roll_over", "done", "failed"]


class Position(StoredModel):
    """The point in the run that the engine has reached. The state machine carries only this and the decision."""

    tenant: str
    session_id: str
    run_id: str
    generation: int
    turn: int
    first: int
    """The number of the commit that this turn began with. Workers read the log from there."""

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
    """A row of the step log. Tokens are 0 if no model was called."""

    step_number: int
    kind: Literal["plan", "llm", "tool", "intervention"]
    name: str | None = None
    """The model, the tool, or the type of the intervention."""
    started_at: datetime
    completed_at: datetime
    duration_ms: int
    attempt: int = 0
    """The engine's retry count."""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    cost_usd: float | None = 0.0
    """None if the model's price is unknown."""
    error: str | None = None
    """The code of what failed."""
    estimated_tokens: int = 0
    """Tokens charged for an attempt that returned no usage: what was reserved for it. Below 0 if such an attempt has
    answered after all, with this row.
    """
    estimated_cost_usd: float = 0.0
    """The same in US dollars."""
    fused: bool = False
    """The worker went on to this step by itself, without a state of the engine in between (ADR 57)."""


def milliseconds(start: datetime, end: datetime) -> int:
    """The milliseconds between two times; 0 where the clocks of two machines make it negative."""
    return max(0, round((end - start).total_seconds() * 1000))


class Commit(VersionedModel):
    """One numbered entry of a session's log."""

    number: int
    """1, 2, 3, … in the session, without gaps."""
    key: str
    """What was committed, for example the reply of a turn. It is unique in the session, and every attempt at the same
    thing has the same key.
    """
    at: datetime
    head: Head
    """The session's whole state after this commit."""
    events: tuple[Event, ...] = ()
    entries: tuple[Entry, ...] = ()
    """Replies and results join the conversation in this order. A user's entry joins it later, with the commit that
    names the message in `delivered`.
    """
    delivered: tuple[str, ...] = ()
    """Ids of the users' messages that join the conversation with this commit."""
    step: StepRecord | None = None
    decision: Decision | None = None
    """What the engine does next. A repeated attempt returns it unchanged."""
    compacted: Content | None = None
    """A `Compacted` as JSON: the conversation from this commit on."""
    failed_attempts: tuple[StepRecord, ...] = ()
    """Rows of the step log before `step`: attempts at the same step that failed."""


KEY_LIFE = timedelta(hours=24)
"""How long an idempotency key is known."""


class IdempotencyRecord(NamedTuple):
    """How a POST with this key was answered, and the hash of the body that it came with."""

    tenant: str
    route: str
    key: str
    body_hash: str
    status: int
    answer: Mapping[str, Any]
    """The whole answer, or the session that the request is about."""
    expires_at: datetime
    commit: int | None = None
    """The number of the commit that the request made. A repeat of the request is answered from that commit, in the
    session that `answer` names, or with `answer` alone once the session is deleted. Requests about definitions make no
    commit.
    """


class IdempotencyKey(NamedTuple):
    """A POST that may be sent again."""

    tenant: str
    route: str
    """Method and concrete path: the same key for two sessions means two requests."""
    key: str
    """The header's value and the sender: the same key from two people means two requests."""
    body_hash: str
    """SHA-256 of the raw bytes: `{"a":1}` and `{ "a": 1 }` are two bodies."""
    status: int
    """Of the answer if the request succeeds."""

    def record(
        self, answer: Mapping[str, Any], now: datetime, commit: int | None = None
    ) -> IdempotencyRecord:
        return IdempotencyRecord(*self, answer, now + KEY_LIFE, commit)
