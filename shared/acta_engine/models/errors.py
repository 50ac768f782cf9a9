"""Which error of `shared/acta_engine/errors.py` a provider's failure is, and so who reacts to it.

What a status or a reported name means is decided here. That a connection failed, hung or broke off is noticed in each
provider's `client.py`.

    the engine retries; where the agent has fallbacks, the next model is asked first, unless an answer had begun
        429, 503, 529; a stream that reports overload
          before any answer                          ProviderOverloaded      Wait, for as long as Retry-After says
        408; silence; no complete answer in time     ProviderTimeout         backoff
        409, 425, other 5xx; no connection           ProviderUnavailable     backoff
        AWS does not let the key's secret be read    AwsDenied               backoff
        a dropped, truncated or corrupt stream;
          any of the above after the answer began    StreamBroken            backoff
    the model is shown the failure as the call's result; no error is raised, the call is `malformed`
        tool input that is cut off or is not one JSON object; an unknown tool; input that breaks the tool's schema
    a person reacts, and the message says what to do. The run ends `failed` with this code; one that has had a reply
    waits for the key or the quota instead (`shared/acta_engine/recovery/outage.py`)
        401, 403; no key                             ProviderKeyRefused      PROVIDER_KEY_REFUSED
        402; 429 or 400 that name quota or balance   ProviderQuotaExceeded   PROVIDER_QUOTA_EXCEEDED
        413; 400 that says the prompt is too long    ContextTooLong          CONTEXT_TOO_LONG, after one compaction
        other 4xx                                    ProviderRejected        PROVIDER_REJECTED
        a refusal as stop reason, or as a 4xx        ModelRefused            MODEL_REFUSED, after one fallback

Backoff is in `infra/acta_infra/engine/retries.py`, Wait in `shared/acta_engine/recovery/wait_out.py`, the compaction
in `shared/acta_engine/turn/turn.py`, and the reaction to `malformed` in `shared/acta_engine/turn/reply.py`.

A message quotes nothing of a request's or an answer's body. It holds the provider's name, the status, the request id
and the provider's own names for the error, and the last two only where they look like an id and like names.
"""

import math
import re
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime

from acta_engine.errors import (
    ActaError,
    ContextTooLong,
    ModelRefused,
    ProviderKeyRefused,
    ProviderOverloaded,
    ProviderQuotaExceeded,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
    StreamBroken,
    TransientError,
)
from acta_engine.models.wire import DECLINED_CODES
from acta_engine.untrusted.exact_json import value_at

ErrorNames = Sequence[object]
"""A provider's names for a failure, its type and its code, as they came in the body. Some servers send a number for a
name. Values of any other type are ignored.
"""

TOO_LONG = "context_length_exceeded"
"""The prompt exceeds the window: OpenAI's name, and that of many compatible servers."""
TOO_LONG_FOR_SLOT = "exceed_context_size_error"
"""The same, as llama.cpp names it. Some of its versions answer with 500."""
UNREADABLE_REASONING = "invalid_encrypted_content"
NO_CREDIT = "credit_balance"
"""Acta's own name: Anthropic reports a used-up balance with a 400 and a sentence."""

_OUT_OF_QUOTA = frozenset(
    {
        "insufficient_quota",
        "billing_error",
        "billing_hard_limit_reached",
        "billing_not_active",
        "enforced_spend_limit_reached",
        "contract_spend_limit_reached",
        "linked_organization_spend_limit_reached",
        "exceeded_current_quota_error",
        "1113",
        "Arrearage",
        "budget_exceeded",
        NO_CREDIT,
    }
)
"""An error with one of these names does not pass by waiting. The last four codes are Kimi's, GLM's, DashScope's and
LiteLLM's.
"""
MALFORMED_CALL = "tool_use_failed"
"""Groq's name for a call of the model's that is no JSON or does not fit its tool: the next answer may be better."""

_OVERLOADED = (429, 503, 529)
_TRANSIENT_4XX = (409, 425)


def error_from_status(
    provider: str, status: int, headers: Mapping[str, str], *, names: ErrorNames = ()
) -> ActaError:
    """The error for an HTTP answer of 4xx or 5xx."""
    known = _texts(names)
    message = f"{provider} answered {_description(status, headers, known)}"
    if status < 500 and (declined := _declined(message, known)) is not None:
        return declined
    if status == 402 or not _OUT_OF_QUOTA.isdisjoint(known):
        return ProviderQuotaExceeded(message)
    if MALFORMED_CALL in known:
        return StreamBroken(message)
    if status == 413 or (status < 500 and TOO_LONG in known) or TOO_LONG_FOR_SLOT in known:
        return ContextTooLong(message)
    if status in (401, 403):
        return ProviderKeyRefused(message)
    if status in _OVERLOADED:
        return ProviderOverloaded(message, retry_after(headers))
    if status == 408:
        return ProviderTimeout(message)
    if status >= 500 or status in _TRANSIENT_4XX:
        return ProviderUnavailable(message)
    return ProviderRejected(message)


_BY_NAME: Mapping[str, type[ActaError]] = {
    "overloaded_error": ProviderOverloaded,
    "rate_limit_error": ProviderOverloaded,
    "rate_limit_exceeded": ProviderOverloaded,
    "server_is_overloaded": ProviderOverloaded,
    "server_overloaded": ProviderOverloaded,
    "service_unavailable_error": ProviderOverloaded,
    "slow_down": ProviderOverloaded,
    **{str(status): ProviderOverloaded for status in _OVERLOADED},
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
    TOO_LONG_FOR_SLOT: ContextTooLong,
}
"""A stream has sent its status, 200, before it fails."""


