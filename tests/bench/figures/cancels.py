"""From the 2xx of a cancel to the last effect: sessions with five effectful calls a turn, cancelled at many points.

The calls go to a server that writes down when each arrived. A session is cancelled as soon as so many of its effects
have arrived, while others of the same turn are running or queued; what arrives after the answer was counted then is
late. Late is allowed for a call that had started before and is named in the answer (`in_flight`), and for no other.
"""

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import httpx

from tests.bench.stand.effects import Effect, Effects
from tests.bench.stand.script import Call, planned
from tests.bench.stand.script import Reply as Said
from tests.bench.stand.stand import GOAL, RunFailed, Stand, data_of
from tests.bench.table import columns, heading, number

POINTS = (1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 15, 16)
"""Effects after which a session is cancelled."""
AT_ONCE = 5
TURNS = 8
PATIENCE_SECONDS = 30.0
QUIET_SECONDS = 1.5
"""After everything the session itself knows of is over."""
TOOL = "post_order"


class Cancel(NamedTuple):
    """`late`: effects that arrived after the 2xx; `foreign`: of these, those the answer did not name. Milliseconds from
    the 2xx to the last effect, 0 where none was late; `answered_ms`: from the request to its 2xx.
    """

    after: int
    effects: int
    in_flight: int
    late: int
    foreign: int
    last_effect_ms: float
    answered_ms: float


def measure(stand: Stand) -> dict[str, Any]:
    with (
        Effects() as effects,
        stand.configured(("tool", "admin"), ACTA_HTTP_TOOL_ALLOW=effects.at),
        stand.admin() as api,
    ):
        _add_tool(api, effects)
        _warm_up(api)
        cancels = [_cancel(stand, api, effects, point) for point in POINTS]
        api.delete(f"/v1/tools/{TOOL}").raise_for_status()  # the next measurement has a server of its own
    return figures(cancels)


def figures(cancels: list[Cancel]) -> dict[str, Any]:
    return {
        "cancels": len(cancels),
        "effects": sum(one.effects for one in cancels),
        "effects_after_the_2xx": sum(one.late for one in cancels),
        "of_these_not_in_flight": sum(one.foreign for one in cancels),
        "last_effect_ms_most": max(one.last_effect_ms for one in cancels),
        "answered_ms_most": max(one.answered_ms for one in cancels),
        "each": [one._asdict() for one in cancels],
    }


def _cancel(stand: Stand, api: httpx.Client, effects: Effects, point: int) -> Cancel:
    stand.provider.play(_script())
    effects.take()
    session = data_of(api.post("/v1/sessions", json={"content": GOAL, "token_budget": 100_000_000}))
    path = f"/v1/sessions/{session['session_id']}"
    if not effects.wait_for(point, PATIENCE_SECONDS):
        raise RunFailed(f"effect {point} did not come")
    time.sleep(point * 7 % 20 / 1_000)  # else each would come at the same place of a call
    asked = time.perf_counter()
    answer = data_of(api.post(f"{path}/cancel", json={}))
    answered = time.perf_counter()
    calls = _at_rest(api, path)
    time.sleep(QUIET_SECONDS)
    arrived = effects.take()
    late = [one for one in arrived if one.at > answered]
    in_flight = set(answer["in_flight"])
    return Cancel(
        after=point,
        effects=len(arrived),
        in_flight=len(in_flight),
        late=len(late),
        foreign=sum(calls.get(one.key, "") not in in_flight for one in late),
        last_effect_ms=max((_ms(one, answered) for one in late), default=0.0),
        answered_ms=(answered - asked) * 1_000,
    )


def _warm_up(api: httpx.Client) -> None:
    """The function that cancels has been started once."""
    session = data_of(api.post("/v1/sessions", json={}))
    data_of(api.post(f"/v1/sessions/{session['session_id']}/cancel", json={}))


def _ms(effect: Effect, since: float) -> float:
    return (effect.at - since) * 1_000


def _at_rest(api: httpx.Client, path: str) -> Mapping[str, str]:
    """Once every call that was started has finished: effect id -> call id, of all that were ever asked for."""
    deadline, after = time.monotonic() + PATIENCE_SECONDS, "0"
    calls: dict[str, str] = {}
    open_calls: set[str] = set()
    while True:
        page = data_of(api.get(path, params={"after": after, "wait": 0}))
        for event in page["events"]:
            data = event["data"]
            if event["type"] == "tool.requested":
                calls[data["effect_id"]] = data["call_id"]
            elif event["type"] == "tool.started":
                open_calls.add(data["call_id"])
            elif event["type"] == "tool.finished":
                open_calls.discard(data["call_id"])
        after = page["cursor"]
        if page["session"]["state"] != "cancelled":
            raise RunFailed(f"a cancelled session is {page['session']['state']}")
        if not open_calls and not page["has_more"]:
            return calls
        if time.monotonic() > deadline:
            raise RunFailed("a call that was in flight has not ended")
        time.sleep(0.05)


def _script() -> list[Said]:
    def orders(turn: int) -> tuple[Call, ...]:
        return tuple(Call(TOOL, {"order": turn * AT_ONCE + place}) for place in range(AT_ONCE))

    return [planned(), *(Said(f"Orders of turn {turn}.", orders(turn)) for turn in range(TURNS))]


def _add_tool(api: httpx.Client, effects: Effects) -> None:
    tool = {
        "name": TOOL, "description": "Post an order.", "kind": "http", "effect": "once", "high_stakes": False,
        "config": {"url": f"http://{effects.at}/orders", "method": "POST"},
        "input_schema": {"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]},
    }  # fmt: skip
    data_of(api.post("/v1/tools", json=tool))


def report(found: Mapping[str, Any]) -> None:
    """By `turns_per_step`."""
    for cap, figures in found.items():
        _report(cap, figures)


def _report(cap: str, found: Mapping[str, Any]) -> None:
    heading(
        f"From a cancel's 2xx to the last effect: {AT_ONCE} effectful calls a turn, cancelled at many points, "
        f"turns_per_step {cap}"
    )
    rows = [
        (
            f"after effect {one['after']}",
            [
                number(one[name])
                for name in ("effects", "in_flight", "late", "foreign", "last_effect_ms", "answered_ms")
            ],
        )
        for one in found["each"]
    ]
    columns(
        ["effects in all", "in flight", "after the 2xx", "not in flight", "last one, ms", "2xx after, ms"],
        rows,
    )
    print(
        f"{found['cancels']} cancels: {found['effects_after_the_2xx']} effects after the 2xx, "
        f"{found['of_these_not_in_flight']} of them of calls it did not name (aim: 0); the last one "
        f"{found['last_effect_ms_most']:.0f} ms after it."
    )
