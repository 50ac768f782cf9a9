"""A machine whose transitions lead nowhere is refused when it is created or updated, not when it runs.

Source: Amazon States Language, "States": StartAt, Next, Default and Catch targets exist within the same
machine, branch or item processor; developer guide, "Validating state machine definitions":
`MISSING_TRANSITION_TARGET`, `SCHEMA_VALIDATION_FAILED`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from acta.local_aws.ministack import module
from acta.local_aws.settings import Settings

_TYPES = frozenset({"Task", "Choice", "Pass", "Wait", "Map", "Parallel", "Succeed", "Fail"})
_ENDS_BY_ITSELF = frozenset({"Choice", "Succeed", "Fail"})
_JSONPATH_ONLY = frozenset(
    {"InputPath", "OutputPath", "ResultPath", "Parameters", "ResultSelector", "ItemsPath", "SecondsPath"}
    | {"TimestampPath", "TimeoutSecondsPath", "HeartbeatSecondsPath", "MaxConcurrencyPath"}
)
_JSONATA_ONLY = frozenset({"Arguments", "Output"})


def check_transitions(settings: Settings) -> None:
    """Patches: `services.stepfunctions._validate_definition_jsonata` (creation and update call it),
    `services.stepfunctions._validate_state_machine_definition`, and
    `services.cloudformation.provisioners._sfn_definition`, because a stack writes its machines without the API.
    """
    states = module("services.stepfunctions")
    check_expressions = states._validate_definition_jsonata

    def check(text: object) -> str | None:
        try:
            definition = json.loads(text) if isinstance(text, str) else None
        except ValueError:
            definition = None
        if not isinstance(definition, dict):
            return "Invalid State Machine Definition: 'INVALID_JSON_DESCRIPTION: not a JSON object'"
        found = list(_problems(definition))
        if found:
            return "Invalid State Machine Definition: " + ", ".join(f"'{problem}'" for problem in found)
        refused: str | None = check_expressions(text)
        return refused

    def validate(request: dict[str, Any]) -> Any:
        refused = check(request.get("definition"))
        diagnostics = (
            []
            if refused is None
            else [{"severity": "ERROR", "code": "INVALID_DEFINITION", "message": refused}]
        )
        return states.json_response({"result": "FAIL" if diagnostics else "OK", "diagnostics": diagnostics})

    provisioners = module("services.cloudformation.provisioners")
    read_from_template = provisioners._sfn_definition

    def read_checked(properties: Any) -> Any:
        text = read_from_template(properties)
        refused = check(text)
        if refused is not None:
            raise ValueError(refused)
        return text

    provisioners._sfn_definition = read_checked
    states._validate_definition_jsonata = check
    states._validate_state_machine_definition = validate


def _problems(machine: Mapping[str, Any], path: str = "", language: str = "JSONPath") -> Iterator[str]:
    """What is wrong with a machine and the machines inside its Map and Parallel states, in the words of AWS."""
    language = machine.get("QueryLanguage", language)
    states = machine.get("States")
    if not isinstance(states, dict) or not states:
        yield f"SCHEMA_VALIDATION_FAILED: States must be a non-empty object at {path}/States"
        return
    reached = {machine.get("StartAt")}
    yield from _target(machine.get("StartAt"), states, f"{path}/StartAt")
    for name, state in states.items():
        at = f"{path}/States/{name}"
        if not isinstance(state, dict) or state.get("Type") not in _TYPES:
            yield f"SCHEMA_VALIDATION_FAILED: Type is missing or unknown at {at}/Type"
            continue
        for where, target in _transitions(state):
            reached.add(target)
            yield from _target(target, states, f"{at}/{where}")
        yield from _shape(state, at, state.get("QueryLanguage", language))
        for where, inner in _inner_machines(state):
            yield from _problems(inner, f"{at}/{where}", state.get("QueryLanguage", language))
    for name in states:
        if name not in reached:
            yield f'MISSING_TRANSITION_TARGET: State "{name}" is not reachable. at {path}/States/{name}'


def _target(target: object, states: Mapping[str, Any], at: str) -> Iterator[str]:
    if not isinstance(target, str) or target not in states:
        yield f"MISSING_TRANSITION_TARGET: Missing '{at.rpartition('/')[2]}' target: {target} at {at}"


def _transitions(state: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    if "Next" in state:
        yield "Next", state["Next"]
    if "Default" in state:
        yield "Default", state["Default"]
    for field in ("Choices", "Catch"):
        for index, rule in enumerate(state.get(field) or ()):
            yield f"{field}[{index}]/Next", rule.get("Next")


def _inner_machines(state: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for field in ("ItemProcessor", "Iterator"):
        if field in state:
            yield field, state[field]
    for index, branch in enumerate(state.get("Branches") or ()):
        yield f"Branches[{index}]", branch


def _shape(state: Mapping[str, Any], at: str, language: str) -> Iterator[str]:
    if state["Type"] not in _ENDS_BY_ITSELF and ("Next" in state) == (state.get("End") is True):
        yield f"SCHEMA_VALIDATION_FAILED: exactly one of Next and End is required at {at}"
    if state["Type"] == "Task" and not isinstance(state.get("Resource"), str):
        yield f"SCHEMA_VALIDATION_FAILED: Resource is required at {at}/Resource"
    for field in sorted((_JSONPATH_ONLY if language == "JSONata" else _JSONATA_ONLY) & state.keys()):
        yield f"SCHEMA_VALIDATION_FAILED: field '{field}' is not supported with {language} at {at}/{field}"
    for field in ("Retry", "Catch"):
        rules = state.get(field) or ()
        for index, rule in enumerate(rules):
            names = rule.get("ErrorEquals")
            if not isinstance(names, list) or not names:
                yield f"SCHEMA_VALIDATION_FAILED: ErrorEquals is required at {at}/{field}[{index}]"
            elif "States.ALL" in names and (len(names) > 1 or index < len(rules) - 1):
                yield f"SCHEMA_VALIDATION_FAILED: States.ALL must be alone and last at {at}/{field}[{index}]"
