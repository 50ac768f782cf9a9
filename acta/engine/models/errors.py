"""Which error of `acta/engine/errors.py` a provider's failure is, and so who reacts to it.

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
    waits for the key or the quota instead (`acta/engine/recovery/outage.py`)
        401, 403; no key; a 400 that refuses the key  ProviderKeyRefused      PROVIDER_KEY_REFUSED
        402; 429 or 400 that name quota or balance   ProviderQuotaExceeded   PROVIDER_QUOTA_EXCEEDED
        413; 400 that says the prompt is too long;
          429 for a request that no wait makes small ContextTooLong          CONTEXT_TOO_LONG, after one compaction
        other 4xx                                    ProviderRejected        PROVIDER_REJECTED
        a refusal as stop reason, or as an error     ModelRefused            MODEL_REFUSED, after one fallback

Backoff is in `acta/infra/engine/retries.py`, Wait in `acta/engine/recovery/wait_out.py`, the compaction
in `acta/engine/turn/turn.py`, and the reaction to `malformed` in `acta/engine/turn/reply.py`.

A message quotes nothing of a request's or an answer's body. It holds the provider's name, the status, the request id
and the provider's own names for the error, and the last two only where they look like an id and like names.
"""

import math
import re
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime

from acta.engine.errors import (
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
from acta.engine.untrusted.exact_json import EXACT, value_at

ErrorNames = Sequence[object]
"""A provider's names for a failure, its type and its code, as they came in the body. Some servers send a number for a
name. Values of any other type are ignored.
"""

TOO_LONG = "context_length_exceeded"
"""The prompt exceeds the window: OpenAI's name, and that of many compatible servers."""
TOO_LONG_FOR_SLOT = "exceed_context_size_error"
"""The same, as llama.cpp names it. Some of its versions answer with 500."""
TOO_LARGE = "request_too_large"
"""Anthropic's name. OpenAI and Groq tell in words that a request alone needs more tokens than they allow in a minute.
"""
UNREADABLE_REASONING = "invalid_encrypted_content"
NO_CREDIT = "credit_balance"
"""Acta's own name: Anthropic reports a used-up balance with a 400 and a sentence."""
FILTERED = "content_filter"
"""Azure's name. Many servers say in words that a filter declined."""
NEW_SENSITIVE = "new_sensitive"
"""MiniMax's words for it, with a 400, a 422 or a 500."""
INVALID_KEY = "invalid_api_key"
"""OpenAI's name. Gemini and xAI refuse a key with a 400 and a sentence."""
NO_DATABASE = "no_db_connection"
"""LiteLLM's name for a key that is not its master key, where it has no database to look other keys up in."""

_OUT_OF_QUOTA = (
    "insufficient_quota",
    "billing_error",
    "billing_hard_limit_reached",
    "billing_not_active",
    "enforced_spend_limit_reached",
    "contract_spend_limit_reached",
    "linked_organization_spend_limit_reached",
    "exceeded_current_quota_error",  # Kimi
    "1113",  # GLM
    "Arrearage",  # DashScope
    "budget_exceeded",  # LiteLLM
    NO_CREDIT,
)
_AT_ANY_STATUS: Mapping[str, type[ActaError]] = {
    **dict.fromkeys(_OUT_OF_QUOTA, ProviderQuotaExceeded),
    # Groq: a call of the model's is no JSON or does not fit its tool. The next answer may be better.
    "tool_use_failed": StreamBroken,
    TOO_LONG_FOR_SLOT: ContextTooLong,
    NEW_SENSITIVE: ModelRefused,
}
_BELOW_500: Mapping[str, type[ActaError]] = {
    **_AT_ANY_STATUS,
    FILTERED: ModelRefused,
    "data_inspection_failed": ModelRefused,  # DashScope
    "1301": ModelRefused,  # GLM
    "sensitive_words_detected": ModelRefused,  # New API
    TOO_LONG: ContextTooLong,
    TOO_LARGE: ContextTooLong,
    INVALID_KEY: ProviderKeyRefused,
    NO_DATABASE: ProviderKeyRefused,
}
"""These names decide, whatever the status below 500 and the other names say."""
_POLICY = ("_policy", "_policy_violation")
"""Ends of names that mean: the provider declined, such as OpenAI's `cyber_policy`. It adds more."""
_BY_STATUS: Mapping[int, type[ActaError]] = {
    401: ProviderKeyRefused,
    402: ProviderQuotaExceeded,
    403: ProviderKeyRefused,
    408: ProviderTimeout,
    409: ProviderUnavailable,
    413: ContextTooLong,
    424: ProviderUnavailable,  # TGI: the generation failed
    425: ProviderUnavailable,
    429: ProviderOverloaded,
    498: ProviderOverloaded,  # Groq: no capacity in its flex tier
    499: ProviderUnavailable,  # Gemini, under load
    503: ProviderOverloaded,
    529: ProviderOverloaded,
}


def error_from_status(
    provider: str, status: int, headers: Mapping[str, str], *, names: ErrorNames = ()
) -> ActaError:
    """The error for an HTTP answer of 4xx or 5xx."""
    known = _texts(names)
    message = f"{provider} answered {_description(status, headers, known)}"
    usual = _BY_STATUS.get(status, ProviderRejected if status < 500 else ProviderUnavailable)
    kind, name = _named(known, _BELOW_500 if status < 500 else _AT_ANY_STATUS) or (usual, "")
    if kind is ProviderOverloaded:
        return ProviderOverloaded(message, retry_after(headers))
    return ModelRefused(message, category=name) if kind is ModelRefused else kind(message)


_BY_NAME: Mapping[str, type[ActaError]] = {
    "overloaded_error": ProviderOverloaded,
    "rate_limit_error": ProviderOverloaded,
    "rate_limit_exceeded": ProviderOverloaded,
    "server_is_overloaded": ProviderOverloaded,
    "server_overloaded": ProviderOverloaded,
    "service_unavailable_error": ProviderOverloaded,
    "slow_down": ProviderOverloaded,
    **{str(status): kind for status, kind in _BY_STATUS.items()},
    "api_error": ProviderUnavailable,
    "server_error": ProviderUnavailable,
    "internal_server_error": ProviderUnavailable,
    "timeout_error": ProviderTimeout,
    "authentication_error": ProviderKeyRefused,
    "permission_error": ProviderKeyRefused,
    "invalid_request_error": ProviderRejected,
    "not_found_error": ProviderRejected,
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
    kind, name = _named(known, _BELOW_500) or _named(known, _BY_NAME) or (StreamBroken, "")
    if kind is ModelRefused:
        return ModelRefused(message, category=name)
    return StreamBroken(message) if begun and issubclass(kind, TransientError) else kind(message)


_BEDROCK = {
    "throttling_exception": 429,
    "service_quota_exceeded_exception": 429,
    "model_not_ready_exception": 429,
    "model_timeout_exception": 408,
    "model_error_exception": 500,
    "model_stream_error_exception": 500,
    "internal_server_exception": 500,
    "service_unavailable_exception": 503,
    "validation_exception": 400,
    "access_denied_exception": 403,
}
"""A quota passes by waiting and comes with 400, and a model that failed with 424."""
_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def error_from_bedrock(
    provider: str,
    status: int | None,
    headers: Mapping[str, str],
    exception: object,
    message: object,
    *,
    begun: bool,
) -> ActaError:
    """The error for a failure of Amazon Bedrock. `status` None: it came inside a stream. `exception`: its name, such as
    `ThrottlingException:http://…`. `begun`: a part of the answer had come.
    """
    name = _WORD_BOUNDARY.sub("_", str(exception or "").partition(":")[0]).lower()
    known = _BEDROCK.get(name, status)
    if known is None:
        return error_from_stream(provider, headers, names=(name,), begun=begun)
    failure = error_from_status(provider, known, headers, names=(name, name_in(message)))
    return StreamBroken(str(failure)) if begun and isinstance(failure, TransientError) else failure


def _named(names: Sequence[str], table: Mapping[str, type[ActaError]]) -> tuple[type[ActaError], str] | None:
    """The error of the first name that the table has or that names a policy, and that name."""
    policies: dict[str, type[ActaError]] = {name: ModelRefused for name in names if name.endswith(_POLICY)}
    kinds = {**policies, **table}
    return next(((kinds[name], name) for name in names if name in kinds), None)


def message_of(body: object) -> object:
    """The message in the body of an error. Some servers send the message alone, without an object around it, some call
    it `detail` or `error`, and Gemini sends a list of one object. Of an error of another server OpenRouter's own
    message says nothing: what that server said is in `metadata`.
    """
    if isinstance(body, list) and body:
        body = value_at(body[0], "error")
    if not isinstance(body, dict):
        return body
    raw = value_at(body, "metadata", "raw")
    return raw or body.get("message") or body.get("detail") or body.get("error")


_NAMES_BY_WORDING = {
    "api key not valid": INVALID_KEY,  # Gemini
    "api key expired": INVALID_KEY,  # Gemini
    "incorrect api key provided": INVALID_KEY,  # xAI
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
    "input tokens exceed the configured limit": TOO_LONG,  # OpenAI
    "exceeds the context window": TOO_LONG,  # OpenAI
    "litellm.contextwindowexceedederror": TOO_LONG,
    "exceeds the maximum number of tokens": TOO_LONG,  # Gemini
    "exceeded model token limit": TOO_LONG,  # Kimi
    "prompt exceeds max length": TOO_LONG,  # GLM
    "range of input length": TOO_LONG,  # DashScope
    "context window exceeds limit": TOO_LONG,  # MiniMax
    "when context the overflows": TOO_LONG,  # LM Studio
    "exceeds max context window": TOO_LONG,  # oMLX
    "tokens +   must be <=": TOO_LONG,  # TGI; each name in quotation marks has become a space
    "too many tokens:": TOO_LONG,  # Cohere; without the colon Bedrock says it of requests that come too fast
    "request too large for": TOO_LARGE,
    "available context size": TOO_LONG_FOR_SLOT,
    "context size has been exceeded": TOO_LONG_FOR_SLOT,
    "exceeded max context length": TOO_LONG_FOR_SLOT,  # Ollama, behind LiteLLM with a 500
    "content filtering policy": FILTERED,
    "litellm.contentpolicyviolationerror": FILTERED,
    "content management policy": FILTERED,  # Azure, behind LiteLLM
    "flagged as potentially violating": FILTERED,  # OpenAI
    "input was flagged": FILTERED,  # OpenRouter
    "limited access to this content for safety": FILTERED,  # OpenAI
    "violates usage guidelines": FILTERED,  # xAI
    "content exists risk": FILTERED,  # DeepSeek
    "may contain inappropriate content": FILTERED,  # DashScope
    "because the input text may contain": FILTERED,  # Volcengine
    "new_sensitive": NEW_SENSITIVE,
    "encrypted content": UNREADABLE_REASONING,  # Azure, without a code
}
_SEARCHED_CHARS = 1_000
"""What comes later in a message may quote the request."""
_QUOTED = re.compile(r"""(?<!\w)(?:"[^"]*"?|`[^`]*`?|'(?:[^']|'\w)*'?)""")
"""A quotation that nobody closes goes to the end. An apostrophe within a word closes none."""
_GENERAL = ("_error", "_request", "_argument", "rate_limit_exceeded", "invalid_prompt")
"""Ends of codes that do not say what is wrong with the request."""


_PASSED_ON = re.compile(r"(?:litellm\.[\w.: ]* - )?(b['\"])?\s*(?=[{\[])")
"""What stands before the body of another server's error, where a gateway gives that as its message. LiteLLM also writes
it as Python writes bytes.
"""
_MAX_PASSED_ON = 4


def name_in(message: object, code: object = None) -> str | None:
    """The provider's `code` where that says what is wrong, else the name of a failure that it describes in words only.
    None: the words are not known. What a message quotes is the request's, such as the name of a tool; the error of
    another server is no quotation.
    """
    for _ in range(_MAX_PASSED_ON):
        if isinstance(code, str) and _NAME.fullmatch(code) and not code.endswith(_GENERAL):
            return code
        body, said = _passed_on(message)
        text = _QUOTED.sub(" ", said[:_SEARCHED_CHARS].lower())
        name = next((name for wording, name in _NAMES_BY_WORDING.items() if wording in text), None)
        if name or body is None:
            return name
        inside = value_at(body, "error")
        message, code = message_of(inside if isinstance(inside, dict) else body), value_at(inside, "code")
    return None


def _passed_on(message: object) -> tuple[object, str]:
    """The body of another server's error inside a message, or None, and the words of the message around it."""
    if not isinstance(message, str):
        return (message if isinstance(message, dict | list) else None), ""
    before = _PASSED_ON.match(message)
    if before is None:
        return None, message
    text = message[before.end() :]
    try:
        if before[1]:
            text = text.encode("latin-1", "replace").decode("unicode_escape")
        body, end = EXACT.raw_decode(text)
        return body, before[0] + text[end:]
    except (ValueError, RecursionError):
        return None, message


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
