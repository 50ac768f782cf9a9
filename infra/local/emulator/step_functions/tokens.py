"""Task tokens: each is accepted once, while its task waits; after that the answer is `TaskTimedOut`.

Source: Step Functions API reference, SendTaskSuccess: `TaskTimedOut` "the task token has either expired or
the task associated with the token has already been closed", `InvalidToken`, `InvalidOutput`. Tokens of an
execution that stopped, timed out or ran in an earlier process of the emulator are recognised by their form, and
get `TaskTimedOut` too.
"""

from __future__ import annotations

import json
import re
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from infra.local.emulator.ministack import module
from infra.local.emulator.settings import Settings
from infra.local.emulator.step_functions.data import MAX_BYTES
from infra.local.emulator.step_functions.interruptible_waits import Latch, Scope

_FORM = re.compile(r"AQCEAAAAKgAAAAMAAAAA[A-Za-z0-9_-]{64}")


@dataclass(frozen=True)
class Succeeded:
    result: Any


@dataclass(frozen=True)
class Failed:
    error: str
    cause: str


class Attempt(Latch):
    """One attempt of a task; a retry is another attempt with another token."""

    def __init__(self) -> None:
        super().__init__()
        self.token = "AQCEAAAAKgAAAAMAAAAA" + secrets.token_urlsafe(48)
        self.last_heartbeat = time.monotonic()


_lock = threading.Lock()
_attempts: dict[str, Attempt] = {}


@contextmanager
def issued(scope: Scope) -> Iterator[Attempt]:
    """An attempt whose token is valid inside the `with` block, or until the scope ends if that comes first."""
    attempt = Attempt()
    with scope.holding(attempt):
        with _lock:
            _attempts[attempt.token] = attempt
        try:
            yield attempt
        finally:
            with _lock:
                del _attempts[attempt.token]


def _of(token: str) -> Attempt | None:
    with _lock:
        return _attempts.get(token)


def accept_once(settings: Settings) -> None:
    """Patches: `services.stepfunctions._send_task_success`, `_send_task_failure`, `_send_task_heartbeat`."""
    states = module("services.stepfunctions")
    answer = states.json_response
    # Activities keep ministack's own tokens.
    succeed_activity, fail_activity = states._send_task_success, states._send_task_failure
    beat_activity = states._send_task_heartbeat

    def refusal(token: object) -> Any:
        if isinstance(token, str) and _FORM.fullmatch(token):
            return states.error_response_json(
                "TaskTimedOut", "Task Timed Out: 'Provided task does not exist anymore'", 400
            )
        return states.error_response_json("InvalidToken", "Invalid Token: 'Invalid token'", 400)

    def succeed(request: dict[str, Any]) -> Any:
        token, output = request.get("taskToken", ""), request.get("output", "")
        if token in states._task_tokens:
            return succeed_activity(request)
        if not isinstance(output, str) or len(output.encode()) > MAX_BYTES:
            return states.error_response_json(
                "ValidationException", "Value at 'output' is too long or no string", 400
            )
        try:
            result = json.loads(output)
        except ValueError:
            return states.error_response_json("InvalidOutput", "Invalid Output: 'Invalid JSON'", 400)
        attempt = _of(token)
        accepted = attempt is not None and attempt.settle(Succeeded(result))
        return answer({}) if accepted else refusal(token)

    def fail(request: dict[str, Any]) -> Any:
        token = request.get("taskToken", "")
        if token in states._task_tokens:
            return fail_activity(request)
        attempt = _of(token)
        failure = Failed(str(request.get("error") or "States.TaskFailed"), str(request.get("cause") or ""))
        accepted = attempt is not None and attempt.settle(failure)
        return answer({}) if accepted else refusal(token)

    def beat(request: dict[str, Any]) -> Any:
        token = request.get("taskToken", "")
        if token in states._task_tokens:
            return beat_activity(request)
        attempt = _of(token)
        if attempt is None or not attempt.open:
            return refusal(token)
        attempt.last_heartbeat = time.monotonic()
        return answer({})

    states._send_task_success = succeed
    states._send_task_failure = fail
    states._send_task_heartbeat = beat
