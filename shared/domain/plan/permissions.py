"""Permissions that a plan asks for (design §4).

The model adds them, and only a person gives them. A model cannot get rid of a permission. Where it marks the step as
finished, or replaces the plan by a version that asks for less, the permission is still owed: the next call of that tool
asks a person, whichever step it belongs to.
"""

from collections.abc import Iterable, Sequence

from shared.domain.plan.plan import ExecutionPlan, PlanStep

ANY_RISKY_TOOL = ""
"""Stands for every tool that is not read-only. A step without a tool asks for this permission."""


def needs_permission(plan: ExecutionPlan, tool: str, *, risky: bool) -> bool:
    """Whether a current step asks for a permission for `tool`, or one is still owed. `risky`: `tool` is not
    read-only.
    """
    wanted = {*_wanted(_current(plan)), *_wanted(_finished_without(plan)), *plan.owed}
    return tool in wanted or (risky and ANY_RISKY_TOOL in wanted)


def with_permission(plan: ExecutionPlan, tool: str, *, is_edited: bool = False) -> ExecutionPlan:
    """The plan after a person has approved a call of `tool`. `is_edited`: a person has edited the plan since the call
    was asked for. Pending steps may be other ones than the call was for, so they ask still.
    """
    current = [step for step in _current(plan) if not (is_edited and step.status == "pending")]
    asking = (*current, *_finished_without(plan))
    numbers = {step.step_number for step in asking if step.tool in (tool, None)}
    steps = tuple(
        step.model_copy(update={"permitted": True})
        if step.requires_permission and step.step_number in numbers
        else step
        for step in plan.steps
    )
    owed = tuple(name for name in plan.owed if name not in (tool, ANY_RISKY_TOOL))
    approved = tuple(sorted({*plan.approved, *(set(plan.owed) - set(owed))}))
    return plan.model_copy(update={"steps": steps, "owed": owed, "approved": approved})


def without_permissions(plan: ExecutionPlan) -> ExecutionPlan:
    """The plan as if nobody had approved anything: what was approved is asked for by its step, or owed again."""
    steps = tuple(step.model_copy(update={"permitted": False}) for step in plan.steps)
    owed = tuple(sorted({*plan.owed, *(set(plan.approved) - _wanted(steps))}))
    return plan.model_copy(update={"steps": steps, "owed": owed, "approved": ()})


def permissions_owed(before: ExecutionPlan | None, steps: Iterable[PlanStep]) -> tuple[str, ...]:
    """The tools whose permission the plan `before` asked for, nobody gave, and the new `steps` do not ask for again.

    Empty where there is no live plan before. `ANY_RISKY_TOOL` may be among them.
    """
    if before is None or not before.is_live:
        return ()
    asked = {*before.owed, *_wanted(step for step in before.steps if not step.permitted)}
    return tuple(sorted(asked - _wanted(steps)))


def permissions_approved(before: ExecutionPlan | None) -> tuple[str, ...]:
    """Of the plan that replaces `before`: what was given under `before` and the versions that led to it."""
    if before is None or not before.is_live:
        return ()
    return tuple(sorted({*before.approved, *_wanted(step for step in before.steps if step.permitted)}))


def permissions_left(before: ExecutionPlan, steps: Iterable[PlanStep]) -> tuple[str, ...]:
    """The same after a person's edit, which leaves steps as they are: one that is permitted does not ask again."""
    asked = _wanted(step for step in before.steps if not step.permitted)
    asks = _wanted(step for step in steps if not step.permitted)
    return tuple(sorted({*before.owed, *(asked - asks)}))


def _current(plan: ExecutionPlan) -> Sequence[PlanStep]:
    """The steps in progress; without any, the first open one: the model may work on it before it marks it."""
    return [step for step in plan.steps if step.status == "in_progress"] or plan.open_steps[:1]


def _finished_without(plan: ExecutionPlan) -> list[PlanStep]:
    """The finished steps without a given permission."""
    return [step for step in plan.steps if not step.is_open and not step.permitted]


def _wanted(steps: Iterable[PlanStep]) -> set[str]:
    """The tools that `steps` ask a permission for."""
    return {step.tool or ANY_RISKY_TOOL for step in steps if step.requires_permission}
