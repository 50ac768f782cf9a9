"""The blob store: large texts of a session, named by their content; few have names of their own (design §6.1)."""

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

    def put_named(self, tenant: str, session_id: str, name: str, text: str) -> None:
        """Stores the text under a name of the caller's, in place of what is there. `name`: letters, digits and `-`; it
        has no hash's form. Raises StoreThrottled, StoreUnavailable.
        """

    def get(self, tenant: str, session_id: str, names: Iterable[str]) -> Mapping[str, str]:
        """Returns the texts by name. Raises BlobMissing, StoreThrottled, StoreUnavailable."""

    def delete_all(self, tenant: str, session_id: str) -> None:
        """Removes every text of a session, and all that is left of deleted ones. Raises StoreThrottled,
        StoreUnavailable.
        """
