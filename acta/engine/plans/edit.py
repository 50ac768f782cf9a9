"""A person edits the plan of a running session: pending steps are added, changed, skipped and reordered (ADR 71).

Steps that are running or finished stay as they are. A number is never used again: no edit removes a step. An edit makes
a new version of the plan, and what a model has written for the version before is refused until the model has read what
was changed (`Head.has_unread_plan_edit`). What was changed is told to the model as a message that waits for the next
turn, so the session is woken, and goes on, as after any message.

`edited` is pure. It raises Conflict where the plan, or a step, is not to be changed any more, and ValidationFailed for
an operation that does not fit the plan or the agent's tools.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from pydantic import AfterValidator, ConfigDict, Field, Strict

from acta.engine.agents.agent import require_start_role
from acta.engine.clock import MESSAGE
from acta.engine.errors import Conflict, PlanNotFound, PlanRefused, PreconditionFailed, ValidationFailed
from acta.engine.log.events import PlanRevised
from acta.engine.log.head import Head
from acta.engine.people.intervention import Intervention
from acta.engine.people.requester import OnDecided, Requester, agent_of, ignore
from acta.engine.people.wait import attempts_in_time
from acta.engine.plans import update
from acta.engine.plans.plan import (
    MAX_STEPS,
    ExecutionPlan,
    PlanStep,
    permissions_approved,
    permissions_left,
)
from acta.engine.plans.update import MAX_STEP_NUMBER, CheckInput, fitted, registry_risks
from acta.engine.recovery.recover import wake_engine
from acta.engine.sessions.start import tell
from acta.engine.store.schema import FrozenModel
from acta.engine.tools.tool import ToolSpec
from acta.engine.untrusted.texts import NOT_BLANK, READABLE, JsonObject, Name
from acta.engine.untrusted.visible import one_line

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.app import App

MAX_OPERATIONS = 20
MAX_EDITED_STEPS = 20
"""Finished and skipped steps included, because the plan is in every head. At most `MAX_STEPS` are open."""
MAX_REASON_CHARS = 1_000


Description = Annotated[update.Description, READABLE, NOT_BLANK]
StepNumber = Annotated[int, Field(ge=1, le=MAX_STEP_NUMBER)]
StepInput = Annotated[JsonObject, AfterValidator(update.small_input)]


class PlanOperation(FrozenModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class AddStep(PlanOperation):
    """A new step, with the next number. A plan has at most 10 open steps, and 20 with the finished ones."""

    op: Literal["add"]
    """A new step."""
    description: Description
    """What is to be done."""
    tool: Name | None = None
    """The tool that the step mainly uses: one of the agent's."""
    input: StepInput | None = None
    """What the tool takes, where that is known whole. At most 2,000 characters."""
    requires_permission: bool = False
    """A person is asked before the step's tool runs. It can be added, and is lifted by an approval alone."""
    before: StepNumber | None = None
    """The pending step that it comes before. Absent: it comes last."""


class ChangeStep(PlanOperation):
    """A pending step is changed. Absent fields stay as they are, except that another tool removes the input. null
    removes the tool or the input."""

    op: Literal["edit"]
    """Another wording, tool or input."""
    step_number: StepNumber
    """Of a pending step."""
    description: Description | None = None
    """What is to be done."""
    tool: Name | None = None
    """The tool that the step mainly uses: one of the agent's."""
    input: StepInput | None = None
    """What the tool takes, where that is known whole. At most 2,000 characters."""
    requires_permission: bool | None = None
    """A person is asked before the step's tool runs. It can be added, and is lifted by an approval alone."""


CAN_BE_NONE = ("tool", "input")
"""The fields of `ChangeStep` that null removes."""


class SkipStep(PlanOperation):
    """A pending step is not done."""

    op: Literal["skip"]
    """Leaves a step out."""
    step_number: StepNumber
    """Of a pending step."""
    reason: Annotated[str, Field(max_length=MAX_REASON_CHARS), READABLE] | None = None
    """Why. It becomes the step's result."""


class ReorderSteps(PlanOperation):
    """The pending steps come in another order; the others keep their places."""

    op: Literal["reorder"]
    """Another order."""
    step_numbers: Annotated[
        tuple[StepNumber, ...], Field(min_length=1, max_length=MAX_EDITED_STEPS), Strict(False)
    ]
    """All pending steps, in their new order."""


