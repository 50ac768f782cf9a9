"""What users would pick instead, on the same work: measured where that is cheap, else as it was once measured."""

import os
import subprocess
from collections.abc import Sequence

from infra.local.toolchain import SetupFailed, make_side_environment
from infra.packaging.bundle import ROOT
from tests.bench.stand.exchange import Exchange
from tests.bench.stand.stand import RUNTIME, Stand

ITEM_LIMIT = 409_600
"""Bytes: DynamoDB refuses a larger item."""

GIVEN: dict[str, dict[str, float]] = {
    "floor_of_a_log": {"dynamodb_writes": 2, "wcu": 4},
    "langgraph_dynamodb_saver": {
        "dynamodb_requests": 12,
        "wcu_at_20_turns": 81,
        "wcu_at_100_turns": 325,
        "dead_at_turn_2KB": 129,
        "dead_at_turn_40KB": 9,
    },
    "step_functions_agent_messages_in_state": {"transitions": 7, "dead_at_turn": 92},
    "strands_s3_session_manager": {"s3_requests": 4},
}
"""Measured beforehand on this same work; not repeated here."""

Rows = dict[str, dict[str, float]]


class Unavailable(RuntimeError):
    """The comparison cannot be run here; the message says why in a line."""


def langgraph(stand: Stand, counts: Sequence[int]) -> Rows:
    """`{size}/{turns}` -> figures of LangGraph with its DynamoDB saver. Raises Unavailable."""
    try:
        make_side_environment("bench", "Python environment of the systems compared with")
    except SetupFailed as failed:
        raise Unavailable(str(failed).splitlines()[0]) from None
    rows = {f"2KB/{turns}": _langgraph(stand, "2KB", turns) for turns in counts}
    return rows | {"40KB/5": _langgraph(stand, "40KB", 5)}


def _langgraph(stand: Stand, size: str, turns: int) -> dict[str, float]:
    table = f"langgraph-{size}-{turns}"
    stand.client("dynamodb").create_table(
        TableName=table,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK")],
    )
    stand.proxy.take()
    done = subprocess.run(
        [
            str(ROOT / ".venv-bench/bin/python"), "-P", "-B", str(ROOT / "tests/bench/figures/langgraph_worker.py"),
            stand.proxy.url, table, size, str(turns),
        ],
        env={**RUNTIME, **stand.stack.credentials.as_variables(), "PATH": os.defpath, "LANGSMITH_TRACING": "false"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise Unavailable((done.stderr.strip().splitlines() or ["it ended with an error"])[-1])
    return _figures(stand.proxy.take(), turns)


def _figures(passed: Sequence[Exchange], turns: int) -> dict[str, float]:
    """Means over the run, and over its last fifth."""
    writes = [each for each in passed if each.is_write]
    last = writes[-len(writes) // 5 :]
    largest = max(each.capacity.item_bytes for each in writes)
    return {
        "dynamodb_requests": len(passed) / turns,
        "dynamodb_writes": len(writes) / turns,
        "wcu": sum(each.capacity.wcu for each in writes) / turns,
        "wcu_last_fifth": sum(each.capacity.wcu for each in last) / (turns / 5),
        "bytes_out": sum(each.sent for each in passed) / turns,
        "largest_item_bytes": largest,
        "dead_at_turn": ITEM_LIMIT * turns // largest,
    }
