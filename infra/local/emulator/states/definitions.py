"""A machine whose transitions lead nowhere is refused when it is created or updated, not when it runs.

Source: Amazon States Language, "States": StartAt, Next, Default and Catch targets exist within the same
machine, branch or item processor; developer guide, "Validating state machine definitions":
`MISSING_TRANSITION_TARGET`, `SCHEMA_VALIDATION_FAILED`. Patches:
`services.stepfunctions._validate_definition_jsonata` (creation and update call it),
`_validate_state_machine_definition`, and `services.cloudformation.provisioners._sfn_definition`, since a
stack writes its machines past the API.
"""

from __future__ import annotations

import json
from typing import Any

from infra.local.emulator.settings import Settings
from infra.local.emulator.states import definition_problems
from infra.local.emulator.upstream import module


def apply(settings: Settings) -> None:
    states = module("services.stepfunctions")
    check_expressions = states._validate_definition_jsonata

    def check(text: object) -> str | None:
        try:
            definition = json.loads(text) if isinstance(text, str) else None
        except ValueError:
            definition = None
        if not isinstance(definition, dict):
            return "Invalid State Machine Definition: 'INVALID_JSON_DESCRIPTION: not a JSON object'"
        found = list(definition_problems.of(definition))
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
