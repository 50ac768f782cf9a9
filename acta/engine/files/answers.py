"""Files as the API answers them."""

from __future__ import annotations

from acta.engine.api.answers import Counter, Instant, TypedDict


class FileView(TypedDict):
    path: str
    bytes: Counter
    modified_at: Instant


class DeletedFileView(TypedDict):
    """Its earlier versions can be read and restored as long as they are kept."""

    path: str
    deleted_at: Instant


class WrittenFileView(TypedDict):
    path: str
    bytes: Counter


class FileVersionView(TypedDict):
    version_id: str
    bytes: Counter
    modified_at: Instant
    current: bool
    deletion: bool
    """The file was deleted here. Such a version cannot be restored."""
    etag: str | None
    """The tag of its bytes. `If-Match` of a write takes the current version's. null: it is a deletion."""
