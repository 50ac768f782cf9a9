"""One session of an outage, and the person who started it: brought to its stage, then followed to its end."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import httpx

from acta.engine.log.head import Head
from tests.faults.ending import Ending, ending
from tests.faults.outages.bill import Bill
from tests.faults.outages.outage import Gate, Outage, Surroundings
from tests.faults.outages.stages import Act, Stage
from tests.faults.outages.stand import OutageStand
from tests.faults.person import Insistent, Json, truth
from tests.faults.point import Track
from tests.faults.scenario import SCHEMA, Stuck
from tests.faults.script import BOOK, CHARGE, LOOK_UP, NOTIFY
from tests.faults.stand import new_tag

STAGE_SECONDS = 90.0
END_SECONDS = 90.0
PATIENCE_SECONDS = 200.0
LATE_SECONDS = 10.0
LOOK_SECONDS = 0.5
POLL_SECONDS = 2.0
WAITING = "waiting_for_"
"""How a `state_reason` begins that tells of an outage."""
TOOLS: dict[str, Json] = {
    LOOK_UP: {"effect": "read"},
    BOOK: {"effect": "idempotent", "high_stakes": False},
    CHARGE: {"effect": "once", "high_stakes": False},
    NOTIFY: {"effect": "idempotent", "high_stakes": True},
}
TOOL_SECONDS = 300
"""Longer than the others take to come to their stages: a session is held in its call until they are all there."""


class Outcome(NamedTuple):
    """`asked`: the tools that a person was asked about whether they had run. `waited`: whether the session told, while
    the outage lasted, what it waits for. `answers`: how often a poll was answered how. `misbilled`: what is wrong with
    its charges; `problems`: what else is.
    """

    stage: Stage
    ending: Ending | None
    failed: bool
    asked: tuple[str, ...]
    waited: bool
    bill: Bill
    answers: Counter[str]
    misbilled: tuple[str, ...]
    problems: tuple[str, ...]


class Failed(AssertionError):
    """The session ended `failed`."""


class Followed:
    def __init__(self, stand: OutageStand, stage: Stage, outage: Outage) -> None:
        self.stand, self.stage, self.outage = stand, stage, outage
        self.tag = new_tag()
        self.meeting_point, self.place = Gate(stage.comes_to), Gate(stage.held_at)
        self.track = Track(recovering=True)
        self.track.disturbed_by = Surroundings(outage, (self.meeting_point, self.place))
        stand.point.follow(self.tag, self.track)
        token = stand.stack.issuer.issue_token(self.tag, "ann", "admin")
        self.person = Insistent(stand.stack.url, token, patience=PATIENCE_SECONDS)
        self.session_id = ""
        self.asked: list[str] = []
        self.answers: Counter[str] = Counter()
        self.waited = False
        self._decider: threading.Thread | None = None

    # before the outage

    def come_near(self) -> None:
        """To where it can wait for the others without running out of any time. Raises Stuck."""
        with self.stand.setting_up:
            self._register_tools()
            if self.stage.during == "start":
                return
            self._start()
        if not self.stage.comes_to:
            self._until(_asks)
            return
        deadline = time.monotonic() + STAGE_SECONDS
        while not self.meeting_point.was_reached.wait(LOOK_SECONDS):
            if _asks(self.stand.repository.newest(self.tag, self.session_id).head):
                self._decide_all()
            if time.monotonic() > deadline:
                raise Stuck(f"never came to {self.meeting_point.call}")

    def take_place(self) -> None:
        """To its stage, where it can stay for seconds. Raises Stuck."""
        self.meeting_point.opened.set()
        if self.stage.before == "decide":
            self._decider = threading.Thread(target=self._decide_all, daemon=True)
            self._decider.start()
        if self.stage.held_at and not self.place.was_reached.wait(STAGE_SECONDS):
            raise Stuck(f"never came to {self.place.call}")
        if self.stage.before == "pause":
            self._act("pause")
            self.place.opened.set()
            self._until(lambda head: head.state_reason == "paused" and head.wait is not None)

    # during the outage, and after it

    def follow(self) -> Outcome:
        """Lets it go on into the outage; returns when it has ended after it."""
        self.meeting_point.opened.set()
        self.place.opened.set()
        problems: list[str] = []
        polling = threading.Thread(target=self._poll, daemon=True)
        last: Ending | None = None
        failed = False
        session: Json = {}
        steps: list[Json] = []
        try:
            if self.stage.during == "resume" and not self.stage.is_paused:
                self._wait_for_the_wait()
            if self.session_id:
                polling.start()
            if self.stage.during is not None:
                self._act(self.stage.during)
            self.outage.is_over.wait()
            if self.stage.after is not None:
                self._act(self.stage.after)
            if self._decider is not None:
                self._decider.join()
            head = self._see_to_the_end()
            if head.error is not None:
                raise Failed(f"{head.error.code}: {head.error.message}")
            last = ending(self.person, self.stand, self.tag, head)
            session, steps = self._charged()
        except AssertionError as stuck:
            failed = isinstance(stuck, Failed)
            problems.append(f"{type(stuck).__name__}: {str(stuck)[:500]}")
        finally:
            if polling.ident is not None:
                polling.join()
            self.person.http.close()
        bill = self._bill()
        return Outcome(
            stage=self.stage,
            ending=last,
            failed=failed,
            asked=tuple(self.asked),
            waited=self.waited,
            bill=bill,
            answers=self.answers,
            misbilled=tuple(bill.differences(session, steps)) if session else (),
            problems=tuple(problems),
        )

    def _wait_for_the_wait(self) -> None:
        """Until the session tells that it waits, or the outage is over: somebody who looks at it then says to try."""
        while not self.outage.is_over.is_set():
            if self._has_told(self.stand.repository.newest(self.tag, self.session_id).head):
                return
            time.sleep(LOOK_SECONDS)

    def _poll(self) -> None:
        path = f"/v1/sessions/{self.session_id}"
        while not self.outage.is_over.is_set():
            try:
                told = self.person.http.get(path)
            except httpx.TransportError as error:
                self.answers[type(error).__name__] += 1
            else:
                self.answers[_kind_of_answer(told)] += 1
                if told.status_code == 200:
                    reason = told.json()["data"]["session"]["state_reason"] or ""
                    self.waited = self.waited or reason.startswith(WAITING)
            self.outage.is_over.wait(POLL_SECONDS)

    def _has_told(self, head: Head) -> bool:
        return (head.state_reason or "").startswith(WAITING)

    def _see_to_the_end(self) -> Head:
        """Decides what is asked until the run is over and its execution has ended. Nobody else does anything."""
        while True:
            head = self._until(lambda head: head.is_over or _asks(head), END_SECONDS)
            if head.is_over:
                arn = self.stand.execution_of(head)
                deadline = time.monotonic() + END_SECONDS
                while self.stand.states.describe_execution(executionArn=arn)["status"] == "RUNNING":
                    if time.monotonic() > deadline:
                        raise Stuck(f"it is {head.state}, and its execution goes on")
                    time.sleep(LOOK_SECONDS)
                return head
            self._decide_all()

    def _bill(self) -> Bill:
        return Bill(tuple(self.stand.provider.sold[self.tag]), self.outage.unheard[self.tag])

    def _charged(self) -> tuple[Json, list[Json]]:
        """The session and its step log. A worker may outlive its run's cancel, and charges its call when it ends."""
        path = f"/v1/sessions/{self.session_id}"
        deadline = time.monotonic() + LATE_SECONDS
        while True:
            session, steps = self.person.data(path)["session"], self.person.rows(f"{path}/steps")
            is_last = self.stage.ends != "cancelled" or time.monotonic() > deadline
            if is_last or not self._bill().differences(session, steps):
                return session, steps
            time.sleep(LOOK_SECONDS)

    # what the person does

    def _act(self, act: Act) -> None:
        path = f"/v1/sessions/{self.session_id}"
        match act:
            case "start":
                self._start()
            case "decide":
                self._decide_all()
            case control:
                answer = self.person.post(f"{path}/{control}", {}, control)
                assert answer.status_code in (202, 409), f"{control}: {answer.status_code} {answer.text}"

    def _start(self) -> None:
        body = {"content": f"A room for {self.tag}", "token_budget": 1_000_000}
        answer = self.person.post("/v1/sessions", body, "start")
        assert answer.status_code == 202, answer.text
        self.session_id = str(answer.json()["data"]["session_id"])

    def _decide_all(self) -> None:
        for one in self.person.data(f"/v1/sessions/{self.session_id}")["session"]["interventions"]:
            self._decide(one)

    def _decide(self, one: Json) -> None:
        """409 is a decision made by a request of ours that got no answer."""
        match one["type"]:
            case "approval_required":
                chosen: Json = {"option": "approve"}
            case "error_recovery" if one["tool_call"]:
                self.asked.append(one["tool_call"]["name"])
                chosen = truth(self.stand.ledger, self.tag, one)
            case other:
                raise AssertionError(f"asked {other}: {one['context']}")
        path = f"/v1/sessions/{self.session_id}/interventions/{one['intervention_id']}/resolve"
        answer = self.person.post(path, chosen, f"decide-{one['intervention_id']}")
        assert answer.status_code in (200, 409), answer.text

    def _register_tools(self) -> None:
        for name, more in TOOLS.items():
            config = {"url": f"{self.stand.tools_url}/{self.tag}/{name}", "method": "POST"}
            tool = {"name": name, "description": f"{name} it", "input_schema": SCHEMA, "kind": "http",
                    "timeout_seconds": TOOL_SECONDS, "config": config, **more}  # fmt: skip
            answer = self.person.post("/v1/tools", tool, f"tool-{name}")
            assert answer.status_code == 201, answer.text

    def _until(self, reached: Callable[[Head], bool], seconds: float = STAGE_SECONDS) -> Head:
        deadline = time.monotonic() + seconds
        while True:
            head = self.stand.repository.newest(self.tag, self.session_id).head
            self.waited = self.waited or (self.outage.is_on and self._has_told(head))
            if reached(head):
                return head
            if time.monotonic() > deadline:
                raise Stuck(f"it stays {head.state} ({head.state_reason})")
            time.sleep(LOOK_SECONDS)


def _asks(head: Head) -> bool:
    """Somebody is to decide, and the engine waits for it."""
    return bool(head.interventions) and head.wait is not None


def _kind_of_answer(told: httpx.Response) -> str:
    """`503` without a Retry-After is told apart."""
    status = str(told.status_code)
    return (
        status if told.status_code < 500 or "retry-after" in told.headers else f"{status} without Retry-After"
    )
