"""One run of a script on the stand, and what its turns cost."""

from collections.abc import Sequence
from typing import NamedTuple

from tests.bench import growth
from tests.bench.growth import Figures
from tests.bench.stand import history
from tests.bench.stand.exchange import Exchange
from tests.bench.stand.processes import lambda_cpu_ms
from tests.bench.stand.script import Reply
from tests.bench.stand.stand import RunFailed, Stand

NOTHING = history.TurnHistory(0, 0, 0, 0, 0, 0)


class Run(NamedTuple):
    """`turns`: the exchanges of each turn; `histories`: what it left in the engine; both without the ends.

    `model_bytes`: a request's body at the last turn. `process_ms`: CPU a turn of the deployed Lambdas' whole
    processes, over all turns, the first third and the last; nothing where the system does not tell. `executions`: of
    the engine, one after the other. `passed`, `engine`: of the whole session, from the request that starts it to its
    end.
    """

    session_id: str
    executions: int
    turns: Sequence[Sequence[Exchange]]
    histories: Sequence[history.TurnHistory]
    model_bytes: int
    process_ms: tuple[float, ...]
    passed: Sequence[Exchange] = ()
    engine: history.TurnHistory = NOTHING


def run(stand: Stand, replies: list[Reply]) -> Run:
    """Raises RunFailed."""
    last = len(replies) - 1
    ends = (3, 3 + (last - 3) // 3, last - (last - 3) // 3, last)
    marks: dict[int, float] = {}

    def mark(turn: int) -> None:
        if turn in ends and stand.stack.emulator is not None:
            marks[turn] = sum(lambda_cpu_ms(stand.stack.emulator.pid).values())

    arns = stand.run(replies, before=mark)
    passed = stand.proxy.take()
    turns = windows(passed)
    if len(turns) != last - 1:
        raise RunFailed(f"{last} turns left {len(turns)} windows")
    events = [event for arn in arns for event in history.events(stand.client("stepfunctions"), arn)]
    return Run(
        session_id=arns[0].rpartition(":")[2].partition("-")[0],
        executions=len(arns),
        turns=turns[:-1],
        histories=_between(history.turns(events)),
        model_bytes=stand.provider.sent[-2],
        process_ms=_rates(marks, ends) if marks.get(3, 0) > 0 and last > 5 else (),
        passed=passed,
        engine=history.whole(events)._replace(made=len(replies)),
    )


def _between(found: list[history.TurnHistory]) -> list[history.TurnHistory]:
    """Without the state that plans, and without the one that makes the turn after the plan's and no other."""
    return [states for states in found if states.first > found[0].first + 1]


def _rates(marks: dict[int, float], ends: tuple[int, int, int, int]) -> tuple[float, ...]:
    """A turn's share from the first mark to the last, in the first third between them and in the last."""
    first, third, two_thirds, last = ends
    pairs = ((first, last), (first, third), (two_thirds, last))
    return tuple((marks[end] - marks[start]) / (end - start) for start, end in pairs)


def windows(exchanges: Sequence[Exchange]) -> list[list[Exchange]]:
    """What passed after the commit of one Think up to and with the commit of the next.

    So a window is the first turn's calls, with whatever they read and write, and the second turn's reading and
    commit: one of each, as in any turn. What came before the first such commit (start, plan) is left out.
    """
    found: list[list[Exchange]] = []
    current: list[Exchange] | None = None
    for each in exchanges:
        if current is not None:
            current.append(each)
        if each.is_write and each.status == 200 and each.key.endswith("/think"):
            if current is not None:
                found.append(current)
            current = []
    return found


def figures(run: Run) -> Figures:
    """Means a turn, over all turns and over either end of the run."""
    between = run.histories or [run.engine]  # one state made all turns: the whole session then
    engine = [turn for states in between for turn in _engine(states)]
    names = ("_processes", growth.FIRST, growth.LAST)
    processes = {f"cpu_ms_deployed{name}": each for name, each in zip(names, run.process_ms, strict=False)}
    return {
        **costs(run.turns),
        **_mean(engine),
        "payload_bytes": max(states.payload for states in between),
        **growth.thirds([_dynamodb(turn) | _traffic(_without_segments(turn)) for turn in run.turns]),
        **growth.thirds(engine),
        "executions": run.executions,
        "model_request_bytes_last_turn": run.model_bytes,
        **processes,
    }


def costs(turns: Sequence[Sequence[Exchange]]) -> Figures:
    """Means a turn of what went over the wire."""
    dynamodb = [_dynamodb(turn) for turn in turns]
    most = {"wcu_most": max(each["wcu"] for each in dynamodb)}
    return _mean(dynamodb) | most | _mean([_traffic(turn) | _segments(turn) for turn in turns])


def compacts(turn: Sequence[Exchange]) -> bool:
    return any(each.is_write and each.key.endswith("/compact") for each in turn)


def _dynamodb(turn: Sequence[Exchange]) -> Figures:
    asked = [each for each in turn if each.service == "dynamodb"]
    writes = [each for each in asked if each.is_write]
    markers = [each for each in writes if each.key.startswith("att_")]
    thinks = [each for each in writes if each.key.endswith("/think")]
    calls = [each for each in writes if each not in (*thinks, *markers)]
    return {
        "dynamodb_requests": len(asked),
        "dynamodb_writes": len(writes),
        "dynamodb_reads": len(asked) - len(writes),
        "wcu": sum(each.capacity.wcu for each in writes),
        "rru": sum(each.capacity.rru for each in asked),
        "wcu_think": sum(each.capacity.wcu for each in thinks),
        "wcu_calls": sum(each.capacity.wcu for each in calls),
        "item_bytes_think": sum(each.capacity.item_bytes for each in thinks),
        "item_bytes_calls": sum(
            each.capacity.item_bytes for each in writes if each not in thinks and each not in markers
        ),
        "item_bytes_read": sum(each.capacity.item_bytes for each in asked if not each.is_write),
    }


def _traffic(turn: Sequence[Exchange]) -> Figures:
    objects = [each for each in turn if each.service == "s3"]
    blobs = [each for each in objects if each.is_blob]
    return {
        "bytes_out": sum(each.sent for each in turn),
        "bytes_in": sum(each.received for each in turn),
        "s3_requests": len(objects),
        "s3_blob_puts": sum(1 for each in blobs if each.operation == "PutObject" and not each.is_segment),
        "s3_blob_gets": sum(1 for each in blobs if each.operation == "GetObject"),
        "s3_file_requests": len(objects) - len(blobs),
        "sts_requests": sum(1 for each in turn if each.service == "sts"),
        "other_requests": sum(1 for each in turn if each.service not in ("dynamodb", "s3", "sts")),
    }


def _segments(turn: Sequence[Exchange]) -> Figures:
    puts = [each for each in turn if each.is_segment and each.operation == "PutObject"]
    return {"s3_segment_puts": len(puts), "segment_bytes_out": sum(each.sent for each in puts)}


def _without_segments(turn: Sequence[Exchange]) -> list[Exchange]:
    return [each for each in turn if not each.is_segment]


def _engine(states: history.TurnHistory) -> list[Figures]:
    """One row a turn: what the states took, shared among the turns that were made in them."""
    taken = {
        "transitions": states.transitions,
        "history_events": states.events,
        "payload_bytes": states.payload,
        "payload_bytes_all_states": states.payloads,
        "task_bytes_before_output": states.tasks,
        "lambda_invokes": states.lambda_invokes,
    }
    return [{name: value / states.made for name, value in taken.items()}] * states.made


def _mean(rows: Sequence[Figures]) -> Figures:
    return {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}
