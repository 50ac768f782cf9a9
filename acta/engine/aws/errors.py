"""AWS's errors become Acta's. Only this file knows which error codes mean that a retry may help.

    too many requests                    StoreThrottled     (the engine retries)
    no answer, a broken one, or a 5xx    StoreUnavailable   (the engine retries)
    a permission is missing              AwsDenied          (the engine retries)
    any other refusal                    AwsRefused         (the adapter handles the codes that it expects)

botocore is imported only after botocore itself has raised an error: this keeps cold starts short.
"""

import sys
from typing import Any

from acta.engine.errors import AwsDenied, StoreThrottled, StoreUnavailable

THROTTLED = frozenset({
    "LimitExceededException", "ProvisionedThroughputExceeded", "ProvisionedThroughputExceededException",
    "RequestLimitExceeded", "SlowDown", "ThrottledException", "Throttling", "ThrottlingError",
    "ThrottlingException", "TooManyRequests", "TooManyRequestsException", "ExecutionLimitExceeded",
    "EC2ThrottledException", "ENILimitReachedException", "ResourceNotReadyException", "SnapStartNotReadyException",
    "SubnetIPAddressLimitReachedException",
})  # fmt: skip
"""The last five are Lambda's, where a function cannot be started at present (Lambda API Reference, Invoke)."""
UNAVAILABLE = frozenset({
    "InternalError", "InternalFailure", "InternalServerError", "RequestTimeout", "RequestTimeoutException",
    "ServiceUnavailable", "ServiceUnavailableException",
})  # fmt: skip
DENIED = frozenset({
    "AccessDenied", "AccessDeniedException", "AuthorizationError", "KMSAccessDeniedException", "NotAuthorized",
    "UnauthorizedOperation", "UnrecognizedClientException", "ExpiredToken", "ExpiredTokenException",
    "InvalidClientTokenId", "KMS.AccessDeniedException", "EC2AccessDeniedException",
})  # fmt: skip


MISCONFIGURED = frozenset({
    "InvalidRuntimeException", "InvalidSecurityGroupIDException", "InvalidSubnetIDException", "InvalidZipFileException",
    "KMSDisabledException", "KMSInvalidStateException", "KMSNotFoundException",
})  # fmt: skip
"""Lambda says with status 502 that a function cannot be started as it is configured. Each attempt meets the same."""

NOT_FOUND = "ResourceNotFoundException"
"""Lambda, DynamoDB, Secrets Manager and CloudWatch Logs say it of what is not there."""


class AwsRefused(Exception):
    """AWS refused an operation. `code`: AWS's error code. `reasons`: where a transaction was cancelled, a code for each
    item; `"None"`: the item was not the reason.
    """

    def __init__(self, operation: str, code: str, message: str = "", reasons: tuple[str, ...] = ()) -> None:
        super().__init__(f"{operation}: {code} {message}".rstrip())
        self.code = code
        self.reasons = reasons


def translated(operation: str, error: Exception) -> Exception:
    """The error to raise instead of `error`. It is `error` itself where that does not come from botocore."""
    if "botocore" not in sys.modules:
        return error
    from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
    from botocore.exceptions import ConnectionError as NotConnected
    from botocore.parsers import ResponseParserError

    if isinstance(error, ClientError):
        return _refusal(operation, error.response)
    if isinstance(error, HTTPClientError | NotConnected | ResponseParserError):
        return StoreUnavailable(f"{operation}: {type(error).__name__}")
    if isinstance(error, BotoCoreError):
        return AwsRefused(operation, type(error).__name__)
    return error


def was_sent(error: StoreUnavailable) -> bool:
    """Whether the request may have reached AWS. False: no connection was made. `error`: made by `translated`, and
    raised from botocore's.
    """
    from botocore.exceptions import ConnectTimeoutError, EndpointConnectionError

    return not isinstance(error.__cause__, ConnectTimeoutError | EndpointConnectionError)


def is_overdue(error: StoreUnavailable) -> bool:
    """Whether AWS worked on the request for longer than the client waits. `error`: as above."""
    from botocore.exceptions import ReadTimeoutError

    return isinstance(error.__cause__, ReadTimeoutError)


def read_body(operation: str, body: Any, most: int) -> bytes:
    """At most `most` bytes of an answer's body. Raises StoreUnavailable where it breaks off."""
    try:
        data: bytes = body.read(most)
    except Exception as error:
        if translated(operation, error) is error and not isinstance(error, OSError):
            raise
        raise StoreUnavailable(f"{operation}: the answer broke off") from error
    return data


def _refusal(operation: str, response: Any) -> Exception:
    detail = response.get("Error", {})
    code = str(detail.get("Code", "Unknown"))
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    reasons = tuple(str(each.get("Code", "None")) for each in response.get("CancellationReasons") or ())
    throttled = THROTTLED.intersection(reasons) and "ConditionalCheckFailed" not in reasons
    if code in THROTTLED or status == 429 or throttled:
        return StoreThrottled(f"{operation}: {code}")
    if code in UNAVAILABLE or (
        isinstance(status, int) and status >= 500 and code not in MISCONFIGURED | DENIED
    ):
        return StoreUnavailable(f"{operation}: {code}")
    if code in DENIED:
        return AwsDenied(f"{operation}: {code}")
    return AwsRefused(operation, code, str(detail.get("Message", "")), reasons)
