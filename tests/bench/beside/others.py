"""The others on the same work: each in its own process of `.venv-bench`, with what it asks of AWS counted on the wire.

Every turn is one reply of a played model and one read of a file from S3, as Acta's is. A run that ends before its last
turn is a figure too: which turn was the last, and what ended it.
"""

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from importlib.metadata import distributions
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, NamedTuple, Self

from acta.infra.packaging.bundle import ROOT
from acta.infra.toolchain import SetupFailed, make_side_environment
from acta.local_aws.credentials import Credentials
from tests.bench.beside.bare_log import BareLog
from tests.bench.beside.bill import in_one_process, of_requests, per_turn
from tests.bench.beside.outcome import RESUME, RUN, Asked
from tests.bench.stand.exchange import Exchange
from tests.bench.stand.proxy import CountingProxy
from tests.bench.stand.script import note
from tests.bench.stand.stand import RUNTIME

ITEM_LIMIT = 409_600
"""Bytes: DynamoDB refuses a larger item."""
BUCKET = "beside"
PYTHON = ROOT / ".venv-bench/bin/python"
HERE = Path(__file__).parent
RUN_SECONDS = 300.0
PACKAGES = ("deepagents", "langgraph", "langgraph-checkpoint-aws", "strands-agents")


class Unavailable(RuntimeError):
    """The comparison cannot be run here; the message says why in a line."""


class Contender(NamedTuple):
    """`name`: as a reader of the tables sees it. `worker`: a module's file beside this one; empty: `BareLog`.
    `until`: by size, the turns of one more run, in which it comes to its end.
    """

    name: str
    worker: str
    setting: str
    settings: str
    until: Mapping[str, int] = {}


CONTENDERS = (
    Contender("floor", "", "", "two conditional puts a turn, packed by zlib; a text above 8 KB as an S3 object"),
    Contender("strands", "strands_worker.py", "messages", "S3SessionManager, its defaults"),
    Contender(
        "strands_snapshots", "strands_worker.py", "snapshots",
        "SnapshotSessionManager on S3Storage, save_latest_on='message' (default: after the invocation)",
    ),
    Contender("langgraph", "langgraph_worker.py", "default", "DynamoDBSaver, its defaults", {"2KB": 200}),
    Contender(
        "langgraph_packed", "langgraph_worker.py", "packed",
        "DynamoDBSaver with enable_checkpoint_compression and s3_offload_config (defaults: neither)",
    ),
    Contender(
        "langgraph_delta", "langgraph_worker.py", "delta",
        "the same, and the messages in a DeltaChannel (beta; default: add_messages)",
    ),
)  # fmt: skip


class Aws(NamedTuple):
    """A local AWS with a counting proxy before it."""

    proxy: CountingProxy
    credentials: Credentials
    dynamodb: Any
    s3: Any
    dynamodb_counted: Any
    s3_counted: Any


