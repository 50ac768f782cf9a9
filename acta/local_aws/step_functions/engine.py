"""The execution engine: ministack's is replaced, its evaluation of expressions and paths is kept.

Restores: `TimeoutSeconds` of machines and states, also in JSONata; `HeartbeatSeconds`; failures inside
`.waitForTaskToken`; `Output` and `Assign` of Succeed and Parallel; the limits on payloads and history; Map
fail-fast; `MaxDelaySeconds` and `JitterStrategy`; which errors `States.ALL` matches; a token for each attempt;
events of Map iterations; StopExecution taking effect at once.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from acta.local_aws import saved_state
from acta.local_aws.access import principals
from acta.local_aws.ministack import module
from acta.local_aws.settings import Settings
from acta.local_aws.step_functions import errors, map_and_parallel, task
from acta.local_aws.step_functions.data import serialised
from acta.local_aws.step_functions.interruptible_waits import Interrupted, Scope, TimedOut
from acta.local_aws.step_functions.run import RUNS, Run

Context = dict[str, Any]
State = Mapping[str, Any]
Step = tuple[Any, str | None]
"""A state's output and the name of the next state, None at the end."""

_states: Any = module("services.stepfunctions")
_log = logging.getLogger("acta.local_aws.states")


def replace_engine(settings: Settings) -> None:
    """Patches: `services.stepfunctions._run_execution`."""

    def run(arn: str) -> None:
        run_execution(arn, settings.longest_pause_seconds)

    _states._run_execution = run
    saved_state.before_saving(RUNS.freeze)


def run_execution(arn: str, longest_pause: float | None) -> None:
    """Run an execution that ministack recorded as RUNNING to its end, on the calling thread."""
    execution = _states._executions.get(arn)
    if execution is None:
        return
    machine = _states._state_machines[execution["stateMachineArn"]]
    with principals.in_role(machine["roleArn"], secrets.token_hex(16)) as credentials:
        definition = json.loads(machine["definition"])
        _run(Run(execution, definition.get("TimeoutSeconds"), longest_pause, credentials), definition)


def _run(run: Run, definition: Mapping[str, Any]) -> None:
    execution = run.execution
    RUNS.enter(run)
    try:
        if execution["status"] != "RUNNING":  # stopped before it began
            return
        data = json.loads(execution["input"])
        context = _context(execution, definition, data)
        output = walk(run, run.scope, definition["States"], definition["StartAt"], data, context)
        text = json.dumps(output, ensure_ascii=False)
        run.finish(
            "SUCCEEDED",
            "ExecutionSucceeded",
            {"executionSucceededEventDetails": {"output": text}},
            output=text,
        )
    except errors.StateError as error:
        _fail(run, error.error, error.cause)
    except TimedOut:
        run.finish(
            "TIMED_OUT", "ExecutionTimedOut", {"executionTimedOutEventDetails": {"error": errors.TIMEOUT}}
        )
    except Interrupted:
        return
    except Exception as error:
        _log.exception("execution %s broke the engine", execution["executionArn"])
        _fail(run, errors.RUNTIME, f"{type(error).__name__}: {error}")
    finally:
        RUNS.leave(run)


def _fail(run: Run, error: str, cause: str) -> None:
    details = {"executionFailedEventDetails": {"error": error, "cause": cause}}
    run.finish("FAILED", "ExecutionFailed", details, error=error, cause=cause)


def _context(execution: dict[str, Any], definition: Mapping[str, Any], data: Any) -> dict[str, Any]:
    """The context object, and the two entries in it that ministack's evaluation looks for."""
    machine_record = _states._state_machines[execution["stateMachineArn"]]
    return {
        "QueryLanguage": definition.get("QueryLanguage", "JSONPath"),
        "variables": {},
        "Execution": {
            "Id": execution["executionArn"],
            "Input": data,
            "Name": execution["name"],
            "RoleArn": machine_record["roleArn"],
            "StartTime": execution["startDate"],
            "RedriveCount": 0,
        },
        "StateMachine": {"Id": execution["stateMachineArn"], "Name": machine_record["name"]},
    }


