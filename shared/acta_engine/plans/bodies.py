"""The body of an edit of the plan. What its operations do: `shared/acta_engine/plans/edit.py`."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, ConfigDict, Field

from acta_engine.api.json_body import RequestBody
from acta_engine.plans import edit, update
from acta_engine.untrusted.texts import NOT_BLANK, READABLE, JsonObject, Name

Description = Annotated[update.Description, READABLE, NOT_BLANK]
StepNumber = Annotated[int, Field(ge=1, le=update.MAX_STEP_NUMBER)]
StepInput = Annotated[JsonObject, AfterValidator(update.small_input)]


class AddStep(edit.AddStep):
    """A new step, with the next number. A plan has at most 10 open steps, and 20 with the finished ones."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    description: Description
    """What is to be done."""
    tool: Name | None = None
    """The tool that the step mainly uses: one of the agent's."""
    input: StepInput | None = None
    """What the tool takes, where that is known whole. At most 2,000 characters."""
    before: StepNumber | None = None
    """The pending step that it comes before. Absent: it comes last."""


class ChangeStep(edit.ChangeStep):
    """A pending step becomes another. Absent fields stay as they are; with another tool the input goes. null takes tool
    or input away."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    step_number: StepNumber
    """Of a pending step."""
    description: Description | None = None
    """What is to be done."""
    tool: Name | None = None
    """The tool that the step mainly uses: one of the agent's."""
    input: StepInput | None = None
    """What the tool takes, where that is known whole. At most 2,000 characters."""


class SkipStep(edit.SkipStep):
    """A pending step is not done."""

    model_config = ConfigDict(strict=True)

    step_number: StepNumber
    """Of a pending step."""
    reason: Annotated[str, Field(max_length=edit.MAX_REASON_CHARS), READABLE] | None = None
    """Why. It becomes the step's result."""


class ReorderSteps(edit.ReorderSteps):
    """The pending steps come in another order; the others keep their places."""

    model_config = ConfigDict(strict=True)

    step_numbers: Annotated[list[StepNumber], Field(min_length=1, max_length=edit.MAX_EDITED_STEPS)]
    """All pending steps, in their new order."""


Operation = Annotated[AddStep | ChangeStep | SkipStep | ReorderSteps, Field(discriminator="op")]


class EditPlan(RequestBody):
    """What is to change, and why."""

    EXAMPLES: ClassVar = {
        "edit": {
            "operations": [
                {
                    "op": "skip",
                    "step_number": 2,
                    "reason": "That file is not needed any more.",
                },
                {"op": "add", "description": "Check the sum by hand.", "before": 3},
                {
                    "op": "edit",
                    "step_number": 3,
                    "description": "Write sums.md, with the checked sum.",
                },
            ],
            "comment": "The invoices of May are not final.",
        },
        "reorder": {"operations": [{"op": "reorder", "step_numbers": [3, 2, 4]}]},
    }

    operations: Annotated[list[Operation], Field(min_length=1, max_length=edit.MAX_OPERATIONS)]
    """Carried out in this order, all or none."""
    comment: Annotated[str, Field(max_length=2_000), READABLE] | None = None
    """For the agent, in your words."""
