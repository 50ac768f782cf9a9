"""The request that is answered, with the checks that all routes share: origin, route, caller, content type.

With CloudFront and a firewall in front of the API (`Environment.edge`), the API can still be reached by its own name.
Such a request has not passed the firewall. CloudFront sends a secret along with what it passes on; a request without
it is refused before anything else is looked at. The functions know the secret's SHA-256 only. The secret is random and
long, so its hash tells nothing of it and may stand in a function's environment.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlencode

from acta.engine.api.identity import Caller, from_event
from acta.engine.api.json_body import Bounds, body_bytes, json_text
from acta.engine.api.operation import Operation
from acta.engine.api.operations import find
from acta.engine.audit.record import Via, network_of
from acta.engine.errors import Forbidden, ValidationFailed
from acta.engine.settings import Settings
from acta.engine.untrusted.path import PathRefused, check_path


class Request(NamedTuple):
    """`variables`: of the path. `query`: the values of each name, decoded. `headers`: by lower-case name. `body`: the
    bytes that were sent, once they were counted (`with_body`). `text`: a JSON body as text, not parsed yet. `caller`:
    None on routes that need no token. `source`: the client's network (`acta.engine.audit.record.network_of`). `via`:
    the way by which it came.
    """

    route: Operation
    path: str
    variables: Mapping[str, str]
    query: Mapping[str, Sequence[str]]
    headers: Mapping[str, str]
    caller: Caller | None
    source: str = ""
    via: Via = "api"
    body: bytes = b""
    text: str = ""

    @property
    def file_path(self) -> str:
        """The file's path on a `{path+}` route, decoded exactly once and checked. Raises PathRefused.

        HTTP APIs hand `rawPath` over decoded, all but `%25`; other fronts hand it over as sent. One decoding gives the
        same text for both. `check_path` refuses what is encoded after it.
        """
        path = unquote(self.path.removeprefix(self.route.prefix))
        if "\ufffd" in path:  # in place of bytes that are no text
            raise PathRefused("the path is not UTF-8")
        return check_path(path)

    def with_body(self, event: Mapping[str, Any], bounds: Bounds) -> "Request":
        """Raises PayloadTooLarge, UnsupportedMediaType, ValidationFailed."""
        if not self.route.takes_body:
            return self
        body = body_bytes(event, self.headers, bounds.bytes, is_file=self.route.takes_bytes)
        if self.route.takes_bytes:
            return self._replace(body=body)
        return self._replace(body=body, text=json_text(body, self.headers.get("content-type")))


def read_request(event: Mapping[str, Any], settings: Settings) -> Request:
    """From API Gateway's event, payload format 2.0, without the body. Raises NotFound, MethodNotAllowed, Unauthorized,
    Forbidden, ValidationFailed.
    """
    headers = {name.lower(): str(value) for name, value in (event.get("headers") or {}).items()}
    check_origin(headers, settings)
    path, stage = str(event["rawPath"]), event["requestContext"].get("stage", "$default")
    if stage != "$default":  # the gateway puts a named stage before the path
        path = path.removeprefix(f"/{stage}")
    route = find(str(event["routeKey"]), str(event["requestContext"]["http"]["method"]).upper(), path)
    caller = None
    if route.role is not None:
        caller = from_event(event, settings)
        caller.require(route.role)
    try:
        query = parse_qs(event.get("rawQueryString") or "", keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        raise ValidationFailed("The query is not UTF-8 text.") from None
    return Request(
        route=route,
        path=path,
        variables=event.get("pathParameters") or {},
        query=query,
        headers=headers,
        caller=caller,
        source=network_of(source_address(event, headers, settings)),
    )


def request_id(event: Mapping[str, Any]) -> str:
    """The gateway's, by which its access log names the request; empty where something else calls."""
    return str((event.get("requestContext") or {}).get("requestId") or "")


SECRET_HEADER = "x-acta-origin"
ADDRESS_HEADER = "x-acta-address"
"""Both are set by the front, and whatever a client sends under these names is replaced there."""


def check_origin(headers: Mapping[str, str], settings: Settings) -> None:
    """`headers`: by lower-case name. Raises Forbidden for a request that went round the front, where there is one."""
    if not settings.origin_hashes:
        return
    sent = hashlib.sha256(headers.get(SECRET_HEADER, "").encode("utf-8", "surrogatepass")).hexdigest()
    # Hashes are compared, so the time that it takes tells nothing of the secret.
    if sent not in settings.origin_hashes.split(","):
        raise Forbidden("Use the deployment's own address. This one takes requests of its front only.")


def source_address(event: Mapping[str, Any], headers: Mapping[str, str], settings: Settings) -> str:
    """The client's address, IPv4 or IPv6, of a request whose origin has been checked. Empty where nobody says."""
    if settings.origin_hashes:
        return headers.get(ADDRESS_HEADER, "")
    http = event.get("requestContext", {}).get("http", {})
    return str(http.get("sourceIp", ""))


KEPT_HEADERS = (SECRET_HEADER, ADDRESS_HEADER)
"""The headers that the front set. All others are what a client said about the outer request."""


class Inner(NamedTuple):
    """`path`: as in the table of routes. `variables`: of the path; `query`: without those that were not given.
    `body`: None where there is none. `idempotency_key`: None where the client gives none. `via`: `mcp`, unless a person
    has filled in a form.
    """

    method: str
    path: str
    variables: Mapping[str, str] = {}
    query: Mapping[str, str] = {}
    body: Mapping[str, Any] | None = None
    idempotency_key: str | None = None
    via: Via = "mcp"

    def event(self, outer: Mapping[str, Any]) -> dict[str, Any]:
        """The event as the gateway would send it. The caller is the outer request's: the authorizer's claims stay."""
        path = self.path
        for name, value in self.variables.items():
            path = path.replace(f"{{{name}}}", value)
        route_key = f"{self.method} {self.path}"
        headers = {name: value for name, value in outer["headers"].items() if name.lower() in KEPT_HEADERS}
        if self.idempotency_key is not None:
            headers["idempotency-key"] = self.idempotency_key
        context = outer["requestContext"]
        return {
            "version": "2.0",
            "routeKey": route_key,
            "rawPath": path,
            "rawQueryString": urlencode(self.query, errors="replace"),
            "headers": headers,
            "pathParameters": dict(self.variables),
            "requestContext": {
                **context,
                "stage": "$default",
                "routeKey": route_key,
                "http": {**context["http"], "method": self.method, "path": path},
            },
            "body": "" if self.body is None else json.dumps(self.body, sort_keys=True),
            "isBase64Encoded": False,
        }
