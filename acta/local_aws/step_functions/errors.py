"""Errors of states: which Retry and Catch entries match which name, and what they make of it.

Source: Step Functions developer guide, "Handling errors in Step Functions workflows". `States.ALL` matches
all but `States.DataLimitExceeded` and `States.Runtime`. `States.TaskFailed` matches every known name but
`States.Timeout`. `States.Runtime` is never caught. A missed heartbeat is `States.HeartbeatTimeout`, and
`States.Timeout` matches it too.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from acta.local_aws.ministack import module
from acta.local_aws.step_functions.interruptible_waits import Scope

DATA_LIMIT = "States.DataLimitExceeded"
RUNTIME = "States.Runtime"
TIMEOUT = "States.Timeout"
HEARTBEAT = "States.HeartbeatTimeout"

_MAX_CAUSE = 32_768

_states: Any = module("services.stepfunctions")

StateError: Any = _states._ExecutionError
"""ministack's own exception `(error, cause)`: its evaluation of expressions and paths raises it too."""


def failed(error: str, cause: str) -> Exception:
    """The exception of a state that fails with this error's name."""
    raised: Exception = StateError(error, cause[:_MAX_CAUSE])
    return raised


def with_retry_and_catch(
    scope: Scope, state: Mapping[str, Any], data: Any, context: dict[str, Any], attempt: Callable[[], Any]
) -> tuple[Any, str | None]:
    """The output of the first attempt that succeeds, or of the Catch that matches; and the next state's name.

    Source: Amazon States Language, "Errors". `$states.context.State.RetryCount` counts all retries of the state.
    """
    entered = context["State"]
    used: dict[int, int] = {}
    while True:
        context["State"] = {**entered, "RetryCount": sum(used.values())}
        try:
            return attempt(), _states._next_or_end(state)
        except StateError as error:
            delay = _delay_before_retry(state, error.error, used)
            if delay is not None:
                scope.sleep(delay)
                continue
            return _caught(state, data, context, error)


def _delay_before_retry(state: Mapping[str, Any], error: str, used: dict[int, int]) -> float | None:
    """Seconds, or None when it is not retried. The first retrier that matches decides, even a used-up one.

    Source: developer guide: the delay is `IntervalSeconds * BackoffRate ** retries`, at most `MaxDelaySeconds`;
    with `JitterStrategy` FULL it is drawn evenly from zero up to that.
    """
    for index, retrier in enumerate(state.get("Retry", ())):
        if not _matches(retrier["ErrorEquals"], error):
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
        if _matches(catcher["ErrorEquals"], error.error):
            language = _states._state_query_language(state, context)
            described = {"Error": error.error, "Cause": error.cause}
            return _states._apply_catcher(catcher, data, context, language, described), catcher["Next"]
    raise error


def _matches(names: Sequence[str], error: str) -> bool:
    if error == RUNTIME:
        return False
    if error in names:
        return True
    if error == DATA_LIMIT:
        return False
    if "States.ALL" in names:
        return True
    if error == HEARTBEAT and TIMEOUT in names:
        return True
    return "States.TaskFailed" in names and error != TIMEOUT
