"""The one table that turns an error into the status and envelope that the caller sees (docs/design/api.md 35).

A message never names a table, an ARN, a model, a class or a line. An error that is no CallerError gets one of two
fixed sentences.

Source of the headers `RateLimit-Policy` and `RateLimit`: IETF, draft-ietf-httpapi-ratelimit-headers-11, "RateLimit
header fields for HTTP": lists of strings with parameters (RFC 9651). q: the quota, w: its window in seconds, r: what is
left, t: seconds until there is more.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from acta.engine.api.envelope import Response, failure
from acta.engine.api.operations import MethodNotAllowed
from acta.engine.errors import (
    CallerError,
    Fenced,
    FunctionUnavailable,
    LimitReached,
    Quota,
    SchemaUnknown,
    SessionNotFound,
    TransientError,
    Unavailable,
    ValidationFailed,
)
from acta.engine.untrusted.path import PathRefused

STATUSES: Mapping[str, int] = {
    "VALIDATION_ERROR": 400,
    "UNAUTHORIZED": 401,
    "FORBIDDEN": 403,
    "APPROVER_MUST_DIFFER": 403,
    "SESSION_NOT_FOUND": 404,
    "PLAN_NOT_FOUND": 404,
    "INTERVENTION_NOT_FOUND": 404,
    "NOT_FOUND": 404,
    "METHOD_NOT_ALLOWED": 405,
    "CONFLICT": 409,
    "PRECONDITION_FAILED": 412,
    "PAYLOAD_TOO_LARGE": 413,
    "UNSUPPORTED_MEDIA_TYPE": 415,
    "IDEMPOTENCY_MISMATCH": 422,
    "PRECONDITION_REQUIRED": 428,
    "RATE_LIMITED": 429,
    "TOO_MANY_OPEN_SESSIONS": 429,
    "INTERNAL_ERROR": 500,
    "UNAVAILABLE": 503,
}

UNEXPECTED = "INTERNAL_ERROR"
"""The code of an error that is no CallerError."""

RETRY_AFTER_SECONDS: Mapping[str, int] = {"UNAVAILABLE": 1}


def caller_error(error: Exception) -> CallerError | None:
    """The error as the caller sees it. None: the caller learns only that something broke."""
    match error:
        case CallerError():
            return error
        case PathRefused():  # the rules for new files, and the store's own: the length of its keys
            return ValidationFailed(f"This is not a usable file path: {error}.", {"path": [f"{error}."]})
        case Fenced():  # deleted since the request began
            return SessionNotFound("There is no such session.")
        case SchemaUnknown():
            return Unavailable("Another release of Acta stored this. Try again when its deployment is done.")
        case FunctionUnavailable():
            return Unavailable("Acta cannot do this just now, and has not done it. Try again in a moment.")
        case TransientError():
            return Unavailable("Acta cannot reach its storage just now. Try again in a moment.")
        case _:
            return None


def answer(error: Exception) -> Response:
    shown = caller_error(error)
    if shown is None:
        return failure(500, UNEXPECTED, "Something went wrong on our side.")
    headers: dict[str, str] = {}
    if isinstance(shown, MethodNotAllowed):
        headers["Allow"] = ", ".join(shown.allowed)
    if isinstance(shown, LimitReached):
        left = {shown.quota.name: (0, shown.retry_after)}
        headers |= {"Retry-After": str(shown.retry_after), **limit_headers([shown.quota], left)}
    if shown.code in RETRY_AFTER_SECONDS:
        headers["Retry-After"] = str(RETRY_AFTER_SECONDS[shown.code])
    return failure(STATUSES.get(shown.code, 500), shown.code, str(shown), shown.details, headers)


POLICY, LIMIT = "RateLimit-Policy", "RateLimit"

UNKNOWN: Mapping[str, tuple[int, int]] = MappingProxyType({})


def limit_headers(quotas: Iterable[Quota], left: Mapping[str, tuple[int, int]] = UNKNOWN) -> dict[str, str]:
    """`left`: by the quota's name, what is left and for how many seconds. Where it is not known, nothing is said."""
    headers = {}
    policy = ", ".join(
        f'"{quota.name}";q={quota.most}' + ("" if quota.window is None else f";w={quota.window}")
        for quota in quotas
    )
    if policy:
        headers[POLICY] = policy
    if left:
        headers[LIMIT] = ", ".join(f'"{name}";r={rest};t={seconds}' for name, (rest, seconds) in left.items())
    return headers
