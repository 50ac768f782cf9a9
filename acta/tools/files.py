"""The files of one call: rules that hold wherever files are kept, and the tenant's files in S3. They are reached with
the credentials that came with the call and with no others (ADR 88).
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from acta.tools.call import File, FileRefused, Files
from acta.tools.path import PRIVATE, check_folder, check_new_path, check_shown_path

MISSING = ("404", "NoSuchKey", "NotFound")
DENIED = ("403", "AccessDenied")
PRESENT = ("412", "PreconditionFailed", "409", "ConditionalRequestConflict")
WRITE = "write"
"""The key in an object's metadata under which the id of its write is kept."""

Client = Callable[[Mapping[str, str]], Any]


def _client(keys: Mapping[str, str]) -> Any:
    import boto3  # the Lambda runtime has it; a tool without files does not load it

    return boto3.client("s3", **keys)


def files_of(event: Mapping[str, Any]) -> Files | None:
    """The files that the call reaches; None if the tool has declared no files."""
    given = event.get("files")
    return None if given is None else S3Files(given, writer_of(event))


def writer_of(event: Mapping[str, Any]) -> str:
    """What the ids of a call's writes begin with: its session and its effect id, by which Acta knows whose files these
    are.
    """
    return f"{event['session_id']}/{event['effect_id']}"


class CheckedFiles(ABC):
    """`acta.tools.call.Files` with the rules of tools. `writer`: of `writer_of`; a repeated call writes the same file
    only once. `writes`: the tool was declared with `files="write"`. `private`: the call comes from a private session,
    so it also reaches that person's files. `max_bytes`: the most that one file may have.
    """

    def __init__(self, writer: str, *, writes: bool, private: bool, max_bytes: int) -> None:
        self._writer = writer
        self._writes = writes
        self._private = private
        self._max_bytes = max_bytes

    @abstractmethod
    def _listed(self, prefix: str) -> Iterable[File]:
        """Files whose paths begin with the prefix, in any order."""

    @abstractmethod
    def _stored(self, path: str) -> bytes | None:
        """The file's bytes; None if there is no such file."""

    @abstractmethod
    def _store(self, path: str, data: bytes, write_id: str, *, replace: bool) -> bool:
        """False if a file is there that another write has made and that may not be replaced."""

    def list(self, folder: str = "") -> list[File]:
        return sorted(self._listed(self._reached(check_folder(folder))))

    def read_text(self, path: str) -> str:
        try:
            return self.read_bytes(path).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise FileRefused(f"{path} is not text in UTF-8.") from None

    def read_bytes(self, path: str) -> bytes:
        data = self._stored(self._reached(check_shown_path(path)))
        if data is None:
            raise FileRefused(f"there is no file {path}.")
        return data

    def write_text(self, path: str, text: str, *, replace: bool = False) -> None:
        try:
            data = text.encode()
        except UnicodeEncodeError:
            raise FileRefused(
                f"the text for {path} has half of a surrogate pair, which no UTF-8 has."
            ) from None
        self.write_bytes(path, data, replace=replace)

    def write_bytes(self, path: str, data: bytes, *, replace: bool = False) -> None:
        if not self._writes:
            raise FileRefused('this tool only reads files. Its writer has to say @tool(files="write").')
        if len(data) > self._max_bytes:
            raise FileRefused(f"{path} would have {len(data):,} bytes, a file at most {self._max_bytes:,}.")
        write_id = f"{self._writer}/{hashlib.sha256(data).hexdigest()[:16]}"
        if not self._store(self._reached(check_new_path(path)), data, write_id, replace=replace):
            raise FileRefused(f"there is a file {path} already.")

    def _reached(self, path: str) -> str:
        if path.startswith(PRIVATE) and not self._private:
            raise FileRefused(
                "~/ holds one person's private files, which only a session of theirs with visibility private reaches."
            )
        return path


class S3Files(CheckedFiles):
    """`given`: the event's `files`, which has the places, the credentials and what they allow. `client`: makes a boto3
    client.
    """

    def __init__(self, given: Mapping[str, Any], writer: str, client: Client = _client) -> None:
        super().__init__(
            writer,
            writes=given["access"] == "write",
            private="private" in given,
            max_bytes=given["max_bytes"],
        )
        self._given = given
        self._client = client
        self._clients: dict[str, Any] = {}

    def _listed(self, prefix: str) -> Iterator[File]:
        for one in self._asked(prefix):
            place, s3, below = self._place(one)
            for file in self._under(s3, place, below, PRIVATE if place == "private" else ""):
                if one.endswith("/") or one == prefix or file.path == one:
                    yield file

    def _asked(self, prefix: str) -> Iterator[str]:
        """What is listed: the prefix, or where the call's session sees only files that it was given, those of them."""
        given: list[str] | None = self._given.get("given")
        if given is None:
            yield prefix
            return
        for path in given:
            if path.startswith(prefix) and path.startswith(PRIVATE) == prefix.startswith(PRIVATE):
                yield path
            elif path.endswith("/") and prefix.startswith(path):
                yield prefix
                return

    def _stored(self, path: str) -> bytes | None:
        place, s3, below = self._place(path)
        key = self._prefix(place) + below
        error = _error(s3)
        try:
            data: bytes = s3.get_object(Bucket=self._given["bucket"], Key=key)["Body"].read()
            return data
        except error as refused:
            if _code(refused) in MISSING or (_code(refused) in DENIED and not self._is_there(s3, key)):
                return None
            raise

    def _store(self, path: str, data: bytes, write_id: str, *, replace: bool) -> bool:
        place, s3, below = self._place(path)
        condition = {} if replace else {"IfNoneMatch": "*"}
        target = {"Bucket": self._given["bucket"], "Key": self._prefix(place) + below}
        error = _error(s3)
        try:
            s3.put_object(**target, Body=data, Metadata={WRITE: write_id}, **condition)
        except error as refused:
            if _code(refused) not in PRESENT:
                raise
            # an earlier attempt of this call may have written the file
            return bool(s3.head_object(**target)["Metadata"].get(WRITE) == write_id)
        return True

    def _place(self, path: str) -> tuple[str, Any, str]:
        """`shared` or `private`, the client for it, and the rest of the path."""
        place = "private" if path.startswith(PRIVATE) else "shared"
        if place not in self._clients:
            self._clients[place] = self._client(self._given[place]["keys"])
        return place, self._clients[place], path.removeprefix(PRIVATE) if place == "private" else path

    def _prefix(self, place: str) -> str:
        prefix: str = self._given[place]["prefix"]
        return prefix

    def _under(self, s3: Any, place: str, below: str, shown: str) -> Iterator[File]:
        """Lists the top of the tenant's files folder by folder: a listing of everything would name private files, so
        nobody may make it.
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
        """A caller who may not list the whole bucket gets 403 for a key that is missing."""
        found = s3.list_objects_v2(Bucket=self._given["bucket"], Prefix=key, MaxKeys=1).get("Contents", ())
        return any(each["Key"] == key for each in found)


def _error(s3: Any) -> Any:
    return s3.exceptions.ClientError


def _code(error: Any) -> str:
    code: str = error.response["Error"]["Code"]
    return code
