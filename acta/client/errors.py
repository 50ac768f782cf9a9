"""What a call to a deployment may raise. The caller reacts to the class; the message is for a person.

ClientError
  InvalidDeploymentError         the API's URL or the token cannot be used; nothing was sent
  SignInEndedError               nobody is signed in (any more): sign in again; nothing was sent
  SignInError                    signing in failed, or the stored sign-in cannot be used
  InvalidPathError               a name with a part `.` or `..`, which would name another path; nothing was sent
  ApiConnectionError             no answer, after a bounded number of attempts
  UnexpectedAnswerError          an answer that Acta does not give, or not to what was asked
  ApiError                       the deployment refused the request, or failed
    InvalidRequestError          400  `details` says what is wrong, by field
    AuthenticationError          401  no token, or one that is not valid (any more)
    PermissionDeniedError        403  the token's roles do not allow it
      ApproverMustDifferError         somebody else has to decide
    NotFoundError                404  nothing is there that you may see
      SessionNotFoundError
      PlanNotFoundError
      InterventionNotFoundError
    MethodNotAllowedError        405
    ConflictError                409  it does not fit the present state: read the state and decide again
    PreconditionFailedError      412  it was changed since it was read: read it again
    PayloadTooLargeError         413
    UnsupportedMediaTypeError    415
    IdempotencyMismatchError     422  the key came with another body before
    PreconditionRequiredError    428  the request has to name the version that was read
    RateLimitError               429  too many requests; `retry_after` says when to try again
      TooManyOpenSessionsError        one has to end first
    ServerError                  5xx  something is wrong on the other side
      UnavailableError           503  the storage cannot be reached just now

Of a code that is not here, the class is that of the status. `ApiError.code` has the code itself.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any


class ClientError(Exception):
    """The message is one line: what is wrong and, where it is known, what to do.

    It may quote what the deployment sent. Escape it before a terminal shows it. `code`: for programs.
    """

    code: str = "CLIENT_ERROR"

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class InvalidDeploymentError(ClientError):
    code = "INVALID_DEPLOYMENT"


class SignInEndedError(ClientError):
    code = "SIGN_IN_ENDED"


class SignInError(ClientError):
    code = "SIGN_IN_FAILED"


class InvalidPathError(ClientError):
    code = "INVALID_PATH"


class ApiConnectionError(ClientError):
    code = "UNREACHABLE"


class UnexpectedAnswerError(ClientError):
    code = "UNEXPECTED_ANSWER"


class ApiError(ClientError):
    """`status`: the HTTP status. `code`: the error code of the body, empty if the gateway itself answered. `details`:
    what is wrong, by field, parameter or header. `retry_after`: seconds after which the same request may succeed; None
    if the answer does not say.
    """

    of_code: str = ""
    of_status: int = 0

    def __init__(
        self,
        message: str,
        status: int,
        code: str = "",
        details: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.details: Mapping[str, Any] = MappingProxyType(dict(details or {}))
        self.retry_after = retry_after


class InvalidRequestError(ApiError):
    of_code, of_status = "VALIDATION_ERROR", 400


class AuthenticationError(ApiError):
    of_code, of_status = "UNAUTHORIZED", 401


class PermissionDeniedError(ApiError):
    of_code, of_status = "FORBIDDEN", 403


class ApproverMustDifferError(PermissionDeniedError):
    of_code = "APPROVER_MUST_DIFFER"


class NotFoundError(ApiError):
    of_code, of_status = "NOT_FOUND", 404


class SessionNotFoundError(NotFoundError):
    of_code = "SESSION_NOT_FOUND"


class PlanNotFoundError(NotFoundError):
    of_code = "PLAN_NOT_FOUND"


class InterventionNotFoundError(NotFoundError):
    of_code = "INTERVENTION_NOT_FOUND"


class MethodNotAllowedError(ApiError):
    of_code, of_status = "METHOD_NOT_ALLOWED", 405


class ConflictError(ApiError):
    of_code, of_status = "CONFLICT", 409


class PayloadTooLargeError(ApiError):
    of_code, of_status = "PAYLOAD_TOO_LARGE", 413


class UnsupportedMediaTypeError(ApiError):
    of_code, of_status = "UNSUPPORTED_MEDIA_TYPE", 415


class PreconditionFailedError(ApiError):
    of_code, of_status = "PRECONDITION_FAILED", 412


class PreconditionRequiredError(ApiError):
    of_code, of_status = "PRECONDITION_REQUIRED", 428


class IdempotencyMismatchError(ApiError):
    of_code, of_status = "IDEMPOTENCY_MISMATCH", 422


class RateLimitError(ApiError):
    of_code, of_status = "RATE_LIMITED", 429


class TooManyOpenSessionsError(RateLimitError):
    of_code = "TOO_MANY_OPEN_SESSIONS"


class ServerError(ApiError):
    of_code, of_status = "INTERNAL_ERROR", 500


class UnavailableError(ServerError):
    of_code, of_status = "UNAVAILABLE", 503


def class_of(status: int, code: str) -> type[ApiError]:
    """The class for the code, or else for the status."""
    return _BY_CODE.get(code) or _BY_STATUS.get(status) or (ServerError if status >= 500 else ApiError)


def _below(one: type[ApiError]) -> Iterator[type[ApiError]]:
    for each in one.__subclasses__():
        yield each
        yield from _below(each)


_BY_CODE = {each.of_code: each for each in _below(ApiError)}
_BY_STATUS = {each.of_status: each for each in _below(ApiError) if "of_status" in vars(each)}

MAX_MESSAGE_CHARS = 400


def one_line(text: str, limit: int = MAX_MESSAGE_CHARS) -> str:
    """`text` without line breaks, cut at `limit` characters."""
    joined = " ".join(text.split())
    return joined if len(joined) <= limit else joined[: limit - 1] + "…"
