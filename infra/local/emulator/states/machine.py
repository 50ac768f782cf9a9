"""Walking a machine's states: enter, do, leave, next. Also for branches and iterations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infra.local.emulator.states import errors, flow, payload, task, waiting
from infra.local.emulator.states.run import Run
from infra.local.emulator.states.scope import Scope
from infra.local.emulator.upstream import module

Context = dict[str, Any]
State = Mapping[str, Any]

_states: Any = module("services.stepfunctions")


def walk(
    run: Run, scope: Scope, states: Mapping[str, State], start_at: str, data: Any, context: Context
) -> Any:
    """The output of the last state. Raises a state error or Interrupted."""
    name: str | None = start_at
    while name is not None:
        state = states.get(name)
        if state is None:
            raise errors.failed(errors.RUNTIME, f"State '{name}' not found in definition")
        kind = state["Type"]
        context["State"] = {"Name": name, "EnteredTime": _states.now_iso(), "RetryCount": 0}
        context.pop("Task", None)
        entered = payload.serialised(data, f"The input of the state '{name}'")
        run.record(
            scope, f"{kind}StateEntered", {"stateEnteredEventDetails": {"name": name, "input": entered}}
        )
        data, following = _do(run, scope, kind, state, data, context)
        left = payload.serialised(data, f"The output of the state '{name}'")
        run.record(scope, f"{kind}StateExited", {"stateExitedEventDetails": {"name": name, "output": left}})
        name = following
    return data


def _do(
    run: Run, scope: Scope, kind: str, state: State, data: Any, context: Context
) -> tuple[Any, str | None]:
    match kind:
        case "Task":
            return task.perform(run, scope, state, data, context)
        case "Choice":
            return _choose(state, data, context)
        case "Pass":
            output, following = _states._execute_pass(state, data, context)
            return output, following
        case "Wait":
            return waiting.perform(scope, state, data, context)
        case "Map":
            return flow.perform_map(run, scope, state, data, context, walk)
        case "Parallel":
            return flow.perform_parallel(run, scope, state, data, context, walk)
        case "Succeed":
            return _succeed(state, data, context), None
        case "Fail":
            raise errors.failed(*_states._fail_state_error(state, data, context))
        case _:
            raise errors.failed(errors.RUNTIME, f"Unknown state type: {kind}")


def _choose(state: State, data: Any, context: Context) -> tuple[Any, str]:
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
    """The state's own Output and Assign belong to its Default."""
    output = _states._apply_jsonata_output(rule, data, context, default=data)
    # A rule has no QueryLanguage of its own, so it is given the state's.
    _states._apply_state_assign({**rule, "QueryLanguage": "JSONata"}, data, context)
    return output


def _succeed(state: State, data: Any, context: Context) -> Any:
    if _states._state_query_language(state, context) == "JSONata":
        return _states._apply_jsonata_output(state, data, context, default=data)
    return _states._apply_output_path(state, _states._apply_input_path(state, data, context), context)
