"""How much memory and CPU each function needs, and what that costs at other sizes (ADR 62).

Memory: the peak of the deployed Lambdas' whole processes (VmHWM), after what makes them largest. CPU: what these
processes used, an invocation. Lambda gives a function CPU by its memory, one whole vCPU at 1,769 MB (AWS Lambda
developer guide, "Configure Lambda function memory"), so below it the same work takes longer, and waiting is billed by
memory. The costs and times of other sizes are computed from that; they were not measured in AWS.
"""

import base64
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx

from acta.engine.usage.aws_prices import LISTS, UNITS_PER_USD
from acta.infra.sizing import SIZES
from acta.local_aws.testing import eventually
from tests.bench.stand import script
from tests.bench.stand.processes import lambda_cpu_ms, lambda_peak_mb
from tests.bench.stand.stand import RunFailed, Stand, data_of
from tests.bench.table import columns, heading, number
from tests.doubles.http_sink import Reply, Sink

SIZES_MB = (256, 384, 512, 768, 1_024, 1_769)
WAITS = (2, 5, 30)
"""Seconds that a model takes to answer."""
WHOLE_VCPU_MB = 1_769
HEADROOM = 1.5
TURNS = 100
AT_ONCE = 16
REQUESTS = 20
LARGEST_FILE = 4_000_000
LARGEST_MESSAGE = 500_000
NOTIFY = "acta-local-notify"
HOOK = "/hook"
SECRET = "whsec_" + base64.b64encode(b"a key of thirty-two bytes or so.").decode()

Found = dict[str, Any]


class Watch:
    """What the functions' processes had and used, piece of work after piece of work."""

    def __init__(self, stand: Stand) -> None:
        if stand.stack.emulator is None:
            raise RunFailed("the local AWS does not run")
        self._pid = stand.stack.emulator.pid
        self.peaks: dict[str, dict[str, float]] = {}
        self.cpu: dict[str, dict[str, float]] = {}

    @contextmanager
    def during(self, work: str) -> Iterator[None]:
        before = lambda_cpu_ms(self._pid)
        yield
        after = lambda_cpu_ms(self._pid)
        self.peaks[work] = _short(lambda_peak_mb(self._pid))
        self.cpu[work] = _short({name: after[name] - before.get(name, 0) for name in after})


def measure(stand: Stand) -> Found:
    """Raises RunFailed; also where the system does not tell."""
    watch = Watch(stand)
    _put_files(stand)
    with watch.during("cold, first session"):
        stand.run(script.reading("2KB", 3))
        with stand.admin() as api:
            _each_function_once(api)
            stand.client("lambda").invoke(FunctionName="acta-local-recover", Payload=b'{"round": "due"}')
    for size in ("2KB", "40KB"):
        with watch.during(f"{TURNS} turns, {size}"):
            arns = stand.run(script.reading(size, TURNS))
    long_session = arns[0].rpartition(":")[2].partition("-")[0]
    with watch.during(f"{AT_ONCE} calls a turn, 40KB"):
        stand.run(script.reading("40KB", 6, AT_ONCE))
    with stand.admin() as api:
        for work, request in _requests(api, long_session):
            with watch.during(work):
                for _ in range(REQUESTS):
                    request()
        with watch.during("8 long polls at once"), ThreadPoolExecutor(8) as pool:
            path = f"/v1/sessions/{_idle(api)}"
            waiting = {"after": data_of(api.get(path))["cursor"], "wait": "3"}
            list(pool.map(lambda _: data_of(api.get(path, params=waiting)), range(8)))
        with Sink({HOOK: Reply(204, b"")}) as sink, _listening(stand, sink), watch.during("notifications"):
            for _ in range(REQUESTS):
                _ask_a_person(stand, api, sink)
    with watch.during(f"{REQUESTS} scans"):
        for _ in range(REQUESTS):
            stand.client("lambda").invoke(FunctionName="acta-local-recover", Payload=b'{"round": "due"}')
    with (
        stand.configured(("start", "step"), ACTA_MAX_MESSAGE_CHARS=str(LARGEST_MESSAGE)),
        watch.during(f"a message of {LARGEST_MESSAGE // 1_000} KB"),
        stand.admin() as api,
    ):
        _run_with_largest_message(stand, api)
    return {
        "peak_mb": watch.peaks,
        "cpu_ms": watch.cpu,
        "each": {name: _needs(name, watch) for name in _names(watch)},
        "step": {f"{wait} s": _table(_step_cpu(watch), wait) for wait in WAITS},
    }


def _put_files(stand: Stand) -> None:
    for size in ("2KB", "40KB"):
        stand.put_files(dict(script.note(size, turn) for turn in range(TURNS)))
    places = [(turn, place) for turn in range(6) for place in range(AT_ONCE)]
    stand.put_files(dict(script.note("40KB", turn, place) for turn, place in places))


def _each_function_once(api: httpx.Client) -> None:
    session = _idle(api)
    data_of(api.get(f"/v1/sessions/{session}"))
    data_of(api.post(f"/v1/sessions/{session}/cancel", json={}))
    data_of(api.get("/v1/agents"))
    api.get("/healthz")


