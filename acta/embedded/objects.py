"""Buckets of S3 in SQLite, for all of Acta in one process. The stores use them as their `client`, unchanged.

It takes the requests that Acta's stores make of a botocore client and raises AwsRefused itself. A parameter that the
stores do not use raises NotImplementedError. Any name of a bucket will do: it need not be created. Every bucket keeps
the earlier versions of its objects.
"""

import json
from collections.abc import Callable
from datetime import datetime
from hashlib import md5
from io import BytesIO
from sqlite3 import Connection
from typing import Any, NamedTuple

from acta.embedded.database import Request, check_understood
from acta.embedded.table import SqliteTable
from acta.engine.aws.errors import AwsRefused
from acta.engine.store.objects import MISSING

MOST_KEYS = 1_000
"""Of an answer. Source: Amazon S3 API Reference, ListObjectsV2 and ListObjectVersions."""
HEADERS = ("Metadata", "ContentType", "ContentEncoding")
"""What is kept of an object beside its bytes."""
UNDERSTOOD = frozenset({
    "Bucket", "Key", "VersionId", "Body", *HEADERS, "IfMatch", "IfNoneMatch", "Prefix", "MaxKeys", "StartAfter",
    "KeyMarker", "Delete",
})  # fmt: skip
_UNDER_PREFIX = " bucket = :bucket AND key BETWEEN :prefix AND :prefix || char(1114111) AND key > :after "
_NEWEST = (
    "SELECT key, version, at, etag, size FROM"  # SQLite takes the other columns from the row with the maximum
    " (SELECT key, max(version) AS version, at, etag, length(body) AS size FROM objects WHERE"
    + _UNDER_PREFIX
    + "GROUP BY key) WHERE size IS NOT NULL ORDER BY key LIMIT :limit"
)
_ALL = (
    "SELECT key, version, at, etag, length(body) FROM objects WHERE"
    + _UNDER_PREFIX
    + "ORDER BY key, version DESC LIMIT :limit"
)

Answer = dict[str, Any]


class _Version(NamedTuple):
    """A version of an object. `size` None: a mark that the object was deleted."""

    key: str
    version: int
    at: str
    etag: str
    size: int | None

    def listed(self) -> Answer:
        at = datetime.fromisoformat(self.at)
        sized = {} if self.size is None else {"ETag": self.etag, "Size": self.size}
        return {"Key": self.key, "VersionId": str(self.version), "LastModified": at, **sized}


