"""A tenant's storage: what the file tools and the files routes see.

Paths are the checked ones of `shared.domain.untrusted.path`; keys are built under the tenant's prefix by the adapter.
"""

from datetime import datetime
from typing import NamedTuple, Protocol


class FileMissing(LookupError):
    """No file at that path."""


class FileInfo(NamedTuple):
    path: str
    bytes: int
    modified_at: datetime


class FilePage(NamedTuple):
    """`cursor` continues the listing; None: this was the last page."""

    files: tuple[FileInfo, ...]
    cursor: str | None


class FileStore(Protocol):
    def list(self, tenant: str, prefix: str, limit: int, cursor: str | None = None) -> FilePage:
        """Files whose path starts with `prefix` ('' or 'folder/'), in path order."""
        ...

    def read(self, tenant: str, path: str) -> bytes:
        """Raises FileMissing, StoreThrottled, StoreUnavailable."""
        ...

    def write(self, tenant: str, path: str, data: bytes) -> bool:
        """Creates or replaces; True if it was new."""
        ...

    def delete(self, tenant: str, path: str) -> None:
        """Raises FileMissing where there is nothing."""
        ...
