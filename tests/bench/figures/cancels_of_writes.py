"""From the 2xx of a cancel to the last file that is written: sessions whose calls the step function makes by itself.

Where turns are fused no state stands between two calls, so a cancel has to be seen by the loop. A session writes a new
file with each call and is cancelled as soon as so many have been written. A file that is written after the answer is
late; allowed is the one call that had started before, which the answer names in `in_flight`.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import httpx

from tests.bench.stand.script import Call, planned
from tests.bench.stand.script import Reply as Said
from tests.bench.stand.stand import GOAL, RunFailed, Stand, data_of
from tests.bench.table import columns, heading, number

POINTS = (1, 2, 3, 4, 5, 7, 10, 13, 16, 20)
"""Files after which a session is cancelled."""
AT_ONCE = 2
TURNS = 40
PATIENCE_SECONDS = 30.0
QUIET_SECONDS = 1.0
FOLDER = "cancelled"


class Cancel(NamedTuple):
    """`late`: files written after the 2xx; `foreign`: of these, more than the answer named."""

    after: int
    written: int
    in_flight: int
    late: int
    foreign: int


def measure(stand: Stand, cap: int) -> dict[str, Any]:
    """`cap`: the stand's `turns_per_step`. Each has files of its own: a call that finds its file writes none."""
    with stand.admin() as api:
        cancels = [_cancel(stand, api, f"{FOLDER}/{cap}/{point}", point) for point in POINTS]
    return {
        "cancels": len(cancels),
        "written": sum(one.written for one in cancels),
        "written_after_the_2xx": sum(one.late for one in cancels),
        "of_these_not_in_flight": sum(one.foreign for one in cancels),
        "each": [one._asdict() for one in cancels],
    }


def _cancel(stand: Stand, api: httpx.Client, folder: str, point: int) -> Cancel:
    stand.provider.play(_script(folder))
    stand.proxy.take()
    session = data_of(api.post("/v1/sessions", json={"content": GOAL, "token_budget": 100_000_000}))
    path = f"/v1/sessions/{session['session_id']}"
    _until(lambda: _written(stand) >= point, f"file {point} was not written")
    answer = data_of(api.post(f"{path}/cancel", json={}))
    answered = _written(stand)
    _until(lambda: _at_rest(api, path), "a call that was in flight has not ended")
    time.sleep(QUIET_SECONDS)
    written, in_flight = _written(stand), len(answer["in_flight"])
    late = written - answered
    return Cancel(point, written, in_flight, late, max(0, late - in_flight))


def _written(stand: Stand) -> int:
    """Files so far: the proxy notes a put before whoever made it has its answer."""
    return sum(
        1
        for each in list(stand.proxy.exchanges)
        if each.operation == "PutObject" and each.status == 200 and f"/{FOLDER}/" in each.key
    )


def _at_rest(api: httpx.Client, path: str) -> bool:
    """Every call that was started has finished."""
    open_calls: set[str] = set()
    after = "0"
    while True:
        page = data_of(api.get(path, params={"after": after, "wait": 0}))
        for event in page["events"]:
            if event["type"] == "tool.started":
                open_calls.add(event["data"]["call_id"])
            elif event["type"] == "tool.finished":
                open_calls.discard(event["data"]["call_id"])
        if page["session"]["state"] != "cancelled":
            raise RunFailed(f"a cancelled session is {page['session']['state']}")
        after = page["cursor"]
        if not page["has_more"]:
            return not open_calls


def _until(holds: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        if time.monotonic() > deadline:
            raise RunFailed(otherwise)
        time.sleep(0.002)


def _script(folder: str) -> list[Said]:
    def files(turn: int) -> tuple[Call, ...]:
        return tuple(
            Call("create_file", {"path": f"{folder}/{turn}-{place}.txt", "content": "Written."})
            for place in range(AT_ONCE)
        )

    return [planned(), *(Said(f"Files of turn {turn}.", files(turn)) for turn in range(TURNS))]


def report(found: Mapping[str, Any]) -> None:
    for cap, figures in found.items():
        heading(
            f"From a cancel's 2xx to the last file that is written: {cap} turns a step, {AT_ONCE} files a turn"
        )
        names = ("written", "in_flight", "late", "foreign")
        columns(
            ["files in all", "in flight", "after the 2xx", "not in flight"],
            [
                (f"after file {one['after']}", [number(one[name]) for name in names])
                for one in figures["each"]
            ],
        )
        print(
            f"{figures['cancels']} cancels: {figures['written_after_the_2xx']} files after the 2xx, "
            f"{figures['of_these_not_in_flight']} of them of calls it did not name (aim: 0)."
        )
