"""Answers over HTTP what administrates a tenant, and stores the deployment's prompts for CloudFormation."""

from typing import Any

from acta_engine.api.admin_routes import build
from acta_engine.app import App
from acta_engine.prompts.seeding import is_seeding, seed

_app = App()
_api = build(_app)


def handler(event: dict[str, Any], context: Any) -> Any:
    """The gateway's events have a request context, CloudFormation's have a URL for the answer."""
    return _seed(event, context) if is_seeding(event) else _api.handler(event, context)


def _store(event: dict[str, Any], context: Any) -> None:
    failure = seed(event, _app.definitions, _app.clock)
    if failure is not None:
        _api.telemetry.failure(failure, request=event["RequestType"])


_seed = _api.telemetry.watch(_store)
