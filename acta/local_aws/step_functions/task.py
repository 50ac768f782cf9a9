"""The Task state: arguments, one attempt after another, result, output.

An attempt's work runs on a thread of its own. The state waits for what comes first: the result, a token that is
sent back, `TimeoutSeconds` (`States.Timeout`), `HeartbeatSeconds` without a heartbeat
(`States.HeartbeatTimeout`), or the end of its scope. With `.waitForTaskToken` a call that fails fails the state
at once; one that succeeds only starts the wait. Source: developer guide, "Discover service integration patterns in
Step Functions".
"""

from __future__ import annotations

import contextvars
import math
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from acta.local_aws.ministack import module
from acta.local_aws.step_functions import errors, tokens
from acta.local_aws.step_functions.data import serialised
from acta.local_aws.step_functions.interruptible_waits import Interrupted, Scope
from acta.local_aws.step_functions.resource import Resource
from acta.local_aws.step_functions.run import Run
from acta.local_aws.step_functions.tokens import Attempt, Failed, Succeeded

_states: Any = module("services.stepfunctions")

_DEFAULT_SECONDS = 99_999_999


@dataclass(frozen=True)
class _Limits:
    timeout: int
    heartbeat: int | None


def perform(
    run: Run, scope: Scope, state: Mapping[str, Any], data: Any, context: dict[str, Any]
) -> tuple[Any, str | None]:
    resource = Resource.from_arn(state["Resource"])
    jsonata = _states._state_query_language(state, context) == "JSONata"

    def once() -> Any:
        result = _attempt(run, scope, state, resource, data, context, jsonata)
        if jsonata:
            output = _states._apply_jsonata_output(state, data, context, result=result, default=result)
            serialised(output, f"The output of the state '{context['State']['Name']}'")
            _states._apply_state_assign(state, data, context, result=result)
            return output
        selected = _states._apply_result_selector(state, result)
        return _states._apply_output_path(state, _states._apply_result_path(state, data, selected), context)

    return errors.with_retry_and_catch(scope, state, data, context, once)


def _attempt(
    run: Run,
    scope: Scope,
    state: Mapping[str, Any],
    resource: Resource,
    data: Any,
    context: dict[str, Any],
    jsonata: bool,
) -> Any:
    with tokens.issued(scope, run.execution["stateMachineArn"]) as attempt:
        if resource.waits_for_token:
            context["Task"] = {"Token": attempt.token}
        if jsonata:
            arguments = _states._apply_jsonata_arguments(state, data, context)
        else:
            arguments = _states._apply_parameters(
                state, _states._apply_input_path(state, data, context), context
            )
        sent = serialised(arguments, "The arguments of the task")
        limits = _Limits(
            _seconds(state, "TimeoutSeconds", data, context) or _DEFAULT_SECONDS,
            _seconds(state, "HeartbeatSeconds", data, context) if resource.waits_for_token else None,
        )
        run.record(scope, *resource.scheduled(sent, limits.timeout, limits.heartbeat))
        run.record(scope, *resource.started())
        work = contextvars.copy_context()
        threading.Thread(
            target=work.run,
            args=(_work, run, scope, resource, arguments, attempt),
            daemon=True,
            name="states-task",
        ).start()
        outcome = _wait(scope, attempt, limits)
        if isinstance(outcome, Failed):
            timed_out = outcome.error in (errors.TIMEOUT, errors.HEARTBEAT)
            run.record(
                scope, *resource.ended("TimedOut" if timed_out else "Failed", outcome.error, outcome.cause)
            )
            raise errors.failed(outcome.error, outcome.cause)
        text = serialised(outcome.result, "The result of the task")
        run.record(scope, *resource.succeeded(text))
        return outcome.result


def _seconds(state: Mapping[str, Any], field: str, data: Any, context: dict[str, Any]) -> int | None:
    """A limit in seconds: a number, a path or a JSONata expression. None when the state sets none.

    A value that is no positive integer is a state error. Source: Amazon States Language, "Task State".
    """
    if field in state:
        if _states._state_query_language(state, context) == "JSONata":
            value = _states._jsonata_state_field(state, field, "number", data, context)
            error = "States.QueryEvaluationError"
        else:
            value, error = state[field], errors.RUNTIME
    elif f"{field}Path" in state:
        value, error = _states._resolve_path_or_ctx(state[f"{field}Path"], data, context), errors.RUNTIME
    else:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value) or value < 1:
        raise errors.failed(error, f"The value of '{field}' must be a positive integer")
    return int(value)


def _wait(scope: Scope, attempt: Attempt, limits: _Limits) -> Succeeded | Failed:
    end = time.monotonic() + limits.timeout
    while True:
        outcome = scope.wait(attempt, min(end, _heartbeat_due(attempt, limits)))
        now = time.monotonic()
        due = _heartbeat_due(attempt, limits)  # a heartbeat may have come in the meantime
        if outcome is None and now < min(end, due):
            continue
        attempt.close()
        outcome = attempt.outcome  # one that came at the very end counts
        if isinstance(outcome, Succeeded | Failed):
            return outcome
        if due < end:
            return Failed(errors.HEARTBEAT, f"Task timed out: no heartbeat within {limits.heartbeat} seconds")
        return Failed(errors.TIMEOUT, f"Task timed out after {limits.timeout} seconds")


def _heartbeat_due(attempt: Attempt, limits: _Limits) -> float:
    return math.inf if limits.heartbeat is None else attempt.last_heartbeat + limits.heartbeat


def _work(run: Run, scope: Scope, resource: Resource, arguments: Any, attempt: Attempt) -> None:
    try:
        result = resource.invoke(arguments, run.credentials)
        if resource.waits_for_token:
            if attempt.open:
                run.record(scope, *resource.submitted(result))
            return
        attempt.settle(Succeeded(result))
    except Interrupted:
        return
    except errors.StateError as error:
        attempt.settle(Failed(error.error, error.cause))
    except Exception as error:  # a broken integration of ministack must fail the state, not leave it waiting
        attempt.settle(Failed(errors.RUNTIME, f"{type(error).__name__}: {error}"))
