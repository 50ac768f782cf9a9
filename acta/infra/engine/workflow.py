"""The definition of the state machine. The same one is deployed, runs locally and is run by the tests.

`state_machine.asl.json` draws the loop, one state after the other. Five kinds of names in it are filled in:

- `"Retry": "${TaskRetries}"` and the like: a policy of `acta/infra/engine/retries.py`, filled in here.
- `"TimeoutSeconds": "${FunctionTimeout}"`: the timeout of the state's function in this environment and a little more,
  filled in here.
- `"Seconds": "${PauseSeconds}"`: a pause of `acta/infra/engine/retries.py`, filled in here.
- `${ParkAfter}` in expressions: the environment's `park_after_seconds`, filled in here.
- `${StepFunctionArn}` and the like: a function's ARN, filled in by CloudFormation (`PLACEHOLDERS`).

What does not differ between environments stands in the file itself, such as how many calls of a reply run at once
(`MaxConcurrency` of `Act`).
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from acta.infra.engine.retries import PAUSE_SECONDS, POLICIES, pause_in_asl
from acta.infra.environments import Environment
from acta.infra.sizing import FunctionName

FILE = Path(__file__).with_name("state_machine.asl.json")
PLACEHOLDERS: Mapping[str, FunctionName] = {
    "StepFunctionArn": "step",
    "ToolFunctionArn": "tool",
    "InterveneFunctionArn": "intervene",
}
"""`${…}` in the definition -> the function whose ARN stands there once it is deployed."""

PARK_AFTER = "${ParkAfter}"
"""The placeholder in expressions for `Environment.park_after_seconds`."""
FUNCTION_TIMEOUT = "${FunctionTimeout}"
SLACK_SECONDS = 30
"""How much longer a state's timeout is than its function's: room for the cold start and the way there and back."""


def definition(environment: Environment) -> dict[str, Any]:
    """The definition for `environment` in Amazon States Language, as a new dictionary; times in seconds.

    Raises ValueError for a retry base below one second, for a Task without a retry policy, and for a Task whose
    timeout is a number.
    """
    if environment.retry_base_seconds < 1:
        raise ValueError("retry_base_seconds is a whole number of seconds, at least 1")
    text = FILE.read_text(encoding="utf-8").replace(PARK_AFTER, str(environment.park_after_seconds))
    parsed: dict[str, Any] = json.loads(text)
    for name, state in states(parsed):
        if state["Type"] == "Task":
            state["Retry"] = _retries(name, state, environment)
            state["TimeoutSeconds"] = state_timeout(name, state, environment)
        elif state.get("Seconds") == PAUSE_SECONDS:
            state["Seconds"] = pause_in_asl(environment.retry_base_seconds)
    return parsed


def states(machine: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every state as (name, state), those inside a Map too."""
    for name, state in machine["States"].items():
        yield name, state
        if "ItemProcessor" in state:
            yield from states(state["ItemProcessor"])


def _retries(name: str, state: Mapping[str, Any], environment: Environment) -> list[dict[str, Any]]:
    policy = str(state.get("Retry"))
    if policy not in POLICIES:
        raise ValueError(f"Retry of {name} in {FILE.name} is one of {', '.join(POLICIES)}, not {policy}")
    return [retrier.to_asl(environment.retry_base_seconds) for retrier in POLICIES[policy]]


def state_timeout(name: str, state: Mapping[str, Any], environment: Environment) -> int | str:
    """Longer than the function's own timeout: otherwise the engine would start a second worker while the first still
    runs. The timeout of a wait for people is an expression that does not depend on the function.
    """
    timeout = state["TimeoutSeconds"]
    if timeout == FUNCTION_TIMEOUT:
        function = PLACEHOLDERS[state["Arguments"]["FunctionName"].strip("${}")]
        return environment.sizes[function].timeout + SLACK_SECONDS
    if isinstance(timeout, str) and timeout.startswith("{%"):
        return timeout
    raise ValueError(f"TimeoutSeconds of {name} in {FILE.name} is {FUNCTION_TIMEOUT} or an expression")
