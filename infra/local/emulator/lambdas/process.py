"""One Lambda process: an execution environment that serves one invocation at a time and is reused."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from infra.local.emulator.lambdas import code, environment, outcome
from infra.local.emulator.lambdas.outcome import Outcome
from infra.local.emulator.lambdas.runtime_api import Invocation, RuntimeApi
from infra.local.emulator.lambdas.specification import FunctionSpecification
from infra.local.emulator.settings import Settings

# AWS gives init ten seconds and then runs it again on the function's time. A laptop that starts several at
# once is slower than that, and a cold start must not be what fails a local run.
INIT_SECONDS = 60.0

_BOOTSTRAP = Path(__file__).with_name("bootstrap.py")


class InitFailed(Exception):
    """The process never asked for its first event; `outcome` is what the invocation gets."""

    def __init__(self, result: Outcome) -> None:
        super().__init__("init failed")
        self.outcome = result


class LambdaProcess:
    """Create it on a thread that lives as long as the emulator: on Linux the process dies with it."""

    def __init__(self, function: FunctionSpecification, settings: Settings) -> None:
        self.function = function
        self.idle_since = 0.0
        self._changed = threading.Condition()
        self._ready = False
        self._closed = False
        self._exit_code: int | None = None
        self._init_error: Outcome | None = None
        self._pending: Invocation | None = None
        self._in_flight: str | None = None
        self._result: Outcome | None = None
        task_root = code.unpacked(function.code, settings.scratch_dir)
        self._folder = Path(tempfile.mkdtemp(prefix="lambda-", dir=settings.scratch_dir))
        (self._folder / "tmp").mkdir()
        self._log = open(self._folder / "log", "a+b", buffering=0)  # noqa: SIM115 - lives as long as the process
        self._api = RuntimeApi(self)
        self._process = subprocess.Popen(
            [str(settings.runtime_python), "-P", "-s", str(_BOOTSTRAP), str(os.getpid())],
            env=environment.for_process(
                function, settings, task_root, self._folder / "tmp", self._api.address
            ),
            cwd=task_root,
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,  # Ctrl-C in the terminal is the emulator's to handle
        )
        threading.Thread(target=self._watch, daemon=True, name="lambda-exit").start()

    @property
    def alive(self) -> bool:
        with self._changed:
            return self._exit_code is None and not self._closed

    def wait_ready(self) -> None:
        """Until the runtime asks for its first event. Raises InitFailed."""
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._exit_code is not None, INIT_SECONDS)
            if self._ready:
                return
            failure = self._init_error
            if failure is None and self._exit_code is not None:
                failure = outcome.exited("init", self._exit_code)
        failure = failure or outcome.timed_out("init", int(INIT_SECONDS))
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
            self._pending = Invocation(request_id, event, deadline_ms, function_arn, trace_id)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._result is not None or self._exit_code is not None, seconds)
            result = self._result
            exit_code = self._exit_code
            self._in_flight = self._pending = None
        log = self._take_log()
        if result is None:
            result = (
                outcome.timed_out(request_id, seconds)
                if exit_code is None
                else outcome.exited(request_id, exit_code)
            )
            self.end()
        return Outcome(result.body, result.failed, log)

    def end(self) -> None:
        """Kill the process and give back what it held. Safe to call twice."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._changed.notify_all()
        self._process.kill()
        self._process.wait()
        self._api.close()
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _take_log(self) -> str:
        """What the process wrote since the last call. It writes before it answers, so nothing is missed."""
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

    # The Runtime API's side; called from its connection threads.

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
            too_large = not failed and len(body) > outcome.MAX_REPLY_BYTES
            self._result = outcome.reply_too_large() if too_large else Outcome(body, failed)
            self._changed.notify_all()
            return True

    def accept_init_error(self, body: bytes) -> None:
        with self._changed:
            self._init_error = Outcome(body, failed=True)
