"""The agent's plan as the API answers it."""

from __future__ import annotations

from typing import Any, NotRequired

from acta_engine.api.answers import TypedDict, copied
from acta_engine.api.formats import Counter, Instant
from acta_engine.plans.plan import ExecutionPlan, PlanStatus, StepStatus


class PlanStepView(TypedDict):
    step_number: int
    """From 1. It stays the step's as long as the version does."""
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
    """From 1, over the whole session."""
    goal: str
    steps: list[PlanStepView]
    current_step_index: Counter
    """Of the first open step in `steps`; their number where none is open."""
    status: PlanStatus
    risks: list[str]
    created_at: Instant
    updated_at: Instant
    truncated: NotRequired[bool]
    """Its texts were cut, because one page could not hold it."""


def plan_view(plan: ExecutionPlan, status: PlanStatus | None = None) -> PlanView:
    """`status`: as it is now; None: as the version was made."""
    steps = [copied(PlanStepView, step) for step in plan.steps]
    return copied(PlanView, plan, steps=steps, status=status or plan.status)
