"""The tool `update_plan`: its input, and the only way in which a model changes its plan (docs/design/plans.md 19).
People's edits are in `edit.py`.

Which status of a step may follow which: `STEP_TRANSITIONS` in `acta/engine/plans/plan.py`.

`apply` is pure. It takes a plan and a model's JSON input, and returns the new plan and the events. It raises
PlanRefused where the rules forbid the change; the message tells the model what to do instead.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StrictBool,
    StringConstraints,
    ValidationError,
    model_validator,
)

from acta.engine.errors import PlanRefused, ToolInputInvalid
from acta.engine.log.events import EventData, PlanClosed, PlanCreated, PlanRevised, PlanStepChanged
from acta.engine.plans.plan import (
    MAX_RESULT_CHARS,
    MAX_STEPS,
    STEP_TRANSITIONS,
    ExecutionPlan,
    PlanStep,
    StepStatus,
    numbers_of,
    permissions_approved,
    permissions_owed,
)
from acta.engine.store.schema import FrozenModel
from acta.engine.tools.tool import ToolSpec
from acta.engine.turn.final_answer import without_marker
from acta.engine.untrusted.exact_json import InvalidJson, refuse_oversize
from acta.engine.untrusted.validation_messages import did_you_mean

Action = Literal["create", "update_step", "complete", "fail", "wait_for_user"]

_RETRY_FIRST = "To try a failed step again, make it in_progress first."
_STAYS_FINISHED = "Finished steps do not reopen; go on with an open step, or create a new plan."
MAX_STEP_INPUT_BYTES, MAX_STEP_INPUT_VALUES = 2_000, 100
"""The plan is in every head, so it must stay small, as text and in memory, where a value takes far more than its
characters. The complete input stands in the call.
"""
RECORDED = "Recorded."
"""All that the model is told: the end of its next request says where the plan stands."""
PENDING = (
    "A completed step needs a result, and these have none, so they are pending: {}. Do them, or send update_step with "
    "their step_result."
)
MAX_RISKS = 5
"""The risks that a model may add to those that the registry knows."""
MAX_STEP_NUMBER = 1_000
MAX_PROBLEMS = 5
"""Wrong fields named in one refusal."""
MAX_NAME_CHARS = 40
"""A field or an action that the model made up is repeated to it up to this length."""


def _number(value: Any) -> Any:
    """Refuses `true`, which pydantic takes for a whole number. JSON's `2`, `2.0` and `"2"` pass."""
    if isinstance(value, str) and value.isdecimal() and len(value) <= len(str(MAX_STEP_NUMBER)):
        return int(value)
    if isinstance(value, bool | str):
        raise ValueError("should be a whole number")
    return value


