"""Error names: which Retry and Catch entries match which error, and how ministack raises them.

Source: Step Functions developer guide, "Handling errors in Step Functions workflows": `States.ALL` matches
all but `States.DataLimitExceeded` and `States.Runtime`; `States.TaskFailed` matches every known name but
`States.Timeout`; `States.Runtime` is never caught. A missed heartbeat is `States.HeartbeatTimeout`, and a
timeout too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from infra.local.emulator.upstream import module

DATA_LIMIT = "States.DataLimitExceeded"
RUNTIME = "States.Runtime"
TIMEOUT = "States.Timeout"
HEARTBEAT = "States.HeartbeatTimeout"

_MAX_CAUSE = 32_768

# ministack's own exception `(error, cause)`: its expression and path evaluation raise it too.
StateError: Any = module("services.stepfunctions")._ExecutionError


def failed(error: str, cause: str) -> Exception:
    """The exception of a state that fails with this error's name."""
    raised: Exception = StateError(error, cause[:_MAX_CAUSE])
    return raised


def matches(names: Sequence[str], error: str) -> bool:
    if error == RUNTIME:
        return False
    if error in names:
        return True
    if error == DATA_LIMIT:
        return False
    if "States.ALL" in names:
        return True
    if error == HEARTBEAT and TIMEOUT in names:
        return True
    return "States.TaskFailed" in names and error != TIMEOUT
