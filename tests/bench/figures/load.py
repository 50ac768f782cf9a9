"""Many sessions at once on the local AWS, with one tenant that floods it: who waits how long, whether each session ends
as it should, what it does beside the same session alone, and what a scan of recovery costs with a full index.

Asked for by name: `make load`; `LOAD_FLOOD`, `LOAD_FEW` and `LOAD_INDEX` make it smaller. `LOAD_REQUESTS` names what
the provider takes a minute, so that sessions queue (ADR 106); without it the workers are the limit. The sessions of the
index are made by the product's own code in memory, and their newest commits with their entries are written to the
store: starting ten thousand over HTTP would take hours here. They never ran on this engine.
"""

import json
import os
import re
import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import httpx

from acta.engine.app import App
from acta.engine.aws.step_functions import StepFunctionsWorkflow
from acta.engine.clock import SystemClock
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.dynamodb_index import DynamoIndex
from acta.engine.log.store import TransactionItems
from acta.engine.recovery.sweep import SweepDeps, Unreadable, sweep
from acta.engine.settings import Settings
from acta.engine.store.table_layout import LISTING, item_listing
from acta.infra.local.config import PROVIDER_LIMITS
from acta.infra.local.deploy import DeployProgress
from tests.bench.figures.latency import percentile
from tests.bench.stand.provider import ScriptedProvider
from tests.bench.stand.script import Call, Reply, note
from tests.bench.stand.stand import Stand, data_of
from tests.bench.table import columns, heading, number
from tests.in_process.scripted import ScriptedModel
from tests.recovery.test_parking import waited_for_long
from tests.runs.fragile import ASKS, FragileHouse
from tests.stores import in_memory

WORKERS = 40
FLOOD, FEW = "flood", "few"
SESSIONS: Mapping[str, int] = {
    FLOOD: int(os.environ.get("LOAD_FLOOD", "480")),
    FEW: int(os.environ.get("LOAD_FEW", "20")),
}
IN_INDEX = int(os.environ.get("LOAD_INDEX", "10000"))
PARKED = IN_INDEX // 5
REQUESTS = int(os.environ.get("LOAD_REQUESTS", "0"))
MODEL_SECONDS = 2.0
PATIENCE_SECONDS = 300.0 + 2 * sum(SESSIONS.values())
AHEAD = 4
"""The few are started when one in so many of the flood are."""
LOOK_SECONDS = 3.0
CALLERS = 8
PLAN = {"action": "create", "goal": "Read", "steps": [{"description": "Read it"}]}
COMPLETE = {"action": "complete", "reason": "Read."}
DONE = {"action": "update_step", "step_number": 1, "step_status": "completed", "step_result": "Read."}
SCRIPT = (
    Reply("", (Call("update_plan", PLAN),)),
    Reply("", (Call("read_file", {"path": note("2KB", 0)[0]}),)),
    Reply("GOAL_COMPLETE\nRead.", (Call("update_plan", DONE), Call("update_plan", COMPLETE))),
)


class SlowProvider(ScriptedProvider):
    """Any number of sessions at once, each at its own place in the same script; an answer takes seconds. `first`: when
    a session's first request came, by the mark in its goal. `most`: requests at once.
    """

    def __init__(self) -> None:
        super().__init__()
        self.first: dict[str, float] = {}
        self.requests = 0
        self.most = 0
        self._at_once = 0
        self._lock = threading.Lock()

    def answer(self, body: bytes) -> bytes | None:
        found = re.search(rb"load-\w+-\d+", body)
        mark = found.group().decode() if found else ""
        turn = sum(each["role"] == "assistant" for each in json.loads(body)["messages"])
        with self._lock:
            self.first.setdefault(mark, time.time())
            self.requests += 1
            self._at_once += 1
            self.most = max(self.most, self._at_once)
        time.sleep(MODEL_SECONDS)
        with self._lock:
            self._at_once -= 1
        return self.stream(SCRIPT[min(turn, len(SCRIPT) - 1)], turn, len(body))


class LoadStand(Stand):
    """With the schedule: recovery works beside the load. Lambdas reach AWS themselves."""

    def __init__(self, progress: DeployProgress) -> None:
        limits = {"anthropic": {"requests_per_minute": REQUESTS}}
        variables = {PROVIDER_LIMITS: json.dumps(limits)} if REQUESTS else {}
        super().__init__(progress, provider=SlowProvider, through_proxy=False, variables=variables)

    def _without_a_schedule(self) -> None:
        pass


