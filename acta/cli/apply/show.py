"""A plan on screen: what would change, line by line as the files are written; and as JSON."""

import os
import sys
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from itertools import islice
from typing import Any, TextIO

from acta.cli.apply.plan import Plan, Step
from acta.cli.apply.schema import Json
from acta.cli.terminal.text import visible
from acta.yaml_text import write

MARKS = {"create": "+", "change": "~", "adopt": "=", "delete": "-"}
SAYS = {
    "create": "is made",
    "change": "is changed",
    "adopt": "is as the file says, and becomes this set's",
    "delete": "is deleted: the files no longer have it",
}
LEFT_OUT = " …"
GREEN, RED, YELLOW, PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[33m", "\x1b[0m"
OF_MARK = {"+": GREEN, "-": RED, "~": YELLOW, "!": RED}


def is_coloured(stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """On a terminal that has colours, unless its owner wants none (no-color.org)."""
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def plan_lines(plan: Plan, *, coloured: bool) -> Iterator[str]:
    for step in plan.steps:
        yield _painted(MARKS[step.action], f"{step.key} {SAYS[step.action]}", coloured)
        for line in difference(step):
            yield f"    {_painted(line[:1], line[1:], coloured, between='')}"
    for kept in plan.kept:
        yield f"  {kept.key} stays though the files no longer have it: {visible(kept.why)}"
    for refusal in plan.refusals:
        yield _painted("!", f"{refusal.key}: {visible(refusal.why)}", coloured)
        for line in difference(refusal.step):
            yield f"    {_painted(line[:1], line[1:], coloured, between='')}"
    yield summary(plan)


def summary(plan: Plan) -> str:
    counted = {action: sum(step.action == action for step in plan.steps) for action in MARKS}
    words = {"create": "to make", "change": "to change", "adopt": "to take over", "delete": "to delete"}
    said = [f"{count} {words[action]}" for action, count in counted.items() if count]
    said += [f"{len(plan.refusals)} refused"] if plan.refusals else []
    said += [f"{plan.unchanged} as the files say"] if plan.unchanged or not said else []
    return f"set {plan.set_name}: {', '.join(said)}"


def difference(step: Step) -> list[str]:
    """Each line with `+`, `-` or a blank before it; escaped for a terminal."""
    before = _lines(step.before.definition if step.before else None)
    after = _lines(step.after)
    lines = islice(
        unified_diff(before, after, lineterm="", n=2), 3, None
    )  # after its three lines of headings
    return [visible(LEFT_OUT if line.startswith("@@") else line) for line in lines]


def _lines(definition: Json | None) -> list[str]:
    return [] if definition is None else write(definition).splitlines()


def _painted(mark: str, text: str, coloured: bool, between: str = " ") -> str:
    line = f"{mark}{between}{text}"
    colour = OF_MARK.get(mark) if coloured else None
    return f"{colour}{line}{PLAIN}" if colour else line


def as_json(plan: Plan) -> dict[str, Any]:
    return {
        "set": plan.set_name,
        "changes": [_step_json(step) for step in plan.steps],
        "refused": [{**_step_json(each.step), "why": each.why} for each in plan.refusals],
        "kept": [{"kind": each.key.kind, "name": each.key.name, "why": each.why} for each in plan.kept],
        "unchanged": plan.unchanged,
    }


def _step_json(step: Step) -> dict[str, Any]:
    return {
        "kind": step.key.kind,
        "name": step.key.name,
        "action": step.action,
        "before": step.before.definition if step.before else None,
        "after": step.after,
    }


def coloured_here() -> bool:
    return is_coloured(sys.stdout)
