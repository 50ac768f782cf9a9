"""The file store on S3: files at `files/{tenant}/{path}`, private ones at `files/{tenant}/{private_folder}/{path}`."""

from collections.abc import Mapping
from copy import copy
from datetime import UTC
from typing import Any, Literal, Self
from uuid import uuid4

from acta.engine.aws.clients import Service
from acta.engine.aws.errors import AwsRefused
from acta.engine.errors import AwsDenied
from acta.engine.files.store import (
    MAX_VERSIONS,
    DeletedFile,
    DeletedPage,
    FileChanged,
    FileExists,
    FileInfo,
    FileMissing,
    FilePage,
    FileVersion,
    FileWrite,
)
from acta.engine.store.keys import FILES, from_cursor, tenant_prefix, to_cursor
from acta.engine.store.objects import MISSING, read_head, read_object
from acta.engine.untrusted.path import AFTER_PRIVATE, PathRefused, check_path, listed_path, stored_path

MAX_KEY_BYTES = 1_024
MAX_PAGE = 1_000
MOST_REQUESTS = 5
"""The most requests for a page of deleted files: a file that was written often has many versions."""
_WRITE, _IS_NEW = "write", "is-new"
"""Names in an object's metadata: the id of the write that made it, and whether there was no file before."""
_NO_VERSION = (MISSING, "NoSuchVersion", "InvalidArgument", "MethodNotAllowed")
"""S3's codes for a version's id that is unknown, is no id, or is that of a deletion."""
_ABSENT = ("404", MISSING)
_PRESENT = ("412", "PreconditionFailed", "409", "ConditionalRequestConflict")


