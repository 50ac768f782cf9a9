"""What `update_plan` may be given, read from a model's JSON with the types its schema names (design §4)."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictBool, StringConstraints, ValidationError, field_validator

from shared.domain.errors import PlanRefused
from shared.domain.plan.plan import StepStatus
from shared.domain.value import Value

Action = Literal["create", "update_step", "complete", "fail", "wait_for_user"]

MAX_STEP_INPUT_CHARS = 2_000
"""The plan is in every commit's head; what a step's call is given is in the call."""
MAX_RISKS = 5
"""A model may add so many to those the registry shows; it takes none away."""
MAX_STEP_NUMBER = 1_000
MAX_PROBLEMS = 5
MAX_NAMED_CHARS = 40
"""Of a field the model made up, what the refusal repeats."""


def _number(value: Any) -> Any:
    """JSON's `2` and `2.0`; `true` and `"2"` would pass for whole numbers otherwise."""
    if isinstance(value, bool | str):
        raise ValueError("should be a whole number")
    return value


def _array(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise ValueError("should be an array of steps")
    return value


Number = Annotated[int, BeforeValidator(_number), Field(ge=1, le=MAX_STEP_NUMBER)]
Goal = Annotated[str, Field(max_length=2_000)]
Description = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]


Risk = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class NewStep(Value):
    step_number: Number | None = None
    description: Description
    tool: Annotated[str, Field(max_length=64)] | None = None
    input: dict[str, Any] | None = None
    requires_permission: StrictBool = False

    @field_validator("input")
    @classmethod
    def _small(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        if len(str(value)) > MAX_STEP_INPUT_CHARS:
            raise ValueError("too long for a plan; leave it out, the call itself will have it")
        return value


class PlanUpdate(Value):
    """The tool's input. The session is the one the call runs in, never an argument."""

    action: Action
    goal: Goal | None = None
    steps: Annotated[tuple[NewStep, ...], BeforeValidator(_array)] | None = None
    risks: Annotated[tuple[Risk, ...], Field(max_length=MAX_RISKS)] = ()
    step_number: Number | None = None
    step_status: StepStatus | None = None
    step_result: Annotated[str, Field(max_length=4_000)] | None = None
    reason: Annotated[str, Field(max_length=8_000)] | None = None


def read(raw: Mapping[str, Any]) -> PlanUpdate:
    """Raises PlanRefused, which names the first fields that are wrong."""
    try:
        return PlanUpdate.model_validate(raw)
    except ValidationError as error:
        problems = error.errors(include_input=False, include_url=False)[:MAX_PROBLEMS]
        wrong = "; ".join(
            f"{_place(problem['loc'])}: {problem['msg'].removeprefix('Value error, ')}"
            for problem in problems
        )
        raise PlanRefused(
            "SCHEMA", f"The input does not fit update_plan: {wrong}. Send it again corrected."
        ) from None


def _place(path: tuple[int | str, ...]) -> str:
    return ".".join(str(part)[:MAX_NAMED_CHARS] for part in path) or "input"
