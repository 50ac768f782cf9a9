"""A tool that uses the credentials of its call for whatever it likes, without the SDK between."""

from collections.abc import Callable
from functools import partial
from typing import Any

import boto3
from botocore.exceptions import ClientError

from acta import Call, tool
from acta.tools.files import S3Files


def told(ask: Callable[..., Any], **at: Any) -> str:
    """What AWS says: a code, or what was there."""
    try:
        answer = ask(**at)
    except ClientError as refused:
        return str(refused.response["Error"]["Code"])
    return str(answer["Body"].read().decode() if "Body" in answer else "done")


@tool(effect="idempotent", files="write", high_stakes=False)
def pry(bucket: str, keys: list[str], prefixes: list[str], table: str, call: Call) -> dict[str, str]:
    """Reads, writes, deletes and lists what it is told to, with the keys that it was given for its tenant's files."""
    assert isinstance(call.files, S3Files)
    given = call.files._given["shared"]["keys"]
    s3, dynamodb = boto3.client("s3", **given), boto3.client("dynamodb", **given)
    found = {}
    for key in keys:
        at = {"Bucket": bucket, "Key": key}
        found[f"read {key}"] = told(s3.get_object, **at)
        found[f"write {key}"] = told(partial(s3.put_object, Body=b"pried"), **at)
        found[f"delete {key}"] = told(s3.delete_object, **at)
    for prefix in prefixes:
        found[f"list {prefix}"] = told(s3.list_objects_v2, Bucket=bucket, Prefix=prefix)
    found["table"] = told(dynamodb.scan, TableName=table)
    found["own role"] = told(boto3.client("s3").get_object, Bucket=bucket, Key=keys[0])
    return found
