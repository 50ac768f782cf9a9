"""The HTTP API in one process: what API Gateway and the functions of the API are in AWS. A request becomes the
gateway's event (payload format 2.0), its token is checked as the JWT authorizer checks it, and the function's `Api`
answers it.

Source of the event's form and of routing: API Gateway Developer Guide, "Create AWS Lambda proxy integrations for HTTP
APIs" and "Create routes for HTTP APIs".
"""

import base64
import json
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote

import jwt

from acta.engine.api.app import Api
from acta.engine.api.operation import Function, Operation
from acta.engine.api.operations import CATCH_ALL, DEFAULT_KEY, OPERATIONS, fits
from acta.infra.api.web_pages import MAX_AGE_SECONDS, METHODS, REQUEST_HEADERS, RESPONSE_HEADERS
from acta.infra.local.issuer import ALGORITHM, AUDIENCE, LocalIssuer
from acta.local_aws.loopback import HOST
from acta.local_aws.reverse_proxy import Answer, Headers, gateway_answer, passes_as_text

SECONDS = 29.0
"""The time of an invocation that a request waits for."""
CHECKS: Any = {"require": ["exp"], "verify_sub": False, "verify_jti": False}
"""The gateway looks at the signature, the issuer, the audience and the times. Source: API Gateway Developer Guide,
"Control access to HTTP APIs with JWT authorizers"."""
OF_PAGES = (
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Expose-Headers", ",".join(RESPONSE_HEADERS)),
)
"""The local environment lets pages of every origin call the API: whoever has a token may send it from anywhere."""
OF_PREFLIGHTS = (
    ("Access-Control-Allow-Methods", ",".join(METHODS)),
    ("Access-Control-Allow-Headers", ",".join(REQUEST_HEADERS)),
    ("Access-Control-Max-Age", str(MAX_AGE_SECONDS)),
)


class LambdaContext(NamedTuple):
    """The part of a Lambda's context that is read."""

    ends: float
    """In seconds of the monotonic clock."""

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self.ends - time.monotonic()) * 1_000))

    @classmethod
    def of(cls, seconds: float) -> "LambdaContext":
        return cls(time.monotonic() + seconds)


class EmbeddedApi:
    """`issuer`: signs the tokens that are accepted. `api_of`: lends the `Api` of a function, to one request at a time.
    `failed`: is called with an error that no answer is made of.
    """

    def __init__(
        self,
        issuer: LocalIssuer,
        api_of: Callable[[Function], AbstractContextManager[Api]],
        failed: Callable[[BaseException], None],
    ) -> None:
        self._issuer = issuer
        self._key = issuer.key.public_key()
        self._api_of = api_of
        self._failed = failed

    def request(self, method: str, raw_path: str, headers: Headers, body: bytes) -> Answer:
        sent = _joined(headers)
        if "origin" not in sent:
            return self._answer(method, raw_path, sent, body)
        if method == "OPTIONS" and "access-control-request-method" in sent:
            return Answer(204, [*OF_PAGES, *OF_PREFLIGHTS], b"")
        answer = self._answer(method, raw_path, sent, body)
        return Answer(answer.status, [*answer.headers, *OF_PAGES], answer.body)

    def _answer(self, method: str, raw_path: str, sent: dict[str, str], body: bytes) -> Answer:
        path, _, query = raw_path.partition("?")
        operation, variables = routed(method, path)
        claims: Mapping[str, str] | None = None
        if operation is not None and operation.role is not None:
            claims = self._claims(sent.get("authorization", ""))
            if claims is None:
                refusal = gateway_answer(HTTPStatus.UNAUTHORIZED, "Unauthorized")
                return Answer(
                    refusal.status, [*refusal.headers, ("WWW-Authenticate", "Bearer")], refusal.body
                )
        variables = {name: unquote(each) for name, each in variables.items()}
        event = to_event(method, path, query, sent, body, operation, variables, claims)
        try:
            with self._api_of(CATCH_ALL if operation is None else operation.function) as api:
                return _answer(api.handler(event, LambdaContext.of(SECONDS)))
        except Exception as error:
            self._failed(error)
            return gateway_answer(HTTPStatus.INTERNAL_SERVER_ERROR, "Internal Server Error")

    def close(self) -> None:
        """There is no connection to close."""

    def _claims(self, sent: str) -> Mapping[str, str] | None:
        """The claims of a valid token, as texts. None: it is missing, or not valid."""
        token = sent[7:] if sent[:7].lower() == "bearer " else sent
        try:
            if jwt.get_unverified_header(token).get("kid") != self._issuer.key_id:
                return None
            claims = jwt.decode(
                token, self._key, [ALGORITHM], CHECKS, audience=AUDIENCE, issuer=self._issuer.url
            )
        except (jwt.PyJWTError, TypeError, ValueError, OverflowError):  # or a claim of the wrong type
            return None
        return {name: _text(value) for name, value in claims.items() if value is not None}


def _text(claim: Any) -> str:
    """A claim as the gateway hands it over: as text, and a list as `[a b]`."""
    if isinstance(claim, list):
        return f"[{' '.join(map(_text, claim))}]"
    return claim if isinstance(claim, str) else json.dumps(claim)


ROUTES = sorted(OPERATIONS, key=lambda each: each.path.count("{"))
"""The most specific ones come first."""


def routed(method: str, path: str) -> tuple[Operation | None, dict[str, str]]:
    """The operation whose route the gateway finds, and the variables of the path. None: no route but the default one
    fits. Leading slashes count as one.
    """
    asked = "/" + path.lstrip("/")
    for each in ROUTES:
        if each.method == method and fits(each.path, asked):
            wanted = each.path.split("/")
            parts = zip(wanted, asked.split("/", len(wanted) - 1), strict=True)
            return each, {name.strip("{+}"): part for name, part in parts if name.startswith("{")}
    return None, {}


def _joined(headers: Headers) -> dict[str, str]:
    """By lower-case name. Several of one name are joined with commas, as the gateway joins them."""
    joined: dict[str, str] = {}
    for name, value in headers:
        name = name.lower()
        joined[name] = f"{joined[name]},{value}" if name in joined else value
    return joined


def to_event(
    method: str,
    path: str,
    query: str,
    headers: dict[str, str],
    body: bytes,
    operation: Operation | None,
    variables: Mapping[str, str],
    claims: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """What the gateway hands to a function. `headers`: by lower-case name; the length of the body is added."""
    key = DEFAULT_KEY if operation is None else str(operation)
    is_text = passes_as_text(headers.get("content-type"))
    context: dict[str, Any] = {
        "stage": DEFAULT_KEY,
        "requestId": secrets.token_urlsafe(12),
        "routeKey": key,
        "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": HOST},
    }
    if claims is not None:
        context["authorizer"] = {"jwt": {"claims": claims, "scopes": None}}
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": key,
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers,
        "requestContext": context,
        "isBase64Encoded": bool(body) and not is_text,
    }
    if query:
        parsed = parse_qs(query, keep_blank_values=True, errors="replace")
        event["queryStringParameters"] = {name: ",".join(values) for name, values in parsed.items()}
    if variables:
        event["pathParameters"] = dict(variables)
    if body:
        headers.setdefault("content-length", str(len(body)))
        event["body"] = body.decode(errors="replace") if is_text else base64.b64encode(body).decode()
    return event


def _answer(result: Mapping[str, Any]) -> Answer:
    body = result.get("body") or ""
    content = base64.b64decode(body) if result["isBase64Encoded"] else body.encode()
    return Answer(result["statusCode"], list(result["headers"].items()), content)
