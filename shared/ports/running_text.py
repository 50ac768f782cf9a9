"""The text of a reply while the model still writes it: one item for each session, outside the log. Each write replaces
the one before, and a committed turn needs it no more.
"""

from datetime import timedelta
from typing import Protocol

from shared.domain.session.running_text import Partial

PARTIAL_LIFE = timedelta(minutes=15)
"""How long a partial text is kept: longer than any turn takes."""


class Partials(Protocol):
    """All methods raise StoreThrottled and StoreUnavailable."""

    def put(self, tenant: str, session_id: str, partial: Partial) -> None:
        """Replaces the session's partial text. Stores nothing where the session was deleted."""

    def get(self, tenant: str, session_id: str) -> Partial | None:
        """The partial text that was stored last, of whatever turn. Eventually consistent. Raises SchemaUnknown."""
