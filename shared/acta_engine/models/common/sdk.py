"""What the providers' SDKs have in common: what they may log, the form of their time limits, and what answers say that
a provider takes in a minute.

How long a call may take is decided in `shared/acta_engine/turn/model_call.py`: what
`shared/acta_engine/turn/answer_time.py` allows, and no more than is left of the invocation
(`shared/acta_engine/turn/engine_event.py`).

Sources of the headers: Anthropic, API reference, "Rate limits", response headers (`tokens`: input and output together,
or the most restrictive limit in effect); OpenAI, guide "Rate limits", "Rate limits in headers".
"""

import gc
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from acta_engine.models.model import StreamOptions
from acta_engine.queue.places import LEARN, ProviderLimits

CONNECT_SECONDS = 10.0


@contextmanager
def loading(sdk: str) -> Iterator[None]:
    """Around the first import of an SDK: the garbage collector rests, and what was imported is not looked at again.

    An SDK has some hundred thousand objects that stay as long as the process. Collections during its import, and one of
    all of them in the first turn, took about 0.2 s of CPU in each new process.
    Of what a turn held meanwhile only cycles are kept, once. Nothing changes where it is imported already.
    """
    if sdk in sys.modules:
        yield
        return
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if was_enabled:
            gc.enable()


def silence_loggers(sdk: ModuleType) -> None:
    """Has the SDK and its HTTP client log warnings only: at DEBUG they log bodies and keys."""
    for name in (sdk.__name__, "httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.WARNING)


def time_limits(sdk: Any, timeout: float, stall: float) -> Any:
    """The SDK's `Timeout` for one streamed request. `timeout`: seconds the request may take. `stall`: the longest
    silence in seconds, before the answer and inside it.
    """
    return sdk.Timeout(
        connect=min(CONNECT_SECONDS, timeout), read=min(stall, timeout), write=timeout, pool=timeout
    )


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
