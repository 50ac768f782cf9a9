"""The tenant's files in S3, reached with the credentials that came with the call and with no others (ADR 88)."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from acta.tools.call import File, Files
from acta.tools.errors import FileRefused
from acta.tools.paths import PRIVATE, check_folder, check_new_path, check_path

MISSING = ("404", "NoSuchKey", "NotFound")
DENIED = ("403", "AccessDenied")
PRESENT = ("412", "PreconditionFailed", "409", "ConditionalRequestConflict")
WRITE = "write"
"""In an object's metadata: which write made it."""

Client = Callable[[Mapping[str, str]], Any]


def _client(keys: Mapping[str, str]) -> Any:
    import boto3  # the Lambda runtime has it; a tool without files does not load it

    return boto3.client("s3", **keys)


def files_of(event: Mapping[str, Any]) -> Files | None:
    """None where the tool has declared no files."""
    given = event.get("files")
    return None if given is None else S3Files(given, event["effect_id"])


class S3Files:
    """Files of one call. `given`: the event's `files`, which has the places, the keys and what they may be used for.
    `effect_id`: a repeated call writes the same file once. `client`: makes a boto3 client.
    """

    def __init__(self, given: Mapping[str, Any], effect_id: str, client: Client = _client) -> None:
        self._given = given
        self._effect_id = effect_id
        self._client = client
        self._clients: dict[str, Any] = {}

    def list(self, folder: str = "") -> list[File]:
        prefix = check_folder(folder)
        place, s3, below = self._place(prefix)
        return sorted(self._under(s3, place, below, PRIVATE if place == "private" else ""))

    def read_text(self, path: str) -> str:
        try:
            return self.read_bytes(path).decode()
        except UnicodeDecodeError:
            raise FileRefused(f"{path} is not text in UTF-8.") from None

    def read_bytes(self, path: str) -> bytes:
        place, s3, below = self._place(check_path(path))
        key = self._prefix(place) + below
        error = _error(s3)
        try:
            data: bytes = s3.get_object(Bucket=self._given["bucket"], Key=key)["Body"].read()
            return data
        except error as refused:
            if _code(refused) in MISSING or (_code(refused) in DENIED and not self._is_there(s3, key)):
                raise FileRefused(f"there is no file {path}.") from None
            raise

    def write_text(self, path: str, text: str, *, replace: bool = False) -> None:
        self.write_bytes(path, text.encode(), replace=replace)

    def write_bytes(self, path: str, data: bytes, *, replace: bool = False) -> None:
        if self._given["access"] != "write":
            raise FileRefused('this tool only reads files. Its writer has to say @tool(files="write").')
        if len(data) > self._given["max_bytes"]:
            raise FileRefused(
                f"{path} would have {len(data):,} bytes, a file at most {self._given['max_bytes']:,}."
            )
        place, s3, below = self._place(check_new_path(path))
        key = self._prefix(place) + below
        mine = f"{self._effect_id}/{hashlib.sha256(data).hexdigest()[:16]}"
        condition = {} if replace else {"IfNoneMatch": "*"}
        target = {"Bucket": self._given["bucket"], "Key": key}
        error = _error(s3)
        try:
            s3.put_object(**target, Body=data, Metadata={WRITE: mine}, **condition)
        except error as refused:
            if _code(refused) not in PRESENT:
                raise
            if (
                s3.head_object(**target)["Metadata"].get(WRITE) != mine
            ):  # else an earlier attempt has written it
                raise FileRefused(f"there is a file {path} already.") from None

    def _place(self, path: str) -> tuple[str, Any, str]:
        """`shared` or `private`, its client, and the rest of the path. Raises FileRefused."""
        place = "private" if path.startswith(PRIVATE) else "shared"
        if place not in self._given:
            raise FileRefused(
                "~/ holds one person's private files, which only a session of theirs with visibility private reaches."
            )
        if place not in self._clients:
            self._clients[place] = self._client(self._given[place]["keys"])
        return place, self._clients[place], path.removeprefix(PRIVATE) if place == "private" else path

    def _prefix(self, place: str) -> str:
        prefix: str = self._given[place]["prefix"]
        return prefix

    def _under(self, s3: Any, place: str, below: str, shown: str) -> Iterator[File]:
        """The top of the tenant's files is listed folder by folder: a listing of everything would name private files,
        so nobody may make it.
        """
        root, bucket = self._prefix(place), self._given["bucket"]
        by_folder = place == "shared" and not below
        split = {"Delimiter": "/"} if by_folder else {}
        pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=root + below, **split)
        for page in pages:
            for each in page.get("Contents", ()):
                path = each["Key"].removeprefix(root)
                if not path.endswith("/") and not (by_folder and path.startswith("~")):
                    yield File(shown + path, each["Size"])
            for each in page.get("CommonPrefixes", ()):
                inside = each["Prefix"].removeprefix(root)
                if not inside.startswith("~"):
                    yield from self._under(s3, place, inside, shown)

    def _is_there(self, s3: Any, key: str) -> bool:
        """Who may not list the whole bucket is told 403 of a key that is missing."""
        found = s3.list_objects_v2(Bucket=self._given["bucket"], Prefix=key, MaxKeys=1).get("Contents", ())
        return any(each["Key"] == key for each in found)


def _error(s3: Any) -> Any:
    return s3.exceptions.ClientError


def _code(error: Any) -> str:
    code: str = error.response["Error"]["Code"]
    return code
