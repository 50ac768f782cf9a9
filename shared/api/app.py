"""One function's share of the HTTP API, on Powertools' resolver.

    api = Api("start", settings)

    @api.post("/v1/sessions")
    def start(body: Annotated[StartSession, Body()]) -> Response[str]:
        caller = api.caller
        ...
        return success(session_view(head), 202)

    handler = api.handler

Paths are those of `routes.py`. When a handler runs, the role the route needs is checked, and body, query and
path variables are validated. Modules with handlers keep real annotations (no `from __future__ import
annotations`): the resolver reads them.
"""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.metrics import MetricUnit

from shared.api.request.body import parse_json
from shared.api.request.identity import Caller
from shared.api.request.incoming import Incoming, read
from shared.api.response import errors
from shared.api.response.envelope import seal, to_gateway
from shared.api.routes import ROUTES, Function, Route, rule
from shared.api.telemetry import Handler, Telemetry
from shared.domain.errors import RoleMissing, Unauthorized
from shared.settings import Settings

RouteHandler = Callable[..., Response[Any]]
Decorator = Callable[[RouteHandler], RouteHandler]


class Api:
    """`handler` is the Lambda's entry point; `incoming` and `caller` are the current request's."""

    def __init__(self, function: Function, settings: Settings, telemetry: Telemetry | None = None) -> None:
        self.function = function
        self.settings = settings
        self.telemetry = telemetry or Telemetry(function)
        self.registered: set[Route] = set()
        self._own_routes = tuple(route for route in ROUTES if route.function == function)
        self.handler: Handler = self.telemetry.watch(self._handle)
        self._incoming: Incoming | None = None
        self._resolver = APIGatewayHttpResolver(
            enable_validation=True, debug=False, json_body_deserializer=parse_json
        )
        self._resolver.exception_handler(Exception)(self._failed)

    def get(self, path: str) -> Decorator:
        return self._on("GET", path)

    def post(self, path: str) -> Decorator:
        return self._on("POST", path)

    def put(self, path: str) -> Decorator:
        return self._on("PUT", path)

    def delete(self, path: str) -> Decorator:
        return self._on("DELETE", path)

    @property
    def incoming(self) -> Incoming:
        if self._incoming is None:
            raise RuntimeError("there is no request outside a handler")
        return self._incoming

    @property
    def caller(self) -> Caller:
        """Raises Unauthorized on routes that need no token."""
        if self.incoming.caller is None:
            raise Unauthorized("This needs a bearer token.")
        return self.incoming.caller

    @property
    def missing(self) -> set[Route]:
        """Routes the table gives to this function that no handler answers."""
        return set(self._own_routes) - self.registered

    def _on(self, method: str, path: str) -> Decorator:
        route = next((r for r in self._own_routes if (r.method, r.path) == (method, path)), None)
        if route is None:
            raise LookupError(f"{method} {path} is not a route of {self.function} in shared/api/routes.py")

        def register(handle: RouteHandler) -> RouteHandler:
            self._resolver.route(rule(path), method=method)(_without_return(handle))
            self.registered.add(route)
            return handle

        return register

    def _handle(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        self._incoming = None
        try:
            self._incoming = read(event, self.settings)
            answer = self._resolver.resolve(self._incoming.event, context)
        except Exception as error:
            answer = to_gateway(self._failed(error))
        self._record(int(answer["statusCode"]))
        return seal(answer)

    def _failed(self, error: Exception) -> Response[str]:
        told = errors.caller_error(error)
        if told is None:
            self.telemetry.failure(error, route=self._route)
        elif told.code in ("UNAUTHORIZED", "FORBIDDEN"):
            ids = told.ids if isinstance(told, RoleMissing) else {}
            self.telemetry.logger.warning("refused", extra={"code": told.code, "route": self._route, **ids})
        return errors.answer(error)

    def _record(self, status: int) -> None:
        self.telemetry.metrics.add_metric("ServerErrors", MetricUnit.Count, int(status >= 500))
        self.telemetry.metrics.add_metric("ClientErrors", MetricUnit.Count, int(400 <= status < 500))
        self.telemetry.logger.info("answered", extra={"route": self._route, "status": status})

    @property
    def _route(self) -> str:
        """The pattern, not the path, which may hold a file's name."""
        return f"{self._incoming.route.method} {self._incoming.route.path}" if self._incoming else "none"


def _without_return(handle: RouteHandler) -> RouteHandler:
    """As the resolver is to see it: for a return type it would build a validator and walk every answer."""

    @wraps(handle)
    def call(**arguments: Any) -> Response[Any]:
        return handle(**arguments)

    signature = inspect.signature(handle).replace(return_annotation=inspect.Signature.empty)
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call
