"""Answers the routes with which admins manage a tenant, and stores the deployment's prompts for CloudFormation."""

from typing import Any

from acta.engine.api.app import Api
from acta.engine.app import App
from acta.engine.prompts.seeding import is_seeding, seed

_app = App()
_api = Api("admin", _app, audit=_app.audit, limiter=_app.limiter)
NEEDED = (_api.load("readAgent"), _app.definitions)
"""Most requests need these, so a worker loads them when it starts."""


def handler(event: dict[str, Any], context: Any) -> Any:
    """The gateway's events have a request context, CloudFormation's have a URL for the answer."""
    return _seed(event, context) if is_seeding(event) else _api.handler(event, context)


def _store(event: dict[str, Any], context: Any) -> None:
    failure = seed(event, _app.definitions, _app.clock)
    if failure is not None:
        _api.telemetry.failure(failure, request=event["RequestType"])


_seed = _api.telemetry.watch(_store)
