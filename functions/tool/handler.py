"""One tool call, an iteration of the Act state (design §2, §6.3), or what the API asks for (ADR 96)."""

from typing import Any

from acta_engine.bound_tenant import bound_to
from acta_engine.errors import Refused
from acta_engine.settings import settings
from acta_engine.telemetry import Telemetry
from acta_engine.tools.dependencies import runtime
from acta_engine.tools.execute import abandon_call, run_call
from acta_engine.tools.operations import answer, is_asked
from acta_engine.turn.engine_event import EngineEvent, engine_event, seconds_for_work

telemetry = Telemetry("tool")


def handle(event: dict[str, Any], context: Any) -> dict[str, object]:
    if is_asked(event):
        return answer(event, context.get_remaining_time_in_millis(), telemetry)
    step = engine_event(event)
    with telemetry.work("tool", step), bound_to(step.at.tenant):
        _do(step, context)
    return {}


def _do(step: EngineEvent, context: Any) -> None:
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


handler = telemetry.watch(handle)
