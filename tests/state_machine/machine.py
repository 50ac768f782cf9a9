"""Runs of the definition that is deployed, with stub functions, seen by what the engine sent them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from acta.infra.engine.workflow import PLACEHOLDERS, definition
from acta.infra.environments import LOCAL, Environment
from acta.local_aws.emulator_process import EmulatorProcess
from acta.local_aws.testing import Cloud, eventually, refusal

Json = dict[str, Any]

# `at` is passed on by the machine unread, so a test's script travels in it: op -> what to do at each attempt, the
# last one again and again. {"raise": class} or {"exit": code} or {"answer": reply}; in a reply, "at" is put in.
STUB = """
import os

def handler(event, context):
    turns = event["at"]["script"].get(event["op"], [])
    if isinstance(turns, dict):
        turns = turns[event["call_id"]]
    do = turns[min(event["attempt"], len(turns) - 1)] if turns else {"answer": {}}
    if "raise" in do:
        raise type(do["raise"], (Exception,), {})("what went wrong, with a secret in it")
    if "exit" in do:
        os._exit(do["exit"])
    answer = dict(do["answer"])
    if "next" in answer:
        at = event["at"]
        script = {**at["script"], **do.get("script", {})}
        answer["at"] = {**at, "turn": at["turn"] + 1, "script": script}
    return answer
"""


def raises(name: str) -> Json:
    return {"raise": name}


def answers(next: str, script: Mapping[str, Any] | None = None, **more: Any) -> Json:
    """A decision; `script` replaces parts of the script from there on."""
    return {"answer": {"next": next, **more}, "script": dict(script or {})}


DONE = answers("done")


@dataclass(frozen=True)
class Run:
    """`states`: entered, in order. `sent`: what each function got, in order of being asked."""

    status: str
    states: list[str]
    sent: list[Json]

    def to(self, op: str) -> list[Json]:
        return [each for each in self.sent if each["op"] == op]


class Machine:
    def __init__(self, emulator: EmulatorProcess, environment: Environment = LOCAL) -> None:
        self.emulator = emulator
        self.cloud = Cloud.of(emulator)
        self.functions = {name: self.cloud.deploy(STUB) for name in sorted(set(PLACEHOLDERS.values()))}
        deployed = definition(environment)
        asking = deployed["States"]["Ask"]
        assert "? 60 :" in asking["TimeoutSeconds"]
        # this timeout alone differs from what is deployed; the emulator cuts waits and retry intervals short
        asking["TimeoutSeconds"] = asking["TimeoutSeconds"].replace("? 60 :", "? 1 :")
        text = json.dumps(deployed)
        for placeholder, function in PLACEHOLDERS.items():
            text = text.replace("${" + placeholder + "}", self.functions[function])
        self.arn = self.cloud.machine(json.loads(text))

    def start(self, next: str = "think", script: Mapping[str, Any] | None = None, **decision: Any) -> str:
        """The ARN of an execution that begins with this decision."""
        at = {
            "session_id": "ses_1",
            "run_id": "run_1",
            "generation": 1,
            "turn": 1,
            "script": dict(script or {}),
        }
        data = json.dumps({"next": next, "at": at, **decision})
        answer = self.cloud.states.start_execution(stateMachineArn=self.arn, input=data)
        return str(answer["executionArn"])

    def run(self, next: str = "think", script: Mapping[str, Any] | None = None, **decision: Any) -> Run:
        return self.finished(self.start(next, script, **decision))

    def finished(self, execution: str) -> Run:
        """Once it has ended."""
        status = str(self.cloud.finished(execution)["status"])
        events = self.cloud.events(execution)
        return Run(status, entered(events), sent(events))

    def once_entered(self, execution: str, state: str, times: int) -> list[str]:
        """The states entered so far, once `state` was entered so often."""

        def found() -> list[str] | None:
            states = entered(self.cloud.events(execution))
            return states if states.count(state) >= times else None

        return eventually(found)

    def status(self, execution: str) -> str:
        return str(self.cloud.states.describe_execution(executionArn=execution)["status"])

    def stop(self, execution: str) -> None:
        self.cloud.states.stop_execution(executionArn=execution)

    def tokens(self, execution: str, count: int) -> list[str]:
        """The task tokens handed out so far, once there are so many."""

        def found() -> list[str] | None:
            asked = [each for each in sent(self.cloud.events(execution)) if each["op"] == "ask"]
            return [each["task_token"] for each in asked] if len(asked) >= count else None

        return eventually(found)

    def wake(self, token: str, decision: Json) -> None:
        self.cloud.states.send_task_success(taskToken=token, output=json.dumps(decision))

    def is_gone(self, token: str) -> bool:
        """Whether nothing waits for the token any more."""
        return refusal(self.cloud.states.send_task_success, taskToken=token, output="{}") == "TaskTimedOut"


def entered(events: list[Json]) -> list[str]:
    return [e["stateEnteredEventDetails"]["name"] for e in events if e["type"].endswith("StateEntered")]


def sent(events: list[Json]) -> list[Json]:
    """The payload of every function call, retries included."""
    scheduled = [e["taskScheduledEventDetails"]["parameters"] for e in events if e["type"] == "TaskScheduled"]
    return [json.loads(each)["Payload"] for each in scheduled]
