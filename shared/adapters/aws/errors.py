"""What AWS said, as the errors the rest of the house reacts to. The one place that knows AWS's error codes.

    asked for less                       StoreThrottled     (the engine tries again)
    no answer, a broken one, or a 5xx    StoreUnavailable   (the engine tries again)
    any other refusal                    AwsRefused         (an adapter maps the codes it expects)

Nothing of botocore is imported before botocore itself has raised something.
"""

from shared.domain.errors import StoreThrottled, StoreUnavailable

THROTTLED = frozenset({
    "LimitExceededException", "ProvisionedThroughputExceeded", "ProvisionedThroughputExceededException",
    "RequestLimitExceeded", "SlowDown", "ThrottledException", "Throttling", "ThrottlingError",
    "ThrottlingException", "TooManyRequests", "TooManyRequestsException", "ExecutionLimitExceeded",
})  # fmt: skip
UNAVAILABLE = frozenset({
    "InternalError", "InternalFailure", "InternalServerError", "RequestTimeout", "RequestTimeoutException",
    "ServiceUnavailable", "ServiceUnavailableException",
})  # fmt: skip


class AwsRefused(Exception):
    """`code` is AWS's; `reasons`: of a cancelled transaction, one code per item, `None` where the item was
    fine.
    """

    def __init__(self, operation: str, code: str, message: str = "", reasons: tuple[str, ...] = ()) -> None:
        super().__init__(f"{operation}: {code} {message}".rstrip())
        self.code = code
        self.reasons = reasons


def translated(operation: str, error: Exception) -> Exception:
    """The error to raise instead of `error`; itself where it has nothing to do with AWS."""
    from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
    from botocore.exceptions import ConnectionError as NotConnected

    if isinstance(error, ClientError):
        return _refusal(operation, error.response)
    if isinstance(error, HTTPClientError | NotConnected):
        return StoreUnavailable(f"{operation}: {type(error).__name__}")
    if isinstance(error, BotoCoreError):
        return AwsRefused(operation, type(error).__name__)
    return error


def _refusal(operation: str, response: dict[str, object]) -> Exception:
    detail = _mapping(response.get("Error"))
    code = str(detail.get("Code", "Unknown"))
    status = _mapping(response.get("ResponseMetadata")).get("HTTPStatusCode", 0)
    reasons = _reasons(response)
    throttled = THROTTLED.intersection(reasons) and "ConditionalCheckFailed" not in reasons
    if code in THROTTLED or status == 429 or throttled:
        return StoreThrottled(f"{operation}: {code}")
    if code in UNAVAILABLE or (isinstance(status, int) and status >= 500):
        return StoreUnavailable(f"{operation}: {code}")
    return AwsRefused(operation, code, str(detail.get("Message", "")), reasons)


def _reasons(response: dict[str, object]) -> tuple[str, ...]:
    reasons = response.get("CancellationReasons")
    return tuple(str(_mapping(r).get("Code", "None")) for r in reasons) if isinstance(reasons, list) else ()


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}
