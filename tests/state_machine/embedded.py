"""Runs of the same definition in the engine of one process, whose clock moves on when nothing is left to do."""

import time
from collections import defaultdict
from datetime import UTC, datetime
from typing import Any

from acta.embedded.database import Database
from acta.embedded.engine import Engine, Executions
from acta.engine.clock import SystemClock
from acta.infra.engine.workflow import definition
from acta.infra.environments import LOCAL, Environment
from tests.state_machine.machine import Json, Run


class MovedClock(SystemClock):
    def __init__(self) -> None:
        self.at = time.time()

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.at, UTC)

    def sleep(self, seconds: float) -> None:
        self.at += seconds


class EmbeddedMachine:
    """As `Machine`. It runs what is begun whenever a test asks how far it is."""

    def __init__(self, environment: Environment = LOCAL) -> None:
        self.clock = MovedClock()
        self.executions = Executions(Database(None))
        self.begun: list[str] = []
        self.states: dict[str, list[str]] = defaultdict(list)
        self.sent: dict[str, list[Json]] = defaultdict(list)
        self.stopped: set[str] = set()
        self.engine = self.made(environment)

    def made(self, environment: Environment) -> Engine:
        return Engine(
            self.executions,
            self.clock,
            definition(environment),
            self._work,
            self.begun.append,
            lambda name, state: self.states[name].append(state),
            park_after_seconds=environment.park_after_seconds,
            pause_seconds=lambda pauses: float(pauses),
        )

    def start(self, next: str = "think", script: Any = None, **decision: Any) -> str:
        if not self.executions.running():
            self.clock.at = time.time()  # as the tests reckon
        name = f"execution-{len(self.states)}"
        at = {
            "session_id": "ses_1",
            "run_id": "run_1",
            "generation": 1,
            "turn": 1,
            "script": dict(script or {}),
        }
        self.executions.start(name, {"next": next, "at": {**at, "name": name}, **decision}, self.clock.at)
        self.states[name].append("Route")
        self.begun.append(name)
        return name

    def _work(self, event: Json) -> Json:
        at = event["at"]
        self.sent[at["name"]].append(event)
        turns = at["script"].get(event["op"], [])
        if isinstance(turns, dict):
            turns = turns[event["call_id"]]
        do = turns[min(event["attempt"], len(turns) - 1)] if turns else {"answer": {}}
        if "raise" in do or "exit" in do:
            raise type(do.get("raise", "Runtime.ExitError"), (Exception,), {})("with a secret in it")
        answer = dict(do["answer"])
        if "next" in answer:
            script = {**at["script"], **do.get("script", {})}
            answer["at"] = {**at, "turn": at["turn"] + 1, "script": script}
        return answer

    def _until(self, is_so: Any) -> None:
        while not is_so():
            if self.begun:
                self.engine.drive(self.begun.pop(0))
            else:
                due = self.engine.look()
                assert self.begun or due is not None, "nothing is left to do"
                if not self.begun and due is not None:
                    self.clock.at = due + 0.001  # a time has whole microseconds

    def run(self, next: str = "think", script: Any = None, **decision: Any) -> Run:
        return self.finished(self.start(next, script, **decision))

    def finished(self, execution: str) -> Run:
        self._until(lambda: not self.executions.is_running(execution))
        return Run(self.status(execution), self.states[execution], self.sent[execution])

    def once_entered(self, execution: str, state: str, times: int) -> list[str]:
        self._until(lambda: self.states[execution].count(state) >= times)
        return self.states[execution]

    def status(self, execution: str) -> str:
        if self.executions.is_running(execution):
            return "RUNNING"
        if execution in self.stopped:
            return "ABORTED"
        return "FAILED" if self.states[execution][-1] == "Failed" else "SUCCEEDED"

    def stop(self, execution: str) -> None:
        self.stopped.add(execution)
        self.executions.end(execution, self.clock.at)

    def tokens(self, execution: str, count: int) -> list[str]:
        def found() -> list[str]:
            return [each["task_token"] for each in self.sent[execution] if each["op"] == "ask"]

        self._until(lambda: len(found()) >= count)
        while self.begun:  # until it waits
            self.engine.drive(self.begun.pop(0))
        return found()

    def wake(self, token: str, decision: Json) -> None:
        name = self.executions.wake(token, decision, self.clock.at)
        assert name is not None
        self.states[name].append("Route")
        self.begun.append(name)

    def is_gone(self, token: str) -> bool:
        return self.executions.wake(token, {}, self.clock.at) is None
