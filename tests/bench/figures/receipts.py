"""The estimate of AWS's bill in a receipt, beside what was counted from outside: on the wire, and in the histories of
the executions. They may be `MOST_OFF` apart, for sessions of several shapes, in units and in dollars.

Sizes are those of the table of uses: results of 2 KB. A session with results of 40 KB is shown and not judged.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import httpx

from acta.engine.usage.aws_estimate import AwsRates, AwsUse, priced, receipt_of
from acta.engine.usage.aws_prices import prices_in
from tests.bench.stand import history, script
from tests.bench.stand.exchange import Exchange
from tests.bench.stand.script import Call, Reply
from tests.bench.stand.stand import GOAL, TENANT, RunFailed, Stand, data_of
from tests.bench.table import columns, heading, number
from tests.e2e.support.behind import parking_after

MOST_OFF = 0.15
ALWAYS_NEAR = 2
"""Of units and requests: of so few, one more is no error."""
STRICT = ("Lambda GB-seconds", "USD")
TURNS = 20
FUSED = 8
"""`turns_per_step` of the environments that fuse."""
LENGTHS = (5, TURNS, 100)
QUESTIONS = 3
MODEL_SECONDS = 1.0
PARK_AFTER, PATIENCE = 2, 60.0
READS = frozenset(("GetObject", "HeadObject"))
RATES = AwsRates(prices_in("us-east-1"))
UNJUDGED = "results of 40 KB"
STEPS_DONE = tuple(
    Reply("", (Call("update_plan", {"action": "update_step", "step_number": number, "step_status": "completed",
                                    "step_result": "Done."}),))
    for number in range(1, len(script.PLAN["steps"]) + 1)
)  # fmt: skip


def measure(stand: Stand) -> dict[str, Any]:
    stand.put_files(dict(script.note(size, turn) for size in ("2KB", "40KB") for turn in range(max(LENGTHS))))
    stand.put_files(dict(script.note("2KB", turn, place) for turn in range(TURNS) for place in range(3)))
    _compared(stand, script.reading("2KB", 5))  # everything is warm from here on
    found = {f"{turns} reads": _compared(stand, script.reading("2KB", turns)) for turns in LENGTHS}
    found["no tools"] = _compared(stand, _without_tools())
    found["3 reads at once"] = _compared(stand, script.reading("2KB", TURNS, 3))
    found["writes"] = _compared(stand, script.writing("2KB", TURNS, "receipts"))
    found[UNJUDGED] = _compared(stand, script.reading("40KB", TURNS))
    with _parking_soon(stand):
        found["parked for people"] = _compared(stand, _asking(), questions=QUESTIONS)
    with stand.configured(("step",), ACTA_TURNS_PER_STEP=str(FUSED)):
        _compared(stand, script.reading("2KB", 5))
        for turns in LENGTHS:
            found[f"{turns} reads, {FUSED} turns a step"] = _compared(stand, script.reading("2KB", turns))
        found[f"no tools, {FUSED} turns a step"] = _compared(stand, _without_tools())
        with _parking_soon(stand):
            found[f"parked, {FUSED} turns a step"] = _compared(stand, _asking(), questions=QUESTIONS)
    return found


def _without_tools() -> list[Reply]:
    return [script.planned(), *STEPS_DONE, _end()]


def _asking() -> list[Reply]:
    reads = iter(script.reading("2KB", 2 * QUESTIONS)[1:-1])
    question = Reply(
        "Which one?", (Call("update_plan", {"action": "wait_for_user", "reason": "Which one?"}),)
    )
    blocks = [each for _ in range(QUESTIONS) for each in (Reply("Go on.", next(reads).calls), question)]
    return [script.planned(), *blocks, _end()]


def _end() -> Reply:
    return Reply("", (Call("update_plan", {"action": "fail", "reason": "The script ends here."}),))


@contextmanager
def _parking_soon(stand: Stand) -> Iterator[None]:
    states = stand.client("stepfunctions")
    deployed = states.describe_state_machine(stateMachineArn=stand.machine)["definition"]
    states.update_state_machine(stateMachineArn=stand.machine, definition=parking_after(PARK_AFTER, deployed))
    try:
        yield
    finally:
        states.update_state_machine(stateMachineArn=stand.machine, definition=deployed)


def _compared(stand: Stand, replies: list[Reply], *, questions: int = 0) -> dict[str, dict[str, float]]:
    stand.provider.play(replies, before=lambda turn: time.sleep(MODEL_SECONDS))
    stand.proxy.take()
    headers = {"Authorization": f"Bearer {stand.token('member')}"}
    with httpx.Client(base_url=stand.stack.url, headers=headers, timeout=60, trust_env=False) as api:
        began = time.monotonic()
        body = {"content": GOAL, "max_steps": len(replies) + 10, "token_budget": 100_000_000}
        session = data_of(api.post("/v1/sessions", json=body))["session_id"]
        api_ms = (time.monotonic() - began) * 1_000
        for _ in range(questions):
            _until(stand, session, lambda head: head.run.parked and head.interventions)
            (asked,) = stand.repository().newest(TENANT, session).head.interventions
            began = time.monotonic()
            path = f"/v1/sessions/{session}/interventions/{asked.intervention_id}/resolve"
            data_of(api.post(path, json={"option": "answer", "input": {"text": "The first."}}))
            api_ms += (time.monotonic() - began) * 1_000
    _until(stand, session, lambda head: head.is_over)
    arns = _until_ended(stand, session)
    stand.check_script_is_over()
    seen = used(stand, stand.proxy.take(), arns)
    seen = seen._replace(api_invocations=seen.api_invocations + 1 + questions, api_ms=seen.api_ms + api_ms)
    receipt = receipt_of(stand.repository().newest(TENANT, session).head, RATES)
    told, counted = figures_of(receipt.aws.use), figures_of(seen)
    return {name: {"receipt": told[name], "seen": counted[name]} for name in told}


def _until(stand: Stand, session: str, holds: Any) -> None:
    """Looks at the table itself, so that nothing of it is counted. Raises RunFailed."""
    deadline = time.monotonic() + PATIENCE + 3 * MODEL_SECONDS * max(LENGTHS)
    while not holds(stand.repository().newest(TENANT, session).head):
        if time.monotonic() > deadline:
            raise RunFailed("a session did not come to where it was to be measured")
        time.sleep(0.1)


def _until_ended(stand: Stand, session: str) -> list[str]:
    """The ARNs of its executions, once none of them runs."""
    states, deadline = stand.client("stepfunctions"), time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        pages = states.get_paginator("list_executions").paginate(stateMachineArn=stand.machine)
        mine = [each for page in pages for each in page["executions"] if each["name"].startswith(session)]
        if all(each["status"] != "RUNNING" for each in mine):
            return [each["executionArn"] for each in mine]
        time.sleep(0.1)
    raise RunFailed("an execution did not end")


def used(stand: Stand, exchanges: Sequence[Exchange], arns: Sequence[str]) -> AwsUse:
    tables = [each for each in exchanges if each.service == "dynamodb"]
    objects = [each for each in exchanges if each.service == "s3"]
    use = AwsUse(
        reads=sum(not each.is_write for each in tables),
        read_units=sum(each.capacity.rru for each in tables),
        writes=sum(each.is_write for each in tables),
        write_units=sum(each.capacity.wcu for each in tables),
        gets=sum(each.operation in READS for each in objects),
        puts=sum(each.operation not in READS for each in objects),
    )
    for arn in arns:
        use = use.plus(_engine(history.events(stand.client("stepfunctions"), arn)))
    return use


def _engine(events: Sequence[history.Event]) -> AwsUse:
    """Transitions, and the invocations with the time from their start to their answer. A function that keeps the token
    of a question answers at once.
    """
    use = AwsUse(transitions=sum(each["type"].endswith("StateEntered") for each in events))
    by_id = {each["id"]: each for each in events}
    for each in events:
        if each["type"] not in ("TaskSucceeded", "TaskSubmitted", "TaskFailed"):
            continue
        scheduled = each
        while scheduled["type"] != "TaskScheduled":
            scheduled = by_id[scheduled["previousEventId"]]
        details = scheduled["taskScheduledEventDetails"]
        if details["resourceType"] != "lambda":
            continue
        if each["type"] != "TaskSubmitted" and details["resource"].endswith("waitForTaskToken"):
            continue
        name = next(
            one for one in ("step", "tool", "intervene", "") if f"acta-local-{one}" in details["parameters"]
        )
        kind = name if name in ("step", "tool") else "api"
        ms = (each["timestamp"] - scheduled["timestamp"]).total_seconds() * 1_000
        use = use.plus(AwsUse(**{f"{kind}_invocations": 1, f"{kind}_ms": ms}))
    return use


def figures_of(use: AwsUse) -> dict[str, float]:
    dollars = priced(use, RATES)
    return {
        "DynamoDB reads": use.reads,
        "  read units": use.read_units,
        "DynamoDB writes": use.writes,
        "  write units": use.write_units,
        "S3 gets": use.gets,
        "S3 puts": use.puts,
        "transitions": use.transitions,
        "Lambda invocations": use.invocations,
        "Lambda GB-seconds": dollars.gb_seconds,
        "USD, Step Functions": dollars.step_functions_usd or 0.0,
        "USD, Lambda": dollars.lambda_usd or 0.0,
        "USD, DynamoDB": dollars.dynamodb_usd or 0.0,
        "USD, S3": dollars.s3_usd or 0.0,
        "USD": dollars.usd or 0.0,
    }


def off(found: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[str]:
    """What is further from what was seen than it may be."""
    return [
        f"{shape}: {name.strip()}, estimated {_amount(name, one['receipt'])}, seen {_amount(name, one['seen'])}"
        for shape, figures in found.items()
        if shape != UNJUDGED
        for name, one in figures.items()
        if not is_near(name, one["receipt"], one["seen"])
    ]


def is_near(name: str, told: float, seen: float) -> bool:
    apart = abs(told - seen)
    return apart <= MOST_OFF * seen or (apart <= ALWAYS_NEAR and name not in STRICT)


def report(found: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    heading("Receipts: what they estimate / what was seen from outside")
    names = list(next(iter(found.values())))
    shapes = list(found)
    for part in (shapes[: len(shapes) // 2], shapes[len(shapes) // 2 :]):
        columns(part, [(name, [_cell(name, found[shape][name]) for shape in part]) for name in names])
    far = off(found)
    print(f"More than {MOST_OFF:.0%} apart: {'; '.join(far) or 'nothing'}.")


def _cell(name: str, pair: Mapping[str, float]) -> str:
    told, seen = pair["receipt"], pair["seen"]
    apart = "" if told == seen else f" ({(told - seen) / seen:+.1%})" if seen else " (none seen)"
    return f"{_amount(name, told)} / {_amount(name, seen)}{apart}"


def _amount(name: str, value: float) -> str:
    return f"{value:.6f}" if name.startswith("USD") else number(value)
