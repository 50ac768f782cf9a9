"""A hundred thousand sessions lose their executions at once and nobody tells of it: how long until the last one runs,
and what that is bounded by. Simulated (`tests/in_process/mass_loss.py`): the real function on stores in memory.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from acta.engine.recovery.store import SHARE
from acta.infra.sizing import recovery_workers
from docs.quotas import QUOTAS
from tests.bench.table import columns, heading, number
from tests.in_process.mass_loss import MINUTE, OTHERS, SECONDS, MassLoss

LOST = 100_000
LOST_ALONE = 3_000
"""Where one invocation a minute works alone its rate stays the same, so few are enough."""
ALONE_MINUTES = 4
REGIONS = ("us-east-1", "eu-central-1")
OF_ENGINE = ("StartExecution", "ListExecutions", "DescribeExecution")


def measure() -> dict[str, Any]:
    return {region: _together(region) | _alone(region) for region in REGIONS}


def _together(region: str) -> dict[str, Any]:
    workers = recovery_workers(region, SHARE)
    loss = MassLoss(LOST, region, workers)
    made: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    minutes, restarted, last = 0, 0, 0.0
    while loss.standing_still():
        minute = loss.minute()
        minutes += 1
        restarted += minute.restarted
        last = minute.last_at
        made.update(minute.made)
        refused.update(minute.refused)
    seconds = (minutes - 1) * MINUTE + last
    return {
        "lost": LOST,
        "workers": workers + 1,
        "minutes": seconds / MINUTE,
        "restarted": restarted,
        "requests": dict(made),
        "refused": dict(refused),
        "of_quota": {name: made[name] / (QUOTAS[name].of(region) * seconds) for name in OF_ENGINE},
    }


def _alone(region: str) -> dict[str, Any]:
    loss = MassLoss(LOST_ALONE, region, None)
    minutes = [loss.minute() for _ in range(ALONE_MINUTES)]
    rate = sum(minute.restarted for minute in minutes[1:]) / (ALONE_MINUTES - 1)
    return {"alone_a_minute": rate, "alone_minutes": LOST / rate}


def report(found: Mapping[str, Mapping[str, Any]]) -> None:
    heading(f"{LOST:,} sessions lose their executions at once and nobody tells of it; simulated")
    rows: list[tuple[str, list[str]]] = [
        ("minutes until the last one runs", [f"{one['minutes']:.1f}" for one in found.values()]),
        ("  where one invocation works alone", [f"{one['alone_minutes']:.0f}" for one in found.values()]),
        ("invocations at once", [number(one["workers"]) for one in found.values()]),
        *((name, [_requests(one, name) for one in found.values()]) for name in OF_ENGINE),
        *(
            (name, [number(one["requests"].get(name, 0)) for one in found.values()])
            for name in ("Query", "PutItem", "Invoke")
        ),
    ]
    columns(list(found), rows)
    others = f"{OTHERS['StartExecution']:.0f}"
    print(
        "Requests with those that were throttled, and their part of what the quota refills in that time.\n"
        "Recovery takes two thirds of the starts that a region allows; everybody else asks for "
        f"{others} a second meanwhile.\nSeconds of a request, assumed: "
        + ", ".join(f"{name} {seconds}" for name, seconds in SECONDS.items())
        + "."
    )


def _requests(one: Mapping[str, Any], name: str) -> str:
    return f"{number(one['requests'].get(name, 0))} ({one['of_quota'][name]:.0%})"
