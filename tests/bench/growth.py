"""Whether a turn costs late in a session what it costs early in it: the first third of a run's turns beside the last.

Everything that is counted once a turn is compared, the processors' time included. What differs is named with both
figures, whichever way it moved.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import mean
from typing import NamedTuple

from tests.bench.table import number

FIRST, LAST = "_first_third", "_last_third"
COUNT_TOLERANCE = 0.5
"""Requests, units, transitions: half of one. A roll-over or a compaction in one of many turns is not growth."""
SHARE_TOLERANCE = 0.1
"""Bytes: texts and numbers differ a little from turn to turn."""
CPU_SHARE_TOLERANCE, CPU_MS_TOLERANCE = 0.2, 1.0
"""What other work on the machine makes of the same instructions; the larger of the two."""
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
    names = [key.removesuffix(FIRST) for key in run if key.endswith(FIRST)]
    pairs = [Moved(name, run[name + FIRST], run[name + LAST]) for name in names]
    return [pair for pair in pairs if _differs(pair, turns)]


def judged(run: Figures, turns: int) -> Figures:
    """With `flat`: 1 where nothing moved."""
    return {**run, "flat": float(not moved(run, turns))}


def _differs(pair: Moved, turns: int) -> bool:
    distance = abs(pair.last - pair.first)
    if "cpu_ms" in pair.name:
        allowed = max(CPU_MS_TOLERANCE, CPU_SHARE_TOLERANCE * pair.first)
        return turns >= CPU_LEAST_TURNS and distance > allowed
    if "bytes" in pair.name:
        return distance > SHARE_TOLERANCE * pair.first
    return distance > COUNT_TOLERANCE


def report(title: str, found: Sequence[Moved]) -> None:
    """A line that names what moved; nothing where nothing did."""
    if found:
        figures = [f"{one.name.replace('_', ' ')} {number(one.first)} -> {number(one.last)}" for one in found]
        print(f"{title} is not flat, first third -> last: {', '.join(figures)}")
