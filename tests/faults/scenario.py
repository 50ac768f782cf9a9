"""One run of the scenario, from the tools' registration to the last look at what came of it."""

import time
from collections.abc import Callable, Mapping
from typing import ClassVar, NamedTuple

from acta.engine.log.head import Head
from acta.engine.traces.spans import spans_of
from acta.engine.usage.usage import NOTHING, Amounts, counted
from tests.doubles.otlp import is_tree
from tests.faults.ending import Ending, ending
from tests.faults.person import Insistent, Json, truth
from tests.faults.point import Fault, Track
from tests.faults.script import CHARGE, NOTIFY, RESERVE
from tests.faults.stand import Stand, new_tag

LONGEST_SECONDS = 300.0
"""Only what is stuck takes so long: a run has many cold processes to wait for, and the machine may be slow."""
LOOK_SECONDS = 0.05
ALWAYS = 9_999_999
"""Hours since 1970, and more."""
SCHEMA = {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]}
TOOLS: dict[str, Json] = {
    RESERVE: {"effect": "idempotent", "high_stakes": False},
    CHARGE: {"effect": "once", "high_stakes": False},
    NOTIFY: {"effect": "idempotent", "high_stakes": True},
}


class Stuck(AssertionError):
    """Nothing moves any more, and nobody is asked."""


class Run(NamedTuple):
    """`execution`: the ARN of its last; `asked`: the tools that a person was asked about whether they had run."""

    ending: Ending
    execution: str
    track: Track
    asked: tuple[str, ...]
    seconds: float


