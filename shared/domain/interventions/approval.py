"""Which calls wait for a person, and who that may be (design §4, §8).

Permissions that a plan asks for are added by the model, and only a person gives them. A model cannot get rid of a
permission. Where it marks the step as finished, or replaces the plan by a version that asks for less, the permission
is still owed: the next call of that tool asks a person, whichever step it belongs to.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from shared.domain.definitions.builtins import CREATE_FILE
from shared.domain.definitions.tool import ToolSpec
from shared.domain.interventions.options_and_defaults import Policy
from shared.domain.plan.plan import ExecutionPlan, PlanStep

ApprovalReason = Literal["high_stakes", "replaces_file", "plan_step"]

ANY_RISKY_TOOL = ""
"""Stands for every tool that is not read-only. A step without a tool asks for this permission."""


def approval_reason(
    plan: ExecutionPlan | None, tool: ToolSpec, arguments: Mapping[str, Any]
) -> ApprovalReason | None:
    """Why a person must approve a call of `tool` with these arguments; None: nobody has to."""
    if tool.high_stakes:
        return "high_stakes"
    if (
        tool.name == CREATE_FILE and arguments.get("replace") is True
    ):  # what was in the file is lost as by a deletion
        return "replaces_file"
    asks = plan is not None and needs_permission(plan, tool.name, risky=tool.is_risky)
    return "plan_step" if asks else None


class Deciders(NamedTuple):
    """Who decides on a call. `role` None: any member of the tenant. `others_only`: nobody who asked for it lets it
    run.
    """

    role: str | None
    others_only: bool


def who_decides(tool: ToolSpec | None, policy: Policy) -> Deciders:
    """The tool's role holds whichever agent makes the call; the policy's where the tool has none. That others decide
    may be wanted by either. `tool` None: it was deleted since. `policy`: the agent's, for the type of the question.
    """
    role = tool.approver_role if tool is not None else None
    others_only = tool is not None and tool.wants_another_approver
    return Deciders(role or policy.role, others_only or policy.approver_must_differ is True)


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
    approved = plan.approved
    if approved is not None:
        approved = tuple(sorted({*approved, *(set(plan.owed) - set(owed))}))
    return plan.model_copy(update={"steps": steps, "owed": owed, "approved": approved})


def without_permissions(plan: ExecutionPlan) -> ExecutionPlan:
    """The plan as if nobody had approved anything: what was approved is asked for by its step, or owed again. Where
    nobody knows what that was, it is any tool that is not read-only.
    """
    steps = tuple(step.model_copy(update={"permitted": False}) for step in plan.steps)
    approved = (ANY_RISKY_TOOL,) if plan.approved is None else plan.approved
    owed = tuple(sorted({*plan.owed, *(set(approved) - _wanted(steps))}))
    return plan.model_copy(update={"steps": steps, "owed": owed, "approved": ()})


def permissions_owed(before: ExecutionPlan | None, steps: Iterable[PlanStep]) -> tuple[str, ...]:
    """The tools whose permission the plan `before` asked for, nobody gave, and the new `steps` do not ask for again.

    Empty where there is no live plan before. `ANY_RISKY_TOOL` may be among them.
    """
    if before is None or not before.is_live:
        return ()
    asked = {*before.owed, *_wanted(step for step in before.steps if not step.permitted)}
    return tuple(sorted(asked - _wanted(steps)))


def permissions_approved(before: ExecutionPlan | None) -> tuple[str, ...] | None:
    """Of the plan that replaces `before`: what was given under `before` and the versions that led to it. None: nobody
    knows.
    """
    if before is None or not before.is_live:
        return ()
    if before.approved is None:
        return None
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
