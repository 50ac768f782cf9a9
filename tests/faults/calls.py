"""Names for outgoing calls that are the same in every run of the scenario.

A name is the function, the service's operation, what it is about, and which of its kind in the run it is. Ids in it
would differ from run to run, and so would raw order where calls of the model run side by side.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tests.faults.processes import Worker

AWS, MODEL, SINK, LAMBDA, OTLP = "aws", "model", "sink", "lambda", "otlp"
"""LAMBDA: the Lambda service, as the state machine asks it for an invocation."""
INDEX = "index"
ASSUME_ROLE = "AssumeRole"
RUN_TAG = re.compile(rb"flt-[0-9a-f]{12}")
"""Every run has a tenant of this form, which is in nearly all that is said on its behalf."""
_ID = re.compile(r"[a-z]{2,4}_[0-9A-HJKMNP-TV-Z]{26}")
_SERVICES = {
    "DynamoDB_20120810": "dynamodb",
    "AWSStepFunctions": "states",
    "secretsmanager": "secrets",
    "AmazonSQS": "sqs",
}
_S3 = {"GET": "GetObject", "PUT": "PutObject", "POST": "DeleteObjects", "HEAD": "HeadObject"}
_RESPONSES = {"POST": "create", "GET": "look", "DELETE": "forget"}
_READS = frozenset(("Query", "GetItem", "BatchGetItem", "Scan", "GetObject", "HeadObject", "ListObjectsV2",
                    "DescribeExecution", "GetSecretValue", "ListExecutions", ASSUME_ROLE))  # fmt: skip


class Request(NamedTuple):
    """As it arrived: `at` is who was asked, `headers` by lower-case name."""

    at: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    worker: Worker | None
    is_given_up: Callable[[], bool] = lambda: False
    """Whether its caller has gone."""

    @property
    def is_for_sts(self) -> bool:
        """The one service of Acta's whose requests are forms."""
        return self.at == AWS and self.body.startswith(f"Action={ASSUME_ROLE}".encode())

    @property
    def tag(self) -> str | None:
        found = RUN_TAG.search(self.path.encode()) or RUN_TAG.search(self.body)
        return found[0].decode() if found else None


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class Subject(NamedTuple):
    """`what`: the operation's object, without ids. `same`: equal for repetitions of one write, else empty."""

    operation: str
    what: str
    same: str = ""

    @property
    def is_write(self) -> bool:
        return self.operation.partition(":")[2] not in _READS


class Call(NamedTuple):
    function: str
    subject: Subject
    nth: int

    @property
    def name(self) -> str:
        return f"{self.function} {self.subject.operation} {self.subject.what} {self.nth}"

    @property
    def group(self) -> tuple[str, str]:
        return self.function, self.subject.operation


class Listing:
    """The calls of one run. What follows from a lost race for a commit number is not listed: which of two calls that
    run side by side loses is chance, and how often. `unlisted`: how many those are, by function and operation.
    """

    def __init__(self) -> None:
        self.calls: dict[str, Call] = {}
        self.unlisted: Counter[tuple[str, str]] = Counter()
        self._seen: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        self._contending: set[int] = set()

    def name(self, worker: Worker, subject: Subject) -> Call | None:
        seen = self._seen[worker.function, subject.operation, subject.what]
        if subject.same and subject.same in seen:
            return Call(worker.function, subject, seen.index(subject.same) + 1)
        if worker.pid in self._contending and not subject.is_write:
            self.unlisted[worker.function, subject.operation] += 1
            return None
        seen.append(subject.same)
        call = Call(worker.function, subject, len(seen))
        self.calls[call.name] = call
        return call

    def answered(self, worker: Worker, subject: Subject, answer: Answer) -> None:
        if not subject.is_write:
            return
        if is_lost_race(answer):
            self._contending.add(worker.pid)
        else:
            self._contending.discard(worker.pid)


def is_lost_race(answer: Answer) -> bool:
    return answer.status == 400 and (
        b"ConditionalCheckFailed" in answer.body or b"TransactionConflict" in answer.body
    )


