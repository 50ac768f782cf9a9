"""Large texts of a session, content-addressed under the session's prefix (design §6.1)."""

from collections.abc import Iterable, Mapping
from typing import Protocol


class BlobMissing(LookupError):
    """A pointer without its text: blobs are written before pointers, so this is a deleted session or a bug."""


class BlobStore(Protocol):
    def put(self, tenant: str, session_id: str, text: str) -> str:
        """Stores the text and returns its name, the same for the same text; putting twice is harmless.

        Raises StoreThrottled, StoreUnavailable.
        """
        ...

    def get(self, tenant: str, session_id: str, names: Iterable[str]) -> Mapping[str, str]:
        """The texts by name. Raises BlobMissing, StoreThrottled, StoreUnavailable."""
        ...

    def delete_all(self, tenant: str, session_id: str) -> None:
        """Removes every blob of a session."""
        ...
