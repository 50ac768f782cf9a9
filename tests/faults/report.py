"""The sweep as a table and as build/faults.json."""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from tests.faults.sweep import Verdict

COLUMNS = ("function", "operation", "faults", "fired", "same end", "asked")


class Swept(NamedTuple):
    """A whole sweep: the calls of the scenario by name, and what came of each fault."""

    calls: Sequence[str]
    verdicts: Sequence[Verdict]


def table(verdicts: Sequence[Verdict], stand: str) -> str:
    """A row per function and operation, and what they add up to. `stand`: where it was, such as `cap 8`."""
    ordered = sorted(verdicts, key=lambda verdict: verdict.case.group)
    rows = [
        (*group, *_counts(list(each)))
        for group, each in groupby(ordered, key=lambda verdict: verdict.case.group)
    ]
    return f"{stand}\n" + columns([COLUMNS, *rows, ("all", "", *_counts(verdicts))])


def columns(lines: Sequence[Sequence[object]]) -> str:
    """Numbers to the right, all else to the left."""
    widths = [max(len(str(line[at])) for line in lines) for at in range(len(lines[0]))]
    return "\n".join("  ".join(_cell(cell, width) for cell, width in zip(line, widths, strict=True)).rstrip()
                     for line in lines)  # fmt: skip


def _counts(verdicts: Sequence[Verdict]) -> tuple[int, int, int, int]:
    return (
        len(verdicts),
        sum(verdict.fired for verdict in verdicts),
        sum(verdict.is_good for verdict in verdicts),
        sum(bool(verdict.asked) for verdict in verdicts),
    )


def _cell(value: object, width: int) -> str:
    return str(value).rjust(width) if isinstance(value, int) else str(value).ljust(width)


def line(verdict: Verdict, stand: str) -> str:
    """One fault: `ok` where it fired and the run ended as the clean one."""
    word = "ok" if verdict.is_good else ("differs" if verdict.problems else "did not fire")
    asked = ", asked" if verdict.asked else ""
    more = "".join(f"\n    {told}" for told in (*verdict.problems, *verdict.unfired))
    return f"{verdict.seconds:5.1f} s  {stand}  {verdict.case.name}: {word}{asked}{more}"


def write(
    path: Path,
    swept: Mapping[str, Swept],
    outages: Sequence[Mapping[str, object]],
    seconds: float,
) -> None:
    """`swept`: by the stand. `outages`: as in `outages/report.py`."""
    path.parent.mkdir(exist_ok=True)
    told = [
        {
            "stand": stand,
            "fault": verdict.case.name,
            "fired": verdict.fired,
            "same_end": verdict.is_good,
            "asked": list(verdict.asked),
            "problems": list(verdict.problems),
            "unfired": list(verdict.unfired),
            "seconds": round(verdict.seconds, 1),
        }
        for stand, one in swept.items()
        for verdict in one.verdicts
    ]
    calls = {stand: list(one.calls) for stand, one in swept.items()}
    content = {"calls": calls, "seconds": round(seconds), "faults": told, "outages": list(outages)}
    path.write_text(json.dumps(content, indent=1) + "\n")
