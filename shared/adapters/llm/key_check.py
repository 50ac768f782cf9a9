"""Whether a provider takes its key: one request that costs nothing, the list of its models.

works        the key was taken
refused      401, or it is no key at all
missing      there is none, or its secret cannot be read
unreachable  no answer, or a 5xx
unchecked    it cannot be asked: no key of its own (`bedrock`, `offline`), a server without that list, or a
             key that may not read it (403), which may do all else
"""

from collections.abc import Callable
from typing import Any, Literal

from shared.adapters.llm.deadline import within
from shared.adapters.llm.key_on_wire import sendable
from shared.domain.errors import ProviderTimeout

KeyStatus = Literal["works", "refused", "missing", "unreachable", "unchecked"]

PATIENCE_SECONDS = 6.0
"""For each provider; two of them and the SDKs' imports stay inside the 30 s an API request has."""


Ask = Callable[[str, str | None, float], Any]
"""Of a key, a base URL and seconds."""


def check(
    provider: str, key: str | None, base_url: str | None, timeout: float = PATIENCE_SECONDS
) -> KeyStatus:
    asks = _ASKS.get(provider)
    if asks is None:
        return "unchecked"
    if not key:
        return "missing"
    if not sendable(key):
        return "refused"
    ask = asks()  # importing an SDK takes as long as it takes: it is not the provider's time
    try:
        return within(timeout, provider, lambda _: _asked(ask, key, base_url, timeout))
    except ProviderTimeout:
        return "unreachable"


def _asked(ask: Ask, key: str, base_url: str | None, timeout: float) -> KeyStatus:
    try:
        ask(key, base_url, timeout)
    except Exception as error:
        return _meaning(getattr(error, "status_code", None))
    return "works"


def _meaning(status: int | None) -> KeyStatus:
    """Of an answer that is no list; None: there was none. A limit, or an empty purse, is told to known keys only."""
    if status == 401:
        return "refused"
    if status in (402, 429):
        return "works"
    return "unreachable" if status is None or status >= 500 else "unchecked"


def _anthropic() -> Ask:
    from anthropic import Anthropic

    def ask(key: str, base_url: str | None, timeout: float) -> None:
        with Anthropic(api_key=key, base_url=base_url, max_retries=0, open_telemetry=False) as client:
            client.models.list(limit=1, timeout=timeout)

    return ask


def _openai() -> Ask:
    from openai import OpenAI

    def ask(key: str, base_url: str | None, timeout: float) -> None:
        with OpenAI(api_key=key, base_url=base_url, max_retries=0) as client:
            client.models.list(timeout=timeout)

    return ask


_ASKS = {"anthropic": _anthropic, "openai": _openai}