Operation = AddStep | ChangeStep | SkipStep | ReorderSteps


class EditedPlan(NamedTuple):
    """`told`: what the model is told of the changes, a line for each operation."""

    plan: ExecutionPlan
    told: tuple[str, ...]


class PlanEdit(NamedTuple):
    """`fits`: whether the person has seen this version of the plan. `comment`: for the model, as they wrote it."""

    operations: Sequence[Operation]
    fits: Callable[[int], bool]
    comment: str = ""


def edit_plan(
    app: "App", requester: Requester, session_id: str, edit: PlanEdit, on_decided: OnDecided = ignore
) -> Head:
    """Commits the plan's next version and wakes the engine. The change is a message: `on_decided` is told of the
    clarification that the message has answered.

    Raises SessionNotFound, PlanNotFound, PreconditionFailed (the plan is at another version), ValidationFailed,
    KeyTaken, StartRoleMissing and RoleMissing as for a message, and Conflict (the run is over, a plan is being made, a
    step has begun, too many messages wait, the agent was deleted).
    """
    repository = app.repository
    session = repository.newest(requester.tenant, session_id)
    agent = agent_of(app.definitions, session.head)
    require_start_role(agent, requester.roles)
    tools = agent.toolset(app.registry.specs(requester.tenant, session.head.agent_id))
    message_id = repository.clock.new_id(MESSAGE)

    answered: Intervention | None = None
    wake = partial(wake_engine, repository, app.workflow, session)
    for change in attempts_in_time(repository, session, f"plan/{message_id}", on_expired=wake):
        before = _editable(change.head, edit)
        changed = edited(before, edit.operations, tools, change.now, app.registry.check)
        plan = changed.plan
        change.set(plan=plan, plan_edit=message_id)
        change.event(
            PlanRevised(version=plan.version, plan=plan.as_event(), by=requester.user, message_id=message_id)
        )
        answered = tell(change, message_id, _message(changed, edit.comment), requester, agent)
        change.commit(idempotency=requester.key)
    on_decided(answered)
    wake()
    return session.head


def _editable(head: Head, edit: PlanEdit) -> ExecutionPlan:
    if head.plan is None:
        raise PlanNotFound("The session has no plan yet.")
    if not edit.fits(head.plan.version):
        raise PreconditionFailed(
            f"The plan is at version {head.plan.version} now: somebody has changed it since you read it. Read it again."
        )
    if head.is_over or head.run is None:
        raise Conflict(f"The session is {head.state}. Write to it, and a new plan is made.")
    return head.plan


def _message(changed: EditedPlan, comment: str) -> str:
    said = [f"I have changed the plan. It is at version {changed.plan.version} now:"]
    said += [f"- {line}" for line in changed.told]
    said.append("Go on by the plan as it is now.")
    return "\n".join([*said, *(["", comment] if comment.strip() else [])])


def edited(
    plan: ExecutionPlan,
    operations: Iterable[Operation],
    tools: Mapping[str, ToolSpec],
    now: datetime,
    check_input: CheckInput,
) -> EditedPlan:
    """The plan's next version, with all operations carried out in their order. `tools`: those of the agent, by name."""
    if not plan.is_live:
        raise Conflict(f"The plan is {plan.status}. Write to the session, and a new one is made.")
    steps, told = plan.steps, []
    for place, operation in enumerate(operations):
        try:
            match operation:
                case AddStep():
                    steps, line = _added(steps, operation, tools, check_input)
                case ChangeStep():
                    steps, line = _changed(steps, operation, tools, check_input)
                case SkipStep():
                    steps, line = _skipped(steps, operation, now)
                case ReorderSteps():
                    steps, line = _reordered(steps, operation)
        except _Unfit as unfit:
            raise ValidationFailed(str(unfit), {f"operations.{place}.{unfit.field}": [str(unfit)]}) from None
        except PlanRefused as refused:
            raise ValidationFailed(str(refused), {f"operations.{place}": [str(refused)]}) from None
        told.append(line)
    known = set(registry_risks(plan.steps, tools))
    following = plan.model_copy(
        update={
            "version": plan.version + 1,
            "steps": steps,
            "current_step_index": next((i for i, step in enumerate(steps) if step.is_open), len(steps)),
            # the registry's risks are computed again; those that the model has added stay
            "risks": (*registry_risks(steps, tools), *(risk for risk in plan.risks if risk not in known)),
            "owed": permissions_left(plan, steps),
            "approved": permissions_approved(plan),
            "created_at": now,
            "updated_at": now,
        }
    )
    return EditedPlan(following, tuple(told))


