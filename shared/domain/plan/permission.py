"""Permissions a plan asks for (design §4): the model adds them, a person gives them, and nothing else ends them.

A step that is marked finished, or a new version of a live plan without the mark, leaves the permission owed: the next
call it was meant for asks, whatever step is being worked on.
"""

from collections.abc import Iterable
from typing import Literal

from shared.domain.definitions.tool import ToolSpec
from shared.domain.plan.plan import ExecutionPlan, PlanStep

Why = Literal["high_stakes", "plan_step"]

ANY_RISKY = ""
"""Of a step that names no tool: whatever of it is not read-only."""


def why(plan: ExecutionPlan | None, tool: ToolSpec) -> Why | None:
    """Why a call of the tool waits for a person; None: it does not."""
    if tool.high_stakes:
        return "high_stakes"
    asks = plan is not None and asked_for(plan, tool.name, risky=tool.is_risky)
    return "plan_step" if asks else None


def asked_for(plan: ExecutionPlan, tool: str, *, risky: bool) -> bool:
    """Whether a call of the tool needs a permission: of a step being worked on (those in progress, or else the first
    open one, which nobody has marked yet), or one that is owed.
    """
    current = [step for step in plan.steps if step.status == "in_progress"] or plan.open_steps[:1]
    wanted = {*_wanted(current), *_wanted(_left(plan)), *plan.owed}
    return tool in wanted or (risky and ANY_RISKY in wanted)


def given(plan: ExecutionPlan, tool: str) -> ExecutionPlan:
    """A person has let a call of the tool run."""
    current = [step for step in plan.steps if step.status == "in_progress"] or plan.open_steps[:1]
    numbers = {step.step_number for step in (*current, *_left(plan)) if step.tool in (tool, None)}
    steps = tuple(
        step.model_copy(update={"permitted": True})
        if step.requires_permission and step.step_number in numbers
        else step
        for step in plan.steps
    )
    owed = tuple(name for name in plan.owed if name not in (tool, ANY_RISKY))
    return plan.model_copy(update={"steps": steps, "owed": owed})


def owed(before: ExecutionPlan | None, steps: Iterable[PlanStep]) -> tuple[str, ...]:
    """What a new version of the plan owes: all that the one before asked for in vain and it does not ask for again."""
    if before is None or not before.is_live:
        return ()
    asked = {*before.owed, *_wanted(step for step in before.steps if not step.permitted)}
    return tuple(sorted(asked - _wanted(steps)))


def _left(plan: ExecutionPlan) -> list[PlanStep]:
    """Steps that are over, though nobody has given the permission they asked for."""
    return [step for step in plan.steps if not step.is_open and not step.permitted]


def _wanted(steps: Iterable[PlanStep]) -> set[str]:
    return {step.tool or ANY_RISKY for step in steps if step.requires_permission}
