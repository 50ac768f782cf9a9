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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from acta.local_aws.ministack import module
from acta.local_aws.settings import Settings
from acta.local_aws.step_functions.data import MAX_BYTES
from acta.local_aws.step_functions.interruptible_waits import Latch, Scope

_SENDING = ("SendTaskSuccess", "SendTaskFailure", "SendTaskHeartbeat")
_NOTHING = "nothing"
"""In place of an ARN."""

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

    def __init__(self, machine_arn: str) -> None:
        super().__init__()
        self.machine_arn = machine_arn
        self.token = "AQCEAAAAKgAAAAMAAAAA" + secrets.token_urlsafe(48)
        self.last_heartbeat = time.monotonic()


_lock = threading.Lock()
_attempts: dict[str, Attempt] = {}


@contextmanager
def issued(scope: Scope, machine_arn: str) -> Iterator[Attempt]:
    """An attempt whose token is valid inside the `with` block, or until the scope ends if that comes first."""
    attempt = Attempt(machine_arn)
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


def ask_for_rights_on_the_machine(settings: Settings) -> None:
    """Who sends a token back needs the right to do so on the state machine that it is of.

    Source: Service Authorization Reference, "AWS Step Functions". Of a token that no task waits for nobody knows the
    machine here. Its sender is told that, whatever their rights: nothing is behind it. Patches:
    `core.iam_actions.extract_resource_arn`, `core.iam_evaluator.enforce`.
    """
    states, actions = module("services.stepfunctions"), module("core.iam_actions")
    evaluator = module("core.iam_evaluator")
    resource_of, enforce = actions.extract_resource_arn, evaluator.enforce

    def machine_of(
        service: str, method: str, path: str, headers: Mapping[str, str], body: bytes, *more: Any
    ) -> Any:
        if service != "states" or headers.get("x-amz-target", "").rpartition(".")[2] not in _SENDING:
            return resource_of(service, method, path, headers, body, *more)
        token = actions._safe_json_field(body, "taskToken")
        if token in states._task_tokens:  # an activity's
            return "*"
        attempt = _of(token)
        return attempt.machine_arn if attempt else _NOTHING

    def enforce_where_something_is_behind(
        access_key_id: str,
        iam_action: str,
        service: str,
        region: str,
        resource_arn: str = "*",
        *more: Any,
        **named: Any,
    ) -> Any:
        if resource_arn == _NOTHING:
            return evaluator.check_credentials(access_key_id, service)
        return enforce(access_key_id, iam_action, service, region, resource_arn, *more, **named)

    actions.extract_resource_arn = machine_of
    evaluator.enforce = enforce_where_something_is_behind
