"""Answers the routes with which people steer sessions, and the engine when it waits for people, handles an error,
parks a run or rolls it over (docs/design/engine.md 24, api.md, people.md)."""

from typing import Any

from acta.engine.api.app import Api
from acta.engine.app import App
from acta.engine.bound_tenant import bound_to
from acta.engine.errors import Refused
from acta.engine.log.head import Wait
from acta.engine.turn.engine import EngineEvent, engine_event

_app = App()
_api = Api("intervene", _app, audit=_app.audit, limiter=_app.limiter)
NEEDED = (_api.load("resolveIntervention"), _app.resolving, _app.idempotency)
"""Most requests need these, so a worker loads them when it starts."""


def handler(event: dict[str, Any], context: Any) -> Any:
    """The gateway's events have a request context, the engine's an `op`."""
    if "requestContext" in event:
        return _http(event, context)
    return _engine(event, context)


def _work(event: dict[str, Any], context: Any) -> dict[str, Any]:
    step = engine_event(event)
    with _api.telemetry.work("engine", step), bound_to(step.at.tenant):
        return _do(step)


def _do(step: EngineEvent) -> dict[str, Any]:
    """What the state machine goes on with. For most steps it needs nothing."""
    repository, workflow = _app.repository, _app.workflow
    match step.op:
        case "ask":
            if step.entered is None:
                raise Refused("a wait without the time of its beginning")
            from acta.engine.people.wait import ask

            wait = Wait(token=step.task_token, entered=step.entered, attempt=step.attempt)
            ask(repository, workflow, _app.timeouts, step.at, wait)
        case "handle_error":
            from acta.engine.recovery.handle_error import handle_error

            return handle_error(_app.errors, step.at, step.error).to_engine()
        case "park":
            from acta.engine.recovery.handle_error import park

            return park(_app.errors, step.at).to_engine()
        case "roll_over":
            from acta.engine.recovery.recover import roll_over

            roll_over(repository, workflow, step.at)
        case _:
            raise Refused(f"intervene does not do {step.op}")
    return {}


_http = _api.handler
_engine = _api.telemetry.watch(_work)
