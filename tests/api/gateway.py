"""What API Gateway hands to a Lambda for a request (payload format 2.0), and what it makes of the answer."""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode

from acta.engine.api.app import Api
from acta.engine.api.operation import Function
from acta.engine.api.operations import OPERATIONS
from acta.engine.app import App

TENANT = "acme"
USER = "user-1"


@dataclass(frozen=True)
class Context:
    """The Lambda context's fields that are read."""

    function_name: str = "acta-test"
    memory_limit_in_mb: int = 512
    invoked_function_arn: str = "arn:aws:lambda:eu-west-1:123456789012:function:acta-test"
    aws_request_id: str = "7c1fd1a8-6a02-4b8d-b1a5-0d6a2f2f9a10"

    def get_remaining_time_in_millis(self) -> int:
        return 25_000


def claims(tenant: object = TENANT, user: object = USER, roles: object = "[member]") -> dict[str, Any]:
    return {"sub": user, "tenant": tenant, "roles": roles, "iss": "https://issuer.test", "exp": "1999999999"}


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def data(self) -> Any:
        assert self.json["success"] is True
        return self.json["data"]

    @property
    def error(self) -> Any:
        assert self.json["success"] is False
        return self.json["error"]


def api_of(function: Function, app: App) -> Api:
    """The API that the function's handler makes, on these parts."""
    repeats = app.idempotency
    return Api(function, app, audit=app.audit, limiter=app.limiter, is_repeat=repeats.is_repeat)


@dataclass(frozen=True)
class Gateway:
    """Calls a function's entry point; `token` None: a route without an authorizer."""

    handler: Callable[[dict[str, Any], Any], dict[str, Any]]
    token: Mapping[str, Any] | None = field(default_factory=claims)

    def request(
        self,
        method: str,
        path: str,
        *,
        body: bytes | str | None = None,
        json_body: Any = None,
        headers: Mapping[str, str] | None = None,
        query: str | Mapping[str, str] = "",
    ) -> Answer:
        """`path` is `rawPath`, as the gateway hands it over. The body travels as text or in base64 by its type, as it
        does there, with the length that was sent.

        Whichever function is called, the event names the route that the gateway would have found.
        """
        route_key, variables = routed(method, path)
        sent = {"host": "api.test", **({name.lower(): value for name, value in (headers or {}).items()})}
        if json_body is not None:
            body = json.dumps(json_body)
            sent.setdefault("content-type", "application/json")
        raw = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body or b""
        if raw:
            sent.setdefault("content-length", str(len(raw)))
        is_text = passes_as_text(sent.get("content-type", ""))
        raw_query = query if isinstance(query, str) else urlencode(query)
        event: dict[str, Any] = {
            "version": "2.0",
            "routeKey": route_key,
            "rawPath": path,
            "rawQueryString": raw_query,
            "headers": sent,
            "requestContext": {
                "accountId": "123456789012",
                "apiId": "api",
                "stage": "$default",
                "requestId": "request-1",
                "routeKey": route_key,
                "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1"},
            },
            "isBase64Encoded": bool(raw) and not is_text,
        }
        if raw_query:
            parsed = parse_qs(raw_query, keep_blank_values=True)
            event["queryStringParameters"] = {name: ",".join(values) for name, values in parsed.items()}
        if variables:
            event["pathParameters"] = variables
        if raw:
            event["body"] = raw.decode(errors="replace") if is_text else base64.b64encode(raw).decode()
        if self.token is not None:
            event["requestContext"]["authorizer"] = {"jwt": {"claims": dict(self.token), "scopes": None}}
        return _answer(self.handler(event, Context()))


def passes_as_text(content_type: str) -> bool:
    """As `acta.local_aws.services.api_gateway.tell_text_from_bytes`, which has the sources."""
    kind, _, charset = content_type.lower().replace(" ", "").partition(";charset=")
    is_text = kind.startswith("text/") or kind.removeprefix("application/") in (
        "json",
        "xml",
        "javascript",
        "graphql",
    )
    return is_text and charset in ("", "utf-8")


def digest(name: str, data: bytes, header: str = "Content-Digest") -> dict[str, str]:
    """The header that has the body's digest."""
    found = hashlib.new(name.replace("-", ""), data).digest()
    return {header: f"{name}=:{base64.b64encode(found).decode()}:"}


def routed(method: str, path: str) -> tuple[str, dict[str, str]]:
    """`routeKey` and `pathParameters` of a request.

    Source: API Gateway developer guide, "Create routes for HTTP APIs": the most specific route of the method wins,
    `$default` takes the rest, and leading slashes count as one.
    """
    for route in sorted(OPERATIONS, key=lambda each: each.path.count("{")):
        pattern = re.sub(
            r"\{(\w+)(\+?)\}", lambda name: f"(?P<{name[1]}>{'.+' if name[2] else '[^/]+'})", route.path
        )
        found = re.fullmatch(pattern, "/" + path.lstrip("/"), re.DOTALL)
        if found is not None and route.method == method:
            return f"{route.method} {route.path}", found.groupdict()
    return "$default", {}


def _answer(result: dict[str, Any]) -> Answer:
    body = result.get("body") or ""
    content = base64.b64decode(body) if result["isBase64Encoded"] else body.encode()
    return Answer(result["statusCode"], result["headers"], content)
