"""The tenant's storage, which its agents' file tools read and write: `/v1/files` (docs/design/files.md)."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from acta.engine.api.answers import instant
from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, no_content, page, success
from acta.engine.api.etag import admits, is_for_new
from acta.engine.api.listing_cursor import MAX_FILES, ListingCursor, listing_cursor
from acta.engine.errors import Forbidden, NotFound, PayloadTooLarge, PreconditionFailed, ValidationFailed
from acta.engine.files.store import FileChanged, FileExists, FileMissing, FileStore
from acta.engine.untrusted.path import PathRefused, check_new_path, check_path, is_private

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.files import answers as records

BYTES = "application/octet-stream"
NO_VERSION = (
    "There is no such version of this file, or it is a deletion. `acta files versions PATH` lists them, or GET with "
    "?versions=1."
)
NOT_NEW = (
    "There is a file at this path. Take another path, or replace it: GET with ?versions=1 has its `etag`, which "
    "If-Match takes."
)
CHANGED = (
    "The file is not the one that If-Match names: it was changed or deleted meanwhile. GET with ?versions=1 says what "
    "it is now; decide again."
)


def _own(api: Api) -> FileStore:
    return api.app.files.seen_by(api.caller.user)


def _may_change(api: Api, path: str) -> bool:
    """Whether the caller may replace or delete what is at the path: one's own private files, and shared ones with the
    role that the environment names.
    """
    role = api.settings.file_change_role
    return not role or is_private(path) or role in api.caller.roles


def _check_may_change(api: Api, path: str) -> None:
    """Raises Forbidden."""
    if not _may_change(api, path):
        role = api.settings.file_change_role
        raise Forbidden(
            f"Shared files are replaced, restored and deleted by people with the role {role}. Store it under another "
            "path, or under ~/, which is yours alone; an agent may do it with an approval.",
            {"role": [role]},
        )


def _put(api: Api, path: str, data: bytes) -> bool:
    """Whether the file is new. Raises PreconditionFailed where it is not what the request's headers name, and Forbidden
    for who may not replace what is there.
    """
    tenant, headers = api.caller.tenant, api.request.headers
    is_new = is_for_new(headers.get("if-none-match"), headers.get("if-match"))
    try:
        if "if-match" in headers:
            _check_may_change(api, path)
            _own(api).replace(tenant, path, data, _admitted(api, path))
            return False
        if not is_new and _may_change(api, path):
            return _own(api).write(tenant, path, data)
        _own(api).create(tenant, path, data)
        return True
    except FileExists:
        if not is_new:
            _check_may_change(api, path)
        raise PreconditionFailed(NOT_NEW) from None
    except (FileChanged, FileMissing):
        raise PreconditionFailed(CHANGED) from None


def _admitted(api: Api, path: str) -> str:
    """The tag of the file that is there, which `If-Match` admits. The store compares it once more when it writes.
    Raises FileMissing, FileChanged.
    """
    tag = _own(api).etag(api.caller.tenant, path)
    if not tag:
        raise FileMissing("no such file")
    if not admits(api.request.headers["if-match"], tag):
        raise FileChanged("the file is another one")
    return tag


def list_files(
    api: Api,
    prefix: str = "",
    limit: Annotated[int, Field(ge=1, le=MAX_FILES)] = 100,
    cursor: ListingCursor = None,
    deleted: Literal["", "1"] = "",
) -> Response:
    """`deleted`: lists deleted files instead of present ones."""
    prefix = _usable_prefix(prefix)
    if deleted:
        return _deleted(api, prefix, limit, cursor)
    with listing_cursor():
        found = _own(api).list(api.caller.tenant, prefix, limit, cursor)
    items: list[records.FileView] = [
        {"path": file.path, "bytes": file.bytes, "modified_at": instant(file.modified_at)}
        for file in found.files
    ]
    return page(items, found.cursor)


def _deleted(api: Api, prefix: str, limit: int, cursor: str | None) -> Response:
    with listing_cursor():
        found = _own(api).deleted(api.caller.tenant, prefix, limit, cursor)
    items: list[records.DeletedFileView] = [
        {"path": file.path, "deleted_at": instant(file.deleted_at)} for file in found.files
    ]
    return page(items, found.cursor)


def read_file(
    api: Api,
    versions: Literal["", "1"] = "",
    version: Annotated[str | None, Field(min_length=1, max_length=1_024)] = None,
) -> Response:
    """`version`: the id of an earlier one, whose bytes are read."""
    tenant, path = api.caller.tenant, api.request.file_path
    if versions:
        return _versions(api)
    try:
        data = (
            _own(api).read(tenant, path) if version is None else _own(api).read_version(tenant, path, version)
        )
    except FileMissing:
        raise (_missing() if version is None else NotFound(NO_VERSION)) from None
    if len(data) > api.app.settings.max_file_bytes:
        raise PayloadTooLarge(
            f"The file has {len(data):,} bytes; at most {api.app.settings.max_file_bytes:,} are sent."
        )
    shown = {"path": path, **({"version": version} if version else {})}
    recorded = {} if is_private(path) else shown  # nobody but its owner reads it
    return Response(200, content_type_of(data), data, recorded=recorded)


def _versions(api: Api) -> Response:
    found = _own(api).versions(api.caller.tenant, api.request.file_path)
    if not found:
        raise _missing()
    items: list[records.FileVersionView] = [
        {
            "version_id": one.version_id,
            "bytes": one.bytes,
            "modified_at": instant(one.modified_at),
            "current": one.is_current,
            "deletion": one.is_deletion,
            "etag": one.etag or None,
        }
        for one in found
    ]
    return page(items, None)


def restore_file(api: Api, restore: Annotated[str, Field(min_length=1, max_length=1_024)]) -> Response:
    """Writes an earlier version again. `restore`: its id. Done twice it does the same."""
    path = api.request.file_path
    _check_may_change(api, path)
    try:
        data = _own(api).read_version(api.caller.tenant, path, restore)
    except FileMissing:
        raise NotFound(NO_VERSION) from None
    _put(api, path, data)
    return success(written(path, len(data)))


def write_file(api: Api) -> Response:
    path, data = check_new_path(api.request.file_path), api.request.body
    is_new = _put(api, path, data)
    return success(written(path, len(data)), 201 if is_new else 200)


def delete_file(api: Api) -> Response:
    tenant, path = api.caller.tenant, api.request.file_path
    _check_may_change(api, path)
    try:
        tag = _admitted(api, path) if "if-match" in api.request.headers else None
        _own(api).delete(tenant, path, tag)
    except FileMissing:
        raise _missing() from None
    except FileChanged:
        raise PreconditionFailed(CHANGED) from None
    return no_content()


def written(path: str, size: int) -> "records.WrittenFileView":
    return {"path": path, "bytes": size}


def content_type_of(data: bytes) -> str:
    """By the bytes alone: text in an encoding, which may be a guess, or something to save. Never a type that a browser
    would run, whatever the file's name says.
    """
    from acta.engine.untrusted.encodings import NotText, decoded

    try:
        return f"text/plain; charset={decoded(data).encoding.lower()}"
    except NotText:
        return BYTES


def _usable_prefix(prefix: str) -> str:
    """The prefix as stored paths have it. It is usable if a path can begin with it. Raises ValidationFailed."""
    try:
        return check_path(prefix + "x")[:-1]
    except PathRefused as refused:
        raise ValidationFailed("The prefix is not usable.", {"prefix": [f"{refused}."]}) from None


def _missing() -> NotFound:
    return NotFound("There is no file at this path.")