def _array(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise ValueError("should be an array of steps")
    return value


def _unless_blank(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


Number = Annotated[int, BeforeValidator(_number), Field(ge=1, le=MAX_STEP_NUMBER)]
Goal = Annotated[str, Field(max_length=2_000)]
Description = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]


Risk = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


def small_input(value: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    try:
        refuse_oversize(text, MAX_STEP_INPUT_VALUES)
    except InvalidJson as error:
        raise ValueError(f"{error}; leave it out of the plan, the call itself will have it") from None
    if len(text.encode("utf-8", "surrogatepass")) > MAX_STEP_INPUT_BYTES:
        raise ValueError("too long for a plan; leave it out, the call itself will have it")
    return value


ToolName = Annotated[str, Field(max_length=64)]
StepInput = Annotated[dict[str, Any], AfterValidator(small_input)]


StepResult = Annotated[str, Field(max_length=4_000)]


class GivenStep(FrozenModel):
    """A step as a model writes it: of the plan that it makes, or of the one that there is, to say where it stands."""

    step_number: Number | None = None
    description: Annotated[Description | None, BeforeValidator(_unless_blank)] = None
    tool: Annotated[ToolName | None, BeforeValidator(_unless_blank)] = None
    input: StepInput | None = None
    requires_permission: StrictBool = False
    step_status: StepStatus | None = None
    """Absent: a step with a result is completed."""
    step_result: StepResult | None = None

    @model_validator(mode="before")
    @classmethod
    def _described(cls, given: Any) -> Any:
        """A model may write a step as its description alone."""
        return {"description": given} if isinstance(given, str) else given


class PlanUpdate(FrozenModel):
    """The tool's input. It names no session: the plan is that of the session in which the call runs."""

    action: Action
    goal: Goal | None = None
    steps: Annotated[tuple[GivenStep, ...], BeforeValidator(_array)] | None = None
    """What the action `create` plans. With any other action, where steps stand now."""
    risks: Annotated[tuple[Risk, ...], Field(max_length=MAX_RISKS)] = ()
    step_number: Number | None = None
    """With its status and result: one more step that has changed."""
    step_status: StepStatus | None = None
    step_result: StepResult | None = None
    reason: Annotated[str, Field(max_length=8_000), AfterValidator(without_marker)] | None = None


def _read(raw: Mapping[str, Any]) -> PlanUpdate:
    """Validates the model's input. Raises PlanRefused, which names the first fields that are wrong."""
    try:
        return PlanUpdate.model_validate(raw)
    except ValidationError as error:
        problems = error.errors(include_input=False, include_url=False)[:MAX_PROBLEMS]
        paths = (".".join(str(part)[:MAX_NAME_CHARS] for part in each["loc"]) or "input" for each in problems)
        said = (each["msg"].removeprefix("Value error, ") for each in problems)
        wrong = "; ".join(f"{path}: {text}" for path, text in zip(paths, said, strict=True))
        raise PlanRefused(
            "SCHEMA", f"The input does not fit update_plan: {wrong}. Send it again corrected."
        ) from None


def described(raw: Mapping[str, Any]) -> tuple[str, list[str]] | None:
    """The goal and the steps' descriptions in an input of the action `create`. None: it is another input."""
    try:
        made = _read(raw)
    except PlanRefused:
        return None
    words = [step.description or "" for step in made.steps or ()]
    return ((made.goal or "").strip(), words) if made.action == "create" else None


class AppliedUpdate(NamedTuple):
    """`plan` None: the model asks a question before it has made a plan. `result`: the tool's result for the model."""

    plan: ExecutionPlan | None
    events: tuple[EventData, ...]
    result: str
    update: PlanUpdate


CheckInput = Callable[[ToolSpec, Mapping[str, Any]], None]
"""Raises ToolInputInvalid where the input does not fit the tool's schema."""


def apply(
    plan: ExecutionPlan | None,
    raw: Mapping[str, Any],
    tools: Mapping[str, ToolSpec],
    now: datetime,
    check_input: CheckInput,
) -> AppliedUpdate:
    """Applies the model's input to the plan. `tools`: the tools that this agent may use, by name. Raises
    PlanRefused.
    """
    update = _read(raw)
    if update.action == "create":
        return _create(plan, update, tools, now, check_input)
    changes = update.steps or ()
    if update.step_number is not None and (update.step_status or update.step_result):
        single = {name: getattr(update, name) for name in ("step_number", "step_status", "step_result")}
        changes = (GivenStep(**single), *changes)
    if update.action == "wait_for_user" and not changes:
        # Allowed before there is a plan, too: the model may have to ask what the goal means before it can plan.
        return _waiting(plan, (), update, now)
    plan, events = _with_changes(_require_live(plan), changes, now)
    if update.action == "wait_for_user":
        return _waiting(plan, events, update, now)
    if update.action == "update_step":
        if not changes:
            raise PlanRefused(
                "SCHEMA", "update_step needs step_number and step_status, or `steps` with these."
            )
        return AppliedUpdate(plan, events, RECORDED, update)
    if update.action == "complete" and plan.open_steps:
        raise PlanRefused(
            "OPEN_STEPS",
            f"The plan cannot be completed: steps {numbers_of(plan.open_steps)} are still open. Do them, or say in "
            "`steps` that they are completed, failed or skipped.",
        )
    if update.action == "fail":
        _require_reason(update)
    status: Literal["completed", "failed"] = "completed" if update.action == "complete" else "failed"
    plan = plan.model_copy(update={"status": status, "updated_at": now})
    closed = PlanClosed(version=plan.version, status=status)
    return AppliedUpdate(plan, (*events, closed), f"The plan is {status}.", update)


def _require_live(plan: ExecutionPlan | None) -> ExecutionPlan:
    if plan is None:
        raise PlanRefused("NO_PLAN", "There is no plan yet. Call update_plan with action create first.")
    if not plan.is_live:
        raise PlanRefused("PLAN_CLOSED", f"The plan is {plan.status}. Create a new one to go on.")
    return plan


def _create(
    plan: ExecutionPlan | None,
    update: PlanUpdate,
    tools: Mapping[str, ToolSpec],
    now: datetime,
    check_input: CheckInput,
) -> AppliedUpdate:
    if not (update.goal or "").strip():
        raise PlanRefused(
            "GOAL_BLANK", "A plan needs a goal: say in `goal` what the user wants to have at the end."
        )
    wanted = update.steps or ()
    if not 1 <= len(wanted) <= MAX_STEPS:
        instead = "Merge or drop steps." if wanted else "Give it at least one."
        raise PlanRefused(
            "STEP_COUNT", f"A plan has 1 to {MAX_STEPS} steps, this one has {len(wanted)}. {instead}"
        )
    steps = _numbered(wanted)
    steps = tuple(fitted(step, tools, check_input) for step in steps)
    created = ExecutionPlan(
        version=1 if plan is None else plan.version + 1,
        goal=(update.goal or "").strip(),
        steps=steps,
        risks=(*registry_risks(steps, tools), *update.risks),
        owed=permissions_owed(plan, steps),
        approved=permissions_approved(plan),
        created_at=now,
        updated_at=now,
    )
    begun, unproved = [], []
    for given, step in zip(wanted, steps, strict=True):
        if given.step_status == "completed" and not (given.step_result or "").strip():
            unproved.append(step)  # models that know lists of tasks write so; a completed step has a result
        elif given.step_status or given.step_result:
            begun.append(given.model_copy(update={"step_number": step.step_number, "description": None}))
    created, events = _with_changes(created, begun, now)
    told = PlanRevised if plan is not None and plan.is_live else PlanCreated
    event = told(version=created.version, plan=created.as_event())
    result = f"{RECORDED} {PENDING.format(numbers_of(unproved))}" if unproved else RECORDED
    return AppliedUpdate(created, (event, *events), result, update)


def _numbered(wanted: tuple[GivenStep, ...]) -> tuple[PlanStep, ...]:
    """Steps without a number get the lowest free ones, in order."""
    bare = [place for place, step in enumerate(wanted) if step.description is None]
    if bare:
        raise PlanRefused(
            "SCHEMA",
            f"The input does not fit update_plan: steps.{bare[0]}.description is missing. Send it again corrected.",
        )
    taken = [step.step_number for step in wanted if step.step_number is not None]
    if len(taken) != len(set(taken)):
        raise PlanRefused("DUPLICATE_STEP", "Two steps have the same step_number. Number them 1, 2, 3, …")
    free = (number for number in range(1, MAX_STEPS * 2 + 1) if number not in taken)
    return tuple(
        PlanStep(
            step_number=step.step_number if step.step_number is not None else next(free),
            description=step.description or "",
            tool=step.tool,
            input=step.input or None,
            requires_permission=step.requires_permission,
        )
        for step in wanted
    )


def fitted(step: PlanStep, tools: Mapping[str, ToolSpec], check_input: CheckInput) -> PlanStep:
    """The step, with the permission that its tool asks for. Raises PlanRefused for a tool that the agent does not have
    and an input that the tool would not take.
    """
    if step.tool is None:
        return step
    tool = tools.get(step.tool)
    if tool is None:
        raise PlanRefused(
            "UNKNOWN_TOOL",
            f"Step {step.step_number} names the tool {step.tool!r}, which this agent does not have. "
            + did_you_mean(step.tool, tools),
        )
    if step.input is not None:
        try:  # a person who reads the plan may trust that the tool takes a planned input as it stands
            check_input(tool, step.input)
        except ToolInputInvalid as wrong:
            raise PlanRefused(
                "STEP_INPUT",
                f"Step {step.step_number}: {wrong} Correct its `input`, or leave `input` out while it is not known "
                "whole; the call itself will have it.",
            ) from None
    # A step with a high-stakes tool requires permission, even where the model says that it does not.
    return step.model_copy(update={"requires_permission": True}) if tool.high_stakes else step


def registry_risks(steps: Iterable[PlanStep], tools: Mapping[str, ToolSpec]) -> list[str]:
    """The risks that follow from the registry. The model can add risks, and cannot remove these."""
    used = ((step, tools.get(step.tool or "")) for step in steps)
    return [
        f"Step {step.step_number} uses {tool.name} ({tool.risk}{', high stakes' if tool.high_stakes else ''})."
        for step, tool in used
        if tool is not None and tool.is_risky
    ]


def _with_changes(
    plan: ExecutionPlan, changes: Iterable[GivenStep], now: datetime
) -> tuple[ExecutionPlan, tuple[EventData, ...]]:
    """The plan with all changes, and their events. Raises PlanRefused where one of them is not allowed."""
    events: list[EventData] = []
    named: set[int] = set()
    for change in changes:
        if change.step_number is None:
            raise PlanRefused(
                "SCHEMA", "Each of the steps needs its step_number. Send the update again with it."
            )
        if change.step_number in named:
            raise PlanRefused(
                "DUPLICATE_STEP",
                f"Step {change.step_number} stands in this update twice. Say of each step once where it stands now.",
            )
        named.add(change.step_number)
        step = plan.step(change.step_number)
        if step is None:
            raise PlanRefused(
                "NO_SUCH_STEP", f"The plan has no step {change.step_number}; it has {numbers_of(plan.steps)}."
            )
        for field in ("description", "tool", "input", "requires_permission"):
            if (said := getattr(change, field)) and said != getattr(step, field):
                raise PlanRefused(
                    "STEP_FIXED",
                    f"Step {step.step_number} has another {field} in the plan. Leave it out, or create the plan again.",
                )
        to = change.step_status or "completed"
        if to == step.status:
            continue
        if to not in STEP_TRANSITIONS[step.status]:
            way_on = _RETRY_FIRST if step.status == "failed" else _STAYS_FINISHED
            raise PlanRefused(
                "STEP_TRANSITION",
                f"Step {step.step_number} is {step.status} and cannot become {to}. {way_on}",
            )
        result = (change.step_result or "").strip()[:MAX_RESULT_CHARS] or None
        if to == "completed" and result is None and not step.evidence:
            raise PlanRefused(
                "NO_RESULT",
                f"Step {step.step_number} has no result and no call of a tool. Give a step_result, or do it.",
            )
        changed = step.model_copy(
            update={
                "status": to,
                "result": result if result is not None else step.result,
                "started_at": step.started_at or now,
                "completed_at": None if to == "in_progress" else now,
            }
        )
        plan = plan.with_step(changed, now).model_copy(update={"status": "executing"})
        events.append(PlanStepChanged(plan_step=step.step_number, before=step.status, status=to))
    return plan, tuple(events)


def _waiting(
    plan: ExecutionPlan | None, events: tuple[EventData, ...], update: PlanUpdate, now: datetime
) -> AppliedUpdate:
    _require_reason(update)
    if plan is not None and plan.is_live:
        plan = plan.model_copy(update={"status": "waiting_for_user", "updated_at": now})
    return AppliedUpdate(
        plan, events, "The question goes to the user; the answer will be the next message.", update
    )


def _require_reason(update: PlanUpdate) -> None:
    if not (update.reason or "").strip():
        raise PlanRefused("NO_REASON", f"{update.action} needs a `reason`.")
