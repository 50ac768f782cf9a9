"""A call has one result, however late its worker comes to its end (docs/design/tools.md 14)."""

import pytest

from acta.engine.log.commit import Commit, Decision
from acta.engine.sessions import control
from acta.engine.turn.turn import take_turn
from tests.in_process.house import TENANT, House
from tests.in_process.lockstep import Lockstep
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step
from tests.runs.started import about_to_act, again, died, meanwhile, results, until_act
from tests.tools.test_effect_ledger import RefundRegistry, Sink


@pytest.mark.parametrize(
    ("option", "told"), [("record", "A person says: paid."), ("skip", "Error: it is unknown")]
)
def test_a_call_that_ends_after_a_person_answered_for_it_adds_no_second_result(
    option: str, told: str
) -> None:
    house, sink, session, act = about_to_act("once")

    def answered_meanwhile() -> None:
        again(house, act)  # finds it started
        given = {"result": "A person says: paid."} if option == "record" else {}
        house.resolve(session, house.head(session).interventions[0], option, **given)

    meanwhile(house, sink, answered_meanwhile)
    house.go_on(act)
    assert house.head(session).state == "completed"
    (result,) = results(house, session)
    assert result.startswith(told)
    assert [seen.event.type for seen in house.poll(session).events].count("tool.finished") == 1


@pytest.mark.parametrize(
    ("order", "told"), [((0, 1, 0, 1), "Refunded."), ((0, 1, 1, 0), "Error: this call was not")]
)
def test_a_call_that_ends_while_the_next_run_plans_has_one_result(order: tuple[int, ...], told: str) -> None:
    turns = [
        plans("pay"),
        says("", call("refund", order=7)),
        plans("again"),
        says("", step(1, "completed", "ok")),
    ]
    house, sink, following = House(ScriptedModel([*turns, completes("Done.")])), Sink(), iter(order)
    house.registry = RefundRegistry("idempotent")
    house.runtime = house.runtime._replace(registry=house.registry, toolbox=sink)
    lockstep = Lockstep(lambda waiting: next(following))
    session = house.start("Pay").session_id
    until_act(house)
    act, planned = house.decisions[-1], list[Decision]()

    def the_next_run() -> None:
        house.cancel(session)
        house.say(session, "Again")
        second = house.workflow.take()
        assert second is not None
        assert isinstance(house.model, ScriptedModel)
        house.model.meanwhile = lambda: lockstep.pause(1)
        planned.append(take_turn(house.worker, "plan", second.at, 0, 60).decision)
        house.model.meanwhile = lambda: None

    meanwhile(house, sink, lambda: lockstep.pause(0))
    lockstep.run([lambda: again(house, act), the_next_run])
    house.go_on(planned[0])

    assert house.head(session).state == "completed"
    (result,) = results(house, session)
    assert result.startswith(told)


def test_a_call_that_ends_after_its_run_was_cancelled_is_recorded_and_moves_nothing() -> None:
    turns = [plans("pay"), says("", step(1, "in_progress"), call("refund", order=7))]
    house, sink = House(ScriptedModel(turns)), Sink()
    house.registry = RefundRegistry("idempotent")
    house.runtime = house.runtime._replace(registry=house.registry, toolbox=sink)
    session = house.start("Pay").session_id
    until_act(house)
    meanwhile(house, sink, lambda: house.cancel(session))
    again(house, house.decisions[-1])

    cancelled = next(c.head for c in kept(house, session) if c.key.startswith("cancel/"))
    head = house.head(session)
    assert results(house, session) == ["Refunded."]
    assert head.usage.tool_calls == cancelled.usage.tool_calls + 1
    assert (head.state, head.plan, head.run) == ("cancelled", cancelled.plan, cancelled.run)
    assert [call.state for call in head.calls] == ["done"]
    assert [event.type for event in kept(house, session)[-1].events] == ["tool.finished"]


def kept(house: House, session: str) -> tuple[Commit, ...]:
    return house.log.read(TENANT, session, 1).commits


def test_a_cancel_while_a_call_is_in_doubt_names_it_as_in_flight() -> None:
    house, _, session, act = died("once")
    again(house, act)
    head = control.cancel(house.fresh_repository(), house.workflow, house.requester, session)
    assert control.in_flight(head) == act.calls
