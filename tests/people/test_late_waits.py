"""A wait has one token, the last one the engine got, however late the worker of an earlier one comes
(docs/design/engine.md 9)."""

from datetime import timedelta

import pytest

from acta.engine.log.commit import Commit, Decision
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.head import Wait
from acta.engine.log.store import NO_ITEMS, TransactionItems
from acta.engine.people.wait import ask
from acta.engine.recovery.recover import recover
from tests.in_process.house import TENANT
from tests.runs.fragile import SCRIPT, FragileHouse


def wait_decision() -> tuple[FragileHouse, str, Decision]:
    """A person is about to be asked: the engine has come to Ask, and its worker has not begun."""
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    house.run_until("ask")
    return house, session, house.decisions[-1]


def entered(house: FragileHouse, decision: Decision, seconds: int = 0, attempt: int = 0) -> Wait:
    """`seconds`: since the engine first came to Ask."""
    at = house.clock.now() + timedelta(seconds=seconds)
    return Wait(token=house.workflow.wait(decision), entered=at, attempt=attempt)


def asks(house: FragileHouse, decision: Decision, wait: Wait) -> None:
    ask(house.fresh_repository(), house.workflow, house.timeouts, decision.at, wait)


def approved(house: FragileHouse, session: str) -> str:
    house.resolve(session, house.head(session).interventions[0], "approve")
    house.run()
    return house.head(session).state


@pytest.mark.parametrize(("seconds", "attempt"), [(1500, 0), (0, 1)])
def test_a_slow_worker_of_an_earlier_wait_does_not_take_the_live_one_away(seconds: int, attempt: int) -> None:
    house, session, decision = wait_decision()
    first = entered(house, decision)
    house.workflow.expire(first.token)
    second = entered(house, decision, seconds, attempt)
    asks(house, decision, second)
    before = house.log.latest(TENANT, session)
    asks(house, decision, first)
    assert house.log.latest(TENANT, session) == before
    assert approved(house, session) == "completed"


def test_a_worker_that_lost_to_a_wait_the_engine_has_left_has_the_engine_ask_again() -> None:
    """Two clocks of the engine may differ: whichever token is lost, nobody is left waiting."""
    house, session, decision = wait_decision()
    left = entered(house, decision, seconds=1)
    asks(house, decision, left)
    house.workflow.expire(left.token)
    live = entered(house, decision)
    asks(house, decision, live)
    again = house.workflow.take()
    assert again is not None
    assert again.next == "ask"
    asks(house, again, entered(house, again, seconds=2))
    assert approved(house, session) == "completed"


class Overtakes(DynamoLog):
    """While a wait is being stored its execution is lost, and the next generation waits already."""

    def __init__(self, house: FragileHouse, lost: Decision) -> None:
        vars(self).update(vars(house.log))
        self.house, self.lost, self.real = house, lost, house.log

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        if self.house.log is not self.real:
            self.house.log = self.real
            self.house.workflow.close(self.lost)
            session = self.lost.at.session_id
            assert recover(self.house.fresh_repository(), self.house.workflow, TENANT, session) == "restarted"
            self.house.run()
        super().append(commit, extra_items)


def test_an_execution_that_is_overtaken_while_it_asks_ends_and_leaves_the_next_one_s_wait() -> None:
    house, session, decision = wait_decision()
    wait = entered(house, decision)
    house.log = Overtakes(house, decision)
    asks(house, decision, wait)
    kept = house.head(session).wait
    assert kept is not None
    assert kept.token != wait.token
    assert approved(house, session) == "completed"
