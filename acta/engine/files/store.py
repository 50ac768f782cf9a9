"""A tenant's files, for the file tools and the API.

Paths must have passed `check_path` of `acta.engine.untrusted.path`. Those that begin with `~/` are a person's own.
All methods raise StoreThrottled and StoreUnavailable, and PathRefused where a path is too long for the store.
"""

from datetime import datetime
from typing import Literal, NamedTuple, Protocol

MAX_VERSIONS = 100


class FileMissing(LookupError):
    """There is no file at this path."""


class FileExists(Exception):
    """There is a file at this path. Nothing was written."""


class FileChanged(Exception):
    """What is at this path is not what the caller means. Nothing was written."""


class FileInfo(NamedTuple):
    path: str
    bytes: int
    modified_at: datetime


class FileVersion(NamedTuple):
    """What was at a path. `is_deletion`: the file was deleted then; nothing can be read. `etag`: of its bytes, in
    quotes; empty: it is a deletion.
    """

    version_id: str
    bytes: int
    modified_at: datetime
    is_current: bool
    is_deletion: bool
    etag: str = ""


class FileWrite(NamedTuple):
    """The write that a file is from. `write_id`: empty: it did not come from Acta. `by`: `api`: over the API;
    `agent`: by a call of a tool; `other`: somebody put the file into the store directly. `session_id`: whose call it
    was; empty: no session's.
    """

    etag: str
    write_id: str
    by: Literal["api", "agent", "other"]
    session_id: str = ""


class FilePage(NamedTuple):
    """`cursor`: for the next page; None: this is the last one."""

    files: tuple[FileInfo, ...]
    cursor: str | None


class DeletedFile(NamedTuple):
    path: str
    deleted_at: datetime


class DeletedPage(NamedTuple):
    """`cursor`: for the next page; None: this is the last one."""

    files: tuple[DeletedFile, ...]
    cursor: str | None


class FileStore(Protocol):
    def seen_by(self, user: str | None) -> "FileStore":
        """The same files, and under `~/…` the private ones of this user, whom the caller knows for certain. With None,
        or without this call, there are none: every method raises PathRefused for such a path.
        """

    def list(self, tenant: str, prefix: str, limit: int, cursor: str | None = None) -> FilePage:
        """The files whose path starts with `prefix` ('' or 'folder/'), sorted by path, private ones only where it
        starts with `~/`. A page may have fewer than `limit` and still have a cursor. Raises ValueError where the cursor
        is not valid.
        """

    def deleted(self, tenant: str, prefix: str, limit: int, cursor: str | None = None) -> DeletedPage:
        """The files whose path starts with `prefix` that were deleted and not written again, by path, private ones
        only where it starts with `~/`. A page looks at a bounded number of versions: it may have fewer than `limit` and
        still have a cursor. Raises ValueError where the cursor is not valid.
        """

    def read(self, tenant: str, path: str) -> bytes:
        """Raises FileMissing."""

    def write(self, tenant: str, path: str, data: bytes, write_id: str | None = None) -> bool:
        """Creates or replaces the file. True: it is new. `write_id`: a write that is repeated under its id returns
        what it did the first time, and writes nothing while the file is still that write's. That of a tool's call is
        the id of its effect, a `/` and more; no other id has a `/`. None: a new id.
        """

    def create(self, tenant: str, path: str, data: bytes, write_id: str | None = None) -> None:
        """Writes a file that is not there yet. `write_id`: as with `write`. Raises FileExists."""

    def etag(self, tenant: str, path: str) -> str:
        """The tag of the file's bytes, in quotes; empty: there is no file."""

    def newest_write(self, tenant: str, path: str) -> FileWrite | None:
        """None: there is no file."""

    def replace(self, tenant: str, path: str, data: bytes, etag: str, write_id: str | None = None) -> None:
        """Writes the file where it still has the bytes of a version with this tag. `write_id`: as with `write`. Raises
        FileChanged, also where there is no file.
        """

    def versions(self, tenant: str, path: str) -> tuple[FileVersion, ...]:
        """The newest versions of the file, at most `MAX_VERSIONS`, the newest first. Empty: there never was a file, or
        its versions are gone. A store that keeps no versions returns the present one.
        """

    def read_version(self, tenant: str, path: str, version_id: str) -> bytes:
        """What it was in that version. Raises FileMissing where there is no such version, or it is a deletion."""

    def delete(self, tenant: str, path: str, etag: str | None = None) -> None:
        """`etag`: deletes the file only where it has the bytes of a version with this tag. Raises FileMissing and
        FileChanged.
        """
