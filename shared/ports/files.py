"""A tenant's files, for the file tools and the API.

Paths must have passed `check_path` of `shared.domain.untrusted.path`. All methods raise StoreThrottled and
StoreUnavailable, and PathRefused where a path is too long for the store.
"""

from datetime import datetime
from typing import NamedTuple, Protocol


class FileMissing(LookupError):
    """There is no file at this path."""


class FileExists(Exception):
    """There is a file at this path. Nothing was written."""


class FileInfo(NamedTuple):
    path: str
    bytes: int
    modified_at: datetime


class FilePage(NamedTuple):
    """`cursor`: for the next page; None: this is the last one."""

    files: tuple[FileInfo, ...]
    cursor: str | None


class FileStore(Protocol):
    def list(self, tenant: str, prefix: str, limit: int, cursor: str | None = None) -> FilePage:
        """The files whose path starts with `prefix` ('' or 'folder/'), sorted by path. A page may have fewer than
        `limit` and still have a cursor. Raises ValueError where the cursor is not valid.
        """
        ...

    def read(self, tenant: str, path: str) -> bytes:
        """Raises FileMissing."""
        ...

    def write(self, tenant: str, path: str, data: bytes, write_id: str | None = None) -> bool:
        """Creates or replaces the file. True: it is new. `write_id`: who repeats a write under the id that it had is
        told what it did the first time, and nothing is written again while the file is still that one; None: an id of
        its own.
        """
        ...

    def create(self, tenant: str, path: str, data: bytes, write_id: str | None = None) -> None:
        """Writes a file that is not there yet. `write_id`: as with `write`. Raises FileExists."""
        ...

    def delete(self, tenant: str, path: str) -> None:
        """Raises FileMissing."""
        ...
