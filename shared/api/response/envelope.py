"""The outside of every answer: `{"success": …}`, the security headers, raw bodies (design §3)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from aws_lambda_powertools.event_handler import Response

JSON = "application/json"

HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "Cache-Control": "no-store",
}


def success(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response[str]:
    """`data` is JSON as Python has it; views of `shared.api.response.views` are."""
    return Response(status, JSON, to_json({"success": True, "data": data}), headers)


def no_content() -> Response[str]:
    return Response(204, JSON, "")


def not_modified(etag: str) -> Response[str]:
    return Response(304, JSON, "", {"ETag": etag})


def raw(
    body: bytes | str, content_type: str, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response[Any]:
    """Files, event streams. Bytes leave as base64, which the gateway undoes."""
    return Response(status, content_type, body, headers)


def failure(
    status: int,
    code: str,
    message: str,
    details: Mapping[str, Sequence[str]] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response[str]:
    error: dict[str, Any] = {"code": code, "message": message}
    if details:
        error["details"] = {field: list(messages) for field, messages in details.items()}
    return Response(status, JSON, to_json({"success": False, "error": error}), headers)


def to_json(value: Any) -> str:
    """Compact. Text that is no valid Unicode (a lone surrogate from a model, say) is escaped, not refused."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text


def to_gateway(response: Response[str]) -> dict[str, Any]:
    """An answer made before or after the resolver, in the gateway's form."""
    return {
        "statusCode": response.status_code,
        "headers": dict(response.headers),
        "body": response.body,
        "isBase64Encoded": False,
    }


def seal(answer: dict[str, Any]) -> dict[str, Any]:
    """Adds what every answer carries."""
    answer["headers"] = {"Content-Type": JSON, **answer.get("headers", {}), **HEADERS}
    return answer
