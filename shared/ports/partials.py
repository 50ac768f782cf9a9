"""The text of a running turn, beside the log: one a session, overwritten, worth nothing once the turn is committed."""

from datetime import timedelta
from typing import Protocol

from shared.domain.session.partial import Partial

PARTIAL_LIFE = timedelta(minutes=15)
"""Longer than any turn."""


class Partials(Protocol):
    """Both raise StoreThrottled and StoreUnavailable."""

    def put(self, tenant: str, session_id: str, partial: Partial) -> None:
        """In the place of the one before. Of a session that was deleted nothing is kept."""
        ...

    def get(self, tenant: str, session_id: str) -> Partial | None:
        """The last one that was put, whichever turn it belongs to; it may lag by a moment. Raises SchemaUnknown."""
        ...