def _run_with_largest_message(stand: Stand, api: httpx.Client) -> None:
    """Raises RunFailed."""
    stand.provider.play(script.reading("2KB", 1))
    body = {"content": "x y " * (LARGEST_MESSAGE // 4), "max_steps": 10, "token_budget": 100_000_000}
    session = data_of(api.post("/v1/sessions", json=body))["session_id"]
    cursor = "0"
    for _ in range(20):
        told = data_of(api.get(f"/v1/sessions/{session}", params={"after": cursor, "wait": "20"}))
        cursor = told["cursor"]
        if told["session"]["state"] in ("completed", "failed"):
            stand.check_script_is_over()
            return
    raise RunFailed("the session with the largest message does not end")


@contextmanager
def _listening(stand: Stand, sink: Sink) -> Iterator[None]:
    """People are told at `sink`. A local stack that names no webhook has its mapping off: a twin of it begins now."""
    lambdas = stand.client("lambda")
    mappings = lambdas.list_event_source_mappings(FunctionName=NOTIFY)["EventSourceMappings"]
    (deployed,) = (each for each in mappings if ":dynamodb:" in each["EventSourceArn"])
    same = (
        "EventSourceArn", "StartingPosition", "BatchSize", "FilterCriteria", "MaximumRecordAgeInSeconds",
    )  # fmt: skip
    settings = {"ACTA_NOTIFY_WEBHOOK_URL": sink.url(HOOK), "ACTA_NOTIFY_SECRET": SECRET}
    with stand.configured(("notify",), **settings):
        twin = lambdas.create_event_source_mapping(
            FunctionName=deployed["FunctionArn"], **{name: deployed[name] for name in same}
        )
        yield
        lambdas.delete_event_source_mapping(UUID=twin["UUID"])


def _ask_a_person(stand: Stand, api: httpx.Client, sink: Sink) -> None:
    """A session that waits for a review after its first turn, until somebody was told so."""
    before = len(sink.heard)
    stand.provider.play(script.reading("2KB", 3))
    body = {"content": "Ask me", "max_steps": 10, "token_budget": 100_000_000, "review_every": 1}
    data_of(api.post("/v1/sessions", json=body))
    eventually(lambda: True if len(sink.heard) > before else None)


def _idle(api: httpx.Client) -> str:
    return str(data_of(api.post("/v1/sessions", json={}))["session_id"])


def _requests(api: httpx.Client, session: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """`session`: a long one with large results."""
    path, file = f"/v1/sessions/{session}", "/v1/files/bench/largest.bin"
    content = os.urandom(LARGEST_FILE)
    yield "start an idle session", lambda: _idle(api)
    yield "poll", lambda: data_of(api.get(path, params={"after": "0"}))
    yield (
        "largest pages",
        lambda: [
            data_of(api.get(f"{path}/{page}", params={"limit": "200"}))
            for page in ("messages", "trace", "steps")
        ],
    )
    yield "cancel", lambda: data_of(api.post(f"/v1/sessions/{_idle(api)}/cancel", json={}))
    yield "write a file of 4 MB", lambda: data_of(api.put(file, content=content))
    yield "read a file of 4 MB", lambda: api.get(file).raise_for_status()
    yield "list the agents", lambda: data_of(api.get("/v1/agents"))
    yield "health", lambda: api.get("/healthz").raise_for_status()


def _short(by_function: Mapping[str, float]) -> dict[str, float]:
    return {name.removeprefix("acta-local-"): value for name, value in by_function.items()}


def _names(watch: Watch) -> list[str]:
    return sorted({name for peaks in watch.peaks.values() for name in peaks})


def _needs(name: str, watch: Watch) -> Found:
    peak = max(peaks.get(name, 0.0) for peaks in watch.peaks.values())
    size = SIZES[name].memory  # type: ignore[index]
    return {"peak_mb": peak, "memory": size, "headroom": size / peak}


def _step_cpu(watch: Watch) -> float:
    """Milliseconds a turn, of the walk with large results: the dearest turns there are."""
    return watch.cpu[f"{TURNS} turns, 40KB"]["step"] / (TURNS + 2)


def _table(cpu_ms: float, wait: float) -> dict[str, Found]:
    """Of `step`, warm: what 1,000 invocations cost, and what one takes longer than with a whole vCPU."""
    prices = LISTS["us-east-1"]
    assert prices.gb_second_arm64 is not None
    assert prices.invocation is not None
    table = {}
    for memory in SIZES_MB:
        own = cpu_ms * max(1.0, WHOLE_VCPU_MB / memory)
        gb_seconds = (wait + own / 1_000) * memory / 1_024
        usd = 1_000 * (gb_seconds * prices.gb_second_arm64 + prices.invocation) / UNITS_PER_USD
        table[str(memory)] = {"usd_per_1000": usd, "added_ms": own - cpu_ms}
    return table


def report(found: Mapping[str, Any]) -> None:
    heading("Memory of the deployed functions' processes: MB at the peak so far, after each piece of work")
    names = list(found["each"])
    rows = [
        (work, [number(peaks.get(name, 0)) for name in names]) for work, peaks in found["peak_mb"].items()
    ]
    rows.append(("given", [number(found["each"][name]["memory"]) for name in names]))
    rows.append(("headroom", [f"{found['each'][name]['headroom']:.1f}x" for name in names]))
    columns(names, rows)
    heading("CPU of the same processes, ms in all")
    columns(
        names, [(work, [number(cpu.get(name, 0)) for name in names]) for work, cpu in found["cpu_ms"].items()]
    )
    heading("A turn of `step` at other sizes: USD per 1,000 (ms more than with a whole vCPU); computed")
    columns(
        [f"{memory} MB" for memory in SIZES_MB],
        [
            (
                f"model takes {wait}",
                [f"{row['usd_per_1000']:.4f} ({row['added_ms']:.0f})" for row in table.values()],
            )
            for wait, table in found["step"].items()
        ],
    )
