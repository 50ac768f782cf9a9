"""The tenant's storage, what the file tools see: `/v1/files` (design §3)."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from shared.api.app import Api
from shared.api.response.envelope import no_content, raw, success
from shared.api.response.views import instant
from shared.domain.errors import CursorInvalid, NotFound, PayloadTooLarge, ValidationFailed
from shared.domain.untrusted.path import PathRefused, check_path
from shared.ports.files import FileMissing, FileStore

MAX_PAGE = 1_000
TEXT = "text/plain; charset=utf-8"
"""Never a type a browser would run, whatever the file's name says."""
BYTES = "application/octet-stream"


def add_files(api: Api, files: FileStore, max_bytes: int) -> None:
    """Bodies are the file's bytes, at most `max_bytes` of them."""

    @api.get("/v1/files")
    def list_files(
        prefix: str = "",
        limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 100,
        cursor: Annotated[str | None, Query(max_length=2_048)] = None,
    ) -> Response[str]:
        _check_prefix(prefix)
        try:
            page = files.list(api.caller.tenant, prefix, limit, cursor)
        except ValueError:
            raise CursorInvalid from None
        items = [
            {"path": file.path, "bytes": file.bytes, "modified_at": instant(file.modified_at)}
            for file in page.files
        ]
        return success({"items": items, "next_cursor": page.cursor})

    @api.get("/v1/files/{path+}")
    def read_file() -> Response[Any]:
        try:
            data = files.read(api.caller.tenant, api.incoming.rest)
        except FileMissing:
            raise _missing() from None
        if len(data) > max_bytes:
            raise PayloadTooLarge(f"The file has {len(data):,} bytes; at most {max_bytes:,} are sent.")
        return raw(data, content_type_of(data))

    @api.put("/v1/files/{path+}")
    def write_file() -> Response[str]:
        path, data = api.incoming.rest, api.incoming.body
        if len(data) > max_bytes:
            raise PayloadTooLarge(f"A file may have {max_bytes:,} bytes; this one has {len(data):,}.")
        is_new = files.write(api.caller.tenant, path, data)
        return success({"path": path, "bytes": len(data)}, 201 if is_new else 200)

    @api.delete("/v1/files/{path+}")
    def delete_file() -> Response[str]:
        try:
            files.delete(api.caller.tenant, api.incoming.rest)
        except FileMissing:
            raise _missing() from None
        return no_content()


def content_type_of(data: bytes) -> str:
    """From the bytes alone: text, or something to be saved."""
    try:
        return BYTES if "\0" in data.decode() else TEXT
    except UnicodeDecodeError:
        return BYTES


def _check_prefix(prefix: str) -> None:
    """A prefix is usable when a path can begin with it."""
    try:
        check_path(prefix + "x")
    except PathRefused as refused:
        raise ValidationFailed("The prefix is not usable.", {"prefix": [f"{refused}."]}) from None


def _missing() -> NotFound:
    return NotFound("There is no file at this path.")
