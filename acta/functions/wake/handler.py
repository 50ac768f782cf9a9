"""The Lambda's entry point. It answers the rows of `wake` in `acta/engine/api/operations.py`, and takes the events of
the operator's sources from their queues (`acta/engine/triggers/delivery.py`).
"""

from typing import Any

from acta.engine.api.app import Api
from acta.engine.app import App
from acta.engine.telemetry import Telemetry

_telemetry = Telemetry("wake")
_app = App(telemetry=_telemetry)
_api = Api("wake", _app, _telemetry)
_delivery = _telemetry.watch(lambda event, context: _app.event_delivery.handle(event, context))


def handler(event: dict[str, Any], context: Any) -> Any:
    """The gateway's events have a request context, those of queues have records."""
    return (_api.handler if "requestContext" in event else _delivery)(event, context)
