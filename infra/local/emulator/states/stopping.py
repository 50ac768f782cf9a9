"""StopExecution ends waits, retries and Map iterations at once and closes every task token of the execution.

A Lambda that already runs goes on, as on AWS; its result is ignored. A closed execution answers as it was
closed. Patches: `services.stepfunctions._stop_execution`.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from infra.local.emulator.settings import Settings
from infra.local.emulator.states.run import RUNS
from infra.local.emulator.states.scope import Stopped
from infra.local.emulator.upstream import module


def apply(settings: Settings) -> None:
    states = module("services.stepfunctions")
    stop = states._stop_execution

    def stop_now(request: dict[str, Any]) -> Any:
        run = RUNS.of(str(request.get("executionArn", "")))
        # The lock keeps a step that is just ending from writing into the closed execution.
        with run.lock if run else nullcontext():
            answer = stop(request)
            if run:
                run.scope.end(Stopped())
        return answer

    states._stop_execution = stop_now
