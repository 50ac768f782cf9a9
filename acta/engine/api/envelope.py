"""The outside of every answer: `{"success": …}`, the security headers, raw bodies (docs/design/api.md 1)."""

import base64
import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from acta import __version__

JSON = "application/json"
NO_BODY = ""
NO_HEADERS: Mapping[str, str] = MappingProxyType({})

HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Acta-Version": __version__,  # the command line compares it with its own
}
"""Headers of every answer. They win over a handler's own."""
CACHE = "Cache-Control"


class Response(NamedTuple):
    """`content_type` empty: there is no body. `data`: the data that `body` holds as JSON, if the request succeeded;
    `code`: the code of the error in `body`.
    """

    status: int
    content_type: str
    body: str | bytes
    headers: Mapping[str, str] = NO_HEADERS
    data: Any = None
    code: str | None = None
    cache: str = "no-store"
    """The header `Cache-Control`. Only what is the same for everybody may be kept."""
    recorded: Mapping[str, str] = NO_HEADERS
    """What the audit trail records besides `data`: the question that a message or a resume has decided, or what a `GET`
    has shown."""

    def to_gateway(self) -> dict[str, Any]:
        """In API Gateway's form. Bytes leave as base64, which the gateway undoes."""
        body = self.body
        kind = {"Content-Type": self.content_type} if self.content_type else {}
        return {
            "statusCode": self.status,
            "headers": {**kind, **self.headers, **HEADERS, CACHE: self.cache},
            "body": base64.b64encode(body).decode() if isinstance(body, bytes) else body,
            "isBase64Encoded": isinstance(body, bytes),
        }


def success(data: Any, status: int = 200, headers: Mapping[str, str] = NO_HEADERS) -> Response:
    """`data`: values of JSON's types, as the functions of each package's `answers.py` return them."""
    return Response(status, JSON, to_json({"success": True, "data": data}), headers, data)


def page(items: Sequence[Any], next_cursor: str | None) -> Response:
    """A page of a listing; `next_cursor` None: there is no more."""
    return success({"items": items, "next_cursor": next_cursor})


def no_content() -> Response:
    return Response(204, NO_BODY, "")


def failure(
    status: int,
    code: str,
    message: str,
    details: Mapping[str, Sequence[str]] | None = None,
    headers: Mapping[str, str] = NO_HEADERS,
) -> Response:
    error: dict[str, Any] = {"code": code, "message": message}
    if details:
        error["details"] = {field: list(messages) for field, messages in details.items()}
    return Response(status, JSON, to_json({"success": False, "error": error}), headers, code=code)


def to_json(value: Any) -> str:
    """Compact. Text that is no valid Unicode (a lone surrogate from a model, say) is escaped, not refused."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text


def json_bytes(value: Any) -> int:
    return len(to_json(value).encode())


def takes_gzip(accepted: str) -> bool:
    """`accepted`: an `Accept-Encoding` (RFC 9110, 12.5.3). A weight of 0 refuses."""
    for each in accepted.split(","):
        name, _, weight = each.strip().lower().partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
