"""Old and repeated events of the engine have no effect (docs/design/log.md 7)."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from acta.engine.errors import FinalError
from acta.engine.log.commit import Decision
from acta.engine.log.head import Wait
from acta.engine.people.wait import ask
from acta.engine.recovery.handle_error import handle_error
from acta.engine.recovery.recover import roll_over
from acta.engine.tools.execute import abandon_call, run_call
from acta.engine.tools.tool import Effect
from acta.engine.turn.turn import take_turn
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step
from tests.runs.engines import Engines, Notes, clean


def numbered(house: House, session_id: str) -> int:
    commit = house.log.latest(TENANT, session_id)
    assert commit is not None
    return commit.number


def repeat(house: House, decision: Decision) -> None:
    """Everything the engine can send a Lambda where it stood once."""
    at = decision.at
    house.repository = house.fresh_repository()
    wait = Wait(token="an old token", entered=house.clock.now())
    events: list[Callable[[], object]] = [
        *steps(house, decision),
        lambda: ask(house.fresh_repository(), house.workflow, house.timeouts, at, wait),
        lambda: handle_error(house.app(), at, "Timeout"),
        lambda: roll_over(house.fresh_repository(), house.workflow, at),
    ]
    for send in events:
        with suppress(FinalError):
            send()


def steps(house: House, decision: Decision) -> list[Callable[[], object]]:
    at, ids = decision.at, decision.calls or ()
    return [
        partial(take_turn, house.worker, "plan", at, 3, 60),
        partial(take_turn, house.worker, "think", at, 3, 60),
        *(partial(run_call, house.runtime, at, call_id, 3, 60) for call_id in ids),
        *(partial(abandon_call, house.runtime, at, call_id, "Timeout") for call_id in ids),
    ]


def sent(house: House, decision: Decision) -> list[Callable[[], object]]:
    """What the engine sent for it, and nothing else: an act stands at the turn that thinks next."""
    made, thought, *calls = steps(house, decision)
    return {"plan": [made], "think": [thought], "act": calls}.get(decision.next, [])


def finished(effect: Effect = "once") -> tuple[House, Notes, str]:
    engines = Engines(effect, lambda waiting: waiting[0])
    house = engines.house
    house.runtime = house.runtime._replace(
        registry=house.registry, toolbox=engines.notes.hand(lambda: None, house.runtime.toolbox)
    )
    house.go_on(engines.first)
    return house, engines.notes, engines.session


def test_every_event_of_a_finished_run_repeated_leaves_its_log_as_it_is() -> None:
    house, notes, session = finished()
    assert house.head(session).state == "completed"
    before, effects = numbered(house, session), list(notes.effects)
    for decision in list(house.decisions):
        repeat(house, decision)
        assert numbered(house, session) == before, decision.next
    assert notes.effects == effects
    assert house.workflow.take() is None


def test_every_event_of_an_overtaken_run_repeated_leaves_the_new_one_as_it_is() -> None:
    house, notes, session = finished()
    old = list(house.decisions)
    house.say(session, "And again.")
    before, effects = numbered(house, session), list(notes.effects)
    for decision in old:
        repeat(house, decision)
        assert numbered(house, session) == before, decision.next
    assert notes.effects == effects


def test_every_step_and_call_of_earlier_turns_repeated_leaves_a_running_session_as_it_is() -> None:
    engines = Engines("once", lambda waiting: waiting[0])
    house, session = engines.house, engines.session
    house.runtime = house.runtime._replace(
        registry=house.registry, toolbox=engines.notes.hand(lambda: None, house.runtime.toolbox)
    )
    house.workflow.executions.clear()
    house.workflow.start(engines.first)
    earlier: list[Decision] = []

    def repeats(current: Decision) -> None:
        before = numbered(house, session)
        for decision in earlier:
            for send in sent(house, decision):
                with suppress(FinalError):
                    send()
                assert numbered(house, session) == before, (decision.next, current.next)
        earlier.append(current)

    house.run(repeats)
    assert house.head(session).state == "completed"
    assert sorted(map(str, engines.told)) == sorted(map(str, clean()))
    assert len(engines.notes.effects) == 3


def test_an_execution_left_behind_in_an_earlier_turn_does_not_make_the_session_wait() -> None:
    """Somebody started a second execution of the same generation; it failed, the session did not."""
    turns = [
        plans("write"),
        says("", call("list_files")),
        says("", step(1, "completed", "ok")),
        completes("Done."),
    ]
    house = House(ScriptedModel(turns))
    session = house.start("Write").session_id
    behind = house.workflow.take()
    assert behind is not None
    planned = take_turn(house.worker, "plan", behind.at, 0, 60).decision
    thought = take_turn(house.worker, "think", planned.at, 0, 60).decision

    before = numbered(house, session)
    assert handle_error(house.app(), behind.at, "Timeout").at == thought.at
    assert numbered(house, session) == before
    assert house.head(session).state == "waiting_for_tool"
    house.go_on(thought)

    assert house.head(session).state == "completed"


def test_a_text_taken_away_behind_acta_s_back_ends_the_run_with_a_code() -> None:
    long = "A line of some length.\n" * 1_000
    house = House(ScriptedModel([plans("write"), says(long, call("list_files")), completes("Done.")]))
    session = house.start("Write").session_id

    def take_away(decision: Decision) -> None:
        if decision.next == "act":
            house.blobs.delete_all(TENANT, session)
            house.repository = house.fresh_repository()

    house.run(take_away)

    head = house.head(session)
    assert head.error is not None
    assert (head.state, head.error.code) == ("failed", "STEP_FAILED")
    assert "PoisonedSession" in head.error.message