def measure(progress: DeployProgress) -> dict[str, Any]:
    with LoadStand(progress) as stand:
        provider = stand.provider
        assert isinstance(provider, SlowProvider)
        clock = SystemClock()
        for tenant in ("alone", FLOOD, FEW):
            stand.put_files(dict([note("2KB", 0)]), tenant)
        stand.client("lambda").put_function_concurrency(
            FunctionName="acta-local-step", ReservedConcurrentExecutions=WORKERS
        )
        index = DynamoIndex(stand.settings["ACTA_TABLE"], clock, stand.client("dynamodb"))
        with stand.configured(("step",), ACTA_TURNS_PER_STEP="8"):
            alone = _start(stand, "alone", 0)
            _until_over(index, {"alone": 1})
            progress.begin(f"{IN_INDEX:,} sessions into the index")
            _fill(stand)
            progress.end(f"{IN_INDEX:,} sessions into the index")
            empty = _ended(stand, {"alone": [alone]})["alone"][0]
            began = time.time()
            with ThreadPoolExecutor(CALLERS) as callers:
                ahead = SESSIONS[FLOOD] // AHEAD
                flood = [callers.submit(_start, stand, FLOOD, n) for n in range(ahead)]
                few = [callers.submit(_start, stand, FEW, n) for n in range(SESSIONS[FEW])]
                flood += [callers.submit(_start, stand, FLOOD, n) for n in range(ahead, SESSIONS[FLOOD])]
                started = {FLOOD: [one.result() for one in flood], FEW: [one.result() for one in few]}
            accepted = time.time() - began
            progress.begin(f"{sum(SESSIONS.values())} sessions, accepted after {accepted:.0f} s")
            took = _until_over(index, SESSIONS, began)
        heads = _ended(stand, started)
        return {
            "workers": WORKERS,
            "model_seconds": MODEL_SECONDS,
            "requests_a_minute": REQUESTS,
            "in_index": IN_INDEX,
            "parked": PARKED,
            "accepted_seconds": accepted,
            "seconds": took,
            "sessions_a_minute": sum(SESSIONS.values()) / took * 60,
            "most_at_the_model": provider.most,
            "model_requests": provider.requests,
            "tenants": {
                tenant: _waits(heads[tenant], provider.first, started[tenant]) for tenant in SESSIONS
            },
            "alone": _done(empty),
            "loaded": {
                name: sum(_done(head)[name] for each in heads.values() for head in each) / sum(SESSIONS.values())
                for name in _done(empty)
            },
            "scan": _scan(stand, clock),
        }  # fmt: skip


Started = tuple[str, str, float]
"""Its id, its mark, and when its start was asked for."""


def _start(stand: Stand, tenant: str, place: int) -> Started:
    mark = f"load-{tenant}-{place}"
    headers = {"Authorization": f"Bearer {stand.stack.issuer.issue_token(tenant, 'ann', 'member')}"}
    asked = time.time()
    answer = httpx.post(
        f"{stand.stack.url}/v1/sessions", json={"content": f"Read the note ({mark})"}, headers=headers,
        timeout=300, trust_env=False,
    )  # fmt: skip
    return str(data_of(answer)["session_id"]), mark, asked


def _until_over(index: DynamoIndex, wanted: Mapping[str, int], began: float = 0.0) -> float:
    """Seconds. Raises RunFailed."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        over = 0
        for tenant, count in wanted.items():
            page = index.sessions(
                tenant, states=("completed", "failed", "cancelled"), agent_id=None, limit=1_000, cursor=None
            )
            over += min(count, len(page.entries))
        if over == sum(wanted.values()):
            return time.time() - began
        time.sleep(LOOK_SECONDS)
    print(
        f"load: {over} of {sum(wanted.values())} sessions were over after {PATIENCE_SECONDS:.0f} s",
        flush=True,
    )
    return time.time() - began


def _ended(stand: Stand, started: Mapping[str, Sequence[Started]]) -> dict[str, list[Any]]:
    repository = stand.repository()
    return {
        tenant: [repository.newest(tenant, session_id).head for session_id, _, _ in each]
        for tenant, each in started.items()
    }


def _waits(heads: Sequence[Any], first: Mapping[str, float], started: Sequence[Started]) -> dict[str, Any]:
    """Of one tenant: seconds from its start's request to the first request at the model, and to the end."""
    waited = sorted(first[mark] - asked for _, mark, asked in started if mark in first)
    lasted = sorted(
        head.updated_at.timestamp() - asked
        for head, (_, _, asked) in zip(heads, started, strict=True)
        if head.is_over
    )
    ends: defaultdict[str, int] = defaultdict(int)
    for head in heads:
        ends[head.state] += 1
    return {
        "sessions": len(heads),
        "ends": dict(ends),
        **{f"waited_{share}": percentile(waited, share) for share in (50, 95, 100) if waited},
        **{f"lasted_{share}": percentile(lasted, share) for share in (50, 95, 100) if lasted},
        "generations": max(head.run.generation for head in heads if head.run is not None),
    }


