"""One Lambda process, an execution environment that serves one invocation at a time, and how invocations end.

The error bodies are those Lambda itself writes. Source: Lambda developer guide, "Troubleshoot invocation issues",
and AWS's runtime interface emulator. Step Functions takes `errorType` as the error's name. Its guide still lists
timeouts and out-of-memory under `Lambda.Unknown`, the name from before these errors had a type.
`States.TaskFailed` matches both names: retry on that.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from acta.local_aws.access import principals
from acta.local_aws.lambdas.code import UnpackedCode
from acta.local_aws.lambdas.function import Function, environment
from acta.local_aws.lambdas.runtime_api import Invocation, RuntimeApi
from acta.local_aws.settings import Settings

INIT_SECONDS = 60.0
"""AWS gives init ten seconds, then runs it again on the function's time. A laptop that starts several processes at
once needs longer, and a local run must not fail because of a cold start."""
MAX_REPLY_BYTES = 6_291_556

_BOOTSTRAP = Path(__file__).with_name("bootstrap.py")


@dataclass(frozen=True)
class Outcome:
    """`body` is JSON: the handler's reply, or when `failed` an object `{errorType, errorMessage, …}`."""

    body: bytes
    failed: bool = False
    log: str = ""


class InitFailed(Exception):
    """The process never asked for its first event; `outcome` is what the invocation gets."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__("init failed")
        self.outcome = outcome


class LambdaProcess:
    """Create it on a thread that lives as long as the emulator: on Linux the process ends with that thread."""

    def __init__(
        self, function: Function, settings: Settings, code: UnpackedCode, tenant: str | None = None
    ) -> None:
        """`tenant`: the one that it serves, if the function has tenant isolation."""
        self.function = function
        self.tenant = tenant
        self.idle_since = 0.0
        self._changed = threading.Condition()
        self._ready = False
        self._closed = False
        self._exit_code: int | None = None
        self._init_error: Outcome | None = None
        self._pending: Invocation | None = None
        self._in_flight: str | None = None
        self._result: Outcome | None = None
        task_root = code.folder(function.name, function.code)
        self._folder = Path(tempfile.mkdtemp(prefix="lambda-", dir=settings.scratch_dir))
        (self._folder / "tmp").mkdir()
        self._log = open(self._folder / "log", "a+b", buffering=0)  # noqa: SIM115 - lives as long as the process
        self._api = RuntimeApi(self)
        self._credentials = principals.assume_role(function.role, function.name)
        self._process = subprocess.Popen(
            [str(settings.runtime_python), "-P", "-s", str(_BOOTSTRAP), str(os.getpid())],
            env=environment(
                function, settings, task_root, self._folder / "tmp", self._api.address, self._credentials
            ),
            cwd=task_root,
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,  # so that Ctrl-C in the terminal reaches the emulator only
            umask=0o022,  # as in AWS
        )
        threading.Thread(target=self._watch, daemon=True, name="lambda-exit").start()

    @property
    def alive(self) -> bool:
        with self._changed:
            return self._exit_code is None and not self._closed

    def wait_ready(self) -> None:
        """Returns when the runtime asks for its first event. Raises InitFailed."""
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._exit_code is not None, INIT_SECONDS)
            if self._ready:
                return
            failure = self._init_error
            if failure is None and self._exit_code is not None:
                failure = _exited("init", self._exit_code)
        failure = failure or _timed_out("init", int(INIT_SECONDS))
        failed = InitFailed(Outcome(failure.body, failed=True, log=self._take_log()))
        self.end()
        raise failed

    def invoke(self, request_id: str, event: bytes, function_arn: str, trace_id: str | None) -> Outcome:
        """Run one event to its end. After a timeout or an exit the process is gone (`alive` is False)."""
        seconds = self.function.timeout_seconds
        deadline_ms = int((time.time() + seconds) * 1000)
        with self._changed:
            self._result = None
            self._in_flight = request_id
            self._pending = Invocation(request_id, event, deadline_ms, function_arn, trace_id, self.tenant)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._result is not None or self._exit_code is not None, seconds)
            result = self._result
            exit_code = self._exit_code
            self._in_flight = self._pending = None
        log = self._take_log()
        if result is None:
            result = _timed_out(request_id, seconds) if exit_code is None else _exited(request_id, exit_code)
            self.end()
        return Outcome(result.body, result.failed, log)

    def end(self) -> None:
        """Kill the process and free what it held. A second call does nothing."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._changed.notify_all()
        self._process.kill()
        self._process.wait()
        principals.dismiss(self._credentials)
        self._api.close()
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _take_log(self) -> str:
        """What the process wrote since the last call. It writes before it answers, so the output is complete."""
        try:
            text = os.pread(self._log.fileno(), os.fstat(self._log.fileno()).st_size, 0)
            os.ftruncate(self._log.fileno(), 0)
        except (OSError, ValueError):
            return ""
        return text.decode(errors="replace")

    def _watch(self) -> None:
        exit_code = self._process.wait()
        with self._changed:
            self._exit_code = exit_code
            self._changed.notify_all()

    # What follows is called by the Runtime API, on the threads of its connections.

    def next_invocation(self) -> Invocation | None:
        with self._changed:
            self._ready = True
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: self._pending is not None or self._closed or self._exit_code is not None
            )
            invocation, self._pending = self._pending, None
            return invocation

    def accept_result(self, request_id: str, body: bytes, *, failed: bool) -> bool:
        with self._changed:
            if request_id != self._in_flight or self._result is not None:
                return False
            too_large = not failed and len(body) > MAX_REPLY_BYTES
            self._result = _reply_too_large() if too_large else Outcome(body, failed)
            self._changed.notify_all()
            return True

    def accept_init_error(self, body: bytes) -> None:
        with self._changed:
            self._init_error = Outcome(body, failed=True)


def _timed_out(request_id: str, seconds: int) -> Outcome:
    return _failure("Sandbox.Timedout", request_id, f"Task timed out after {seconds}.00 seconds")


def _exited(request_id: str, exit_code: int) -> Outcome:
    """`exit_code` as `subprocess` gives it: negative for a signal."""
    if exit_code == 0:
        return _failure("Runtime.ExitError", request_id, "Runtime exited without providing a reason")
    reason = f"exit status {exit_code}"
    if exit_code < 0:
        reason = f"signal: {(signal.strsignal(-exit_code) or str(-exit_code)).lower()}"
    return _failure("Runtime.ExitError", request_id, f"Runtime exited with error: {reason}")


def _failure(error_type: str, request_id: str, message: str) -> Outcome:
    text = f"RequestId: {request_id} Error: {message}"
    return Outcome(json.dumps({"errorType": error_type, "errorMessage": text}).encode(), failed=True)


def _reply_too_large() -> Outcome:
    message = f"Response payload size exceeded maximum allowed payload size ({MAX_REPLY_BYTES} bytes)."
    body = {"errorType": "Function.ResponseSizeTooLarge", "errorMessage": message}
    return Outcome(json.dumps(body).encode(), failed=True)
