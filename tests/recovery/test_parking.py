"""What waits for long has no execution meanwhile, and goes on as if it had one (docs/design/engine.md 24, ADR 104)."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from acta.engine.errors import Fenced, ProviderOverloaded
from acta.engine.log.commit import Decision
from acta.engine.log.store import live_shard
from acta.engine.recovery.handle_error import park
from acta.engine.recovery.store import RoundCounts
from acta.engine.turn.engine import LEAD, LEAST, position
from tests.in_process.house import TENANT
from tests.in_process.scripted import Turn, completes, plans, says, step
from tests.runs.fragile import ASKS, SCRIPT, WARN, Crash, FragileHouse, files, generation

PARK_AFTER = 600
APPROVAL = 1_800
"""Seconds that an approval waits."""
AWAY = [plans("write"), says("", step(1, "completed", "ok")), completes("Done.")]


def asking(script: Sequence[Turn] = SCRIPT, **settings: Any) -> tuple[FragileHouse, str]:
    """A session that asks a person, in an execution."""
    house = FragileHouse(script, **settings)
    session = house.start("Tidy up").session_id
    house.run()
    return house, session


def waited_for_long(house: FragileHouse, session: str) -> None:
    """The engine's time for a wait is over, and nothing is due."""
    head = house.head(session)
    assert head.wait is not None
    house.clock.advance(PARK_AFTER)
    house.workflow.expire(head.wait.token)
    house.parks(position(head))


def parked(script: Sequence[Turn] = SCRIPT, **settings: Any) -> tuple[FragileHouse, str]:
    house, session = asking(script, **settings)
    waited_for_long(house, session)
    return house, session


def away() -> tuple[FragileHouse, str]:
    """A session whose provider has asked it to come again in two hours."""
    busy = ProviderOverloaded("busy", retry_after=7_200)
    house = FragileHouse([AWAY[0], busy, *AWAY[1:]], outage_longest_pause_seconds=86_400)
    house.park_after = PARK_AFTER
    session = house.start("Write").session_id
    house.run()
    return house, session


def running(house: FragileHouse) -> list[str]:
    return list(house.workflow.running())


def seen(house: FragileHouse, session: str) -> list[str]:
    return [each.event.type for each in house.poll(session).events]


def test_a_session_that_waits_for_people_for_long_has_no_execution_and_shows_nothing_of_it() -> None:
    house, session = asking()
    before = seen(house, session), house.head(session).state

    waited_for_long(house, session)

    assert running(house) == []
    assert (seen(house, session), house.head(session).state) == before
    assert house.recover() == house.recover() == RoundCounts()  # a scan does not even look at it


@pytest.mark.parametrize("option", ["approve", "reject"])
def test_a_decision_starts_the_next_generation_at_once(option: str) -> None:
    house, session = parked()
    (asked,) = house.head(session).interventions

    house.resolve(session, asked, option)
    house.run()

    head = house.head(session)
    assert (head.state, generation(head), running(house)) == ("completed", 2, [])
    assert files(house) == ([] if option == "approve" else ["a.md"])


def test_a_decision_whose_worker_died_before_it_started_the_execution_is_found() -> None:
    house, session = parked()
    (asked,) = house.head(session).interventions
    house.mortal.dies_before = "start"
    with pytest.raises(Crash):
        house.resolve(session, asked, "approve")

    assert house.recover() == RoundCounts(looked=1, started=1)
    house.run()
    assert (house.head(session).state, files(house)) == ("completed", [])


def test_it_has_an_execution_again_before_the_warning_and_then_until_it_expires() -> None:
    house, session = parked()
    left = APPROVAL - WARN - PARK_AFTER - LEAD.total_seconds()

    house.clock.advance(left - 1)
    assert house.sweep() == RoundCounts()
    house.clock.advance(2)
    assert house.sweep() == RoundCounts(looked=1, started=1)
    house.run()
    assert house.sweep() == RoundCounts()
    house.clock.advance(LEAD.total_seconds())
    house.time_out(session)
    assert [one.warned for one in house.head(session).interventions] == [True]
    house.clock.advance(WARN)
    house.time_out(session)
    house.run()

    assert house.head(session).state == "completed"
    assert seen(house, session).count("intervention.expired") == 1
    assert files(house) == ["a.md"]


