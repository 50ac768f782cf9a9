"""The agent's plan as the API answers it."""

from __future__ import annotations

from typing import Any, NotRequired

from acta.engine.api.answers import Counter, Instant, TypedDict, copied
from acta.engine.plans.plan import ExecutionPlan, PlanStatus, StepStatus


class PlanStepView(TypedDict):
    step_number: int
    """Counts from 1. Within a version of the plan, a step keeps its number."""
    description: str
    tool: str | None
    """The tool that the step mainly uses, if the agent has named one."""
    input: dict[str, Any] | None
    requires_permission: bool
    """A person is asked before the step's tool runs."""
    status: StepStatus
    result: str | None
    """The beginning of what came of it, at most 1,000 characters."""
    evidence: list[str]
    """Ids of the newest successful tool calls that were made for it."""
    started_at: Instant | None
    completed_at: Instant | None


class PlanView(TypedDict):
    """A version of the plan. Within a version steps change their status, and no step comes or goes."""

    version: int
    """Counts from 1 over the whole session."""
    goal: str
    steps: list[PlanStepView]
    current_step_index: Counter
    """The index of the first open step in `steps`; the number of steps if none is open."""
    status: PlanStatus
    risks: list[str]
    made_by_acta: bool
    """The agent called tools without making a plan, so Acta made this one, of a single step."""
    created_at: Instant
    updated_at: Instant
    truncated: NotRequired[bool]
    """The plan's texts were cut, because one page could not hold it."""


def plan_view(plan: ExecutionPlan, status: PlanStatus | None = None) -> PlanView:
    """`status`: the plan's status now; None: the one that the version was made with."""
    steps = [copied(PlanStepView, step) for step in plan.steps]
    return copied(PlanView, plan, steps=steps, status=status or plan.status)
