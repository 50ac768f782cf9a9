"""One function's share of the HTTP API.

    app = App()
    handler = Api("start", app, audit=app.audit, limiter=app.limiter).handler

The rows in `operations.py` name the handlers of the routes. Such a handler takes the API and its own arguments:

    def start_session(api: Api, body: StartSession) -> Response:
        caller = api.caller
        ...
        return success(session_view(head), 202)

When it runs, the role that its operation needs has been checked, and its arguments were taken from path, query and body
and validated (`arguments.py`). Where the row has an action, the request is in the audit trail (`recorder.py`).

A handler's module is imported at its first request, unless the function loads it earlier, so a cold start pays for few
routes.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit

from acta.engine.api import error_answers as errors
from acta.engine.api.arguments import Arguments
from acta.engine.api.envelope import Response
from acta.engine.api.error_answers import POLICY
from acta.engine.api.etag import unless_known
from acta.engine.api.identity import Caller, claimed
from acta.engine.api.incoming import Inner, Request, read_request, request_id
from acta.engine.api.operation import Function, Operation, RouteHandler
from acta.engine.api.operations import CATCH_ALL, operations_in, without_slash
from acta.engine.app import App
from acta.engine.audit.record import Audit, Via
from acta.engine.audit.recorder import Recorder
from acta.engine.bound_tenant import bound_to, tenant_hash
from acta.engine.clock import SESSION, is_id
from acta.engine.errors import (
    CallerError,
    LimitReached,
    NotFound,
    NotYours,
    SessionHidden,
    TransientError,
    Unauthorized,
)
from acta.engine.limits.limiter import Limiter
from acta.engine.people.visibility import Viewer
from acta.engine.telemetry import Handler, Telemetry

REFUSED = (401, 403)


class Api:
    """`handler` is the Lambda's entry point; `request` and `caller` are the current request's."""

    def __init__(
        self,
        function: Function,
        app: App,
        telemetry: Telemetry | None = None,
        *,
        audit: Audit | None = None,
        limiter: Limiter | None = None,
        is_repeat: Callable[[Request], bool] = lambda request: False,
    ) -> None:
        """`audit`: None in a function whose routes take no token. `limiter`:
        None where no tenant has limits. `is_repeat`: whether a start was answered before.
        Raises LookupError where there is no audit for an operation that has to be recorded.
        """
        self.function = function
        self.app = app
        self.settings = app.settings
        self.telemetry = telemetry or Telemetry(function)
        self.limiter = limiter
        if limiter is not None:
            limiter.on_error = lambda error: self.telemetry.failure(error, route=self._route, at="rate_lease")
        self._audit = audit
        self._recorder = (
            None
            if audit is None
            else Recorder(
                audit, lambda error, missing: self.telemetry.not_recorded(error, self._route, missing)
            )
        )
        self._is_repeat = is_repeat
        self.handlers: dict[str, RouteHandler] = {}
        """The handlers that were loaded so far, by their operations' names."""
        self.handler: Handler = self.telemetry.watch(self._handle)
        self._own = frozenset(operations_in(function))
        kept = tuple(
            row for row in self._own if row.action and (row.method != "GET" or self.settings.record_reads)
        )
        if audit is None and kept:
            raise LookupError(f"{function} has operations that have to be recorded, and no audit trail")
        self._arguments: dict[Operation, Arguments] = {}
        self._request: Request | None = None
        self._event: dict[str, Any] = {}

    @property
    def request(self) -> Request:
        if self._request is None:
            raise RuntimeError("there is no request outside a handler")
        return self._request

    @property
    def caller(self) -> Caller:
        """Raises Unauthorized on routes that need no token."""
        if self.request.caller is None:
            raise Unauthorized("This needs a bearer token.")
        return self.request.caller

    @property
    def request_id(self) -> str:
        """The gateway's, of the request that came from outside."""
        return request_id(self._event)

    def _handle(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        self._request, self._event = None, event
        response = self._with_limits(self._answered(event, lambda: self._dispatch(event)))
        self._log_answer(event, response)
        return response.to_gateway()

    def ask(self, inner: Inner) -> Response:
        """Answers a further request that the current one contains, for the same caller and with every check of its own
        route. It is limited, recorded and logged as if it had come from outside.
        """
        outer, event = self._request, inner.event(self._event)
        try:
            response = self._answered(event, lambda: self._dispatch(event, inner.via))
            self._log_answer(event, response)
            return response
        finally:
            self._request = outer

    def told(self, act: Callable[[], Response]) -> Response:
        """Returns the answer of `act`. An error is logged, counted and answered as in any request."""
        return self._answered(self._event, act)

    def _answered(self, event: dict[str, Any], act: Callable[[], Response]) -> Response:
        """Returns the answer of `act`. An error is logged, and answered as the caller may see it."""
        try:
            return act()
        except Exception as error:
            response = errors.answer(error)
            if errors.caller_error(error) is None:
                self.telemetry.failure(error, route=self._route)
            caller = None if self._request is None else self._request.caller
            if isinstance(error, LimitReached) and self.limiter is not None and caller is not None:
                self.limiter.reached(caller.tenant, error)
            is_hidden = isinstance(error, SessionHidden)
            if is_hidden:
                self.telemetry.session_hidden()
            if is_hidden or response.status in REFUSED:
                self._log_refusal(event, error, response.code)
            return response

    def _dispatch(self, event: dict[str, Any], via: Via = "api") -> Response:
        if self.function == CATCH_ALL:
            asked = event["requestContext"]["http"]["method"], event["rawPath"], event["rawQueryString"]
            if (place := without_slash(*asked)) is not None:
                return Response(308, "", "", {"Location": place})
        request = self._request = read_request(event, self.settings)._replace(via=via)
        if request.route not in self._own:
            raise NotFound("There is nothing at this path.")
        handle = self.load(request.route.name)
        if request.caller is None:
            arguments = self.arguments(request.route)
            request = self._request = request.with_body(event, arguments.bounds)
            response = handle(self, **arguments.bind(request))
            return unless_known(request.headers.get("if-none-match"), response)
        tenant, user, roles, decides = request.caller
        viewer = Viewer(user, roles, request.route.private, decides)

        with bound_to(tenant, viewer):
            arguments = self.arguments(request.route)
            try:
                request = self._request = request.with_body(event, arguments.bounds)
            except CallerError:
                self.spend()
                raise
            if self.limiter is not None:
                self.limiter.admit(tenant, request.route)
                try:
                    self.limiter.admit_start(tenant, request.route)
                except LimitReached:
                    # A repeat of a start that succeeded starts nothing, whatever the tenant has begun since.
                    if not self._is_repeat(request):
                        raise
            try:
                bound = arguments.bind(request)
            except CallerError:
                if request.route.rated in ("never", "within"):  # it stops nothing, and asks no other route
                    self.spend()
                raise
            if request.route.method == "GET":
                response = unless_known(request.headers.get("if-none-match"), handle(self, **bound))
                if self._recorder is not None and request.route.action and self.settings.record_reads:
                    self._recorder.read(request, viewer.admitted, response.recorded)
                return response
            if self._recorder is None or request.route.action is None:
                return handle(self, **bound)
            return self._recorder.recorded(
                request, bound, lambda: self._answered(event, lambda: handle(self, **bound))
            )

    def spend(self) -> None:
        """Takes a request from the tenant's rate, for one that is wrong or asks no route of `/v1`. Raises
        LimitReached.
        """
        if self.limiter is not None:
            self.limiter.spend(self.caller.tenant)

    def load(self, name: str) -> RouteHandler:
        """The handler of the operation of this name. Its module is imported the first time."""
        if name not in self.handlers:
            self.handlers[name] = next(row for row in self._own if row.name == name).load()
        return self.handlers[name]

    def arguments(self, row: Operation) -> Arguments:
        """What the operation's handler takes."""
        if row not in self._arguments:
            self._arguments[row] = Arguments(row, self.load(row.name), self.settings)
        return self._arguments[row]

    def _with_limits(self, response: Response) -> Response:
        """Adds headers with what is known of the tenant's limits, unless the answer is about one."""
        request = self._request
        if self.limiter is None or request is None or request.caller is None or POLICY in response.headers:
            return response
        limits = self.limiter.headers(request.caller.tenant, request.route)
        return response._replace(headers={**response.headers, **limits})

    def _log_refusal(self, event: dict[str, Any], error: Exception, code: str | None) -> None:
        """Logs who asked, by the pseudonyms of the audit trail, if the token says it and the key can be read. A
        request for somebody else's private session is answered 404 and logged all the same.
        """
        ids: dict[str, str] = dict(error.ids) if isinstance(error, NotYours) else {}
        ids["request_id"] = request_id(event)
        if isinstance(error, SessionHidden) and self._request is not None:
            ids["session_id"] = self._request.variables.get("session_id", "")
        ids |= self._pseudonyms(event)
        self.telemetry.logger.warning("refused", extra={"code": code, "route": event.get("routeKey"), **ids})

    def _pseudonyms(self, event: dict[str, Any]) -> Mapping[str, str]:
        tenant, user = claimed(event, self.settings)
        if self._audit is not None and (tenant or user):
            with suppress(TransientError):
                of = self._audit.pseudonyms.of
                return {"who": of(tenant, user), "tenant": of(tenant, "")}
        return {}

    def _log_answer(self, event: dict[str, Any], response: Response) -> None:
        """One line for each request, refused or not. `request_id`: the gateway's, which its access log has, too."""
        status = response.status
        self.telemetry.metrics.add_metric("ServerErrors", MetricUnit.Count, int(status >= 500))
        self.telemetry.metrics.add_metric("ClientErrors", MetricUnit.Count, int(400 <= status < 500))
        told = {
            "route": self._route,
            "status": status,
            "code": response.code,
            "request_id": request_id(event),
            **self._about(response),
        }
        route = None if self._request is None else self._request.route
        if 400 <= status < 500 and route is not None and route.action is not None and route.method != "GET":
            told |= {"who": self._pseudonyms(event).get("who")}  # the trail has needed the key already
        known = {name: value for name, value in told.items() if value}
        self.telemetry.logger.info("answered", extra=known)

    def _about(self, response: Response) -> Mapping[str, str]:
        """The session that the request is about, and whose request it is."""
        request = self._request
        if request is None or request.caller is None:
            return {}
        made = response.data.get("session_id") if isinstance(response.data, Mapping) else None
        session_id = request.variables.get("session_id") or (made if isinstance(made, str) else "")
        return {
            "session_id": session_id if is_id(SESSION, session_id) else "",  # a path may say anything
            "tenant_hash": tenant_hash(request.caller.tenant),
        }

    @property
    def _route(self) -> str:
        """The pattern, not the path, which may hold a file's name."""
        return str(self._request.route) if self._request else "none"
