"""The execution engine: ministack's is replaced, its expression and path evaluation are kept.

Restores: `TimeoutSeconds` (machine and state, also JSONata), `HeartbeatSeconds`, failures inside
`.waitForTaskToken`, `Output` and `Assign` of Succeed and Parallel, the payload and history limits, Map
fail-fast, `MaxDelaySeconds` and `JitterStrategy`, which errors `States.ALL` matches, a token per attempt,
events of Map iterations, and StopExecution taking effect at once. Patches:
`services.stepfunctions._run_execution`.
"""

from __future__ import annotations

import json
import logging
from typing import Any

from infra.local.emulator import closing
from infra.local.emulator.settings import Settings
from infra.local.emulator.states import errors, machine
from infra.local.emulator.states.run import RUNS, Run
from infra.local.emulator.states.scope import Interrupted, TimedOut
from infra.local.emulator.upstream import module

_states: Any = module("services.stepfunctions")
_log = logging.getLogger("acta.states")


def apply(settings: Settings) -> None:
    _states._run_execution = run_execution
    closing.before_saving(RUNS.freeze)


def run_execution(arn: str) -> None:
    """Run an execution that ministack recorded as RUNNING to its end, on the calling thread."""
    execution = _states._executions.get(arn)
    if execution is None:
        return
    definition = json.loads(_states._state_machines[execution["stateMachineArn"]]["definition"])
    run = Run(execution, definition.get("TimeoutSeconds"))
    RUNS.enter(run)
    try:
        if execution["status"] != "RUNNING":  # stopped before it began
            return
        data = json.loads(execution["input"])
        output = machine.walk(
            run,
            run.scope,
            definition["States"],
            definition["StartAt"],
            data,
            _context(execution, definition, data),
        )
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
        _log.exception("execution %s broke the engine", arn)
        _fail(run, errors.RUNTIME, f"{type(error).__name__}: {error}")
    finally:
        RUNS.leave(run)


def _fail(run: Run, error: str, cause: str) -> None:
    details = {"executionFailedEventDetails": {"error": error, "cause": cause}}
    run.finish("FAILED", "ExecutionFailed", details, error=error, cause=cause)


def _context(execution: dict[str, Any], definition: dict[str, Any], data: Any) -> dict[str, Any]:
    """The context object, plus the two entries ministack's evaluation looks for in it."""
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
