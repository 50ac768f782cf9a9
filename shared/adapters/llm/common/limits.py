"""What a provider's answer says that it takes in a minute.

Sources: Anthropic, API reference, "Rate limits", response headers (`tokens`: input and output together, or the most
restrictive limit in effect); OpenAI, guide "Rate limits", "Rate limits in headers".
"""

from collections.abc import Mapping
from typing import Any

from shared.domain.limits.admission import LEARN, ProviderLimits
from shared.ports.model import StreamOptions

_NAMES = (
    ("anthropic-ratelimit-tokens-limit", "anthropic-ratelimit-requests-limit"),
    ("x-ratelimit-limit-tokens", "x-ratelimit-limit-requests"),
)
MOST_DIGITS = 12


def limits_in(headers: Mapping[str, str]) -> ProviderLimits:
    """`LEARN`: it names none."""
    for tokens, requests in _NAMES:
        found = ProviderLimits(_number(headers.get(tokens)), _number(headers.get(requests)))
        if found != LEARN:
            return found
    return LEARN


def tell_limits(provider: str, options: StreamOptions, stream: Any) -> None:
    """`stream`: an SDK's, whose answer has begun."""
    if options.on_limits is None:
        return
    found = limits_in(stream.response.headers)
    if found != LEARN:
        options.on_limits(provider, found)


def _number(text: str | None) -> int | None:
    """None: it is no whole number above 0."""
    if text is None or not (text.isascii() and text.isdigit()) or len(text) > MOST_DIGITS:
        return None
    return int(text) or None