def subject_of(request: Request) -> Subject:
    if request.at == MODEL and "/responses" in request.path:
        is_cancel = request.path.endswith("/cancel")
        return Subject("model:Responses", "cancel" if is_cancel else _RESPONSES[request.method])
    if request.at == MODEL:
        place = _replies(json.loads(request.body or b"{}"))
        return Subject("model:Messages", "reply", f"after {place}")
    if request.at == OTLP:
        return Subject("otlp:POST", "spans")
    if request.at == LAMBDA:
        return _invocation(json.loads(request.body)["event"])
    if request.at == SINK:
        tool = request.path.rpartition("/")[2]
        return Subject(f"sink:{request.method}", tool, request.headers.get("idempotency-key", ""))
    if request.is_for_sts:  # how many processes ask for a tenant's keys is chance, so all have one name
        return Subject(f"sts:{ASSUME_ROLE}", "tenant", "tenant")
    if is_invocation(request):
        call = json.loads(request.body)
        return Subject("lambda:Invoke", str(call.get("tool", "")), str(call.get("effect_id", "")))
    prefix, _, operation = request.headers.get("x-amz-target", "").rpartition(".")
    service = _SERVICES.get(prefix)
    if service is None:
        key = request.path.partition("?")[0].lstrip("/").partition("/")[2]
        named = _S3.get(request.method, request.method) if key else "ListObjectsV2"
        return Subject(f"s3:{named}", key.partition("/")[0] or "bucket", key if named == "PutObject" else "")
    body = json.loads(request.body or b"{}")
    if service == "dynamodb":
        return _dynamodb(operation, body)
    if service == "sqs":
        return Subject(f"sqs:{operation}", "queue")
    if service == "secrets":
        return Subject(f"secrets:{operation}", "key")
    return Subject(f"{service}:{operation}", "token" if "Task" in operation else "execution")


def is_invocation(request: Request) -> bool:
    """Of a tool's function, by a Lambda. It is no read, whatever the tool is: one that died is asked for again."""
    return request.at == AWS and request.path.partition("?")[0].endswith("/invocations")


def _invocation(event: Mapping[str, Any]) -> Subject:
    """By the turn and the call that it is about: one that is tried again keeps its name."""
    at = event.get("at", {})
    turn = f"{at.get('generation')}/{at.get('turn')}/{event.get('call_id', '')}"
    return Subject("lambda:Invoke", str(event.get("op", "")), turn)


def _replies(body: Mapping[str, Any]) -> int:
    return sum(1 for message in body.get("messages", ()) if message.get("role") == "assistant")


def _dynamodb(operation: str, body: Mapping[str, Any]) -> Subject:
    named = f"dynamodb:{operation}"
    if operation == "Query":
        values = body["ExpressionAttributeValues"]
        if "IndexName" in body:
            kind = values.get(":live", {}).get("S", "").partition("#")[0]
            return Subject(named, f"{INDEX} {body['IndexName']} {kind}".rstrip())
        pk = _ID.sub("", values[":pk"]["S"])
        sort = [str(each.get("S", "")) for name, each in sorted(values.items()) if name != ":pk"]
        newest = "newest" if body.get("ScanIndexForward") is False else "from"
        return Subject(named, f"{'log' if pk.endswith('#S#') else 'tenant'} {newest} {_kind(sort)}")
    if "Key" in body:
        return Subject(named, _letter(body["Key"]["sk"]["S"]))
    puts = [body, *(action.get("Put", {}) for action in body.get("TransactItems", ()))]
    items = [put["Item"] for put in puts if "Item" in put]
    if items and items[0]["sk"]["S"] == "A":
        return Subject(named, "marker", items[0]["k"]["S"])
    commit = next((item["k"]["S"] for item in items if "k" in item), None)
    if commit is not None:
        return Subject(named, _commit(commit), commit)
    kinds = "+".join(_letter(item["sk"]["S"]) for item in items)
    return Subject(named, kinds, "+".join(item["sk"]["S"] for item in items))


def _commit(key: str) -> str:
    """`run/1/3/think` is `think`, `run/call/finish` is `finish`, `resolve/int/msg` is `resolve`."""
    parts = [part for part in key.split("/") if not _ID.fullmatch(part) and not part.isdigit()]
    return re.sub(r"-[0-9a-f]{16}$", "", parts[-1]) if parts else "commit"


def _letter(sort_key: str) -> str:
    return sort_key.partition("#")[0] + "#"


def _kind(values: list[str]) -> str:
    kinds = [each.partition("#")[0] for each in values if "#" in each]
    return (kinds[0] if kinds else "") + "#"
