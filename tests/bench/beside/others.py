"""The others on the same work: each in its own process of `.venv-bench`, with what it asks of AWS counted on the wire.

Every turn is one reply of a played model and one read of a file from S3, as Acta's is. A run that ends before its last
turn is a figure too: which turn was the last, and what ended it.
"""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, NamedTuple

from infra.local.credentials import Credentials
from infra.local.toolchain import SetupFailed, make_side_environment
from infra.packaging.bundle import ROOT
from tests.bench.beside.bare_log import BareLog
from tests.bench.beside.bill import in_one_process, of_requests, per_turn
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
PACKAGES = ("langgraph", "langgraph-checkpoint-aws", "strands-agents")


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


Work = tuple[str, str, str, str]
"""Table, bucket, size, turns."""


class Aws(NamedTuple):
    """A local AWS with a counting proxy before it."""

    proxy: CountingProxy
    credentials: Credentials
    dynamodb: Any
    s3: Any
    dynamodb_counted: Any
    s3_counted: Any


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
    return {
        contender.name: {
            size: {str(turns): figures for turns, figures in _runs(aws, contender, size, counts)}
            for size in sizes
        }
        for contender in CONTENDERS
    }


def _runs(
    aws: Aws, contender: Contender, size: str, counts: Sequence[int]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Turns of the run, and its figures. One that ended before its end is made again with as many turns as can be
    stored, for the figures of a run that is whole; longer ones would end at the same turn.
    """
    lengths = [*counts, *(contender.until[size],)] if size in contender.until else counts
    for turns in lengths:
        work = _work(aws, contender, size, turns)
        outcome, passed = _run(aws, contender, work)
        if not outcome["ended_by"]:
            resumed = _resumed(aws, contender, work) if turns == counts[-1] else {}
            yield turns, _figures(passed, outcome) | resumed
            continue
        stored = int(_outcome(aws, contender, work, "resume")["turns"])
        ended = {"ended_by": outcome["ended_by"], "message": outcome["message"]}
        whole, passed = _run(aws, contender, _work(aws, contender, size, stored))
        while whole["ended_by"]:  # its last reply no longer fitted
            stored -= 1
            whole, passed = _run(aws, contender, _work(aws, contender, size, stored))
        yield stored, _figures(passed, whole) | ended
        return


def _work(aws: Aws, contender: Contender, size: str, turns: int) -> Work:
    table = f"{contender.name}-{size}-{turns}"
    aws.dynamodb.create_table(
        TableName=table, BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK")],
    )  # fmt: skip
    return table, BUCKET, size, str(turns)


def _run(aws: Aws, contender: Contender, work: Work) -> tuple[dict[str, Any], list[Exchange]]:
    """How it ended, and what was billed."""
    aws.proxy.take()
    outcome = _outcome(aws, contender, work, "run")
    return outcome, [each for each in aws.proxy.take() if _is_billed(each)]


def _is_billed(each: Exchange) -> bool:
    """DynamoDB bills no request that it finds invalid, as one with too large an item. No condition fails here."""
    return each.service != "dynamodb" or each.status == 200


def _resumed(aws: Aws, contender: Contender, work: Work) -> dict[str, float]:
    """What a process reads that takes the session up where the first one left it, once."""
    aws.proxy.take()
    _outcome(aws, contender, work, "resume")
    bill = of_requests(aws.proxy.take())
    return {
        "resume_requests": bill.requests,
        "resume_rru": bill.rru,
        "resume_s3_gets": bill.s3_gets,
        "resume_bytes_in": bill.bytes_in,
    }


def _outcome(aws: Aws, contender: Contender, work: Work, doing: str) -> dict[str, Any]:
    """What `outcome.told` printed. Raises Unavailable."""
    if not contender.worker:
        return _bare(aws, work, doing)
    credentials = aws.credentials.as_variables()
    done = subprocess.run(
        [str(PYTHON), "-P", "-B", str(HERE / contender.worker), aws.proxy.url, *work, contender.setting, doing],
        env={
            **RUNTIME, **credentials, "PATH": os.defpath, "AWS_ENDPOINT_URL": aws.proxy.url,
            "LANGSMITH_TRACING": "false",
        },
        capture_output=True, text=True, check=False, timeout=RUN_SECONDS,
    )  # fmt: skip
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["it ended with an error"])[-1]
        raise Unavailable(f"{contender.name}: {said}")
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def _bare(aws: Aws, work: Work, doing: str) -> dict[str, Any]:
    table, bucket, size, turns = work
    log = BareLog(aws.dynamodb_counted, aws.s3_counted, table, bucket, f"{size}-{turns}")
    if doing == "run":
        log.run(size, int(turns))
    elif log.read() != 2 * int(turns):
        raise Unavailable(f"{table}: not every commit of the bare log is there")
    return {"turns": int(turns), "ended_by": "", "message": "", "cpu_ms": 0.0}


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
