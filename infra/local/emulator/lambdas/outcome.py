"""How one invocation ended, and the error bodies Lambda itself writes.

Shapes and texts follow the Lambda developer guide ("Troubleshoot invocation issues") and AWS's runtime
interface emulator: a timeout is `Sandbox.Timedout` with "Task timed out after N.00 seconds", a runtime that
went away is `Runtime.ExitError`, a reply over 6 MB is `Function.ResponseSizeTooLarge`. Step Functions takes
`errorType` as the error's name. Its guide still lists timeouts and out-of-memory under `Lambda.Unknown`,
which is what functions gave before their errors carried a type; `States.TaskFailed` matches both, so retry
on that.
"""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass

MAX_REPLY_BYTES = 6_291_556


@dataclass(frozen=True)
class Outcome:
    """`body` is JSON: the handler's reply, or when `failed` an object `{errorType, errorMessage, …}`."""

    body: bytes
    failed: bool = False
    log: str = ""


def _failure(error_type: str, request_id: str, message: str) -> Outcome:
    text = f"RequestId: {request_id} Error: {message}"
    return Outcome(json.dumps({"errorType": error_type, "errorMessage": text}).encode(), failed=True)


def timed_out(request_id: str, seconds: int) -> Outcome:
    return _failure("Sandbox.Timedout", request_id, f"Task timed out after {seconds}.00 seconds")


def exited(request_id: str, exit_code: int) -> Outcome:
    """`exit_code` as `subprocess` gives it: negative for a signal."""
    if exit_code == 0:
        return _failure("Runtime.ExitError", request_id, "Runtime exited without providing a reason")
    reason = f"exit status {exit_code}"
    if exit_code < 0:
        reason = f"signal: {(signal.strsignal(-exit_code) or str(-exit_code)).lower()}"
    return _failure("Runtime.ExitError", request_id, f"Runtime exited with error: {reason}")


def reply_too_large() -> Outcome:
    message = f"Response payload size exceeded maximum allowed payload size ({MAX_REPLY_BYTES} bytes)."
    return Outcome(
        json.dumps({"errorType": "Function.ResponseSizeTooLarge", "errorMessage": message}).encode(), True
    )
