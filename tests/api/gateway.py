"""What API Gateway hands to a Lambda for a request (payload format 2.0), and what it makes of the answer."""

import base64
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from acta.embedded import gateway
from acta.engine.api.app import Api
from acta.engine.api.operation import Function
from acta.engine.api.operations import DEFAULT_KEY
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
        sent = {"host": "api.test", **({name.lower(): value for name, value in (headers or {}).items()})}
        if json_body is not None:
            body = json.dumps(json_body)
            sent.setdefault("content-type", "application/json")
        raw = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body or b""
        asked = query if isinstance(query, str) else urlencode(query)
        event = gateway.to_event(method, path, asked, sent, raw, *gateway.routed(method, path), self.token)
        event["requestContext"] |= {"accountId": "123456789012", "apiId": "api", "requestId": "request-1"}
        event["requestContext"]["http"]["sourceIp"] = "192.0.2.1"
        return _answer(self.handler(event, Context()))


def digest(name: str, data: bytes, header: str = "Content-Digest") -> dict[str, str]:
    """The header that has the body's digest."""
    found = hashlib.new(name.replace("-", ""), data).digest()
    return {header: f"{name}=:{base64.b64encode(found).decode()}:"}


def routed(method: str, path: str) -> tuple[str, dict[str, str]]:
    """`routeKey` and `pathParameters` of a request."""
    operation, variables = gateway.routed(method, path)
    return (DEFAULT_KEY if operation is None else str(operation)), variables


def _answer(result: dict[str, Any]) -> Answer:
    body = result.get("body") or ""
    content = base64.b64decode(body) if result["isBase64Encoded"] else body.encode()
    return Answer(result["statusCode"], result["headers"], content)
