"""The Plan and Think states (docs/design/engine.md 6), and the HTTP routes that need the providers' keys."""

from functools import cache
from typing import Any

from acta.engine.app import App
from acta.engine.bound_tenant import bound_to
from acta.engine.errors import Refused
from acta.engine.models.agent_model import AgentModels
from acta.engine.settings import settings
from acta.engine.telemetry import Handler, Telemetry
from acta.engine.turn.engine import EngineEvent, engine_event, seconds_for_work
from acta.engine.turn.fused_turns import take_turns

_models = AgentModels(settings())
_telemetry = Telemetry("step")
_app = App(models=_models, telemetry=_telemetry)
_steps = _app.steps


def _handle(event: dict[str, Any], context: Any) -> dict[str, object]:
    step = engine_event(event)
    with _telemetry.work("step", step):
        return _take_turns(step, context)


def _take_turns(step: EngineEvent, context: Any) -> dict[str, object]:
    timeout = seconds_for_work(context.get_remaining_time_in_millis())
    match step.op:
        case "plan" | "think":
            with bound_to(step.at.tenant):
                result = take_turns(_steps, step.op, step.at, step.attempt, timeout)
            counts = {"turns": result.turns, "calls": result.calls, "ended_by": result.error}
            _telemetry.logger.info("step made", extra={**step.ids, **counts})
            return result.decision.to_engine()
        case _:
            raise Refused(f"step does not do {step.op}")


_engine = _telemetry.watch(_handle)


def handler(event: dict[str, Any], context: Any) -> Any:
    """The gateway's events have a request context, the engine's an `op`."""
    if "requestContext" in event:
        return _http()(event, context)
    return _engine(event, context)


@cache
def _http() -> Handler:
    """Imported at the first request, because only admins ask, now and then, and no turn should pay for it."""
    from acta.engine.api.app import Api

    app = App(configured_models=_models.configured)
    return Api("step", app, audit=app.audit, limiter=app.limiter).handler