class SqliteObjects:
    """`table`: whose file and clock they share. `tell`: gets the event of each object that is created, in the form in
    which EventBridge has it, and the transaction that writes the object.
    """

    def __init__(self, table: SqliteTable, tell: Callable[[Connection, Answer], None] | None = None) -> None:
        self._database = table.database
        self._clock = table.clock
        self._tell = tell

    def put_object(self, **request: Any) -> Answer:
        check_understood(request, UNDERSTOOD)
        with self._database.writing() as connection:
            there = self._newest(connection, request)
            if "IfNoneMatch" in request and there is not None:
                raise AwsRefused("put_object", "PreconditionFailed")
            _check_match("put_object", request, there)
            body = bytes(request["Body"])
            headers = {name: request[name] for name in HEADERS if name in request}
            added = self._add(connection, request, body, json.dumps(headers))
            if self._tell is not None:
                bucket, at = {"name": request["Bucket"]}, self._clock.now().isoformat()
                made = {"key": request["Key"], "size": len(body), "etag": added["ETag"].strip('"')}
                self._tell(connection, {"time": at, "detail": {"bucket": bucket, "object": made}})
            return added

    def get_object(self, **request: Any) -> Answer:
        with self._database.reading() as connection:
            found = self._found(connection, "get_object", request)
            [body] = connection.execute(
                "SELECT body FROM objects WHERE version = ?", [found.version]
            ).fetchone()
            return {**self._head(connection, found), "Body": BytesIO(body)}

    def head_object(self, **request: Any) -> Answer:
        with self._database.reading() as connection:
            return self._head(connection, self._found(connection, "head_object", request))

    def list_objects_v2(self, **request: Any) -> Answer:
        found, is_truncated = self._listed(_NEWEST, request, request.get("StartAfter", ""))
        return {"Contents": [each.listed() for each in found], "IsTruncated": is_truncated}

    def list_object_versions(self, **request: Any) -> Answer:
        """The versions of a key come newest first."""
        found, is_truncated = self._listed(_ALL, request, request.get("KeyMarker", ""))
        answer: Answer = {"Versions": [], "DeleteMarkers": [], "IsTruncated": is_truncated}
        before = ""
        for each in found:
            kind = "DeleteMarkers" if each.size is None else "Versions"
            answer[kind].append({**each.listed(), "IsLatest": each.key != before})
            before = each.key
        return {**answer, "NextKeyMarker": before} if is_truncated else answer

    def delete_object(self, **request: Any) -> Answer:
        check_understood(request, UNDERSTOOD - {"VersionId"})
        with self._database.writing() as connection:
            _check_match("delete_object", request, self._newest(connection, request))
            return self._add(connection, request, None, None)

    def delete_objects(self, **request: Any) -> Answer:
        """Deletes versions for good."""
        check_understood(request, UNDERSTOOD)
        gone = [(request["Bucket"], each["Key"], each["VersionId"]) for each in request["Delete"]["Objects"]]
        with self._database.writing() as connection:
            connection.executemany("DELETE FROM objects WHERE bucket = ? AND key = ? AND version = ?", gone)
        return {}

    def _add(
        self, connection: Connection, request: Request, body: bytes | None, headers: str | None
    ) -> Answer:
        etag = "" if body is None else f'"{md5(body, usedforsecurity=False).hexdigest()}"'
        written = connection.execute(
            "INSERT INTO objects (bucket, key, at, etag, headers, body) VALUES (?, ?, ?, ?, ?, ?)",
            (request["Bucket"], request["Key"], self._clock.now().isoformat(), etag, headers, body),
        )
        return {"VersionId": str(written.lastrowid), "ETag": etag}

    def _newest(self, connection: Connection, request: Request) -> _Version | None:
        """None also where the object was deleted."""
        row = connection.execute(
            "SELECT key, version, at, etag, length(body) FROM objects WHERE bucket = ? AND key = ?"
            " ORDER BY version DESC LIMIT 1",
            (request["Bucket"], request["Key"]),
        ).fetchone()
        return None if row is None or row[-1] is None else _Version(*row)

    def _found(self, connection: Connection, operation: str, request: Request) -> _Version:
        """The version that the request names, or else the newest. Raises AwsRefused."""
        check_understood(request, UNDERSTOOD)
        if "VersionId" not in request:
            newest = self._newest(connection, request)
            if newest is None:
                raise AwsRefused(operation, MISSING)
            return newest
        row = connection.execute(
            "SELECT key, version, at, etag, length(body) FROM objects WHERE bucket = ? AND key = ? AND version = ?",
            (request["Bucket"], request["Key"], request["VersionId"]),
        ).fetchone()
        if row is None:
            raise AwsRefused(operation, "NoSuchVersion")
        if row[-1] is None:
            raise AwsRefused(operation, "MethodNotAllowed")
        return _Version(*row)

    def _head(self, connection: Connection, found: _Version) -> Answer:
        [headers] = connection.execute(
            "SELECT headers FROM objects WHERE version = ?", [found.version]
        ).fetchone()
        return {"Metadata": {}, **json.loads(headers), **found.listed(), "ContentLength": found.size}

    def _listed(self, select: str, request: Request, after: str) -> tuple[list[_Version], bool]:
        """A page, and whether there is more."""
        check_understood(request, UNDERSTOOD)
        most = min(request.get("MaxKeys", MOST_KEYS), MOST_KEYS)
        named = {"bucket": request["Bucket"], "prefix": request.get("Prefix", ""), "after": after}
        with self._database.reading() as connection:
            rows = connection.execute(select, {**named, "limit": most + 1}).fetchall()
        return [_Version(*row) for row in rows[:most]], len(rows) > most


def _check_match(operation: str, request: Request, there: _Version | None) -> None:
    """Raises AwsRefused where the object is another one than `IfMatch` names."""
    if "IfMatch" not in request:
        return
    if there is None:
        raise AwsRefused(operation, MISSING)
    if there.etag != request["IfMatch"]:
        raise AwsRefused(operation, "PreconditionFailed")
