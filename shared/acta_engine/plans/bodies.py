"""The body of an edit of the plan. What its operations do: `shared/acta_engine/plans/edit.py`."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from acta_engine.api.json_body import RequestBody
from acta_engine.plans import edit, update
from acta_engine.sessions.bodies import NOT_BLANK, READABLE, JsonObject, Name

Description = Annotated[update.Description, READABLE, NOT_BLANK]
StepNumber = Annotated[int, Field(ge=1, le=update.MAX_STEP_NUMBER)]
StepInput = Annotated[JsonObject, AfterValidator(update.small_input)]


class AddStep(edit.AddStep):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    description: Description
    tool: Name | None = None
    input: StepInput | None = None
    before: StepNumber | None = None


class ChangeStep(edit.ChangeStep):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    step_number: StepNumber
    description: Description | None = None
    tool: Name | None = None
    input: StepInput | None = None


class SkipStep(edit.SkipStep):
    model_config = ConfigDict(strict=True)

    step_number: StepNumber
    reason: Annotated[str, Field(max_length=edit.MAX_REASON_CHARS), READABLE] | None = None


class ReorderSteps(edit.ReorderSteps):
    model_config = ConfigDict(strict=True)

    step_numbers: Annotated[list[StepNumber], Field(min_length=1, max_length=edit.MAX_EDITED_STEPS)]


Operation = Annotated[AddStep | ChangeStep | SkipStep | ReorderSteps, Field(discriminator="op")]


class EditPlan(RequestBody):
    """`PATCH /v1/sessions/{id}/plan`."""

    operations: Annotated[list[Operation], Field(min_length=1, max_length=edit.MAX_OPERATIONS)]
    comment: Annotated[str, Field(max_length=2_000), READABLE] | None = None
