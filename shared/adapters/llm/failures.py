"""What a provider's failure means for the run: the one place where an answer's status or sentence becomes an error of
`shared/domain/errors.py`, and so of who reacts.

    retried by the engine (with fallbacks, the next model is asked first, save where an answer had begun)
        429, 503, 529; overloaded in the stream      ProviderOverloaded      its Retry-After is waited out in Wait
        408; silence; no whole answer in time        ProviderTimeout         backoff
        409, 425, other 5xx; no connection           ProviderUnavailable     backoff
        dropped, truncated or corrupt stream         StreamBroken            backoff
    told to the model, as the call's result (no class of a provider's: the call is `malformed`)
        tool input that is not one JSON object, or was cut off; unknown tool; input outside the schema
    told to a person: the run ends `failed` with this code at once, and the message says what to do
        401, 403; no key                             ProviderKeyRefused      PROVIDER_KEY_REFUSED
        402; 429 or 400 that name quota or balance   ProviderQuotaExceeded   PROVIDER_QUOTA_EXCEEDED
        400 that says the prompt is too long         ContextTooLong          CONTEXT_TOO_LONG, once it was compacted
        other 4xx                                    ProviderRejected        PROVIDER_REJECTED
        a refusal as stop reason                     ModelRefused            MODEL_REFUSED

Nothing of a request or response body gets into a message: the provider's name, the status, the request id and
the provider's own name for the error, each only if it looks like one.
"""

import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from shared.domain.errors import (
    ActaError,
    ContextTooLong,
    ProviderKeyRefused,
    ProviderOverloaded,
    ProviderQuotaExceeded,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
    StreamBroken,
)

_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,80}")

NO_MONEY = frozenset(
    {
        "insufficient_quota",
        "billing_error",
        "billing_hard_limit_reached",
        "billing_not_active",
        "credit_balance",
    }
)
"""429 with one of these does not pass by waiting; anthropic says a used-up balance with a 400."""

TOO_LONG = "context_length_exceeded"
"""OpenAI's name for a prompt over the window, and that of many compatible servers."""

_OVERLOAD = (429, 503, 529)
_TRANSIENT_4XX = (409, 425)

_INSIDE_A_STREAM: Mapping[str, type[ActaError]] = {
    "overloaded_error": ProviderOverloaded,
    "rate_limit_error": ProviderOverloaded,
    "rate_limit_exceeded": ProviderOverloaded,
    "api_error": ProviderUnavailable,
    "server_error": ProviderUnavailable,
    "internal_server_error": ProviderUnavailable,
    "timeout_error": ProviderTimeout,
    "authentication_error": ProviderKeyRefused,
    "permission_error": ProviderKeyRefused,
    "invalid_request_error": ProviderRejected,
    "not_found_error": ProviderRejected,
    "request_too_large": ProviderRejected,
}


def from_status(
    provider: str, status: int, headers: Mapping[str, str], *, kinds: tuple[str | None, ...] = ()
) -> ActaError:
    """The error for an HTTP answer of 4xx or 5xx. `kinds`: the provider's names for it, type and code."""
    text = f"{provider} answered {_described(status, headers, kinds)}"
    if status == 402 or not NO_MONEY.isdisjoint(kinds):
        return ProviderQuotaExceeded(text)
    if status < 500 and TOO_LONG in kinds:
        return ContextTooLong(text)
    if status in (401, 403):
        return ProviderKeyRefused(text)
    if status in _OVERLOAD:
        return ProviderOverloaded(text, retry_after(headers))
    if status == 408:
        return ProviderTimeout(text)
    if status >= 500 or status in _TRANSIENT_4XX:
        return ProviderUnavailable(text)
    return ProviderRejected(text)


def from_stream(provider: str, headers: Mapping[str, str], *, kinds: tuple[str | None, ...]) -> ActaError:
    """The error for an answer that began with 200 and then said in its stream that it failed."""
    text = f"{provider} broke its answer off: {_described(None, headers, kinds)}"
    if not NO_MONEY.isdisjoint(kinds):
        return ProviderQuotaExceeded(text)
    if TOO_LONG in kinds:
        return ContextTooLong(text)
    known = [_INSIDE_A_STREAM[kind] for kind in kinds if kind is not None and kind in _INSIDE_A_STREAM]
    return (known or [StreamBroken])[0](text)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from `retry-after-ms`, or from `retry-after` as seconds or as an HTTP date (RFC 9110 §10.2.3)."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * unit
        except ValueError:
            seconds = _until(value, headers.get("date"))
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    return None


def _until(date: str, now: str | None) -> float:
    """Seconds to `date`, measured on the provider's own clock where its answer carries a date."""
    try:
        then = parsedate_to_datetime(date).timestamp()
        return then - (parsedate_to_datetime(now).timestamp() if now else time.time())
    except ValueError:
        return math.nan


def _described(status: int | None, headers: Mapping[str, str], kinds: tuple[str | None, ...]) -> str:
    names = [kind for kind in kinds if kind and _NAME.fullmatch(kind)]
    request = headers.get("request-id") or headers.get("x-request-id") or ""
    parts = [str(status)] if status else []
    parts += [f"({', '.join(dict.fromkeys(names))})"] if names else []
    parts += [f"request {request}"] if _REQUEST_ID.fullmatch(request) else []
    return " ".join(parts) or "no reason given"
