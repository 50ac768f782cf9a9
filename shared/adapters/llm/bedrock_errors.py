"""Bedrock's names for what went wrong, as `InvokeModelWithResponseStream` documents them."""

import re
from collections.abc import Mapping

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_OURS = {
    "throttling_exception": "rate_limit_error",
    "service_unavailable_exception": "overloaded_error",
    "internal_server_exception": "api_error",
    "model_stream_error_exception": "api_error",
    "model_timeout_exception": "timeout_error",
    "validation_exception": "invalid_request_error",
}
"""Those that a stream may hold, and the Messages API's names for them."""

_STATUS = {"service_quota_exceeded_exception": 429, "model_error_exception": 500}
"""Two come as 4xx and pass by waiting: a quota of the account as 400, a model that failed as 424."""


def error_name(headers: Mapping[str, str], body: object) -> str | None:
    """`throttling_exception`, from the answer's header (`ThrottlingException:http://…`) or from an exception in its
    stream, which the SDK hands over like an error event of the Messages API."""
    inner = body.get("error") if isinstance(body, dict) else None
    named = inner.get("type") if isinstance(inner, dict) else None
    word = str(named or headers.get("x-amzn-errortype") or "").partition(":")[0]
    return _WORDS.sub("_", word).lower() or None


def in_our_words(name: str | None) -> str | None:
    return _OURS.get(name or "")


def status_of(name: str | None, status: int) -> int:
    """The status by which the failure is judged."""
    return _STATUS.get(name or "", status)