class S3FileStore:
    """A FileStore. `client`: a botocore S3 client instead of the process's."""

    def __init__(self, bucket: str, client: Any = None) -> None:
        self._bucket = bucket
        self._s3 = Service("s3", client)
        self._user: str | None = None

    def seen_by(self, user: str | None) -> Self:
        view = copy(self)
        view._user = user
        return view

    def list(self, tenant: str, prefix: str, limit: int, cursor: str | None = None) -> FilePage:
        root, stored_prefix = _root(tenant), stored_path(prefix, self._user)
        scope, limit = f"F#{tenant}/{stored_prefix}", min(max(limit, 1), MAX_PAGE)
        after = None if cursor is None else self._after(root, from_cursor(scope, cursor, MAX_KEY_BYTES))
        found: list[FileInfo] = []
        while True:
            start = {} if after is None else {"StartAfter": root + after}
            answer = self._s3.call(
                "list_objects_v2",
                Bucket=self._bucket,
                Prefix=root + stored_prefix,
                MaxKeys=limit - len(found),
                **start,
            )
            contents = answer.get("Contents", ())
            keys = [each["Key"].removeprefix(root) for each in contents]
            paths = [listed_path(key, prefix, self._user) for key in keys]
            found += [
                FileInfo(path, each["Size"], each["LastModified"].astimezone(UTC))
                for path, each in zip(paths, contents, strict=True)
                # a key that ends with / is a folder made in a console, not a file
                if path is not None and not path.endswith("/")
            ]
            if not answer.get("IsTruncated") or not keys:
                return FilePage(tuple(found), None)
            if paths[-1] is not None:
                return FilePage(tuple(found), to_cursor(scope, paths[-1]))
            after = AFTER_PRIVATE

    def deleted(self, tenant: str, prefix: str, limit: int, cursor: str | None = None) -> DeletedPage:
        root, stored_prefix = _root(tenant), stored_path(prefix, self._user)
        scope, limit = f"FD#{tenant}/{stored_prefix}", min(max(limit, 1), MAX_PAGE)
        after = None if cursor is None else self._after(root, from_cursor(scope, cursor, MAX_KEY_BYTES))
        found: list[DeletedFile] = []
        looked = 0
        while True:
            start = {} if after is None else {"KeyMarker": root + after}
            answer = self._s3.call(
                "list_object_versions",
                Bucket=self._bucket,
                Prefix=root + stored_prefix,
                MaxKeys=MAX_PAGE,
                **start,
            )
            looked += 1
            for marker in sorted(answer.get("DeleteMarkers", ()), key=lambda one: str(one["Key"])):
                path = listed_path(marker["Key"].removeprefix(root), prefix, self._user)
                if not marker["IsLatest"] or path is None:
                    continue
                if len(found) == limit:
                    return DeletedPage(tuple(found), to_cursor(scope, found[-1].path))
                found.append(DeletedFile(path, marker["LastModified"].astimezone(UTC)))
            if not answer.get("IsTruncated"):
                return DeletedPage(tuple(found), None)
            # A key's newest version comes first, so the others of the last one are left out.
            after = answer["NextKeyMarker"].removeprefix(root)
            last = listed_path(after, prefix, self._user)
            if last is None:
                after = AFTER_PRIVATE
            elif looked >= MOST_REQUESTS:
                return DeletedPage(tuple(found), to_cursor(scope, last))

    def _after(self, root: str, position: str) -> str:
        """Where a listing goes on, below the tenant's prefix. Raises ValueError for a position that no file has."""
        after = stored_path(position, self._user)
        if len((root + after).encode()) > MAX_KEY_BYTES:
            raise ValueError("not a cursor of this listing")
        return after

    def read(self, tenant: str, path: str) -> bytes:
        key = self._key(tenant, path)
        try:
            return read_object(self._s3, self._bucket, key).body
        except AwsRefused as refused:
            if refused.code == MISSING:
                raise FileMissing("no such file") from None
            raise

    def write(self, tenant: str, path: str, data: bytes, write_id: str | None = None) -> bool:
        # The first put fails where the file exists. So one request is enough for a new file, and the answer is certain:
        # between a look and a put somebody else could write the file. The file there may be this very write's: its
        # answer was lost, and the SDK or a later attempt has repeated it.
        key, mine = self._key(tenant, path), write_id or uuid4().hex
        done = self._put_new(key, data, mine)
        if done is None:
            self._put(key, data, mine, is_new=False)
        return done is True

    def create(self, tenant: str, path: str, data: bytes, write_id: str | None = None) -> None:
        if self._put_new(self._key(tenant, path), data, write_id or uuid4().hex) is None:
            raise FileExists("a file is there")

    def etag(self, tenant: str, path: str) -> str:
        found = self._head(self._key(tenant, path))
        return "" if found is None else str(found["ETag"])

    def newest_write(self, tenant: str, path: str) -> FileWrite | None:
        found = self._head(self._key(tenant, path))
        if found is None:
            return None
        write_id = str(found["Metadata"].get(_WRITE, ""))
        writer, by_call, _ = write_id.partition("/")
        by: Literal["api", "agent", "other"] = "other" if not write_id else "agent" if by_call else "api"
        return FileWrite(str(found["ETag"]), write_id, by, writer if by_call else "")

    def replace(self, tenant: str, path: str, data: bytes, etag: str, write_id: str | None = None) -> None:
        key, mine = self._key(tenant, path), write_id or uuid4().hex
        try:
            self._put(key, data, mine, is_new=False, IfMatch=etag)
        except AwsRefused as refused:
            if refused.code not in (*_PRESENT, *_ABSENT):
                raise
            # It may be this very write whose answer was lost, and that the SDK or a later attempt has repeated.
            if self._earlier(key, mine) is None:
                raise FileChanged("the file is another one") from None

    def _put_new(self, key: str, data: bytes, mine: str) -> bool | None:
        """Writes the file where there is none. Returns what `_earlier` says where there is one, else True."""
        try:
            self._put(key, data, mine, is_new=True, IfNoneMatch="*")
        except AwsRefused as refused:
            if refused.code not in _PRESENT:
                raise
            return self._earlier(key, mine)
        return True

    def _put(self, key: str, data: bytes, mine: str, *, is_new: bool, **condition: str) -> None:
        metadata = {_WRITE: mine, _IS_NEW: "yes" if is_new else "no"}
        self._s3.call("put_object", Bucket=self._bucket, Key=key, Body=data, Metadata=metadata, **condition)

    def _earlier(self, key: str, mine: str) -> bool | None:
        """What this write did when it was made before: whether the file was new. None: the file is another write's."""
        found = self._head(key)
        if found is None or found["Metadata"].get(_WRITE) != mine:
            return None  # deleted since, or replaced
        return bool(found["Metadata"].get(_IS_NEW) == "yes")

    def versions(self, tenant: str, path: str) -> tuple[FileVersion, ...]:
        key = self._key(tenant, path)
        # A key comes before all that begin with it, and its newest version first.
        answer = self._s3.call("list_object_versions", Bucket=self._bucket, Prefix=key, MaxKeys=MAX_VERSIONS)
        found = [
            FileVersion(
                each["VersionId"],
                each.get("Size", 0),
                each["LastModified"].astimezone(UTC),
                each["IsLatest"],
                kind == "DeleteMarkers",
                each.get("ETag", ""),
            )
            for kind in ("Versions", "DeleteMarkers")
            for each in answer.get(kind, ())
            if each["Key"] == key
        ]
        return tuple(sorted(found, key=lambda one: (one.is_current, one.modified_at), reverse=True))

    def read_version(self, tenant: str, path: str, version_id: str) -> bytes:
        try:
            return read_object(self._s3, self._bucket, self._key(tenant, path), version_id).body
        except AwsRefused as refused:
            if refused.code in _NO_VERSION:
                raise FileMissing("no such version") from None
            raise
        except AwsDenied:  # S3 also says so of a missing version of a file that exists
            if any(one.version_id == version_id for one in self.versions(tenant, path)):
                raise
            raise FileMissing("no such version") from None

    def delete(self, tenant: str, path: str, etag: str | None = None) -> None:
        # S3 reports no error where there is nothing to delete, so this looks first.
        key = self._key(tenant, path)
        found = self._head(key)
        if found is None:
            raise FileMissing("no such file")
        if etag not in (None, found["ETag"]):
            raise FileChanged("the file is another one")
        condition = {} if etag is None else {"IfMatch": etag}
        try:
            self._s3.call("delete_object", Bucket=self._bucket, Key=key, **condition)
        except AwsRefused as refused:
            if refused.code not in (*_PRESENT, *_ABSENT):
                raise
            # Where nothing is left, this very deletion may be repeated by the SDK because its answer was lost.
            if self.etag(tenant, path):
                raise FileChanged("the file is another one") from None

    def _head(self, key: str) -> Mapping[str, Any] | None:
        """What S3 says of the file; None: there is none."""
        try:
            return read_head(self._s3, self._bucket, key)
        except AwsRefused as refused:
            if refused.code == MISSING:
                return None
            raise

    def _key(self, tenant: str, path: str) -> str:
        """The file's key. Raises PathRefused, also where the path fits only without the prefix."""
        key = _root(tenant) + stored_path(check_path(path), self._user)
        over = len(key.encode()) - MAX_KEY_BYTES
        if over > 0:
            raise PathRefused(f"the path is longer than {len(path.encode()) - over} bytes")
        return key


def _root(tenant: str) -> str:
    return tenant_prefix(FILES, tenant)
