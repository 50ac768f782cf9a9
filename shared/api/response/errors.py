"""From what went wrong to the status and envelope the caller sees: the one table (design §3).

A message never names a table, an ARN, a model, a class or a line; what is no CallerError is told in one of
two fixed sentences.
"""

from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from shared.api.request.validation import details_from
from shared.api.response.envelope import failure
from shared.domain.errors import (
    CallerError,
    Fenced,
    NotFound,
    SessionNotFound,
    TransientError,
    Unavailable,
    ValidationFailed,
)
from shared.domain.untrusted.path import PathRefused

STATUSES: Mapping[str, int] = {
    "VALIDATION_ERROR": 400,
    "INVALID_ACTION": 400,
    "UNAUTHORIZED": 401,
    "FORBIDDEN": 403,
    "SESSION_NOT_FOUND": 404,
    "PLAN_NOT_FOUND": 404,
    "STEP_NOT_FOUND": 404,
    "INTERVENTION_NOT_FOUND": 404,
    "NOT_FOUND": 404,
    "METHOD_NOT_ALLOWED": 405,
    "CONFLICT": 409,
    "PAYLOAD_TOO_LARGE": 413,
    "UNSUPPORTED_MEDIA_TYPE": 415,
    "IDEMPOTENCY_MISMATCH": 422,
    "RATE_LIMITED": 429,
    "INTERNAL_ERROR": 500,
    "UNAVAILABLE": 503,
}

RETRY_AFTER_SECONDS: Mapping[str, int] = {"RATE_LIMITED": 10, "UNAVAILABLE": 1}
"""Where the error itself has no `retry_after`."""


class MethodNotAllowed(CallerError):
    """The path exists, with other methods: `allowed`."""

    code = "METHOD_NOT_ALLOWED"

    def __init__(self, allowed: tuple[str, ...]) -> None:
        super().__init__(f"This path takes {', '.join(allowed)}.")
        self.allowed = allowed


class UnsupportedMediaType(CallerError):
    code = "UNSUPPORTED_MEDIA_TYPE"


def caller_error(error: Exception) -> CallerError | None:
    """What the caller is told; None: nothing but that something broke."""
    match error:
        case CallerError():
            return error
        case RequestValidationError():
            details = details_from(error.errors())
            return ValidationFailed(f"The request is not valid: {', '.join(details)}.", details)
        case NotFoundError():
            return NotFound("There is nothing at this path.")
        case PathRefused():  # a rule of the store's own, the length of its keys
            return ValidationFailed(f"This is not a usable file path: {error}.", {"path": [f"{error}."]})
        case Fenced():  # it was there when the request began
            return SessionNotFound("There is no such session.")
        case TransientError():
            return Unavailable("Acta cannot reach its storage just now. Try again in a moment.")
        case _:
            return None


def answer(error: Exception) -> Response[str]:
    told = caller_error(error)
    if told is None:
        return failure(500, "INTERNAL_ERROR", "Something went wrong on our side.")
    return failure(STATUSES.get(told.code, 500), told.code, str(told), told.details, _headers(told))


def _headers(error: CallerError) -> dict[str, str]:
    headers: dict[str, str] = {}
    if isinstance(error, MethodNotAllowed):
        headers["Allow"] = ", ".join(error.allowed)
    if error.code in RETRY_AFTER_SECONDS:
        seconds: Any = getattr(error, "retry_after", None) or RETRY_AFTER_SECONDS[error.code]
        headers["Retry-After"] = str(max(1, round(seconds)))
    return headers
