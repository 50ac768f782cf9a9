"""The engine of one process, with all of Acta in memory: what waits goes on when its time has come, and a process that
dies anywhere leaves a session that the next one brings to the same end.
"""

from collections.abc import Callable
from typing import Any

import pytest

from acta.embedded.engine import Data, Engine, Executions, perform
from acta.engine.models.offline import OfflineModel
from acta.engine.turn.engine import engine_event
from acta.infra.engine.workflow import definition
from acta.infra.environments import LOCAL
from tests.in_process.house import House

GOAL = "Delete the file old.txt"
Death = Callable[[str], None]


class Died(BaseException):
    """The process is killed."""


class Lived:
    """One machine: its file, and the process that serves it at present. `meet`: is called before and after each state's
    work.
    """

    def __init__(self, meet: Death = lambda moment: None) -> None:
        self.house = House(OfflineModel())
        self.executions = Executions(self.house.table.database)
        self.meet = meet
        self.begin()
        self.house.files.write(self.house.tenant, "old.txt", b"old")

    def begin(self) -> None:
        self.begun: list[str] = []
        self.engine = Engine(
            self.executions,
            self.house.clock,
            definition(LOCAL),
            self._work,
            self.begun.append,
            park_after_seconds=LOCAL.park_after_seconds,
            pause_seconds=float,
        )
        self.house.workflow = self.engine  # type: ignore[assignment]

    def _work(self, event: Data) -> Data:
        self.meet("before")
        result = perform(self.house.app(), engine_event(event))
        self.meet("after")
        return result

    def rest(self) -> None:
        """Until everything waits for more than the pause before a retry. A process that dies is followed by another."""
        while True:
            try:
                while self.begun:
                    self.engine.drive(self.begun.pop(0))
            except Died:
                self.begin()
                self.engine.resume()
                continue
            due = self.executions.next_due(self._now)
            if due is None or due - self._now > 30:
                return
            self.move(due - self._now + 0.001)

    def move(self, seconds: float) -> None:
        self.house.clock.advance(seconds)
        self.engine.look()

    @property
    def _now(self) -> float:
        return self.house.clock.now().timestamp()

    def scan(self) -> None:
        self.house.recovery().handle({"round": "due"}, Minute())
        self.rest()


class Minute:
    def get_remaining_time_in_millis(self) -> int:
        return 60_000


def files(lived: Lived) -> list[str]:
    return [each.path for each in lived.house.files.list(lived.house.tenant, "", 10).files]


def played(meet: Death = lambda moment: None) -> tuple[Any, ...]:
    """How the session ended, what is left of the files, and what the log says of the call."""
    lived = Lived(meet)
    session_id = lived.house.start(GOAL).session_id
    lived.rest()
    head = lived.house.head(session_id)
    (asked,) = head.interventions
    lived.house.resolve(session_id, asked, "approve")
    lived.rest()
    head = lived.house.head(session_id)
    told = [
        each.event.type for each in lived.house.poll(session_id).events if each.event.type.startswith("tool.")
    ]
    return head.state, head.result and head.result.goal_met, files(lived), told


def test_a_process_that_dies_before_or_after_any_state_changes_nothing() -> None:
    met: list[str] = []
    wanted = played(met.append)
    assert wanted[:3] == ("completed", True, [])
    assert len(met) >= 8
    for number in range(1, len(met) + 1):
        left = [number]

        def meet(moment: str, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] == 0:
                raise Died

        assert played(meet) == wanted, f"the process died at {number} of {len(met)}"


@pytest.mark.parametrize("dies", [False, True])
def test_a_question_is_parked_and_expires_when_its_time_has_come(dies: bool) -> None:
    """`dies`: the process ends while the session is parked."""
    lived = Lived()
    session_id = lived.house.start(GOAL).session_id
    lived.rest()
    assert lived.engine.running() == [session_id]
    lived.move(LOCAL.park_after_seconds + 1)
    lived.rest()
    run = lived.house.head(session_id).run
    assert run is not None
    assert run.parked
    assert lived.engine.running() == []
    if dies:
        lived.begin()
        lived.engine.resume()
    for _ in range(31):
        lived.move(60)
        lived.rest()
        lived.scan()
    head = lived.house.head(session_id)
    assert head.interventions == ()
    assert files(lived) == ["old.txt"], "the default is to reject"
    assert head.is_over


def test_a_token_wakes_once_and_a_stopped_execution_goes_on_no_more() -> None:
    lived = Lived()
    session_id = lived.house.start(GOAL).session_id
    lived.rest()
    head = lived.house.head(session_id)
    assert head.wait is not None
    lived.house.cancel(session_id)
    lived.rest()
    assert lived.engine.running() == []
    assert lived.executions.wake(head.wait.token, {}, 0.0) is None
    assert lived.house.head(session_id).state == "cancelled"


def test_executions_that_are_due_and_have_no_thread_yet_are_not_looked_at_all_the_time() -> None:
    lived = Lived()
    lived.house.start(GOAL)
    lived.rest()
    lived.house.clock.advance(LOCAL.park_after_seconds + 1)
    assert lived.engine.look() is None
    assert len(lived.begun) == 1