def _done(head: Any) -> dict[str, float]:
    """What the log has counted of a session."""
    done = head.tally.done
    return {
        "model calls": head.usage.llm_calls,
        "tool calls": head.usage.tool_calls,
        "states of turns": head.usage.llm_calls - done.fused_turns,
        "waits": done.waits,
        "further executions": done.executions,
    }


def _fill(stand: Stand) -> None:
    """The index, with sessions that wait for people: `PARKED` of them parked by the product's own step."""
    house = FragileHouse(ASKS[:1])
    house.model = ScriptedModel(ASKS * IN_INDEX)
    house.clock.set(datetime.now(UTC))
    log = DynamoLog(stand.settings["ACTA_TABLE"], house.clock, stand.client("dynamodb"))
    names = []
    for place in range(IN_INDEX):
        session = house.start("Ask me").session_id
        house.run()
        if place < PARKED:
            waited_for_long(house, session)
            house.clock.set(datetime.now(UTC))
        names.append(session)

    found = [item_listing(house.tenant, each) for each in in_memory.items(house.table, LISTING)]
    listed = {entry.session_id: entry for entry in found}

    def put(session: str) -> None:
        name = (house.tenant, session)
        newest = house.log.latest(*name)
        assert newest is not None
        log.append(newest, TransactionItems(listing=listed[session]))

    with ThreadPoolExecutor(4) as threads:
        for _ in threads.map(put, names):
            pass


def _scan(stand: Stand, clock: SystemClock) -> dict[str, float]:
    """Requests and read units of one scan, and how many sessions it looked at."""
    stand.proxy.take()
    tally = sweep(
        SweepDeps(
            App(
                Settings(
                    env="bench", table=stand.settings["ACTA_TABLE"], bucket=stand.settings["ACTA_BUCKET"]
                ),
                clock=clock,
                dynamodb=stand.client("dynamodb", counted=True),
                repository=stand.repository(counted=True),
                workflow=StepFunctionsWorkflow(stand.machine, stand.client("stepfunctions")),
            ),
            Unreadable(),
        )
    )
    asked = [each for each in stand.proxy.take() if each.service == "dynamodb"]
    return {
        "reads": sum(not each.is_write for each in asked),
        "read units": sum(each.capacity.rru for each in asked),
        "writes": sum(each.is_write for each in asked),
        "sessions looked at": tally.looked,
        "restarted": tally.restarted + tally.started,
    }


def report(found: Mapping[str, Any]) -> None:
    tenants = found["tenants"]
    heading(
        f"{sum(each['sessions'] for each in tenants.values())} sessions at once, {found['workers']} workers of step"
    )
    if found["requests_a_minute"]:
        print(f"The provider takes {found['requests_a_minute']} requests a minute.")
    rows = [
        ("sessions", [number(each["sessions"]) for each in tenants.values()]),
        (
            "ended",
            [", ".join(f"{n} {state}" for state, n in each["ends"].items()) for each in tenants.values()],
        ),
    ]
    for name in ("waited", "lasted"):
        for share in (50, 95, 100):
            row = f"{name}_{share}"
            rows.append(
                (f"{name}, seconds, {share} %", [f"{each.get(row, 0):.0f}" for each in tenants.values()])
            )
    columns(list(tenants), rows)
    rate, accepted, over = found["sessions_a_minute"], found["accepted_seconds"], found["seconds"]
    print(
        f"{rate:.0f} sessions a minute; all accepted within {accepted:.0f} s, all over after {over:.0f}; "
        f"at most {found['most_at_the_model']}\nrequests at the model at once, each of {found['model_seconds']:.0f} s."
    )
    columns(
        ["alone", "under load, mean"],
        [(name, [number(value), number(found["loaded"][name])]) for name, value in found["alone"].items()],
    )
    scan = ", ".join(f"{name} {number(value)}" for name, value in found["scan"].items())
    print(
        f"One scan with {found['in_index']:,} sessions in the index, {found['parked']:,} of them parked: {scan}."
    )
    print("Those of the index were made in memory by the product's own code, and never ran on this engine.")
