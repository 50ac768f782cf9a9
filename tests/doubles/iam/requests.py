"""What IAM is asked when a request of DynamoDB, S3 or Secrets Manager comes in: actions, resources, condition keys.

Source: Service Authorization Reference, "Amazon DynamoDB", "Amazon S3" and "AWS Secrets Manager". A request that is
not known here raises.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree

from tests.doubles.iam.policies import Ask, NotEvaluated

LEADING_KEYS = "dynamodb:LeadingKeys"
TABLES = "arn:aws:dynamodb:us-east-1:123456789012:table"
SECRETS = "arn:aws:secretsmanager:us-east-1:123456789012:secret"
BUCKETS = "arn:aws:s3:::"


class Signed(NamedTuple):
    """A request as it goes out. `headers` by lower-case name."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def access_key(self) -> str:
        found = re.search(r"Credential=([^/]+)/", self.headers["authorization"])
        assert found is not None
        return found[1]

    @property
    def service(self) -> str:
        found = re.search(r"Credential=[^/]+/\d+/[^/]+/(\w+)/", self.headers["authorization"])
        assert found is not None
        return found[1]


def asks(request: Signed) -> Iterator[Ask]:
    """All of these have to be allowed."""
    match request.service:
        case "dynamodb":
            return _dynamodb(request)
        case "secretsmanager":
            return _secretsmanager(request)
    return _s3(request)


def s3_object(request: Signed) -> tuple[str, str]:
    """The bucket and the key; empty: the request is about the bucket."""
    parts = urlsplit(request.url)
    host = (parts.hostname or "").split(".s3.")
    path = unquote(parts.path.lstrip("/"))
    if len(host) == 2:
        return host[0], path
    bucket, _, key = path.partition("/")
    return bucket, key


def _dynamodb(request: Signed) -> Iterator[Ask]:
    operation = request.headers["x-amz-target"].partition(".")[2]
    body = json.loads(request.body)
    match operation:
        case "GetItem" | "DeleteItem" | "UpdateItem":
            yield _on_items(operation, body["TableName"], [body["Key"]])
        case "PutItem":
            yield _on_items(operation, body["TableName"], [body["Item"]])
        case "Query":
            expression = re.match(r"(\w+) = (:\w+)", body["KeyConditionExpression"])
            assert expression is not None
            table = body["TableName"] + (f"/index/{body['IndexName']}" if "IndexName" in body else "")
            yield _ask(operation, table, [body["ExpressionAttributeValues"][expression[2]]["S"]])
        case "Scan":
            yield _ask(operation, body["TableName"], None)
        case "BatchGetItem":
            for table, wanted in body["RequestItems"].items():
                yield _on_items(operation, table, wanted["Keys"])
        case "BatchWriteItem":
            for table, writes in body["RequestItems"].items():
                changed = [
                    one.get("PutRequest", {}).get("Item") or one["DeleteRequest"]["Key"] for one in writes
                ]
                yield _on_items(operation, table, changed)
        case "TransactWriteItems":
            for ((kind, action),) in (one.items() for one in body["TransactItems"]):
                yield _on_items(f"{kind}Item", action["TableName"], [action.get("Item") or action["Key"]])
        case _:
            raise NotEvaluated(f"operation {operation}")


def _secretsmanager(request: Signed) -> Iterator[Ask]:
    operation = request.headers["x-amz-target"].partition(".")[2]
    body = json.loads(request.body)
    name = body["Name"] if operation == "CreateSecret" else body["SecretId"]
    yield Ask(f"secretsmanager:{operation}", f"{SECRETS}:{name}-AbCdEf")


def _on_items(operation: str, table: str, items: list[Any]) -> Ask:
    return _ask(operation, table, [item["pk"]["S"] for item in items])


def _ask(operation: str, table: str, keys: list[str] | None) -> Ask:
    context = {} if keys is None else {LEADING_KEYS: keys}
    return Ask(f"dynamodb:{operation}", f"{TABLES}/{table}", context)


def _s3(request: Signed) -> Iterator[Ask]:
    bucket, key = s3_object(request)
    query = parse_qs(urlsplit(request.url).query, keep_blank_values=True)
    if key:
        action = {"GET": "Get", "HEAD": "Get", "PUT": "Put", "DELETE": "Delete"}[request.method]
        yield Ask(f"s3:{action}Object", f"{BUCKETS}{bucket}/{key}")
    elif request.method == "POST" and "delete" in query:
        for one in ElementTree.fromstring(request.body).iter():
            if one.tag.rpartition("}")[2] == "Object":
                told = {part.tag.rpartition("}")[2]: part.text for part in one}
                action = "s3:DeleteObjectVersion" if "VersionId" in told else "s3:DeleteObject"
                yield Ask(action, f"{BUCKETS}{bucket}/{told['Key']}")
    elif request.method == "GET" and ("versions" in query or "list-type" in query):
        action = "s3:ListBucketVersions" if "versions" in query else "s3:ListBucket"
        context = {f"s3:{name}": query[name] for name in ("prefix", "delimiter") if name in query}
        yield Ask(action, f"{BUCKETS}{bucket}", context)
    else:
        raise NotEvaluated(f"{request.method} {request.url}")
