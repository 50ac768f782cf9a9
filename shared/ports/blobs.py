"""The blob store: large texts of a session, each named by its content (design §6.1)."""

from collections.abc import Iterable, Mapping
from typing import Protocol


class BlobMissing(LookupError):
    """The store has no text under this name.

    A text is always written before a commit points to it, so the session was deleted, or there is a bug.
    """


class BlobStore(Protocol):
    def put(self, tenant: str, session_id: str, text: str) -> str:
        """Stores the text and returns its name. The same text has the same name, so storing it twice is harmless.

        Raises StoreThrottled, StoreUnavailable.
        """
        ...

    def get(self, tenant: str, session_id: str, names: Iterable[str]) -> Mapping[str, str]:
        """Returns the texts by name. Raises BlobMissing, StoreThrottled, StoreUnavailable."""
        ...

    def delete_all(self, tenant: str, session_id: str) -> None:
        """Removes every text of a session, and all that is left of deleted ones. Raises StoreThrottled,
        StoreUnavailable.
        """
        ...
