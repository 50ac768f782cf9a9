"""Scripts of a model behind the official SDKs: a plan, some calls, an end."""

from typing import Any

from llmock.scenarios import Reply, ToolCall


def plan(*steps: str) -> Reply:
    described = [{"description": step} for step in steps or ("Do it",)]
    return Reply(
        tool_calls=(ToolCall("update_plan", {"action": "create", "goal": "The goal", "steps": described}),)
    )


def calls(*wanted: tuple[str, dict[str, Any]], text: str | None = None) -> Reply:
    return Reply(text=text, tool_calls=tuple(ToolCall(name, arguments) for name, arguments in wanted))


def step_done(number: int = 1) -> tuple[str, dict[str, Any]]:
    told = {
        "action": "update_step",
        "step_number": number,
        "step_status": "completed",
        "step_result": "Done.",
    }
    return ("update_plan", told)


def end(answer: str = "All done.", *steps: int) -> Reply:
    """Closes the steps (by default the only one) and the plan."""
    closing = [step_done(number) for number in steps or (1,)]
    return calls(
        *closing, ("update_plan", {"action": "complete", "reason": answer}), text=f"GOAL_COMPLETE\n{answer}"
    )
