"""One tool call, an iteration of the Act state (design §2, §6.3)."""

from typing import Any

from functions.tool.root import runtime
from shared.agent.tools.execute import abandon_call, run_call
from shared.api.engine_event import engine_event
from shared.api.telemetry import Telemetry
from shared.domain.errors import Refused

COMMIT_SECONDS = 8
"""Of the Lambda's time, what is kept back from the tool for committing its finish."""

telemetry = Telemetry("tool")


def handle(event: dict[str, Any], context: Any) -> dict[str, object]:
    step = engine_event(event)
    telemetry.logger.info("tool", extra=step.ids)
    match step.op:
        case "tool":
            left = context.get_remaining_time_in_millis() / 1000 - COMMIT_SECONDS
            run_call(runtime(), step.at, step.call_id, step.attempt, max(1.0, left))
        case "lost_tool":
            abandon_call(runtime(), step.at, step.call_id, step.error)
        case _:
            raise Refused(f"tool does not do {step.op}")
    return {}


handler = telemetry.watch(handle)