class Play:
    """A tenant of its own that does the scenario once. `left`: nobody comes back to a request that got no answer,
    unless it left nothing behind; recovery is what goes on.
    """

    tools: ClassVar[Mapping[str, Json]] = TOOLS
    agent: ClassVar[str] = "default"

    def __init__(self, stand: Stand, *faults: Fault, left: bool = False, exporting: bool = False) -> None:
        self.stand = stand
        self.left = left
        self.tag = new_tag()
        self.track = Track(faults, recovering=left, exporting=exporting)
        stand.point.follow(self.tag, self.track)
        token = stand.stack.issuer.issue_token(self.tag, "ann", "admin")
        self.person = Insistent(stand.stack.url, token)
        self.asked: list[str] = []

    def run(self) -> Run:
        began = time.monotonic()
        try:
            self.register_tools()
            session_id = self.start()
            head = self.see_to(session_id)
            last = self.ending(head)
            self.check_usage(head.session_id)
            if self.stand.traces:
                self.check_traces(head.session_id)
        finally:
            self.person.http.close()
        return Run(
            last, self.stand.execution_of(head), self.track, tuple(self.asked), time.monotonic() - began
        )

    def ending(self, head: Head) -> Ending:
        return ending(self.person, self.stand, self.tag, head)

    def register_tools(self) -> None:
        if self.stand.has_python_tools:
            return
        for name, more in self.tools.items():
            config = {"url": f"{self.stand.tools_url}/{self.tag}/{name}", "method": "POST"}
            tool = {"name": name, "description": f"{name} it", "input_schema": SCHEMA, "kind": "http",
                    "config": config, **more}  # fmt: skip
            answer = self.person.post("/v1/tools", tool, f"tool-{name}")
            assert answer.status_code == 201, answer.text

    def start(self) -> str:
        body = {"content": f"Two rooms for {self.tag}", "token_budget": 1_000_000, "agent_id": self.agent}
        if self.left and not self.person.has_answered("/v1/sessions", body, "start"):
            self.stand.sweep()
            found = self.person.data("/v1/sessions")["items"]
            if found:
                return str(found[0]["session_id"])
        answer = self.person.post("/v1/sessions", body, "start")
        assert answer.status_code == 202, answer.text
        return str(answer.json()["data"]["session_id"])

    def see_to(self, session_id: str) -> Head:
        """Decides whatever there is to decide until the run is over and its execution has ended; the last head."""
        while True:
            head = self.wait(session_id, lambda head: head.is_over or self.asks(head))
            if head.is_over:
                self.rest(head)
                return head
            for one in self.person.data(f"/v1/sessions/{session_id}")["session"]["interventions"]:
                self.decide(session_id, one)

    def asks(self, head: Head) -> bool:
        """Somebody is to decide, and the engine waits for it, or the session is parked."""
        if self.stand.parks:
            return bool(head.interventions) and head.run is not None and head.run.parked
        return bool(head.interventions) and head.wait is not None

    def decide(self, session_id: str, one: Json) -> None:
        """409 is a decision made by a request of ours that got no answer."""
        if one["type"] == "error_recovery":
            self.asked.append(one["tool_call"]["name"])
            chosen = truth(self.stand.ledger, self.tag, one)
        else:
            assert one["type"] == "approval_required", one
            chosen = {"option": "approve"}
        path = f"/v1/sessions/{session_id}/interventions/{one['intervention_id']}/resolve"
        key = f"decide-{one['intervention_id']}"
        if self.left and not self.person.has_answered(path, chosen, key):
            self.stand.sweep()
            if not _open(self.stand.repository.newest(self.tag, session_id).head):
                return
        answer = self.person.post(path, chosen, key)
        assert answer.status_code in (200, 409), answer.text

    def wait(self, session_id: str, until: Callable[[Head], bool]) -> Head:
        deadline = time.monotonic() + LONGEST_SECONDS
        while True:
            head = self.stand.repository.newest(self.tag, session_id).head
            if until(head):
                return head
            if time.monotonic() > deadline:
                raise Stuck(f"{session_id} stays {head.state}")
            time.sleep(LOOK_SECONDS)

    def check_usage(self, session_id: str) -> None:
        """The tenant's usage is what its sessions have counted, once the stream has brought their last commits."""
        deadline = time.monotonic() + LONGEST_SECONDS
        while True:
            expected, found = self.used(session_id), NOTHING
            for _, row in self.stand.usage.rows(self.tag, "tenant", 0, ALWAYS):
                found = found.plus(row)
            if found == expected:
                return
            assert time.monotonic() < deadline, f"usage is {found} instead of {expected}"
            time.sleep(LOOK_SECONDS)

    def used(self, session_id: str) -> Amounts:
        session = self.stand.repository.newest(self.tag, session_id)
        told = counted(session.head, session.number, "")
        return told.amounts.plus(Amounts(**{told.standing: 1}))

    def check_traces(self, session_id: str) -> None:
        """The endpoint has the run's whole tree, once the queue has brought its last commit: a span for each row of the
        step log, each once, and under one root.
        """
        commits = self.stand.repository.commits(self.tag, session_id, 1)
        expected = {span.span_id: span.name for commit in commits for span in spans_of(commit)}
        rows = sum((commit.step is not None) + len(commit.failed_attempts) for commit in commits)
        assert len(expected) > rows, "the step log is in it, and the run"
        spans = self.stand.spans
        spans.wait_for(lambda: len(spans.once(session_id)) >= len(expected), LONGEST_SECONDS)
        found = spans.once(session_id)
        assert {span_id: span.name for span_id, span in found.items()} == expected
        assert is_tree(found), "a parent is missing, or there are several roots"

    def rest(self, head: Head) -> None:
        """Until its executions have ended as well."""
        arn = self.stand.execution_of(head)
        deadline = time.monotonic() + LONGEST_SECONDS
        while self.stand.states.describe_execution(executionArn=arn)["status"] == "RUNNING":
            if time.monotonic() > deadline:
                raise Stuck(f"{head.session_id} is {head.state}, and its execution goes on")
            time.sleep(LOOK_SECONDS)


def _open(head: Head) -> bool:
    return bool(head.interventions)
