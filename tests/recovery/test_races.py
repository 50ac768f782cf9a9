"""Recovery beside everyone else who moves a session, and how often it tries (docs/design/recovery.md 24)."""

from datetime import datetime

import pytest

from acta.engine.errors import SchemaUnknown
from acta.engine.log.commit import Commit, Decision
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.dynamodb_index import DynamoIndex
from acta.engine.log.store import LIVE_SHARDS, LiveKind, LivePage
from acta.engine.recovery.outage import MOST_CRASHES
from acta.engine.recovery.recover import MOST_RESTARTS, restart
from acta.engine.recovery.store import RoundCounts
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step
from tests.runs.fragile import GRACE, SCRIPT, Crash, FragileHouse, generation


def test_a_session_that_is_at_work_is_not_disturbed() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    house.run_until("think")

    assert house.recover() == RoundCounts()  # its execution runs, and it waits for nobody
    assert house.sweep(everything=True) == RoundCounts(looked=1)
    assert generation(house.head(session)) == 1


def test_the_next_generation_is_not_started_twice_by_two_at_once() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    house.run_until("think")
    house.lose(session)
    one, other = (house.fresh_repository() for _ in range(2))
    first, second = one.newest(TENANT, session), other.newest(TENANT, session)

    assert restart(one, house.workflow, first) == "restarted"
    assert restart(other, house.workflow, second) == "restarted"

    assert generation(house.head(session)) == 2
    assert len(list(house.workflow.running())) == 1


def test_an_execution_that_ended_with_its_last_commit_is_not_followed_by_another() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    house.run()
    before = house.fresh_repository().newest(TENANT, session)
    house.resolve(session, before.head.interventions[0], "approve")
    house.run()

    assert restart(house.fresh_repository(), house.workflow, before) == "nothing"
    assert house.head(session).state == "completed"


def test_a_roll_over_that_died_before_its_start_is_finished_in_the_same_generation() -> None:
    script = [plans("look"), *[says("", call("read_file", path=f"{n}.md")) for n in range(12)],
              says("", step(1, "completed", "ok")), completes("Looked.")]  # fmt: skip
    house = FragileHouse(script, roll_over_events=200)
    for number in range(12):
        house.files.write(TENANT, f"{number}.md", f"note {number}".encode())
    session = house.start("Look").session_id

    def before(decision: Decision) -> None:
        if decision.next == "roll_over":
            house.mortal.dies_before = "start"

    with pytest.raises(Crash):
        house.run(before)
    run = house.head(session).run
    assert run is not None
    house.workflow.stop(session, run.run_id, run.generation - 1)

    assert house.recover() == RoundCounts(looked=1, started=1)
    house.run()

    head = house.head(session)
    assert (head.state, generation(head) > 2) == ("completed", True)


def test_a_worker_of_the_lost_execution_that_comes_late_is_fenced_off() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    house.run_until("think")
    late = house.decisions[-1]
    house.lose(session)
    house.recover()

    house.go_on(late)

    assert house.head(session).usage.llm_calls == 1
    house.run()
    assert house.head(session).usage.llm_calls == 2


def test_a_turn_that_loses_its_engine_again_and_again_waits_before_it_goes_on() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    for _ in range(MOST_RESTARTS):
        house.lose(session)
        assert house.recover() == RoundCounts(looked=1, restarted=1)
    house.lose(session)

    pauses = []
    for _ in range(3):
        assert house.recover() == RoundCounts(looked=1, restarted=1)
        head = house.head(session)
        assert (head.state, head.state_reason) == ("planning", "waiting_for_aws")
        assert head.outage is not None
        assert head.outage.code == "EXECUTION_LOST"
        decision = house.workflow.take()
        assert decision is not None
        assert (decision.next, decision.then) == ("wait", "plan")
        pauses.append(decision.wait_seconds or 0)
        house.lose(session)
    assert 32 <= pauses[0] <= 64 <= pauses[1] <= 128 <= pauses[2] <= 256

    house.recover()
    house.run()
    assert house.head(session).state == "waiting_for_user"
    assert house.head(session).outage is None


def test_a_turn_that_loses_its_engine_after_all_these_waits_asks_a_person_and_does_not_loop() -> None:
    house = FragileHouse(SCRIPT, outage_longest_pause_seconds=120)
    session = house.start("Tidy up").session_id
    for _ in range(MOST_RESTARTS):
        house.lose(session)
        house.recover()
    for _ in range(MOST_CRASHES + 1):
        house.lose(session)
        house.recover()
        delay = house.head(session).delay
        assert delay is not None
        assert delay.seconds_left(house.clock.now()) <= 120, "the setting counts here too"

    house.run()
    head = house.head(session)
    (asked,) = head.interventions
    assert (head.state, asked.type, asked.timeout_at) == ("waiting_for_user", "error_recovery", None)
    assert asked.context["outage"]["code"] == "EXECUTION_LOST"
    assert head.usage.llm_calls == 0
    assert house.recover() == RoundCounts()

    house.resolve(session, asked, "retry")
    house.run()
    assert (house.head(session).interventions[0].type, house.head(session).outage) == (
        "approval_required",
        None,
    )


