"""The body of an edit of the plan. What its operations do: `acta/engine/plans/edit.py`."""

from typing import Annotated, ClassVar

from pydantic import Field

from acta.engine.api.json_body import RequestBody
from acta.engine.plans import edit
from acta.engine.untrusted.texts import READABLE


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

    operations: Annotated[
        list[Annotated[edit.Operation, Field(discriminator="op")]],
        Field(min_length=1, max_length=edit.MAX_OPERATIONS),
    ]
    """Carried out in this order, all or none."""
    comment: Annotated[str, Field(max_length=2_000), READABLE] | None = None
    """For the agent, in your words."""
