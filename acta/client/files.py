"""Calls about files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from acta.client.callers import C, Calls, listing, operation
from acta.client.flows import (
    Flow,
    Request,
    Stream,
    content,
    data,
    file_path,
    given,
    pages,
    path_of,
)

if TYPE_CHECKING:
    from acta.client import shapes

Fields = Mapping[str, Any]
"""Of a body, as the deployment's document has them."""


class FileCalls(Calls[C]):
    """The tenant's storage, which the agents' file tools see. A path `~/…` is your own; nobody else sees it."""

    @listing
    def list(self, prefix: str | None = None) -> Stream[shapes.File]:
        return pages(path_of("files"), prefix=prefix)

    @operation
    def read(self, path: str, version_id: str | None = None) -> Flow[bytes]:
        """As it is, or as it was in that version."""
        return content(Request("GET", file_path(path), {"version": version_id}))

    @operation
    def write(
        self, path: str, content: bytes, *, new: bool = False, etag: str | None = None
    ) -> Flow[shapes.WrittenFile]:
        """Replaces what is there. PreconditionFailed with `new` where something is, with `etag` where it is not the
        version that has this one.
        """
        headers = {"Content-Type": "application/octet-stream", **given(**{"If-Match": etag})}
        if new:
            headers["If-None-Match"] = "*"
        return data(Request("PUT", file_path(path), content=content, headers=headers))

    @operation
    def delete(self, path: str) -> Flow[None]:
        return data(Request("DELETE", file_path(path)))

    @listing
    def deleted(self, prefix: str | None = None) -> Stream[shapes.DeletedFile]:
        """Those that were deleted and not written again. `versions` and `restore` bring one back."""
        return pages(path_of("files"), prefix=prefix, deleted="1")

    @listing
    def versions(self, path: str) -> Stream[shapes.FileVersion]:
        """What it was, newest first, also of a deleted one."""
        return pages(file_path(path), versions="1")

    @operation
    def restore(self, path: str, version_id: str) -> Flow[shapes.WrittenFile]:
        """Writes the earlier version again."""
        return data(Request("POST", file_path(path), {"restore": version_id}, body={}))