def test_after_the_patience_a_person_is_asked_about_an_engine_that_is_lost_seldom_but_again_and_again() -> (
    None
):
    house = FragileHouse(SCRIPT, outage_patience_seconds=300)
    session = house.start("Tidy up").session_id
    for _ in range(MOST_RESTARTS + 1):
        house.lose(session)
        house.recover()
    house.clock.advance(301)
    house.run()
    (asked,) = house.head(session).interventions
    assert (asked.default_action, asked.timeout_at is not None) == ("retry", True)


def test_each_turn_may_lose_its_engine_anew_and_waiting_for_people_does_not_count() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    for _ in range(MOST_RESTARTS):
        house.lose(session)
        house.recover()
    house.run()
    for _ in range(2 * MOST_RESTARTS):
        house.lose(session)
        assert house.sweep(everything=True).restarted == 1
        house.run()
    (asked,) = house.head(session).interventions
    house.resolve(session, asked, "approve")
    for _ in range(MOST_RESTARTS):
        house.lose(session)
        house.recover()
    house.run()

    assert house.head(session).state == "completed"


def test_a_wait_that_is_over_counts_although_another_question_is_still_open() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    house.run_until("think")
    assert isinstance(house.model, ScriptedModel)
    house.model.meanwhile = lambda: house.pause(session)
    house.go_on(house.decisions[-1])
    paused, asked = house.head(session).interventions
    assert (paused.timeout_at, asked.timeout_at is None) == (None, False)
    house.clock.advance(1_801)

    for _ in range(MOST_RESTARTS):
        house.lose(session)
        assert house.sweep(everything=True) == RoundCounts(looked=1, restarted=1)
    assert house.head(session).outage is None
    house.lose(session)

    assert house.sweep(everything=True) == RoundCounts(looked=1, restarted=1)
    assert house.head(session).outage is not None


def test_one_session_that_cannot_be_read_does_not_stop_the_others() -> None:
    house = FragileHouse([*SCRIPT, *SCRIPT])
    sessions = [house.start("Tidy up").session_id for _ in range(3)]
    for session in sessions:
        house.lose(session)
    house.log = NewerLog(house, sessions[1])

    assert house.recover() == RoundCounts(looked=3, restarted=2, unreadable=1)
    assert house.told == [(sessions[1], "SchemaUnknown")]


class NewerLog(DynamoLog):
    """A log in which one session was written by a later release."""

    def __init__(self, house: House, session_id: str) -> None:
        vars(self).update(vars(house.log))
        self._newer = session_id

    def latest(self, tenant: str, session_id: str) -> Commit | None:
        if session_id == self._newer:
            raise SchemaUnknown("a stored commit has schema version 2, this release knows 1")
        return super().latest(tenant, session_id)


def test_what_there_was_no_time_for_is_counted_and_left_for_the_next_minute() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    house.lose(session)
    house.clock.advance(GRACE + 1)
    kinds = 3
    shards = LIVE_SHARDS

    assert house.sweep(time_is_left=lambda: False) == RoundCounts(unread=kinds * shards)
    house.index = index = FindingIndex(house)
    tally = house.sweep(time_is_left=lambda: not index.has_found)
    assert (tally.looked, tally.left) == (0, 1)
    assert house.sweep() == RoundCounts(looked=1, restarted=1)


class FindingIndex(DynamoIndex):
    """`has_found`: whether it has told of any live session."""

    def __init__(self, house: House) -> None:
        vars(self).update(vars(house.index))
        self.has_found = False

    def live(
        self, kind: LiveKind, shard: int, *, before: datetime | None, limit: int, cursor: str | None
    ) -> LivePage:
        page = super().live(kind, shard, before=before, limit=limit, cursor=cursor)
        self.has_found = self.has_found or bool(page.sessions)
        return page


class ShortPages(DynamoIndex):
    """An index that never has more than two sessions on a page, whatever it is asked for."""

    def __init__(self, house: House) -> None:
        vars(self).update(vars(house.index))

    def live(
        self, kind: LiveKind, shard: int, *, before: datetime | None, limit: int, cursor: str | None
    ) -> LivePage:
        return super().live(kind, shard, before=before, limit=min(limit, 2), cursor=cursor)


def test_sessions_on_every_page_of_the_index_are_recovered() -> None:
    house = FragileHouse([])
    house.index = ShortPages(house)
    for _ in range(5 * LIVE_SHARDS):
        house.lose(house.start("Tidy up").session_id)

    assert house.recover() == RoundCounts(looked=5 * LIVE_SHARDS, restarted=5 * LIVE_SHARDS)


def test_sessions_at_rest_and_deleted_ones_are_not_looked_at() -> None:
    house = FragileHouse(SCRIPT)
    house.start(None)
    gone = house.start("Tidy up").session_id
    house.run_until("think")
    house.delete(gone)

    assert house.recover() == house.sweep(everything=True) == RoundCounts()
