"""Attempts to call a model: each is written down before it is made, so that one that vanishes is not forgotten
(docs/design/budgets.md 8). And the text of a reply while the model still writes it.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Literal, Protocol

from acta_engine.log.head import Head
from acta_engine.store.schema import FrozenModel, StoredModel

ANSWERED = "ANSWERED"


class Attempt(StoredModel):
    """One request to one model, and what was reserved for it. A fallback that is asked in the same turn is another
    attempt.
    """

    attempt_id: str
    key: str
    """Of the commit that its answer goes into."""
    run_id: str
    turn: int
    kind: Literal["plan", "llm"]
    number: int
    """The engine's retry count."""
    provider: str
    model: str
    started: datetime
    ended: datetime | None = None
    input_tokens: int
    """Reserved, like the next two."""
    output_tokens: int
    cost_usd: float | None = None
    """None if no price is known."""
    outcome: str = ""
    """`ANSWERED`, or an error's code. Empty if nobody knows: the worker is still waiting, or it has vanished."""
    billed: int = 1
    """1 if the attempt may have to be paid for and nothing has said what it used, otherwise 0."""

    @property
    def reserved_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def estimated_tokens(self) -> int:
        """What the attempt is charged besides the usage that came back."""
        return self.billed * self.reserved_tokens

    @property
    def estimated_usd(self) -> float:
        return self.billed * (self.cost_usd or 0.0)


class Marker(StoredModel):
    """A session's attempts that no commit had settled when the last of them began."""

    attempts: tuple[Attempt, ...] = ()
    """Oldest first."""
    reply: str = ""
    """The answer to the last attempt, as JSON, if it could not be committed."""

    @property
    def last_id(self) -> str | None:
        return self.attempts[-1].attempt_id if self.attempts else None


def open_attempts(head: Head, attempts: Iterable[Attempt]) -> tuple[Attempt, ...]:
    """The attempts that no commit has charged yet."""
    return tuple(one for one in attempts if one.attempt_id not in head.budget.settled)


PARTIAL_VERSION = 1
MAX_PARTIAL_BYTES = 4_096


class Partial(FrozenModel):
    """A part of a reply that the model still writes. It is only for people who watch: nothing depends on it."""

    key: str
    """The commit key of the turn."""
    text: str
    """The end of the reply as it was at `at`."""
    at: datetime


def last_part(text: str) -> str:
    """The end of `text`, at most `MAX_PARTIAL_BYTES` bytes, cut between two characters."""
    data = text.encode("utf-8", "replace")
    return data[-MAX_PARTIAL_BYTES:].decode("utf-8", "ignore")


class AttemptsChanged(Exception):
    """The marker is not what the writer took it for: an earlier attempt vanished, or another worker is at it. Nothing
    was written.
    """

    def __init__(self, marker: Marker) -> None:
        super().__init__("the marker has other attempts")
        self.marker = marker


class AttemptStore(Protocol):
    """All methods raise StoreThrottled and StoreUnavailable."""

    def write(self, tenant: str, session_id: str, marker: Marker, *, after: str | None) -> None:
        """Replaces the session's marker. `after`: the id of the last attempt of the marker that is replaced; None:
        there is none yet. A marker whose last attempt is this one's already is replaced, too: an answer was lost.

        Raises AttemptsChanged where the marker is another one, and Fenced where the session was deleted.
        """

    def read(self, tenant: str, session_id: str) -> Marker:
        """The marker, empty where there is none. Strongly consistent. Raises SchemaUnknown, PoisonedSession."""


PARTIAL_LIFE = timedelta(minutes=15)
"""How long a partial text is kept: longer than any turn takes."""


class Partials(Protocol):
    """One item for each session, outside the log. Each write replaces the one before, and a committed turn needs it no
    more. All methods raise StoreThrottled and StoreUnavailable."""

    def put(self, tenant: str, session_id: str, partial: Partial) -> None:
        """Replaces the session's partial text. Stores nothing where the session was deleted."""

    def get(self, tenant: str, session_id: str) -> Partial | None:
        """The partial text that was stored last, of whatever turn. Eventually consistent. Raises SchemaUnknown."""
