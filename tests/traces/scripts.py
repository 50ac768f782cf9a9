"""What a model says that has a plan of one step and ends it."""

from acta.engine.models.model import ModelReply
from tests.in_process.scripted import call, says, step


def finishes(answer: str = "Done.") -> ModelReply:
    """Completes step 1 and the plan."""
    complete = call("update_plan", action="complete", reason="done")
    return says(f"GOAL_COMPLETE\n{answer}", step(1, "completed", "done"), complete)
