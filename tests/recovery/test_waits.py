"""People are waited for, and heard, whatever becomes of the execution that waits (docs/design/engine.md 9,
people.md)."""

import pytest

from acta.engine.log.commit import Commit, Decision
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.store import NO_ITEMS, TransactionItems, live_shard
from acta.engine.models.model import TokenUsage
from acta.engine.recovery.recover import restart
from acta.engine.recovery.store import RoundCounts
from acta.engine.turn.engine import position
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import call, completes, plans, says, step
from tests.runs.fragile import ASKS, SCRIPT, WARN, FragileHouse, files, generation


def test_a_wait_whose_execution_was_lost_still_warns_and_expires() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    house.run()
    house.lose(session)
    assert house.recover() == RoundCounts()  # there is time until the warning

    house.clock.advance(1_800 - WARN)
    assert house.sweep() == RoundCounts(looked=1, restarted=1)
    house.run()
    (asked,) = house.head(session).interventions
    assert asked.warned

    house.lose(session)
    house.clock.advance(WARN)
    assert house.sweep() == RoundCounts(looked=1, restarted=1)
    house.run()
    events = [seen.event.type for seen in house.poll(session).events]
    assert events.count("intervention.expired") == events.count("intervention.warned") == 1
    assert house.head(session).state == "completed"


@pytest.mark.parametrize("option", ["approve", "reject"])
def test_a_decision_that_finds_its_execution_gone_starts_the_next_at_once(option: str) -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    house.run()
    (asked,) = house.head(session).interventions
    house.lose(session)

    house.resolve(session, asked, option)
    house.run()

    head = house.head(session)
    assert (head.state, generation(head)) == ("completed", 2)
    assert files(house) == ([] if option == "approve" else ["a.md"])


def test_a_decision_in_the_moment_a_wait_is_entered_again_starts_nothing() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    house.run()
    head = house.head(session)
    assert head.wait is not None
    house.workflow.expire(head.wait.token)  # the engine enters Ask again, which has no new token yet

    house.resolve(session, head.interventions[0], "approve")
    assert generation(house.head(session)) == 1
    house.go_on(Decision(next="ask", at=position(head)))
    house.run()

    head = house.head(session)
    assert (head.state, generation(head)) == ("completed", 1)


def test_a_paused_session_that_lost_its_execution_goes_on_when_it_is_resumed() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    house.run_until("think")
    house.pause(session)
    house.lose(session)
    assert house.recover() == RoundCounts()

    house.resume(session)
    house.recover()
    house.run()

    (asked,) = house.head(session).interventions
    house.resolve(session, asked, "approve")
    house.run()
    assert house.head(session).state == "completed"


def test_a_decision_that_comes_before_the_wait_begins_finds_that_the_execution_is_gone() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    house.run_until("ask")  # it has a question open and no token yet
    (asked,) = house.head(session).interventions
    assert house.head(session).wait is None
    house.lose(session)

    house.resolve(session, asked, "approve")
    house.run()

    head = house.head(session)
    assert (head.state, generation(head)) == ("completed", 2)


def test_a_repair_of_everything_lets_sessions_that_wait_for_people_wait_in_an_execution_again() -> None:
    house = FragileHouse([*ASKS, says("", step(1, "completed", "ok")), completes("That one.")])
    session = house.start("Ask").session_id
    house.run()
    house.lose(session)
    assert house.recover() == RoundCounts()

    assert house.sweep(everything=True) == RoundCounts(looked=1, restarted=1)
    house.run()
    assert house.head(session).wait is not None
    house.say(session, "The blue one")
    house.run()
    head = house.head(session)
    assert (head.state, generation(head)) == ("completed", 2)


def test_a_session_that_was_cancelled_meanwhile_is_left_alone() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    house.run_until("think")
    house.lose(session)
    stored = house.fresh_repository().newest(TENANT, session)
    house.cancel(session)

    assert restart(house.fresh_repository(), house.workflow, stored) == "nothing"
    assert house.recover() == house.sweep(everything=True) == RoundCounts()
    assert house.head(session).state == "cancelled"


@pytest.mark.parametrize("option", ["cancel", "finish"])
def test_a_decision_that_ends_the_run_leaves_no_execution_waiting(option: str) -> None:
    dear = TokenUsage(input=4_000, output=100)
    looks = [says("", call("list_files", path=f"folder{n}")) for n in range(6)]
    house = FragileHouse(
        [turn._replace(usage=dear) for turn in (plans("look"), *looks)], token_window_seconds=0
    )
    session = house.start("Look", token_budget=20_000).session_id
    house.run()
    (asked,) = house.head(session).interventions
    assert asked.type == "budget_exceeded"

    house.resolve(session, asked, option)

    assert house.head(session).is_over
    assert list(house.workflow.running()) == []


class ListedLog(DynamoLog):
    """Counts how often the session's listing was written."""

    def __init__(self, house: House) -> None:
        vars(self).update(vars(house.log))
        self.written = 0

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        super().append(commit, extra_items)
        self.written += extra_items.listing is not None


def test_the_listing_is_written_when_a_wait_begins_to_end_by_itself_and_not_when_it_is_entered_again() -> (
    None
):
    house = FragileHouse(SCRIPT)
    house.log = log = ListedLog(house)
    house.repository = house.fresh_repository()
    session = house.start("Tidy up").session_id
    house.run_until("think")
    house.model.meanwhile = lambda: house.pause(session)  # type: ignore[attr-defined]
    house.go_on(house.decisions[-1])

    paused, asked = house.head(session).interventions
    assert (paused.timeout_at, log.written) == (None, 3)  # active, parked, waiting
    shard = live_shard(session)
    (found,) = house.index.live("waiting", shard, before=None, limit=2, cursor=None).sessions
    assert (found.session_id, found.at) == (session, asked.timeout_at)

    house.clock.advance(1_800 - WARN)
    house.time_out(session)
    assert [one.warned for one in house.head(session).interventions] == [False, True]
    assert log.written == 3
