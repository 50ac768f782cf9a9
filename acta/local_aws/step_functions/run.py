"""One running execution: its record in ministack, its scope, and its history with the limit on it."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

from acta.local_aws.credentials import Credentials
from acta.local_aws.ministack import module
from acta.local_aws.step_functions import errors
from acta.local_aws.step_functions.interruptible_waits import Frozen, Scope, Stopped

MAX_EVENTS = 25_000
"""An execution fails when its history gets there. Source: developer guide, "Step Functions service quotas"."""

_states: Any = module("services.stepfunctions")


class Run:
    """`execution` is ministack's record, which the API reads. `timeout_seconds`: `TimeoutSeconds` of the definition.
    `longest_pause`: see `Settings.longest_pause_seconds`. `credentials`: of the state machine's role.
    """

    def __init__(
        self,
        execution: dict[str, Any],
        timeout_seconds: float | None,
        longest_pause: float | None,
        credentials: Credentials,
    ) -> None:
        self.execution = execution
        self.credentials = credentials
        deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        self.scope = Scope(deadline, longest_pause=longest_pause)
        self.lock = threading.RLock()

    def record(self, scope: Scope, kind: str, details: Mapping[str, Any] | None = None) -> None:
        """Append one event. Raises Interrupted if the scope ended, `States.Runtime` at MAX_EVENTS."""
        with self.lock:
            scope.check()
            if len(self.execution["events"]) >= MAX_EVENTS - 1:
                cause = f"The execution reached the maximum number of history events ({MAX_EVENTS})."
                raise errors.failed(errors.RUNTIME, cause)
            self._append(kind, details)

    def finish(self, status: str, kind: str, details: Mapping[str, Any] | None, **fields: Any) -> None:
        """Close the execution unless it is closed already."""
        with self.lock:
            if self.execution["status"] != "RUNNING":
                return
            self.execution.update(status=status, stopDate=_states.now_iso(), **fields)
            self._append(kind, details)
            self.scope.end(Stopped())
        _states._emit_execution_status_event(self.execution)

    def _append(self, kind: str, details: Mapping[str, Any] | None) -> None:
        previous = len(self.execution["events"])
        event = _states._add_event(self.execution, kind, dict(details or {}))
        event["previousEventId"] = previous


class Runs:
    """The running executions of this process, by ARN."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}
        self._frozen = False

    def enter(self, run: Run) -> None:
        with self._lock:
            self._runs[run.execution["executionArn"]] = run
            frozen = self._frozen
        if frozen:
            run.scope.end(Frozen())

    def leave(self, run: Run) -> None:
        with self._lock:
            self._runs.pop(run.execution["executionArn"], None)

    def of(self, arn: str) -> Run | None:
        with self._lock:
            return self._runs.get(arn)

    def freeze(self) -> None:
        """Stop every execution where it stands, so that it can be saved."""
        with self._lock:
            self._frozen = True
            runs = list(self._runs.values())
        for run in runs:
            with run.lock:
                run.scope.end(Frozen())


RUNS = Runs()