class Worker:
    """A process of `.venv-bench`, which does one thing after the other. `worker`: its file beside this one."""

    def __init__(
        self, worker: str, *arguments: str, environ: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._name = " ".join([worker, *arguments])
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed on exit; a pipe would be full at some time
        self._process = subprocess.Popen(
            [str(PYTHON), "-P", "-B", str(HERE / worker), *arguments],
            env={**RUNTIME, "PATH": os.defpath, "LANGSMITH_TRACING": "false", **environ},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, text=True,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()
        self._said.close()

    def ask(self, asked: Any) -> Any:
        """What it tells on a line, as JSON. Raises Unavailable."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        late = threading.Timer(RUN_SECONDS, self._process.kill)
        late.start()
        try:
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            late.cancel()
        if not line:
            self._process.wait()
            self._said.seek(0)
            said = self._said.read().strip().splitlines() or ["it took too long"]
            raise Unavailable(f"{self._name}: {said[-1]}")
        return json.loads(line)


class Bare:
    """The bare log, in this process."""

    def __init__(self, aws: Aws) -> None:
        self._aws = aws

    def ask(self, asked: Asked) -> dict[str, Any]:
        log = BareLog(
            self._aws.dynamodb_counted, self._aws.s3_counted, asked.table, asked.bucket, asked.session
        )
        if asked.doing == RUN:
            log.run(asked.size, asked.turns)
        elif log.read() != 2 * asked.turns:
            raise Unavailable(f"{asked.table}: not every commit of the bare log is there")
        return {"turns": asked.turns, "ended_by": "", "message": "", "cpu_ms": 0.0}


def versions() -> dict[str, str]:
    """Of what is compared; raises Unavailable where it cannot be installed."""
    try:
        make_side_environment("bench", "Python environment of the systems compared with")
    except SetupFailed as failed:
        raise Unavailable(str(failed).splitlines()[0]) from None
    places = [str(path) for path in ROOT.glob(".venv-bench/lib/python*/site-packages")]
    return {
        found.metadata["Name"]: found.version
        for found in distributions(path=places)
        if found.metadata["Name"] in PACKAGES
    }


def measure(aws: Aws, sizes: Sequence[str], counts: Sequence[int]) -> dict[str, Any]:
    """Contender -> size -> turns -> figures of a turn. Raises Unavailable."""
    longest = max(*counts, *(turns for one in CONTENDERS for turns in one.until.values()))
    aws.s3.create_bucket(Bucket=BUCKET)
    for size in sizes:
        for turn in range(longest):
            path, text = note(size, turn)
            aws.s3.put_object(Bucket=BUCKET, Key=path, Body=text.encode())
    found: dict[str, Any] = {}
    for contender in CONTENDERS:
        with _worker(aws, contender) if contender.worker else nullcontext(Bare(aws)) as worker:
            found[contender.name] = {
                size: {str(turns): row for turns, row in _runs(aws, contender, worker, size, counts)}
                for size in sizes
            }
    return found


def _worker(aws: Aws, contender: Contender) -> Worker:
    environ = {**aws.credentials.as_variables(), "AWS_ENDPOINT_URL": aws.proxy.url}
    return Worker(contender.worker, aws.proxy.url, contender.setting, environ=environ)


def _runs(
    aws: Aws, contender: Contender, worker: Worker | Bare, size: str, counts: Sequence[int]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Turns of the run, and its figures. One that ended before its end is made again with as many turns as can be
    stored, for the figures of a run that is whole; longer ones would end at the same turn.
    """

    def asked(turns: int) -> Asked:
        table = f"{contender.name}-{size}-{turns}"
        _make_table(aws, table)
        return Asked(table, BUCKET, size, turns, RUN)

    lengths = [*counts, contender.until[size]] if size in contender.until else counts
    for turns in lengths:
        work = asked(turns)
        outcome, passed = _run(aws, worker, work)
        if not outcome["ended_by"]:
            resumed = _resumed(aws, worker, work) if turns == counts[-1] else {}
            yield turns, _figures(passed, outcome) | resumed
            continue
        stored = int(worker.ask(work._replace(doing=RESUME))["turns"])
        ended = {"ended_by": outcome["ended_by"], "message": outcome["message"]}
        whole, passed = _run(aws, worker, asked(stored))
        while whole["ended_by"]:  # its last reply no longer fitted
            stored -= 1
            whole, passed = _run(aws, worker, asked(stored))
        yield stored, _figures(passed, whole) | ended
        return


def _make_table(aws: Aws, table: str) -> None:
    aws.dynamodb.create_table(
        TableName=table, BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK")],
    )  # fmt: skip


def _run(aws: Aws, worker: Worker | Bare, asked: Asked) -> tuple[dict[str, Any], list[Exchange]]:
    """How it ended, and what was billed."""
    aws.proxy.take()
    outcome = worker.ask(asked)
    return outcome, [each for each in aws.proxy.take() if _is_billed(each)]


def _is_billed(each: Exchange) -> bool:
    """DynamoDB bills no request that it finds invalid, as one with too large an item. No condition fails here."""
    return each.service != "dynamodb" or each.status == 200


def _resumed(aws: Aws, worker: Worker | Bare, asked: Asked) -> dict[str, float]:
    """What is read where the session is taken up at its end, once."""
    aws.proxy.take()
    worker.ask(asked._replace(doing=RESUME))
    bill = of_requests(aws.proxy.take())
    return {
        "resume_requests": bill.requests,
        "resume_rru": bill.rru,
        "resume_s3_gets": bill.s3_gets,
        "resume_bytes_in": bill.bytes_in,
    }


def _figures(passed: Sequence[Exchange], outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Of a turn; and the largest item and object of the run, in bytes."""
    turns = outcome["turns"]
    items = [each.capacity.item_bytes for each in passed if each.is_write]
    objects = [each.sent for each in passed if each.service == "s3" and each.operation == "PutObject"]
    return {
        **per_turn(in_one_process(passed, turns), turns),
        "turns_done": turns,
        "largest_item_bytes": max(items, default=0),
        "largest_object_bytes": max(objects, default=0),
        "cpu_ms": outcome["cpu_ms"] / turns,
    }
