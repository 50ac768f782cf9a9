"""Whether a turn costs late in a session what it costs early in it: the first third of a run's turns beside the last.

Everything that is counted once a turn is compared, our own CPU included. What differs is named with both figures,
whichever way it moved, and `make bench` fails.

CPU with the provider's SDK in it is not judged: the SDK encodes and sends the whole conversation in each request, so it
grows as the request does. It is printed apart, so that nobody takes it for flat.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import mean
from typing import Any, NamedTuple

from tests.bench.table import number

FIRST, LAST = "_first_third", "_last_third"
COUNT_TOLERANCE = 0.5
"""Requests, units, transitions: half of one. A roll-over or a compaction in one of many turns is not growth."""
SHARE_TOLERANCE = 0.15
"""Bytes: texts and numbers differ a little from turn to turn, and the head's list of the last 32 calls that succeeded
(`REMEMBERED` in `acta/engine/turn/next_action.py`) fills in the first third of 100 turns.
"""
CPU_SHARE_TOLERANCE, CPU_MS_TOLERANCE = 0.3, 1.0
"""What other work on the machine makes of the same instructions; the larger of the two."""
CPU_MOST_MS = 8.0
"""Our own CPU of a turn, in the last third."""
OWN_CPU = ("cpu_ms", "cpu_ms_step", "cpu_ms_tool")
"""The other CPU figures have the provider's SDK in them."""
CPU_LEAST_TURNS = 30
"""In a shorter run a third is a few turns, and what they measure is the machine."""

Figures = dict[str, float]


class Moved(NamedTuple):
    """A figure's name, a turn's share of it in the first third, and in the last."""

    name: str
    first: float
    last: float


def thirds(rows: Sequence[Figures], middle: Callable[[list[float]], float] = mean) -> Figures:
    """One row a turn, in order -> `{name}_first_third` and `{name}_last_third` of each figure."""
    third = max(1, len(rows) // 3)
    ends = {FIRST: rows[:third], LAST: rows[-third:]}
    return {
        f"{name}{end}": middle([row[name] for row in part]) for end, part in ends.items() for name in rows[0]
    }


def moved(run: Mapping[str, float], turns: int) -> list[Moved]:
    """What is not the same in both thirds of a run of so many turns."""
    return [pair for pair in _pairs(run) if _is_judged(pair) and _differs(pair, turns)]


def grown_with_the_request(run: Mapping[str, float]) -> list[Moved]:
    """The CPU figures that have the provider's SDK in them, moved or not."""
    return [pair for pair in _pairs(run) if not _is_judged(pair) and pair.name != "cpu_ms_probe"]


def _pairs(run: Mapping[str, float]) -> list[Moved]:
    names = [key.removesuffix(FIRST) for key in run if key.endswith(FIRST)]
    return [Moved(name, run[name + FIRST], run[name + LAST]) for name in names]


def _is_judged(pair: Moved) -> bool:
    return "cpu_ms" not in pair.name or pair.name in OWN_CPU


def judged(run: Figures, turns: int) -> Figures:
    """With `flat`: 1 where nothing moved."""
    return {**run, "flat": float(not moved(run, turns))}


def not_flat(results: Mapping[str, Any]) -> list[str]:
    """The runs among all results whose `flat` is 0."""
    runs = {
        f"{size} x{count}": run
        for size, counts in results.get("turns", {}).items()
        for count, run in counts.items()
    }
    if "long" in results:
        runs["the long session"] = results["long"]["plain"]
    return [name for name, run in runs.items() if not run.get("flat", 1)]


def _differs(pair: Moved, turns: int) -> bool:
    distance = abs(pair.last - pair.first)
    if "cpu_ms" in pair.name:
        allowed = max(CPU_MS_TOLERANCE, CPU_SHARE_TOLERANCE * pair.first)
        return turns >= CPU_LEAST_TURNS and (distance > allowed or pair.last > CPU_MOST_MS)
    if "bytes" in pair.name:
        return distance > SHARE_TOLERANCE * pair.first
    return distance > COUNT_TOLERANCE


def report(title: str, found: Sequence[Moved]) -> None:
    """A line that names what moved; nothing where nothing did."""
    if found:
        print(f"{title} is not flat, first third -> last: {_listed(found)}")


def report_the_sdk(title: str, run: Mapping[str, float], turns: int) -> None:
    """A line with the figures that are not judged, where they say something."""
    found = grown_with_the_request(run)
    if found and turns >= CPU_LEAST_TURNS:
        print(f"{title}, with the provider's SDK in it, not judged: {_listed(found)}")


def _listed(found: Sequence[Moved]) -> str:
    return ", ".join(
        f"{one.name.replace('_', ' ')} {number(one.first)} -> {number(one.last)}" for one in found
    )
