"""The tool `update_plan`. The turn makes its calls itself, in the reply's commit
(`shared/acta_engine/plans/update.py`)."""

from acta_engine.plans.plan import MAX_STEPS, UPDATE_PLAN
from acta_engine.tools.tool import BuiltinTool, fields, text

STEP = fields(
    ("description",),
    step_number={"type": "integer", "minimum": 1},
    description=text("What this step does"),
    tool=text("The one tool it mainly uses, if any"),
    input={"type": "object", "description": "The tool's whole input, if all of it is known already"},
    requires_permission={"type": "boolean", "description": "True if a person should approve it first"},
)

TOOLS = (
    BuiltinTool(
        name=UPDATE_PLAN,
        description=(
            "Keep the plan of this session. create: goal and 1-10 steps (also replaces a live plan). "
            "update_step: step_number, step_status (in_progress, completed, failed, skipped) and, when "
            "completed, a step_result. complete: all steps are finished, reason is the answer. fail: the goal "
            "cannot be reached, reason says why. wait_for_user: reason is the question to the user."
        ),
        input_schema=fields(
            ("action",),
            action={
                "type": "string",
                "enum": ["create", "update_step", "complete", "fail", "wait_for_user"],
            },
            goal=text("What the user wants to have at the end"),
            steps={"type": "array", "minItems": 1, "maxItems": MAX_STEPS, "items": STEP},
            risks={
                "type": "array",
                "maxItems": 5,
                "items": text("A risk you see beside those of the tools"),
            },
            step_number={"type": "integer", "minimum": 1},
            step_status={"type": "string", "enum": ["in_progress", "completed", "failed", "skipped"]},
            step_result=text("What the step found or made, in a sentence or two"),
            reason=text("The answer, the cause or the question"),
        ),
        effect="idempotent",
        always=True,
    ),
)
