"""Retry and Catch of Task, Map and Parallel states.

Source: Amazon States Language, "Errors", and the developer guide's `MaxDelaySeconds` and `JitterStrategy`:
the delay is `IntervalSeconds * BackoffRate ** retries`, capped by `MaxDelaySeconds`; FULL jitter draws it
uniformly from zero up to that. `$states.context.State.RetryCount` counts all retries of the state.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from infra.local.emulator.states import errors
from infra.local.emulator.states.scope import Scope
from infra.local.emulator.upstream import module

_states: Any = module("services.stepfunctions")


def attempted(
    scope: Scope, state: Mapping[str, Any], data: Any, context: dict[str, Any], attempt: Callable[[], Any]
) -> tuple[Any, str | None]:
    """The output of the first attempt that succeeds, or of the matching Catch; and the next state's name."""
    entered = context["State"]
    used: dict[int, int] = {}
    while True:
        context["State"] = {**entered, "RetryCount": sum(used.values())}
        try:
            return attempt(), _states._next_or_end(state)
        except errors.StateError as error:
            delay = _delay_before_retry(state, error.error, used)
            if delay is not None:
                scope.sleep(delay)
                continue
            return _caught(state, data, context, error)


def _delay_before_retry(state: Mapping[str, Any], error: str, used: dict[int, int]) -> float | None:
    """Seconds, or None when it is not retried. The first matching retrier decides, even a used-up one."""
    for index, retrier in enumerate(state.get("Retry", ())):
        if not errors.matches(retrier["ErrorEquals"], error):
            continue
        retries = used.get(index, 0)
        if retries >= retrier.get("MaxAttempts", 3):
            return None
        used[index] = retries + 1
        delay = float(retrier.get("IntervalSeconds", 1) * retrier.get("BackoffRate", 2.0) ** retries)
        delay = min(delay, retrier.get("MaxDelaySeconds", delay))
        return random.uniform(0, delay) if retrier.get("JitterStrategy") == "FULL" else delay
    return None


def _caught(state: Mapping[str, Any], data: Any, context: dict[str, Any], error: Any) -> tuple[Any, str]:
    for catcher in state.get("Catch", ()):
        if errors.matches(catcher["ErrorEquals"], error.error):
            language = _states._state_query_language(state, context)
            described = {"Error": error.error, "Cause": error.cause}
            return _states._apply_catcher(catcher, data, context, language, described), catcher["Next"]
    raise error
