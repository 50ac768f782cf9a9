"""What a provider's failure means for the run: the one place where an answer's status or sentence becomes an error of
`shared/domain/errors.py`, and so of who reacts.

    retried by the engine (with fallbacks, the next model is asked first, save where an answer had begun)
        429, 503, 529; a stream that says so at once ProviderOverloaded      its Retry-After is waited out in Wait
        408; silence; no whole answer in time        ProviderTimeout         backoff
        409, 425, other 5xx; no connection           ProviderUnavailable     backoff
        dropped, truncated or corrupt stream; any
          of the above once it had begun to answer   StreamBroken            backoff
    told to the model, as the call's result (no class of a provider's: the call is `malformed`)
        tool input that is not one JSON object, or was cut off; unknown tool; input outside the schema
    told to a person: the run ends `failed` with this code at once, and the message says what to do
        401, 403; no key                             ProviderKeyRefused      PROVIDER_KEY_REFUSED
        402; 429 or 400 that name quota or balance   ProviderQuotaExceeded   PROVIDER_QUOTA_EXCEEDED
        413; 400 that says the prompt is too long    ContextTooLong          CONTEXT_TOO_LONG, once it was compacted
        other 4xx                                    ProviderRejected        PROVIDER_REJECTED
        a refusal as stop reason                     ModelRefused            MODEL_REFUSED

Nothing of a request or response body gets into a message: the provider's name, the status, the request id and
the provider's own name for the error, each only if it looks like one.
"""

import math
import re
import time
from collections.abc import Mapping, Sequence
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
    TransientError,
)

BALANCE = "credit_balance"
TOO_LONG = "context_length_exceeded"
"""OpenAI's name for a prompt over the window, and that of many compatible servers."""
OVER_THE_SLOT = "exceed_context_size_error"
"""llama.cpp's, which some of its versions answer with 500."""

_READ = 1_000
"""Characters; what comes behind them may quote the request."""
_MEANT = {
    "credit balance": BALANCE,
    "specified api usage limits": BALANCE,
    "prompt is too long": TOO_LONG,
    "input is too long": TOO_LONG,
    "exceed context limit": TOO_LONG,
    "maximum context length": TOO_LONG,
    "maximum model length": TOO_LONG,
    "maximum prompt length": TOO_LONG,
    "the model's context length": TOO_LONG,
    "greater than the context length": TOO_LONG,
    "available context size": OVER_THE_SLOT,
}


def told(message: object) -> str | None:
    """The name for what a sentence says; None: nothing that is known."""
    said = message[:_READ].lower() if isinstance(message, str) else ""
    return next((name for words, name in _MEANT.items() if words in said), None)


def message_of(body: object) -> object:
    """Of an error as its server sent it: an object, or the sentence alone."""
    return body.get("message") if isinstance(body, dict) else body


_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,80}")

NO_MONEY = frozenset(
    {
        "insufficient_quota",
        "billing_error",
        "billing_hard_limit_reached",
        "billing_not_active",
        "enforced_spend_limit_reached",
        "contract_spend_limit_reached",
        "linked_organization_spend_limit_reached",
        BALANCE,
    }
)
"""429 with one of these does not pass by waiting; anthropic says a used-up balance with a 400."""

Kinds = Sequence[object]
"""The provider's names for a failure, as they came. Some servers give a status as a number; anything else that is no
text is no name."""

_OVERLOAD = (429, 503, 529)
_TRANSIENT_4XX = (409, 425)

_INSIDE_A_STREAM: Mapping[str, type[ActaError]] = {
    "overloaded_error": ProviderOverloaded,
    "rate_limit_error": ProviderOverloaded,
    "rate_limit_exceeded": ProviderOverloaded,
    "server_is_overloaded": ProviderOverloaded,
    "server_overloaded": ProviderOverloaded,
    "service_unavailable_error": ProviderOverloaded,
    "slow_down": ProviderOverloaded,
    **{str(status): ProviderOverloaded for status in _OVERLOAD},
    "api_error": ProviderUnavailable,
    "server_error": ProviderUnavailable,
    "internal_server_error": ProviderUnavailable,
    "timeout_error": ProviderTimeout,
    "authentication_error": ProviderKeyRefused,
    "permission_error": ProviderKeyRefused,
    "invalid_request_error": ProviderRejected,
    "not_found_error": ProviderRejected,
    "request_too_large": ContextTooLong,
    TOO_LONG: ContextTooLong,
    OVER_THE_SLOT: ContextTooLong,
}


def from_status(provider: str, status: int, headers: Mapping[str, str], *, kinds: Kinds = ()) -> ActaError:
    """The error for an HTTP answer of 4xx or 5xx. `kinds`: the provider's names for it, type and code."""
    names = _names(kinds)
    text = f"{provider} answered {_described(status, headers, names)}"
    if status == 402 or not NO_MONEY.isdisjoint(names):
        return ProviderQuotaExceeded(text)
    if status == 413 or (status < 500 and TOO_LONG in names) or OVER_THE_SLOT in names:
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


def from_stream(provider: str, headers: Mapping[str, str], *, kinds: Kinds, begun: bool = False) -> ActaError:
    """The error for a stream that was opened with 200 and then said that it failed. `begun`: behind a part of the
    answer, which is broken then, whatever may pass."""
    names = _names(kinds)
    text = f"{provider} broke its answer off: {_described(None, headers, names)}"
    if not NO_MONEY.isdisjoint(names):
        return ProviderQuotaExceeded(text)
    if not {TOO_LONG, OVER_THE_SLOT}.isdisjoint(names):
        return ContextTooLong(text)
    known = next((_INSIDE_A_STREAM[name] for name in names if name in _INSIDE_A_STREAM), StreamBroken)
    return StreamBroken(text) if begun and issubclass(known, TransientError) else known(text)


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
    except (ValueError, OverflowError):  # a year may have any number of digits
        return math.nan


def _names(kinds: Kinds) -> list[str]:
    return [str(kind) for kind in kinds if isinstance(kind, str | int)]


def _described(status: int | None, headers: Mapping[str, str], kinds: Sequence[str]) -> str:
    names = [kind for kind in kinds if _NAME.fullmatch(kind)]
    request = headers.get("request-id") or headers.get("x-request-id") or ""
    parts = [str(status)] if status else []
    parts += [f"({', '.join(dict.fromkeys(names))})"] if names else []
    parts += [f"request {request}"] if _REQUEST_ID.fullmatch(request) else []
    return " ".join(parts) or "no reason given"
