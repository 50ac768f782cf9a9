"""Reads whole objects of S3, and erases all objects under a prefix.

S3 answers the read of a missing key with 404 only if the caller may list the whole bucket, and otherwise with 403. A
function may list only the keys it works with. So after a 403 the key is looked for in a listing. If the listing does
not have it, it is missing.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from acta.engine.aws.clients import Service
from acta.engine.aws.errors import AwsRefused, translated
from acta.engine.errors import AwsDenied, StoreUnavailable

MISSING = "NoSuchKey"
"""AWS's code for a key that is not there."""


class StoredObject(NamedTuple):
    """`encoding`: the object's Content-Encoding; empty: none."""

    body: bytes
    encoding: str


def read_object(s3: Service, bucket: str, key: str, version: str | None = None) -> StoredObject:
    """Reads an object, or an earlier version of it. Raises AwsRefused with the code NoSuchKey, StoreThrottled,
    AwsDenied, and StoreUnavailable, also where the body breaks off.
    """
    answer = _read(s3, "get_object", bucket, key, **({} if version is None else {"VersionId": version}))
    try:
        body: bytes = answer["Body"].read()
    except Exception as error:
        reaction = translated("get_object", error)
        if reaction is error:
            raise
        raise reaction from error
    return StoredObject(body, answer.get("ContentEncoding", ""))


def read_head(s3: Service, bucket: str, key: str) -> Mapping[str, Any]:
    """What S3 says of an object without its bytes: `ETag`, `Metadata`. Raises what `read_object` raises."""
    answer: Mapping[str, Any] = _read(s3, "head_object", bucket, key)
    return answer


def _read(s3: Service, operation: str, bucket: str, key: str, **more: str) -> Any:
    try:
        return s3.call(operation, Bucket=bucket, Key=key, **more)
    except AwsDenied:
        if _is_there(s3, bucket, key):
            raise
    except AwsRefused as refused:  # the answer to a HEAD has no body, so its code is its status
        if refused.code == "403":
            if _is_there(s3, bucket, key):
                raise AwsDenied(f"{operation}: 403") from None
        elif refused.code not in ("404", "NotFound", MISSING):
            raise
    raise AwsRefused(operation, MISSING)


def _is_there(s3: Service, bucket: str, key: str) -> bool:
    """Whether the key exists. It comes first in a listing of the keys that begin with it."""
    found = s3.call("list_objects_v2", Bucket=bucket, Prefix=key, MaxKeys=1).get("Contents", ())
    return any(each["Key"] == key for each in found)


def erase_prefix(s3: Service, bucket: str, prefix: str) -> int:
    """Erases all objects under a prefix, every version and delete marker of them, up to 1,000 with each request. In a
    bucket without versions, each object is its only version. Returns how many were erased. Raises StoreThrottled,
    StoreUnavailable."""
    erased = 0
    while True:
        found = s3.call("list_object_versions", Bucket=bucket, Prefix=prefix)
        versions = [
            {"Key": each["Key"], "VersionId": each["VersionId"]}
            for each in (*found.get("Versions", ()), *found.get("DeleteMarkers", ()))
        ]
        if not versions:
            return erased
        answer = s3.call("delete_objects", Bucket=bucket, Delete={"Objects": versions, "Quiet": True})
        if answer.get("Errors"):
            raise StoreUnavailable(f"delete_objects: {answer['Errors'][0].get('Code', 'Unknown')}")
        erased += len(versions)