@pytest.mark.parametrize("every", [60, 61, 75])
def test_no_deadline_of_a_parked_session_is_reached_without_an_execution(every: int) -> None:
    """Whenever the scans come, a minute and a bit apart."""
    house, session = parked()
    warns_at = house.head(session).interventions[0].timeout_at
    assert warns_at is not None
    warns_at -= timedelta(seconds=WARN)

    while not running(house):
        assert house.clock.now() < warns_at
        house.clock.advance(every)
        house.sweep()
    assert house.clock.now() <= warns_at


def test_a_question_without_a_deadline_waits_for_years_and_is_looked_at_by_nobody() -> None:
    house, session = parked([*ASKS, says("", step(1, "completed", "ok")), completes("That one.")])

    house.clock.advance(3 * 365 * 86_400)
    assert house.sweep() == RoundCounts()
    assert house.sweep(everything=True) == RoundCounts(looked=1)
    assert running(house) == []

    house.say(session, "The blue one")
    house.run()
    head = house.head(session)
    assert (head.state, generation(head)) == ("completed", 2)


def test_a_parked_session_that_is_cancelled_or_deleted_starts_nothing() -> None:
    house, session = parked()
    house.cancel(session)
    assert (house.head(session).state, running(house), house.workflow.take()) == ("cancelled", [], None)
    assert house.sweep(everything=True) == RoundCounts()


def test_a_paused_session_is_parked_and_goes_on_when_it_is_resumed() -> None:
    house = FragileHouse(AWAY)
    session = house.start("Write").session_id
    house.run_until("think")
    house.pause(session)
    house.go_on(house.decisions[-1])
    waited_for_long(house, session)
    assert running(house) == []

    house.resume(session)
    house.run()
    assert house.head(session).state == "completed"


def test_of_two_questions_the_last_decision_starts_it() -> None:
    house, session = parked()
    house.pause(session)
    asked, paused = sorted(house.head(session).interventions, key=lambda one: one.type)
    assert asked.type == "approval_required"

    house.resolve(session, asked, "approve")
    assert (running(house), house.workflow.take()) == ([], None)
    house.clock.advance(3_600)
    assert house.sweep() == RoundCounts()
    house.resolve(session, paused, "continue")
    house.run()
    assert house.head(session).state == "completed"


def test_a_repeated_park_ends_the_execution_again_and_a_late_one_is_fenced() -> None:
    house, session = asking()
    at = position(house.head(session))
    house.clock.advance(PARK_AFTER)
    first = park(house.app(), at)
    numbers = house.fresh_repository().newest(TENANT, session).number

    assert park(house.app(), at) == first == Decision(next="done", at=at)
    assert house.fresh_repository().newest(TENANT, session).number == numbers
    (asked,) = house.head(session).interventions
    house.resolve(session, asked, "approve")
    house.run()
    with pytest.raises(Fenced):
        park(house.app(), at.model_copy(update={"turn": 9}))


def test_a_decision_that_comes_first_is_gone_on_with() -> None:
    house, session = asking()
    head = house.head(session)
    assert head.wait is not None
    house.workflow.expire(head.wait.token)
    house.resolve(session, head.interventions[0], "approve")

    house.parks(position(head))
    house.run()
    head = house.head(session)
    assert (head.state, generation(head)) == ("completed", 1)


def test_what_goes_on_soon_by_itself_keeps_its_execution() -> None:
    house, session = asking()
    head = house.head(session)
    assert head.wait is not None
    house.clock.advance(APPROVAL - WARN - LEAST.total_seconds() + 1)
    house.workflow.expire(head.wait.token)

    house.parks(position(head))
    assert house.head(session).wait is not None
    assert running(house) == [session]


def test_a_long_wait_for_the_world_has_no_execution_and_is_over_in_time() -> None:
    house, session = away()
    head = house.head(session)
    assert head.delay is not None
    assert head.delay.until is not None
    assert (head.run is not None and head.run.parked, running(house)) == (True, [])
    (listed,) = house.index.live("active", live_shard(session), before=None, limit=9, cursor=None).sessions
    assert listed.at == head.delay.until

    house.clock.advance((head.delay.until - house.clock.now() - LEAD).total_seconds() - 1)
    assert house.sweep() == RoundCounts()
    house.clock.advance(2)
    assert house.sweep() == RoundCounts(looked=1, started=1)
    assert running(house) == [session]


def test_resume_ends_a_parked_wait_for_the_world() -> None:
    house, session = away()
    assert running(house) == []
    house.resume(session)
    house.run()
    assert house.head(session).state == "completed"
