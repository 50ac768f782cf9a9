"""Runs one tool call, an iteration of the Act state (docs/design/engine.md 16, tools.md 10), or what the API asks for
(ADR 96)."""

from typing import Any

from acta.engine.app import App
from acta.engine.bound_tenant import bound_to
from acta.engine.errors import Refused
from acta.engine.telemetry import Telemetry
from acta.engine.tools.execute import abandon_call, run_call
from acta.engine.tools.operations import answer, is_asked, operations_of
from acta.engine.turn.engine import EngineEvent, engine_event, seconds_for_work

_app = App()
_runtime = _app.tool_runtime
_telemetry = Telemetry("tool")


def handle(event: dict[str, Any], context: Any) -> dict[str, object]:
    if is_asked(event):
        remaining = context.get_remaining_time_in_millis()
        return answer(event, remaining, _telemetry, operations_of(_app))
    step = engine_event(event)
    with _telemetry.work("tool", step), bound_to(step.at.tenant):
        _do(step, context)
    return {}


def _do(step: EngineEvent, context: Any) -> None:
    match step.op:
        case "tool":
            longest = _app.settings.longest_tool_seconds
            seconds = seconds_for_work(context.get_remaining_time_in_millis(), longest)
            run_call(_runtime, step.at, step.call_id, step.attempt, seconds)
        case "lost_tool":
            abandon_call(_runtime, step.at, step.call_id, step.error)
        case _:
            raise Refused(f"tool does not do {step.op}")


handler = _telemetry.watch(handle)
