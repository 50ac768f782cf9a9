"""A whole plan in lines of text: how far it is, its steps with their results, its risks."""

from collections.abc import Iterator, Mapping
from typing import Any

from acta.cli.terminal.session_lines import DESCRIPTION_LIMIT, MARKS, plan_lines
from acta.cli.terminal.text import one_line

DONE = ("completed", "skipped")
RESULT_LIMIT = 300


def plan_heading(plan: Mapping[str, Any], session: Mapping[str, Any]) -> str:
    """Its goal, its version, and how far it is; of an ended session that it is over."""
    steps = plan.get("steps") or []
    done = sum(step.get("status") in DONE for step in steps)
    percent = f", {done} of {len(steps)} steps, {100 * done // len(steps)} %" if steps else ""
    state = str(session.get("state"))
    status = state if state in ("failed", "cancelled") else str(plan.get("status"))
    goal = one_line(plan.get("goal", ""), 200)
    return f"{goal} (version {plan.get('version')}, {one_line(status.replace('_', ' '), 40)}{percent})"


def whole_plan_lines(
    plan: Mapping[str, Any], marks: Mapping[str, str] = MARKS, *, is_over: bool = False
) -> Iterator[str]:
    """`is_over`: nobody works on it any more."""
    steps = [
        {**step, "status": "left"} if is_over and step.get("status") == "in_progress" else step
        for step in plan.get("steps") or []
    ]
    for step, line in zip(steps, plan_lines({**plan, "steps": steps}, marks), strict=True):
        yield str(line) + (" (not finished)" if line.status == "left" else "")
        if step.get("result"):
            yield f"       {one_line(step['result'], RESULT_LIMIT)}"
    for number, risk in enumerate(plan.get("risks") or []):
        yield f"{'risks: ' if number == 0 else '       '}{one_line(risk, DESCRIPTION_LIMIT)}"
