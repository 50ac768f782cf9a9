"""Where a backup is: a folder of this machine, or a prefix of a bucket. Both hold parts, with names like paths."""

import os
from pathlib import Path
from typing import Any, Protocol

from acta_engine.aws.clients import Service
from acta_engine.aws.errors import AwsRefused
from acta_engine.store.objects import MISSING, read_object

BUCKET_SCHEME = "s3://"


class PartMissing(Exception):
    """The backup has no part of that name."""


class Place(Protocol):
    def read(self, name: str) -> bytes:
        """Raises PartMissing."""

    def write(self, name: str, data: bytes) -> None:
        """Whole, or not at all. What was there under the name is replaced."""

    def has(self, name: str) -> bool: ...


class Folder:
    """Only its owner can read it: a backup has what people and agents said."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, name: str) -> bytes:
        try:
            return (self._path / name).read_bytes()
        except FileNotFoundError:
            raise PartMissing(name) from None

    def write(self, name: str, data: bytes) -> None:
        part = self._path / name
        part.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = part.with_name(f"{part.name}.new")
        draft.unlink(missing_ok=True)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, part)

    def has(self, name: str) -> bool:
        return (self._path / name).exists()


class Bucket:
    """`prefix`: of the keys, without a slash at its end."""

    def __init__(self, s3: Any, bucket: str, prefix: str) -> None:
        self._s3 = Service("s3", s3)
        self._bucket = bucket
        self._prefix = f"{prefix}/" if prefix else ""

    def read(self, name: str) -> bytes:
        try:
            return read_object(self._s3, self._bucket, self._prefix + name).body
        except AwsRefused as refused:
            if refused.code != MISSING:
                raise
            raise PartMissing(name) from None

    def write(self, name: str, data: bytes) -> None:
        self._s3.call("put_object", Bucket=self._bucket, Key=self._prefix + name, Body=data)

    def has(self, name: str) -> bool:
        key = self._prefix + name
        found = self._s3.call("list_objects_v2", Bucket=self._bucket, Prefix=key, MaxKeys=1)
        return any(each["Key"] == key for each in found.get("Contents", ()))


def place_of(where: str, s3: Any) -> Place:
    """`where`: a folder, or `s3://bucket/prefix`. Raises ValueError where it names no bucket."""
    if not where.startswith(BUCKET_SCHEME):
        return Folder(Path(where))
    bucket, _, prefix = where.removeprefix(BUCKET_SCHEME).partition("/")
    if not bucket:
        raise ValueError("a place in S3 is s3://bucket/prefix")
    return Bucket(s3, bucket, prefix.rstrip("/"))
