"""The next generation takes over in the midst of a wait, a pause, a cancel and a message
(docs/design/engine.md 30)."""

from collections.abc import Callable

from acta.engine.log.commit import Decision
from acta.engine.models.model import ModelReply
from acta.engine.turn.engine import EVENTS_PER_ASK, EVENTS_PER_CALL, EVENTS_PER_TURN
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step

READ, DELETE = call("list_files"), call("delete_file", path="x.md")
FULL = 3 * EVENTS_PER_TURN + EVENTS_PER_CALL
"""Reached by a plan, a turn with a call, and the turn behind it."""


def ready(*third: ModelReply) -> tuple[House, str]:
    """A session whose execution is full after its third turn."""
    script = [plans("look"), says("", READ), *third, says("", step(1, "completed", "ok")), completes("Done.")]
    house = House(ScriptedModel(script), roll_over_events=FULL)
    house.files.write(TENANT, "x.md", b"text")
    return house, house.start("Tidy up").session_id


def at_roll_over(act: Callable[[], object]) -> Callable[[Decision], object]:
    """Once, between the commit that decided it and the state that does it."""
    left = [act]
    return lambda decision: left.pop()() if decision.next == "roll_over" and left else None


def paths(house: House) -> list[str]:
    return [one.path for one in house.files.list(TENANT, "", limit=10).files]


def generation(house: House, session: str) -> int:
    run = house.head(session).run
    assert run is not None
    return run.generation


def test_a_wait_for_a_person_goes_on_in_the_next_generation() -> None:
    house, session = ready(says("", DELETE))
    house.run()

    (asked,) = house.head(session).interventions
    assert generation(house, session) == 2
    assert house.head(session).wait is not None, "it waits there, on a token of its own"
    house.resolve(session, asked, "approve")
    house.run()

    assert house.head(session).state == "completed"
    assert paths(house) == []


def test_a_pause_while_it_rolls_over_is_kept_and_lifted_there() -> None:
    house, session = ready(says("", call("create_file", path="y.md", content="y")))
    house.run(at_roll_over(lambda: house.pause(session)))

    head = house.head(session)
    assert (head.state, head.state_reason, generation(house, session)) == ("waiting_for_user", "paused", 2)
    assert paths(house) == ["x.md"], "a paused session starts no call"
    house.resume(session)
    house.run()

    assert house.head(session).state == "completed"
    assert house.head(session).usage.tool_calls == 2


def test_a_cancel_while_it_rolls_over_starts_nothing_any_more() -> None:
    house, session = ready(says("", call("create_file", path="y.md", content="y")))
    house.run(at_roll_over(lambda: house.cancel(session)))

    assert (house.head(session).state, generation(house, session)) == ("cancelled", 1)
    assert len(house.workflow.executions) == 1
    assert paths(house) == ["x.md"]


def test_a_message_while_it_rolls_over_is_heard_once() -> None:
    house, session = ready(says("", READ))
    model = house.model
    assert isinstance(model, ScriptedModel)
    house.run(at_roll_over(lambda: house.say(session, "Be quick.")))

    assert house.head(session).state == "completed"
    heard = [e for e in model.requests[-1].entries if e.kind == "user" and e.content.loaded == "Be quick."]
    assert len(heard) == 1


def test_waits_for_people_fill_the_history_too() -> None:
    house, session = ready(says("", DELETE))
    house.run()
    run = house.head(session).run
    assert run is not None
    waited = run.events
    house.time_out(session)
    run = house.head(session).run
    assert run is not None
    assert run.events == waited + EVENTS_PER_ASK
