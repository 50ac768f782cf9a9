"""The volatile end of a request: where the plan stands, what to mind. It changes each turn and so comes last."""

from shared.domain.plan import ExecutionPlan, PlanStep
from shared.domain.session import Head

MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]", "failed": "[!]", "skipped": "[-]"}


def planning_tail(head: Head) -> str:
    said = [head.progress.hint] if head.progress.hint else []
    said.append(
        "Now make the plan: call update_plan (action create, or wait_for_user if the goal is unclear)."
    )
    return "\n\n".join(said)


def turn_tail(head: Head) -> str:
    """Empty only where there is neither plan nor hint."""
    said = []
    if head.plan is not None:
        said.append(plan_status(head.plan))
    if head.run is not None and head.run.max_steps - head.run.iteration <= 2:
        left = head.run.max_steps - head.run.iteration
        said.append(f"Only {left} of {head.run.max_steps} turns are left: bring what you have to an end.")
    if head.progress.hint:
        said.append(head.progress.hint)
    return "\n\n".join(said)


def plan_status(plan: ExecutionPlan) -> str:
    lines = [f"Plan, version {plan.version} ({plan.status}): {plan.goal}"]
    lines += map(_line, plan.steps)
    return "\n".join(lines)


def _line(step: PlanStep) -> str:
    tool = f" ({step.tool})" if step.tool else ""
    result = f" -> {step.result}" if step.result else ""
    return f"{MARKS[step.status]} {step.step_number}. {step.description}{tool}{result}"
