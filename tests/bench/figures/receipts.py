"""The receipt of a session beside what was counted from outside: on the wire, and in the executions' histories."""

from collections.abc import Mapping, Sequence
from typing import Any

from shared.domain.spending.spent import Spent
from tests.bench.stand import history, script
from tests.bench.stand.exchange import Exchange
from tests.bench.stand.stand import TENANT, RunFailed, Stand
from tests.bench.table import columns, heading, number

TURNS = 20
FUSED = 8
"""`turns_per_step` of the environments that fuse."""
READS = frozenset(("GetObject", "HeadObject"))


def measure(stand: Stand) -> dict[str, Any]:
    stand.put_files(dict(script.note(size, turn) for size in ("2KB", "40KB") for turn in range(TURNS)))
    stand.put_files(dict(script.note("2KB", turn, place) for turn in range(TURNS) for place in range(3)))
    with stand.configured(("step",), ACTA_TURNS_PER_STEP=str(FUSED)):
        fused = _compared(stand, script.reading("2KB", TURNS))
    return {
        f"2KB, {FUSED} turns a step": fused,
        "2KB": _compared(stand, script.reading("2KB", TURNS)),
        "40KB": _compared(stand, script.reading("40KB", TURNS)),
        "3 reads": _compared(stand, script.reading("2KB", TURNS, 3)),
        "writes": _compared(stand, script.writing("2KB", TURNS, "receipts")),
    }


def _compared(stand: Stand, replies: list[script.Reply]) -> dict[str, Any]:
    arns = stand.run(replies)
    seen = _seen(stand, stand.proxy.take(), arns)
    session_id = arns[0].rpartition(":")[2].partition("-")[0]
    spent = stand.repository().newest(TENANT, session_id).head.spent
    if spent is None:
        raise RunFailed("the session has no receipt")
    told = _told(spent)
    return {name: {"receipt": told[name], "seen": seen[name]} for name in seen}


def _seen(stand: Stand, exchanges: Sequence[Exchange], arns: Sequence[str]) -> dict[str, float]:
    tables = [each for each in exchanges if each.service == "dynamodb"]
    objects = [each for each in exchanges if each.service == "s3"]
    events = [event for arn in arns for event in history.events(stand.client("stepfunctions"), arn)]
    tasks = [each["taskScheduledEventDetails"] for each in events if each["type"] == "TaskScheduled"]
    return {
        "DynamoDB reads": sum(not each.is_write for each in tables),
        "  read units": sum(each.capacity.rru for each in tables),
        "DynamoDB writes": sum(each.is_write for each in tables),
        "  write units": sum(each.capacity.wcu for each in tables),
        "S3 gets": sum(each.operation in READS for each in objects),
        "S3 puts": sum(each.operation not in READS for each in objects),
        "transitions": sum(each["type"].endswith("StateEntered") for each in events),
        "Lambda invocations": 1 + sum(each["resourceType"] == "lambda" for each in tasks),
    }


def _told(spent: Spent) -> dict[str, float]:
    stores = spent.stores
    return {
        "DynamoDB reads": stores.reads,
        "  read units": stores.half_rru / 2,
        "DynamoDB writes": stores.writes,
        "  write units": stores.wcu,
        "S3 gets": stores.gets,
        "S3 puts": stores.puts,
        "transitions": spent.transitions,
        "Lambda invocations": sum(each.invocations for each in spent.functions.values()),
    }


def report(found: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    heading(f"Receipts of sessions of {TURNS} turns: what they say / what was seen from outside")
    names = list(next(iter(found.values())))
    columns(list(found), [(name, [_cell(one[name]) for one in found.values()]) for name in names])


def _cell(pair: Mapping[str, float]) -> str:
    told, seen = pair["receipt"], pair["seen"]
    off = "" if told == seen else f" ({(told - seen) / seen:+.1%})" if seen else " (none seen)"
    return f"{number(told)} / {number(seen)}{off}"