class _Unfit(Exception):
    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


Steps = tuple[PlanStep, ...]


def _added(
    steps: Steps, new: AddStep, tools: Mapping[str, ToolSpec], check_input: CheckInput
) -> tuple[Steps, str]:
    if sum(step.is_open for step in steps) >= MAX_STEPS or len(steps) >= MAX_EDITED_STEPS:
        raise _Unfit(
            "op", f"A plan has at most {MAX_STEPS} open steps, and {MAX_EDITED_STEPS} with the finished ones."
        )
    step = PlanStep(
        step_number=_next_number(steps),
        description=new.description,
        tool=new.tool,
        input=new.input,
        requires_permission=new.requires_permission,
    )
    step = fitted(step, tools, check_input)
    where = len(steps) if new.before is None else steps.index(_pending(steps, new.before, "before"))
    at = "at the end" if new.before is None else f"before step {new.before}"
    line = f"Step {step.step_number} is new, {at}: {_words(step)}"
    return (*steps[:where], step, *steps[where:]), line


def _next_number(steps: Steps) -> int:
    """The number after the highest. If no step may have that number, the lowest that no step has."""
    taken = {step.step_number for step in steps}
    highest = max(taken, default=0)
    if highest < MAX_STEP_NUMBER:
        return highest + 1
    return next(number for number in range(1, MAX_STEP_NUMBER) if number not in taken)


def _changed(
    steps: Steps, change: ChangeStep, tools: Mapping[str, ToolSpec], check_input: CheckInput
) -> tuple[Steps, str]:
    before = _pending(steps, change.step_number)
    if change.requires_permission is False and before.requires_permission:
        raise _Unfit("requires_permission", "A permission is given by approving the call, not by an edit.")
    asked = {name: getattr(change, name) for name in change.model_fields_set - {"op", "step_number"}}
    given = {name: value for name, value in asked.items() if value is not None or name in CAN_BE_NONE}
    if "tool" in given and given["tool"] != before.tool:
        given = {"input": None, **given}
    step = fitted(before.model_copy(update={**given, "permitted": False, "evidence": ()}), tools, check_input)
    return _with(steps, step), f"Step {step.step_number} is now: {_words(step)}"


def _skipped(steps: Steps, skip: SkipStep, now: datetime) -> tuple[Steps, str]:
    before = _pending(steps, skip.step_number)
    reason = (skip.reason or "").strip()
    step = before.model_copy(update={"status": "skipped", "result": reason or None, "completed_at": now})
    return _with(
        steps, step
    ), f"Step {step.step_number} is skipped{f': {one_line(reason)}' if reason else '.'}"


def _reordered(steps: Steps, order: ReorderSteps) -> tuple[Steps, str]:
    pending = [step for step in steps if step.status == "pending"]
    numbers = [step.step_number for step in pending]
    if sorted(order.step_numbers) != sorted(numbers):
        for number in order.step_numbers:
            _pending(steps, number, "step_numbers")
        raise _Unfit("step_numbers", f"Name each pending step once: {', '.join(map(str, sorted(numbers)))}.")
    by_number = {step.step_number: step for step in pending}
    following = iter([by_number[number] for number in order.step_numbers])
    moved = tuple(next(following) if step.status == "pending" else step for step in steps)
    return moved, f"The pending steps come in this order now: {', '.join(map(str, order.step_numbers))}."


def _pending(steps: Steps, number: int, field: str = "step_number") -> PlanStep:
    """Raises Conflict where the step has begun, is finished or is skipped."""
    step = next((one for one in steps if one.step_number == number), None)
    if step is None:
        raise _Unfit(field, f"The plan has no step {number}.")
    if step.status != "pending":
        raise Conflict(f"Step {number} is {step.status}: only pending steps can be edited.")
    return step


def _with(steps: Steps, changed: PlanStep) -> Steps:
    return tuple(changed if step.step_number == changed.step_number else step for step in steps)


def _words(step: PlanStep) -> str:
    return one_line(step.description) + (f" ({step.tool})" if step.tool else "")
