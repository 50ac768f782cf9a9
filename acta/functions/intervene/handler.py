"""Answers the routes with which people steer sessions, and the engine when it waits for people, handles an error,
parks a run or rolls it over (docs/design/engine.md 24, api.md, people.md)."""

from typing import Any

from acta.engine.api.app import Api
from acta.engine.app import App
from acta.engine.bound_tenant import bound_to
from acta.engine.recovery.states import perform_state
from acta.engine.turn.engine import engine_event

_app = App()
_api = Api("intervene", _app, audit=_app.audit, limiter=_app.limiter)
NEEDED = (
    _api.load("resolveIntervention"),
    _app.session_index,
    _app.workflow,
    _app.registry,
    _app.idempotency,
)
"""Most requests need these, so a worker loads them when it starts."""


def handler(event: dict[str, Any], context: Any) -> Any:
    """The gateway's events have a request context, the engine's an `op`."""
    if "requestContext" in event:
        return _http(event, context)
    return _engine(event, context)


def _work(event: dict[str, Any], context: Any) -> dict[str, Any]:
    step = engine_event(event)
    with _api.telemetry.work("engine", step), bound_to(step.at.tenant):
        return perform_state(_app, step)


_http = _api.handler
_engine = _api.telemetry.watch(_work)
