"""Exactly one outcome, whoever decides when, and what is recorded is what ran (docs/design/people.md)."""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from acta.engine.errors import CallerError, Conflict
from acta.engine.log.commit import Decision
from acta.engine.log.head import Wait
from acta.engine.people.intervention import Intervention
from acta.engine.people.requester import Requester
from acta.engine.people.resolve import Resolution, resolve
from acta.engine.people.wait import ask
from acta.engine.turn.engine import Workflow
from tests.in_process.house import TENANT, House
from tests.people.policies import files, recorded, waiting
from tests.tools.test_effect_ledger import Crash

RecoveryResult = Intervention | CallerError


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    """What each of them came to, all begun at the same moment."""
    barrier, outcomes = threading.Barrier(len(acts)), [None] * len(acts)

    def run(number: int, act: Callable[[], Any]) -> None:
        barrier.wait()
        try:
            outcomes[number] = act()
        except CallerError as refused:
            outcomes[number] = refused  # type: ignore[call-overload]

    threads = [threading.Thread(target=run, args=each) for each in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def deciding(
    house: House, session: str, one: Intervention, options: Sequence[str]
) -> list[Callable[[], Any]]:
    def act(option: str, number: int) -> Callable[[], Any]:
        return lambda: resolve(
            house.app(),
            Requester(TENANT, f"person-{number}"),
            session,
            one.intervention_id,
            Resolution(option, None, None),
        )[1]

    return [act(option, number) for number, option in enumerate(options)]


def the_one(house: House, session: str, outcomes: list[Any], one: Intervention) -> Intervention:
    """The decision that counted; every other one was told it, and the log has it once."""
    taken = [each for each in outcomes if isinstance(each, Intervention)]
    assert len(taken) <= 1
    kept = recorded(house, one)
    for each in outcomes:
        if isinstance(each, Intervention):
            assert each == kept
        else:
            assert isinstance(each, Conflict)
            assert each.details is not None
            assert (each.details["state"], each.details["resolution"]) == ([kept.state], [kept.resolution])
    closing = [
        seen.event
        for seen in house.poll(session).events
        if seen.event.type in ("intervention.resolved", "intervention.expired")
    ]
    assert [(event.data["option"], event.data.get("resolved_by")) for event in closing] == [
        (kept.resolution, kept.resolved_by)
    ]
    return kept


def ran_as(house: House, session: str, kept: Intervention) -> bool:
    """Whether the file is gone exactly where it was approved, and the run ended."""
    house.run()
    assert house.head(session).state == "completed"
    return ("a.txt" in files(house)) == (kept.resolution != "approve")


def test_of_twenty_approvals_at_once_one_counts_and_the_call_runs_once() -> None:
    house, session, one = waiting("approval_required")
    outcomes = at_once(*deciding(house, session, one, ["approve"] * 20))
    kept = the_one(house, session, outcomes, one)
    assert (kept.resolution, len([o for o in outcomes if isinstance(o, Conflict)])) == ("approve", 19)
    assert ran_as(house, session, kept)
    started = [seen for seen in house.poll(session).events if seen.event.type == "tool.started"]
    assert len(started) == 1


def test_an_approval_against_a_rejection_at_once_ends_as_one_of_them() -> None:
    for _ in range(5):
        house, session, one = waiting("approval_required")
        outcomes = at_once(*deciding(house, session, one, ["approve", "reject"] * 5))
        assert ran_as(house, session, the_one(house, session, outcomes, one))


def time_out_at_once(house: House, session: str) -> Callable[[], Any]:
    """The engine wakes up to the expiry, while somebody decides."""
    at = house.decisions[-1].at
    wait = Wait(token=house.workflow.wait(Decision(next="ask", at=at)), entered=house.clock.now())
    return lambda: ask(house.fresh_repository(), house.workflow, house.timeouts, at, wait)


@pytest.mark.parametrize("late", [-30, 0, 30])
def test_a_decision_at_the_timeout_counts_before_it_and_not_from_it_on(late: int) -> None:
    for _ in range(3):
        house, session, one = waiting("approval_required", timeout_seconds=60)
        house.clock.advance(60 + late)
        waking = time_out_at_once(house, session)
        outcomes = at_once(waking, *deciding(house, session, one, ["approve"] * 3))
        kept = the_one(house, session, outcomes[1:], one)
        assert (kept.state, kept.resolution) == (
            ("resolved", "approve") if late < 0 else ("expired", "reject")
        )
        assert ran_as(house, session, kept)


class Dies:
    """The Lambda dies when it is about to wake the engine."""

    def __init__(self, workflow: Workflow) -> None:
        self._workflow = workflow

    def __getattr__(self, name: str) -> object:
        return getattr(self._workflow, name)

    def wake(self, token: str, decision: Decision) -> None:
        raise Crash


def test_a_decision_whose_lambda_died_before_it_woke_the_engine_is_kept_and_the_repeat_wakes_it() -> None:
    house, session, one = waiting("approval_required")
    chosen = Resolution("approve", None, None)
    dying = house.app(workflow=Dies(house.workflow))
    with pytest.raises(Crash):
        resolve(dying, house.requester, session, one.intervention_id, chosen)
    house.run()
    assert (house.head(session).state, files(house)) == ("waiting_for_tool", ["a.txt", "b.txt"])
    with pytest.raises(Conflict) as again:
        house.resolve(session, one, "reject")
    assert again.value.details == {
        "state": ["resolved"],
        "resolution": ["approve"],
        "resolved_by": ["ann"],
    }
    assert ran_as(house, session, recorded(house, one))


def test_a_cancel_against_an_approval_leaves_no_decision_that_runs_on_a_cancelled_session() -> None:
    for _ in range(5):
        house, session, one = waiting("approval_required")
        at_once(partial(house.cancel, session), *deciding(house, session, one, ["approve"] * 3))
        house.run()
        assert house.head(session).state == "cancelled"
        assert recorded(house, one).state in ("resolved", "withdrawn")
        assert files(house) == ["a.txt", "b.txt"]
