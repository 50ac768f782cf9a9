"""The tool `update_plan`. The turn makes its calls itself, in the reply's commit
(`acta/engine/plans/update.py`)."""

from acta.engine.plans.plan import UPDATE_PLAN
from acta.engine.tools.tool import BuiltinTool, fields

_TEXT, _NUMBER = {"type": "string"}, {"type": "integer"}
_STATUS = {"type": "string", "enum": ["in_progress", "completed", "failed", "skipped"]}
STEP = fields(
    step_number=_NUMBER,
    description=_TEXT,
    tool=_TEXT,
    input={"type": "object"},
    requires_permission={"type": "boolean"},
    step_status=_STATUS,
    step_result=_TEXT,
)
"""A step of a new plan, or where a step stands: which fields go together is for `plans/update.py` to say."""

TOOLS = (
    BuiltinTool(
        name=UPDATE_PLAN,
        description=(
            "create: goal, 1-10 steps; replaces a live plan. update_step, complete: where steps stand; step_result "
            "alone is completed. fail, wait_for_user: reason."
        ),
        input_schema=fields(
            ("action",),
            action={
                "type": "string",
                "enum": ["create", "update_step", "complete", "fail", "wait_for_user"],
            },
            goal=_TEXT,
            steps={"type": "array", "items": STEP},
            reason=_TEXT,
        ),
        effect="idempotent",
        always=True,
    ),
)
