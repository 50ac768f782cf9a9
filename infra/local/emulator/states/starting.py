"""StartExecution: idempotent while the execution runs, strict about names and input.

Source: Step Functions API reference, StartExecution: with the name and input of a running execution "the call
succeeds and returns the same response as the original request"; with another input, or once it is closed,
`ExecutionAlreadyExists`. `InvalidName`, `InvalidExecutionInput` and the input limit are checked too.
Patches: `services.stepfunctions._start_execution`.
"""

from __future__ import annotations

import json
import re
import threading
from typing import Any

from infra.local.emulator.settings import Settings
from infra.local.emulator.states import payload
from infra.local.emulator.upstream import module

_FORBIDDEN = re.compile(r'[\s<>{}\[\]?*"#%\\^|~`$&,;:/\x00-\x1f\x7f-\x9f]')


def apply(settings: Settings) -> None:
    states = module("services.stepfunctions")
    start = states._start_execution
    refuse = states.error_response_json
    one_at_a_time = threading.RLock()  # Map iterations may start executions beside the API

    def start_once(request: dict[str, Any]) -> Any:
        name, text = request.get("name"), request.get("input", "{}")
        if name is not None and (not 1 <= len(name) <= 80 or _FORBIDDEN.search(name)):
            return refuse("InvalidName", f"Invalid Name: '{name}'", 400)
        if not isinstance(text, str) or len(text.encode()) > payload.MAX_BYTES:
            return refuse(
                "ValidationException", f"Value at 'input' must have at most {payload.MAX_BYTES} bytes", 400
            )
        try:
            json.loads(text)
        except ValueError:
            return refuse("InvalidExecutionInput", "Invalid State Machine Execution Input", 400)
        with one_at_a_time:
            existing = _existing(states, request.get("stateMachineArn", ""), name)
            if existing and existing["status"] == "RUNNING" and existing["input"] == text:
                answer = {"executionArn": existing["executionArn"], "startDate": existing["startDate"]}
                return states.json_response(answer)
            return start(request)

    states._start_execution = start_once


def _existing(states: Any, machine_arn: str, name: str | None) -> Any:
    base = states._resolve_state_machine_arn(machine_arn)
    if base is None or name is None:
        return None
    return states._executions.get(f"{base.replace(':stateMachine:', ':execution:', 1)}:{name}")
