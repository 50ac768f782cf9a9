"""What the providers' SDKs have in common: what they may log, and the form of their time limits.

How long a call may take is decided in `shared/agent/model_call/marked_call.py`: what
`shared/domain/rules/answer_time.py` allows, and no more than is left of the invocation (`shared/engine_event.py`).
"""

import logging
from types import ModuleType
from typing import Any

CONNECT_SECONDS = 10.0


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
