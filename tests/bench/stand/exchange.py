"""One request of ours to AWS and its answer, as seen on the wire."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from acta.engine.audit.trail import RECORD
from acta.engine.log.beside import SEGMENT_PREFIX
from tests.bench.stand.capacity import WRITES, Capacity, capacity

_TARGET = {"DynamoDB_20120810": "dynamodb", "AWSStepFunctions": "states", "secretsmanager": "secretsmanager"}
_S3_OPERATIONS = {"GET": "GetObject", "PUT": "PutObject", "DELETE": "DeleteObject", "HEAD": "HeadObject"}


class Exchange(NamedTuple):
    """`sent` and `received`: bytes on the wire, headers included. `key`: a commit's key, an object's key.
    `sort_key`: of an item that is put alone.
    """

    service: str
    operation: str
    sent: int
    received: int
    status: int
    key: str = ""
    capacity: Capacity = Capacity()
    sort_key: str = ""

    @property
    def is_write(self) -> bool:
        return self.service == "dynamodb" and self.operation in WRITES

    @property
    def is_audit_put(self) -> bool:
        return self.operation == "PutItem" and self.sort_key.startswith(RECORD)

    @property
    def is_blob(self) -> bool:
        return self.service == "s3" and "sessions" in self.key.split("/")[:2]

    @property
    def is_segment(self) -> bool:
        """A segment of a conversation (ADR 58): one in 32 commits, so it is told apart from what each turn does."""
        return self.is_blob and self.key.rpartition("/")[2].startswith(SEGMENT_PREFIX)


def exchange(
    method: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes,
    status: int,
    answer: bytes,
    sent: int,
    received: int,
) -> Exchange:
    """`headers` by lower-case name."""
    prefix, _, operation = headers.get("x-amz-target", "").rpartition(".")
    if body.startswith(b"Action=AssumeRole"):
        return Exchange("sts", "AssumeRole", sent, received, status)
    if prefix not in _TARGET:
        _, _, key = path.partition("?")[0].lstrip("/").partition("/")  # behind the bucket's name
        operation = _S3_OPERATIONS.get(method, method) if key else "ListObjects"
        return Exchange("s3", operation, sent, received, status, key)
    service = _TARGET[prefix]
    if service != "dynamodb":
        return Exchange(service, operation, sent, received, status)
    request, reply = json.loads(body or b"{}"), json.loads(answer or b"{}")
    units = capacity(operation, request, reply)
    sort_key = str(request.get("Item", {}).get("sk", {}).get("S", ""))
    return Exchange(service, operation, sent, received, status, _commit_key(request), units, sort_key)


def _commit_key(request: Mapping[str, Any]) -> str:
    """Of the commit that is put, alone or first in a transaction."""
    puts = [request, *(each.get("Put", {}) for each in request.get("TransactItems", ()))]
    return next((str(put["Item"]["k"]["S"]) for put in puts if "k" in put.get("Item", {})), "")
