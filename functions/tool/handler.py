"""One tool call, an iteration of the Act state (design §2, §6.3)."""

from typing import Any

from functions.tool.dependencies import runtime
from shared.agent.tools.execute import abandon_call, run_call
from shared.domain.errors import Refused
from shared.engine_event import engine_event, seconds_for_work
from shared.settings import settings
from shared.telemetry import Telemetry

telemetry = Telemetry("tool")


def handle(event: dict[str, Any], context: Any) -> dict[str, object]:
    step = engine_event(event)
    telemetry.logger.info("tool", extra=step.ids)
    match step.op:
        case "tool":
            seconds = seconds_for_work(
                context.get_remaining_time_in_millis(), settings().longest_tool_seconds
            )
            run_call(runtime(), step.at, step.call_id, step.attempt, seconds)
        case "lost_tool":
            abandon_call(runtime(), step.at, step.call_id, step.error)
        case _:
            raise Refused(f"tool does not do {step.op}")
    return {}


handler = telemetry.watch(handle)
