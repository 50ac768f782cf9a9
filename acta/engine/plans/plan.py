"""An agent's plan: a goal and up to ten steps with their states (docs/design/plans.md 1)."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from acta.engine.store.schema import StoredModel

UPDATE_PLAN = "update_plan"
"""The tool with which a model makes its plan and keeps it."""
MAX_STEPS = 10
MAX_RESULT_CHARS = 1_000
"""The plan keeps the beginning of a step's result. The conversation has all of it."""
MAX_EVIDENCE = 20
"""Call ids kept per step. The plan is in every head, so it must stay small."""

WHOLE_TASK = "Do what the user asked for."

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
    """`tool`: the tool that the step mainly uses, if any. `evidence`: ids of the newest successful tool calls made for
    the step (`ExecutionPlan.with_evidence`). `permitted`: a person has approved a call that the step asks permission
    for.
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
    asked permission for and nobody has approved since (`acta.engine.plans.plan`). `approved`: those
    that an earlier version asked permission for and somebody has approved; a fork owes them again. `made_by_acta`: the
    model called tools without making a plan, twice, so this one has a single step, which holds back no answer.
    """

    version: int
    goal: str
    steps: tuple[PlanStep, ...]
    current_step_index: int = 0
    status: PlanStatus = "executing"
    risks: tuple[str, ...] = ()
    owed: tuple[str, ...] = ()
    approved: tuple[str, ...] = ()
    made_by_acta: bool = False
    created_at: datetime
    updated_at: datetime

    def as_event(self) -> dict[str, Any]:
        """The plan as events show it."""
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

    def with_evidence(self, call_id: str, now: datetime, *, is_edited: bool = False) -> "ExecutionPlan":
        """Adds a successful call to the first step in progress. Without one, to the first open step, which the model
        works on without saying so. `is_edited`: a person has edited the plan since the call was asked for. The pending
        steps may no longer be those that the call was for."""
        current = [step for step in _current(self) if not (is_edited and step.status == "pending")]
        return self.with_step(current[0].with_evidence(call_id), now) if current else self


def numbers_of(steps: Iterable[PlanStep]) -> str:
    return ", ".join(str(step.step_number) for step in steps)


def plan_of_acta(before: ExecutionPlan | None, goal: str, now: datetime) -> ExecutionPlan:
    """The plan for a model that makes none. `before`: the session's last plan, whose permissions stay owed."""
    return ExecutionPlan(
        version=1 if before is None else before.version + 1,
        goal=goal,
        steps=(PlanStep(step_number=1, description=WHOLE_TASK, status="in_progress", started_at=now),),
        owed=permissions_owed(before, ()),
        approved=permissions_approved(before),
        made_by_acta=True,
        created_at=now,
        updated_at=now,
    )


# The model adds permissions to a plan, and only a person gives them. A model cannot get rid of a permission. Where it
# marks the step as finished, or closes the plan, or replaces it by one that asks for less, the permission is still
# owed: the next call of that tool asks a person, whichever step or run it belongs to.
ANY_RISKY_TOOL = ""
"""Stands for every tool that is not read-only. A step without a tool asks for this permission."""


def needs_permission(plan: ExecutionPlan, tool: str, *, risky: bool) -> bool:
    """Whether a current step asks for a permission for `tool`, an open step that names it does, or one is still owed.
    `risky`: `tool` is not read-only.
    """
    named = (step for step in plan.open_steps if step.tool is not None)
    wanted = {*_wanted((*_current(plan), *named, *_finished_without(plan))), *plan.owed}
    return tool in wanted or (risky and ANY_RISKY_TOOL in wanted)


def with_permission(
    plan: ExecutionPlan, tool: str, *, risky: bool = True, is_edited: bool = False
) -> ExecutionPlan:
    """The plan after a person has approved a call of `tool`. `risky`: it is not read-only; the approval of one that is
    gives no permission for tools that do more. `is_edited`: a person has edited the plan since the call was asked for.
    The pending steps may no longer be those that the call was for, so they still ask."""
    given = {tool, ANY_RISKY_TOOL} if risky else {tool}
    asking = [
        step for step in (*_current(plan), *_finished_without(plan)) if (step.tool or ANY_RISKY_TOOL) in given
    ]
    if not _wanted(asking) and not given & {*plan.owed}:
        # A step that has not begun names the tool, and that is why the person was asked.
        asking = [step for step in plan.open_steps if step.requires_permission and step.tool == tool][:1]
    numbers = {step.step_number for step in asking if not (is_edited and step.status == "pending")}
    steps = tuple(
        step.model_copy(update={"permitted": True})
        if step.requires_permission and step.step_number in numbers
        else step
        for step in plan.steps
    )
    owed = tuple(name for name in plan.owed if name not in given)
    approved = tuple(sorted({*plan.approved, *(set(plan.owed) - set(owed))}))
    return plan.model_copy(update={"steps": steps, "owed": owed, "approved": approved})


def without_permissions(plan: ExecutionPlan) -> ExecutionPlan:
    """The plan as if nobody had approved anything: what was approved is asked for by its step, or owed again."""
    steps = tuple(step.model_copy(update={"permitted": False}) for step in plan.steps)
    owed = tuple(sorted({*plan.owed, *(set(plan.approved) - _wanted(steps))}))
    return plan.model_copy(update={"steps": steps, "owed": owed, "approved": ()})


def permissions_owed(before: ExecutionPlan | None, steps: Iterable[PlanStep]) -> tuple[str, ...]:
    """The tools whose permission the plan `before` asked for, nobody gave, and the new `steps` do not ask for again.

    A plan that the model has closed owes them as an open one does, or closing it would get rid of them.
    `ANY_RISKY_TOOL` may be among them.
    """
    if before is None:
        return ()
    asked = {*before.owed, *_wanted(step for step in before.steps if not step.permitted)}
    return tuple(sorted(asked - _wanted(steps)))


def permissions_approved(before: ExecutionPlan | None) -> tuple[str, ...]:
    """For the plan that replaces `before`: the permissions given under `before` and the versions that led to it."""
    if before is None:
        return ()
    return tuple(sorted({*before.approved, *_wanted(step for step in before.steps if step.permitted)}))


def permissions_left(before: ExecutionPlan, steps: Iterable[PlanStep]) -> tuple[str, ...]:
    """The permissions that are owed after a person's edit. An edit leaves other steps as they are, and a step that is
    permitted does not ask again."""
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
