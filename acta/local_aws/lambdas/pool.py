"""Warm Lambda processes: the last one used is reused first, two start at a time, idle ones are ended.

A cold start makes an invocation wait, it does not make it time out. The invocation takes whichever comes first: a
process of its function that becomes free, or the one being started for it.
"""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from acta.local_aws.lambdas.function import Function
from acta.local_aws.lambdas.process import InitFailed, LambdaProcess, Outcome

STARTS_AT_ONCE = 2
MAX_PROCESSES = 96
MAX_PROCESSES_PER_FUNCTION = 32
IDLE_SECONDS = 300.0
QUEUE_SECONDS = 120.0

Key = tuple[str, str, str | None]
"""A function's name with its version, its fingerprint, and the tenant that its processes serve. None: the function has
no tenant isolation."""


class Throttled(Exception):
    """No process became free in time; the caller gets TooManyRequestsException."""


class ProcessPool:
    def __init__(self, start: Callable[[Function, str | None], LambdaProcess]) -> None:
        self._start = start
        self._changed = threading.Condition()
        self._idle: dict[Key, list[LambdaProcess]] = defaultdict(list)
        self._failures: dict[Key, list[Outcome]] = defaultdict(list)
        self._waiting: dict[Key, int] = defaultdict(int)
        self._starting: dict[Key, int] = defaultdict(int)
        self._running: dict[Key, int] = defaultdict(int)
        self._processes: set[LambdaProcess] = set()
        self._closed = False
        # Its threads are the parents of all processes and live as long as the emulator (see LambdaProcess).
        self._starters = ThreadPoolExecutor(STARTS_AT_ONCE, thread_name_prefix="lambda-start")
        threading.Thread(target=self._reap, daemon=True, name="lambda-reaper").start()

    def invoke(
        self,
        function: Function,
        request_id: str,
        event: bytes,
        arn: str,
        trace_id: str | None,
        tenant: str | None = None,
    ) -> Outcome:
        """Raises Throttled. The time spent waiting for a process does not count against the function's timeout."""
        leased = self._lease(function, tenant)
        if isinstance(leased, Outcome):
            return leased
        try:
            return leased.invoke(request_id, event, arn, trace_id)
        finally:
            self._release(leased)

    def close(self) -> None:
        """Kill every process, started or starting."""
        with self._changed:
            self._closed = True
            processes = list(self._processes)
            self._changed.notify_all()
        self._starters.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.end()

    def _lease(self, function: Function, tenant: str | None) -> LambdaProcess | Outcome:
        key = (f"{function.name}:{function.version}", function.fingerprint, tenant)
        deadline = time.monotonic() + QUEUE_SECONDS
        with self._changed:
            self._waiting[key] += 1
            try:
                while True:
                    if self._closed:
                        raise Throttled
                    while self._idle[key]:
                        process = self._idle[key].pop()
                        if process.alive:
                            return process
                        self._forget(process)
                    if self._failures[key]:
                        return self._failures[key].pop()
                    self._start_if_short(key, function)
                    if not self._changed.wait(deadline - time.monotonic()) and time.monotonic() >= deadline:
                        raise Throttled
            finally:
                self._waiting[key] -= 1

    def _start_if_short(self, key: Key, function: Function) -> None:
        if self._starting[key] >= self._waiting[key] or self._running[key] >= MAX_PROCESSES_PER_FUNCTION:
            return
        if sum(self._running.values()) >= MAX_PROCESSES and not self._evict_one():
            return
        self._starting[key] += 1
        self._running[key] += 1
        self._starters.submit(self._start_one, key, function)

    def _start_one(self, key: Key, function: Function) -> None:
        """Start a process. Offer it, or what it failed with, to an invocation that waits."""
        with self._changed:
            wanted = self._waiting[key] > 0 and not self._closed
        started: LambdaProcess | Outcome | None = self._started(function, key[2]) if wanted else None
        with self._changed:
            self._starting[key] -= 1
            if isinstance(started, LambdaProcess) and not self._closed:
                self._retire_older(key)
                started.idle_since = time.monotonic()
                self._idle[key].append(started)
            else:
                self._running[key] -= 1
            if isinstance(started, Outcome) and self._waiting[key]:
                self._failures[key].append(started)
            closed = self._closed
            self._changed.notify_all()
        if closed and isinstance(started, LambdaProcess):
            started.end()

    def _started(self, function: Function, tenant: str | None) -> LambdaProcess | Outcome:
        try:
            process = self._start(function, tenant)
        except Exception as error:  # a missing interpreter or a broken zip: the invocation fails with it
            body = {"errorType": "Runtime.InvalidEntrypoint", "errorMessage": type(error).__name__}
            return Outcome(json.dumps(body).encode(), failed=True)
        with self._changed:
            self._processes.add(process)
            closed = self._closed
        if closed:  # close() did not see this process
            process.end()
        try:
            process.wait_ready()
        except InitFailed as failed:
            with self._changed:
                self._processes.discard(process)
            return failed.outcome
        return process

    def _release(self, process: LambdaProcess) -> None:
        with self._changed:
            if process.alive:
                process.idle_since = time.monotonic()
                self._idle[_key(process)].append(process)
            else:
                self._forget(process)
            self._changed.notify_all()
        if not process.alive:
            process.end()

    def _forget(self, process: LambdaProcess) -> None:
        self._running[_key(process)] -= 1
        self._processes.discard(process)
        threading.Thread(target=process.end, daemon=True).start()

    def _retire_older(self, key: Key) -> None:
        """End idle processes of the same version with other code or configuration: nobody will use them again."""
        for other in list(self._idle):
            if other[0] == key[0] and other[1] != key[1]:
                for process in self._idle.pop(other):
                    self._forget(process)

    def _evict_one(self) -> bool:
        idle = [process for processes in self._idle.values() for process in processes]
        if not idle:
            return False
        oldest = min(idle, key=lambda process: process.idle_since)
        for processes in self._idle.values():
            if oldest in processes:
                processes.remove(oldest)
        self._forget(oldest)
        return True

    def _reap(self) -> None:
        with self._changed:
            while not self._closed:
                self._changed.wait(IDLE_SECONDS / 10)
                horizon = time.monotonic() - IDLE_SECONDS
                for key, processes in list(self._idle.items()):
                    for process in [p for p in processes if p.idle_since < horizon]:
                        self._idle[key].remove(process)
                        self._forget(process)


def _key(process: LambdaProcess) -> Key:
    function = process.function
    return (f"{function.name}:{function.version}", function.fingerprint, process.tenant)
