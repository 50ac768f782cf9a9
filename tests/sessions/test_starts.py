"""No effect starts after a pause, a cancel or a takeover, whichever attempt it is (docs/design/log.md 30)."""

from collections.abc import Callable

import pytest

from acta.engine.errors import Fenced
from acta.engine.sessions import control
from acta.engine.tools.execute import abandon_call
from acta.engine.tools.registry import BuiltinRegistry
from acta.engine.tools.tool import Effect
from tests.in_process.house import TENANT, House
from tests.runs.started import about_to_act, again, died, meanwhile, results, taken_over


@pytest.mark.parametrize("dies", ["before", "after"])
@pytest.mark.parametrize("steer", [House.pause, House.cancel])
def test_a_call_that_died_is_not_started_again_after_a_pause_or_a_cancel(
    steer: Callable[[House, str], object], dies: str
) -> None:
    house, sink, session, act = died("idempotent", dies)
    before = list(sink.effects)
    steer(house, session)
    again(house, act)
    assert sink.effects == before


@pytest.mark.parametrize("effect", ["idempotent", "once"])
def test_a_call_that_died_is_not_started_again_by_an_overtaken_execution(effect: Effect) -> None:
    house, sink, session, act = died(effect)
    taken_over(house, act)
    before = house.log.latest(TENANT, session)
    with pytest.raises(Fenced):
        again(house, act)
    assert (house.log.latest(TENANT, session), len(sink.effects)) == (before, 1)


def test_a_call_whose_retry_met_a_pause_runs_again_once_the_session_is_resumed() -> None:
    house, sink, session, act = died("idempotent")
    house.pause(session)
    house.go_on(act)
    house.resume(session)
    house.run()
    assert house.head(session).state == "completed"
    assert len(sink.effects) == 2
    assert len(set(sink.effects)) == 1
    assert results(house, session) == ["Refunded."]


def test_a_first_attempt_that_still_runs_is_reported_after_a_cancel_that_stopped_the_second() -> None:
    house, sink, session, act = about_to_act("idempotent")
    in_flight: list[str] = []

    def cancelled_meanwhile() -> None:
        head = control.cancel(house.fresh_repository(), house.workflow, house.requester, session)
        in_flight.extend(control.in_flight(head))
        again(house, act)

    meanwhile(house, sink, cancelled_meanwhile)
    again(house, act)
    assert (tuple(in_flight), len(sink.effects)) == (act.calls, 1)
    assert results(house, session) == ["Refunded."]
    assert house.head(session).state == "cancelled"


def test_an_old_event_that_a_call_was_lost_does_not_settle_the_next_generations_call() -> None:
    house, sink, session, act = about_to_act("idempotent")
    taken_over(house, act)
    before = house.log.latest(TENANT, session)
    (call_id,) = act.calls or ()
    with pytest.raises(Fenced):
        abandon_call(house.runtime, act.at, call_id, "States.Timeout")
    assert house.log.latest(TENANT, session) == before
    house.run()
    assert (house.head(session).state, len(sink.effects)) == ("completed", 1)


def test_an_old_event_of_a_call_that_runs_in_the_next_generation_opens_no_doubt() -> None:
    house, sink, session, act = about_to_act("once")
    taken_over(house, act)
    meanwhile(house, sink, lambda: quoted(lambda: again(house, act)))
    house.run()
    assert (house.head(session).state, len(sink.effects)) == ("completed", 1)


def quoted(act: Callable[[], object]) -> None:
    with pytest.raises(Fenced):
        act()


def test_a_read_that_ends_after_another_generation_took_over_writes_nothing() -> None:
    house, sink, session, act = about_to_act("read")
    meanwhile(house, sink, lambda: taken_over(house, act))
    with pytest.raises(Fenced):
        again(house, act)
    house.run()
    assert house.head(session).state == "completed"
    assert results(house, session) == ["Refunded."]


@pytest.mark.parametrize("lost", [False, True])
def test_a_started_call_whose_tool_was_deleted_is_asked_about(lost: bool) -> None:
    house, _, session, act = died("once")
    house.runtime = house.runtime._replace(registry=BuiltinRegistry())
    (call_id,) = act.calls or ()
    if lost:
        abandon_call(house.runtime, act.at, call_id, "States.Timeout")
    else:
        again(house, act)
    house.go_on(act)
    (doubt,) = house.head(session).interventions
    assert (doubt.type, results(house, session)) == ("error_recovery", [])
    house.resolve(session, doubt, "record", result="Refunded.")
    house.run()
    assert house.head(session).state == "completed"
