"""Reads whole objects of S3, and erases all objects under a prefix."""

from typing import NamedTuple

from shared.adapters.aws.clients import Service
from shared.adapters.aws.errors import translated
from shared.domain.errors import StoreUnavailable


class StoredObject(NamedTuple):
    """`encoding`: the object's Content-Encoding; empty: none."""

    body: bytes
    encoding: str


def read_object(s3: Service, bucket: str, key: str) -> StoredObject:
    """Reads an object. Raises AwsRefused with the code NoSuchKey, StoreThrottled, and StoreUnavailable, also where the
    body breaks off.
    """
    answer = s3.call("get_object", Bucket=bucket, Key=key)
    try:
        body: bytes = answer["Body"].read()
    except Exception as error:
        reaction = translated("get_object", error)
        if reaction is error:
            raise
        raise reaction from error
    return StoredObject(body, answer.get("ContentEncoding", ""))


def erase_prefix(s3: Service, bucket: str, prefix: str) -> None:
    """Erases all objects under a prefix, every version and delete marker of them, up to 1,000 with each request. In a
    bucket without versions an object is its only one. Raises StoreThrottled, StoreUnavailable.
    """
    while True:
        found = s3.call("list_object_versions", Bucket=bucket, Prefix=prefix)
        versions = [
            {"Key": each["Key"], "VersionId": each["VersionId"]}
            for each in (*found.get("Versions", ()), *found.get("DeleteMarkers", ()))
        ]
        if not versions:
            return
        answer = s3.call("delete_objects", Bucket=bucket, Delete={"Objects": versions, "Quiet": True})
        if answer.get("Errors"):
            raise StoreUnavailable(f"delete_objects: {answer['Errors'][0].get('Code', 'Unknown')}")