def walk(
    run: Run, scope: Scope, states: Mapping[str, State], start_at: str, data: Any, context: Context
) -> Any:
    """The output of the last state of a machine, a branch or an iteration. Raises a state error or Interrupted."""
    name: str | None = start_at
    while name is not None:
        state = states.get(name)
        if state is None:
            raise errors.failed(errors.RUNTIME, f"State '{name}' not found in definition")
        kind = state["Type"]
        context["State"] = {"Name": name, "EnteredTime": _states.now_iso(), "RetryCount": 0}
        context.pop("Task", None)
        entered = serialised(data, f"The input of the state '{name}'")
        run.record(
            scope, f"{kind}StateEntered", {"stateEnteredEventDetails": {"name": name, "input": entered}}
        )
        data, following = _do(run, scope, kind, state, data, context)
        left = serialised(data, f"The output of the state '{name}'")
        run.record(scope, f"{kind}StateExited", {"stateExitedEventDetails": {"name": name, "output": left}})
        name = following
    return data


def _do(run: Run, scope: Scope, kind: str, state: State, data: Any, context: Context) -> Step:
    match kind:
        case "Task":
            return task.perform(run, scope, state, data, context)
        case "Choice":
            return _choose(state, data, context)
        case "Pass":
            output, following = _states._execute_pass(state, data, context)
            return output, following
        case "Wait":
            return _wait(scope, state, data, context)
        case "Map":
            return map_and_parallel.perform_map(run, scope, state, data, context, walk)
        case "Parallel":
            return map_and_parallel.perform_parallel(run, scope, state, data, context, walk)
        case "Succeed":
            return _succeed(state, data, context), None
        case "Fail":
            raise errors.failed(*_states._fail_state_error(state, data, context))
        case _:
            raise errors.failed(errors.RUNTIME, f"Unknown state type: {kind}")


def _choose(state: State, data: Any, context: Context) -> Step:
    if _states._state_query_language(state, context) != "JSONata":
        output, following = _states._execute_choice(state, data, context)
        return output, following
    for rule in state["Choices"]:
        if _states._evaluate_jsonata_choice_rule(rule, data, context):
            return _chosen(rule, data, context), rule["Next"]
    if "Default" not in state:
        raise errors.failed("States.NoChoiceMatched", "No choice rule matched and there is no Default")
    return _chosen(state, data, context), state["Default"]


def _chosen(rule: Mapping[str, Any], data: Any, context: Context) -> Any:
    """`rule`, or the state itself for its Default: the state's own Output and Assign belong to that."""
    output = _states._apply_jsonata_output(rule, data, context, default=data)
    # A rule has no QueryLanguage of its own, so it is given the state's.
    _states._apply_state_assign({**rule, "QueryLanguage": "JSONata"}, data, context)
    return output


def _succeed(state: State, data: Any, context: Context) -> Any:
    if _states._state_query_language(state, context) == "JSONata":
        return _states._apply_jsonata_output(state, data, context, default=data)
    return _states._apply_output_path(state, _states._apply_input_path(state, data, context), context)


def _wait(scope: Scope, state: State, data: Any, context: Context) -> Step:
    """Seconds or a timestamp, fixed, by path or by expression. A wait ends with its scope."""
    jsonata = _states._state_query_language(state, context) == "JSONata"
    effective = data if jsonata else _states._apply_input_path(state, data, context)
    scope.sleep(_seconds(state, effective, context, jsonata))
    if jsonata:
        output = _states._apply_jsonata_output(state, data, context, default=data)
        _states._apply_state_assign(state, data, context)
    else:
        output = _states._apply_output_path(state, effective, context)
    return output, _states._next_or_end(state)


def _seconds(state: State, data: Any, context: Context, jsonata: bool) -> float:
    if "Seconds" in state:
        return float(_states._jsonata_wait_seconds(state, data, context) if jsonata else state["Seconds"])
    if "SecondsPath" in state:
        return float(_states._resolve_path_or_ctx(state["SecondsPath"], data, context))
    if jsonata:
        stamp = _states._jsonata_wait_timestamp(state, data, context)
    else:
        stamp = state.get("Timestamp") or _states._resolve_path_or_ctx(state["TimestampPath"], data, context)
    moment = datetime.fromisoformat(str(stamp).replace("Z", "+00:00"))
    return (moment - datetime.now(UTC)).total_seconds()
