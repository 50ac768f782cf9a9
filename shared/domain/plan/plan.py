"""An agent's plan: a goal and up to ten steps with their states (design §4)."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from shared.domain.schema.stored_model import StoredModel

MAX_STEPS = 10
MAX_RESULT_CHARS = 1_000
"""The plan keeps the beginning of a step's result. The conversation has all of it."""
MAX_EVIDENCE = 20
"""Call ids kept per step. The plan is in every head, so it must stay small."""

PlanStatus = Literal["planning", "executing", "completed", "failed", "waiting_for_user"]
StepStatus = Literal["pending", "in_progress", "completed", "failed", "skipped"]

STEP_TRANSITIONS: dict[StepStatus, frozenset[StepStatus]] = {
    "pending": frozenset({"in_progress", "completed", "failed", "skipped"}),
    "in_progress": frozenset({"completed", "failed", "skipped"}),
    "failed": frozenset({"in_progress"}),
    "completed": frozenset(),
    "skipped": frozenset(),
}


class PlanStep(StoredModel):
    """`tool`: the tool that the step mainly uses, if any. `evidence`: ids of the newest successful tool calls made
    while the step was in progress. `permitted`: a person has approved a call that the step asks permission for.
    """

    step_number: Annotated[int, Field(ge=1)]
    description: str
    tool: str | None = None
    input: dict[str, Any] | None = None
    requires_permission: bool = False
    permitted: bool = False
    status: StepStatus = "pending"
    result: str | None = None
    evidence: tuple[str, ...] = ()
    started_at: datetime | None = None
    completed_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        return self.status in ("pending", "in_progress")

    def with_evidence(self, call_id: str) -> "PlanStep":
        """Adds a successful call. The oldest one makes room."""
        if call_id in self.evidence:
            return self
        return self.model_copy(update={"evidence": (*self.evidence, call_id)[-MAX_EVIDENCE:]})


class ExecutionPlan(StoredModel):
    """`version`: 1 for the session's first plan, then counted up with each new one. `current_step_index`: the index in
    `steps` of the first open step; the length of `steps` where none is open. `owed`: tools that an earlier version
    asked permission for and nobody has approved since (`shared.domain.plan.permissions`). `approved`: those
    that an earlier version asked permission for and somebody has approved; a fork owes them again.
    """

    version: int
    goal: str
    steps: tuple[PlanStep, ...]
    current_step_index: int = 0
    status: PlanStatus = "executing"
    risks: tuple[str, ...] = ()
    owed: tuple[str, ...] = ()
    approved: tuple[str, ...] = ()
    created_at: datetime
    updated_at: datetime

    def as_event(self) -> dict[str, Any]:
        """What events tell of it."""
        return self.model_dump(mode="json", exclude={"approved"})

    @property
    def open_steps(self) -> tuple[PlanStep, ...]:
        return tuple(step for step in self.steps if step.is_open)

    @property
    def is_live(self) -> bool:
        """Whether the plan is neither completed nor failed."""
        return self.status in ("planning", "executing", "waiting_for_user")

    def step(self, number: int) -> PlanStep | None:
        return next((step for step in self.steps if step.step_number == number), None)

    def with_step(self, changed: PlanStep, now: datetime) -> "ExecutionPlan":
        """Replaces the step of the same number."""
        steps = tuple(changed if step.step_number == changed.step_number else step for step in self.steps)
        index = next((i for i, step in enumerate(steps) if step.is_open), len(steps))
        return self.model_copy(update={"steps": steps, "current_step_index": index, "updated_at": now})

    def with_evidence(self, call_id: str, now: datetime) -> "ExecutionPlan":
        """Adds a successful call to the first step in progress, if there is one."""
        running = next((step for step in self.steps if step.status == "in_progress"), None)
        return self if running is None else self.with_step(running.with_evidence(call_id), now)