def error_from_stream(
    provider: str, headers: Mapping[str, str], *, names: ErrorNames, begun: bool = False
) -> ActaError:
    """The error for a stream that was opened with 200 and then reported a failure. `begun`: a part of the answer had
    come, so whatever the engine would retry is a broken stream.
    """
    known = _texts(names)
    message = f"{provider} broke its answer off: {_description(None, headers, known)}"
    if (declined := _declined(message, known)) is not None:
        return declined
    if not _OUT_OF_QUOTA.isdisjoint(known):
        return ProviderQuotaExceeded(message)
    if not {TOO_LONG, TOO_LONG_FOR_SLOT}.isdisjoint(known):
        return ContextTooLong(message)
    if MALFORMED_CALL in known:
        return StreamBroken(message)
    kind = next((_BY_NAME[name] for name in known if name in _BY_NAME), StreamBroken)
    return StreamBroken(message) if begun and issubclass(kind, TransientError) else kind(message)


def _declined(message: str, known: Sequence[str]) -> ModelRefused | None:
    """The refusal of a provider's filter, which some report as an error."""
    code = next((name for name in known if name in DECLINED_CODES), None)
    return None if code is None else ModelRefused(message, category=code)


def message_of(body: object) -> object:
    """The message in the body of an error. Some servers send the message alone, without an object around it, and
    Gemini sends a list of one object.
    """
    if isinstance(body, list) and body:
        body = value_at(body[0], "error")
    return body.get("message") if isinstance(body, dict) else body


_NAMES_BY_WORDING = {
    "credit balance": NO_CREDIT,
    "specified api usage limits": NO_CREDIT,
    "budget has been exceeded": NO_CREDIT,  # LiteLLM
    "monthly spending limit": NO_CREDIT,  # Fireworks, with a 412
    "prompt is too long": TOO_LONG,
    "input is too long": TOO_LONG,
    "exceed context limit": TOO_LONG,
    "maximum context length": TOO_LONG,
    "maximum model length": TOO_LONG,
    "maximum prompt length": TOO_LONG,
    "the model's context length": TOO_LONG,
    "greater than the context length": TOO_LONG,
    "exceeds the maximum number of tokens": TOO_LONG,  # Gemini
    "exceeded model token limit": TOO_LONG,  # Kimi
    "prompt exceeds max length": TOO_LONG,  # GLM
    "range of input length": TOO_LONG,  # DashScope
    "context window exceeds limit": TOO_LONG,  # MiniMax
    "when context the overflows": TOO_LONG,  # LM Studio
    "too many tokens": TOO_LONG,  # Cohere
    "available context size": TOO_LONG_FOR_SLOT,
    "context size has been exceeded": TOO_LONG_FOR_SLOT,
    "content filtering policy": "content_filter",
    "encrypted content": UNREADABLE_REASONING,  # Azure, without a code
}
_SEARCHED_CHARS = 1_000
"""What comes later in a message may quote the request."""
_QUOTED = re.compile(r"""(?<!\w)(?:"[^"]*"?|`[^`]*`?|'(?:[^']|'\w)*'?)""")
"""A quotation that nobody closes goes to the end. An apostrophe within a word closes none."""
_GENERAL = ("_error", "_request", "_argument")
"""Ends of codes that say no more than that the request is wrong."""


def name_in(message: object, code: object = None) -> str | None:
    """The name of a failure that the provider describes in words only. None: the words are not known, or the provider
    names something else in `code`. What a message quotes is the request's, such as the name of a tool.
    """
    if isinstance(code, str) and _NAME.fullmatch(code) and not code.endswith(_GENERAL):
        return None
    text = _QUOTED.sub(" ", message[:_SEARCHED_CHARS].lower()) if isinstance(message, str) else ""
    return next((name for wording, name in _NAMES_BY_WORDING.items() if wording in text), None)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms`, or from `retry-after` as seconds or as an HTTP date (RFC 9110 §10.2.3).
    None: neither header can be read.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * unit
        except ValueError:
            seconds = _seconds_until(value, headers.get("date"))
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    return None


def _seconds_until(date: str, now: str | None) -> float:
    """`now`: the date of the provider's answer, so that its own clock counts; None: this machine's does."""
    try:
        then = parsedate_to_datetime(date).timestamp()
        return then - (parsedate_to_datetime(now).timestamp() if now else time.time())
    except (ValueError, OverflowError):  # a year may have any number of digits
        return math.nan


def _texts(names: ErrorNames) -> list[str]:
    return [str(name) for name in names if isinstance(name, str | int)]


_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,80}")


def _description(status: int | None, headers: Mapping[str, str], names: Sequence[str]) -> str:
    shown = dict.fromkeys(name for name in names if _NAME.fullmatch(name))
    request = headers.get("request-id") or headers.get("x-request-id") or ""
    parts = [str(status)] if status else []
    parts += [f"({', '.join(shown)})"] if shown else []
    parts += [f"request {request}"] if _REQUEST_ID.fullmatch(request) else []
    return " ".join(parts) or "no reason given"
