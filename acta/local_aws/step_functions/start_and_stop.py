"""StartExecution and StopExecution as the API answers them."""

from __future__ import annotations

import json
import re
import threading
from contextlib import nullcontext
from typing import Any

from acta.local_aws.ministack import module
from acta.local_aws.settings import Settings
from acta.local_aws.step_functions.data import MAX_BYTES
from acta.local_aws.step_functions.interruptible_waits import Stopped
from acta.local_aws.step_functions.run import RUNS

_FORBIDDEN_IN_NAMES = re.compile(r'[\s<>{}\[\]?*"#%\\^|~`$&,;:/\x00-\x1f\x7f-\x9f]')


def start_once(settings: Settings) -> None:
    """StartExecution is idempotent while the execution runs, and checks name and input.

    Source: Step Functions API reference, StartExecution: with the name and input of a running execution "the
    call succeeds and returns the same response as the original request"; with another input, or once it is
    closed, `ExecutionAlreadyExists`. Patches: `services.stepfunctions._start_execution`.
    """
    states = module("services.stepfunctions")
    start = states._start_execution
    refuse = states.error_response_json
    one_at_a_time = threading.RLock()  # iterations of a Map may start executions while the API does

    def start_or_find(request: dict[str, Any]) -> Any:
        name, text = request.get("name"), request.get("input", "{}")
        if name is not None and (not 1 <= len(name) <= 80 or _FORBIDDEN_IN_NAMES.search(name)):
            return refuse("InvalidName", f"Invalid Name: '{name}'", 400)
        if not isinstance(text, str) or len(text.encode()) > MAX_BYTES:
            return refuse("ValidationException", f"Value at 'input' must have at most {MAX_BYTES} bytes", 400)
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

    states._start_execution = start_or_find


def _existing(states: Any, machine_arn: str, name: str | None) -> Any:
    base = states._resolve_state_machine_arn(machine_arn)
    if base is None or name is None:
        return None
    return states._executions.get(f"{base.replace(':stateMachine:', ':execution:', 1)}:{name}")


def stop_at_once(settings: Settings) -> None:
    """StopExecution ends waits, retries and Map iterations at once and closes all task tokens of the execution.

    A Lambda that already runs goes on, as on AWS; its result is ignored. For a closed execution the answer is how
    it was closed. Patches: `services.stepfunctions._stop_execution`.
    """
    states = module("services.stepfunctions")
    stop = states._stop_execution

    def stop_now(request: dict[str, Any]) -> Any:
        run = RUNS.of(str(request.get("executionArn", "")))
        # Under the lock, a step that is just ending cannot write into the closed execution.
        with run.lock if run else nullcontext():
            answer = stop(request)
            if run:
                run.scope.end(Stopped())
        return answer

    states._stop_execution = stop_now
