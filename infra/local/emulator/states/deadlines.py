"""`TimeoutSeconds` and `HeartbeatSeconds` of a Task: a number, a path, or a JSONata expression.

Source: Amazon States Language, "Task State"; the developer guide allows 1 to 99,999,999 seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infra.local.emulator.states import errors
from infra.local.emulator.upstream import module

_states: Any = module("services.stepfunctions")


def seconds(state: Mapping[str, Any], field: str, data: Any, context: dict[str, Any]) -> int | None:
    """None when the state sets no such limit. A value that is no positive integer is a state error."""
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
