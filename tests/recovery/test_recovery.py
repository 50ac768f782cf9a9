"""Sessions whose execution was lost, or never began, end as if nothing had happened (docs/design/recovery.md 18)."""

import pytest

from acta.engine.recovery.store import RoundCounts
from tests.in_process.house import TENANT
from tests.in_process.scripted import call, completes, plans, says, step
from tests.runs.fragile import ASKS, REFUND, SCRIPT, Crash, FragileHouse, generation, outcome


def test_a_run_whose_starter_died_before_the_execution_was_started_is_started() -> None:
    house = FragileHouse(SCRIPT)
    house.mortal.dies_before = "start"
    with pytest.raises(Crash):
        house.start("Tidy up")
    (entry,) = house.index.sessions(TENANT, states=(), agent_id=None, limit=2, cursor=None).entries

    assert house.sweep() == RoundCounts()  # the starter may be at it still
    assert house.recover() == RoundCounts(looked=1, started=1)
    house.run()

    head = house.head(entry.session_id)
    assert (head.state, generation(head)) == ("waiting_for_user", 1)


@pytest.mark.parametrize("state", ["plan", "think", "act", "done"])
def test_a_session_whose_execution_was_stopped_ends_as_an_undisturbed_one(state: str) -> None:
    script = [plans("write"), says("", call("create_file", path="b.md", content="y")),
              says("", step(1, "completed", "ok")), completes("Written.")]  # fmt: skip
    clean, house = FragileHouse(script), FragileHouse(script)
    undisturbed = clean.start("Write").session_id
    clean.run()
    session = house.start("Write").session_id
    house.run_until(state)
    house.lose(session)

    tally = house.recover()
    house.run()

    assert outcome(house, session) == outcome(clean, undisturbed)
    assert tally == (RoundCounts() if state == "done" else RoundCounts(looked=1, restarted=1))


def test_a_call_of_the_kind_once_that_had_started_is_asked_about_and_not_repeated() -> None:
    house = FragileHouse(REFUND, "once").with_refunds()
    session = house.start("Pay back order 7").session_id
    with pytest.raises(Crash):
        house.run()
    house.lose(session)

    assert house.recover() == RoundCounts(looked=1, restarted=1)
    house.run()

    (asked,) = house.head(session).interventions
    assert asked.type == "error_recovery"
    assert len(house.sink.effects) == 1
    house.resolve(session, asked, "record", result="Refunded.")
    house.run()
    assert house.head(session).state == "completed"
    assert len(house.sink.effects) == 1


def test_an_idempotent_call_that_had_started_is_repeated_under_its_key() -> None:
    house = FragileHouse(REFUND).with_refunds()
    session = house.start("Pay back order 7").session_id
    with pytest.raises(Crash):
        house.run()
    house.lose(session)

    house.recover()
    house.run()

    assert house.head(session).state == "completed"
    assert len(house.sink.effects) == 2
    assert len(set(house.sink.effects)) == 1


def test_a_decision_whose_wake_up_was_never_sent_goes_on() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    house.run()
    (asked,) = house.head(session).interventions
    house.mortal.dies_before = "wake"
    with pytest.raises(Crash):
        house.resolve(session, asked, "approve")
    assert house.sweep() == RoundCounts()

    assert house.recover() == RoundCounts(looked=1, woken=1)
    house.run()

    head = house.head(session)
    assert (head.state, generation(head)) == ("completed", 1)


def test_a_message_whose_sender_died_before_the_wake_up_is_answered_once() -> None:
    house = FragileHouse([*ASKS, says("", step(1, "completed", "ok")), completes("That one.")])
    session = house.start("Ask").session_id
    house.run()
    house.mortal.dies_before = "wake"
    with pytest.raises(Crash):
        house.say(session, "The blue one")

    assert house.recover() == RoundCounts(looked=1, woken=1)
    house.run()

    assert house.head(session).state == "completed"
    types = [seen.event.type for seen in house.poll(session).events]
    assert types.count("message.user") == 2
    assert house.head(session).usage.llm_calls == 4
