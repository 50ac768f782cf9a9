"""The marker of a session's model calls: one item for each session, beside its log, written before every call. And the
text of a reply while the model still writes it.
"""

from datetime import timedelta
from typing import Protocol

from acta_engine.log.attempt import Marker, Partial


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
