"""Reads whole objects of S3, and deletes all objects under a prefix."""

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


def delete_prefix(s3: Service, bucket: str, prefix: str) -> None:
    """Deletes all objects under a prefix, up to 1,000 with each request. Raises StoreThrottled, StoreUnavailable."""
    while True:
        found = s3.call("list_objects_v2", Bucket=bucket, Prefix=prefix).get("Contents", [])
        if not found:
            return
        keys = [{"Key": each["Key"]} for each in found]
        answer = s3.call("delete_objects", Bucket=bucket, Delete={"Objects": keys, "Quiet": True})
        if answer.get("Errors"):
            raise StoreUnavailable(f"delete_objects: {answer['Errors'][0].get('Code', 'Unknown')}")
