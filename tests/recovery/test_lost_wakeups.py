"""A decision whose wake-up was lost is found by an entry of its own in the index, however long ago and among however
many others (docs/design/recovery.md 27).
"""

import pytest

from acta.engine.errors import ProviderUnavailable
from acta.engine.log.store import LIVE_SHARDS, LiveKind, live_shard
from acta.engine.recovery.store import RoundCounts
from acta.engine.recovery.sweep import WAKE_SECONDS
from tests.in_process.scripted import ScriptedModel
from tests.runs.fragile import ASKS, GRACE, SCRIPT, Crash, FragileHouse, generation

A_YEAR = 365 * 86_400


def live_kinds(house: FragileHouse, session: str) -> list[tuple[LiveKind, int]]:
    """Where the index has the session."""
    kinds: tuple[LiveKind, ...] = ("active", "woken", "waiting", "parked")
    return [
        (kind, shard)
        for kind in kinds
        for shard in range(LIVE_SHARDS)
        for one in house.index.live(kind, shard, before=None, limit=500, cursor=None).sessions
        if one.session_id == session
    ]


def approved_without_a_wake_up(house: FragileHouse) -> str:
    session = house.start("Tidy up").session_id
    house.run()
    (asked,) = house.head(session).interventions
    house.mortal.dies_before = "wake"
    with pytest.raises(Crash):
        house.resolve(session, asked, "approve")
    return session


def at_work(house: FragileHouse, count: int) -> None:
    """That many sessions whose executions run."""
    for _ in range(count):
        house.start("Tidy up")
    while house.workflow.take() is not None:
        pass


@pytest.mark.parametrize("later", [GRACE + 1, A_YEAR])
def test_a_lost_wake_up_is_found_however_late_and_nobody_else_is_looked_at(later: float) -> None:
    house = FragileHouse(SCRIPT)
    session = approved_without_a_wake_up(house)
    at_work(house, 40)
    house.clock.advance(later)

    assert house.sweep() == RoundCounts(looked=1, woken=1)
    house.run()

    head = house.head(session)
    assert (head.state, generation(head)) == ("completed", 1)


def test_whoever_has_decided_is_left_some_seconds_to_wake_the_execution() -> None:
    house = FragileHouse(SCRIPT)
    approved_without_a_wake_up(house)

    house.clock.advance(WAKE_SECONDS)
    assert house.sweep() == RoundCounts()
    house.clock.advance(0.001)
    assert house.sweep() == RoundCounts(looked=1, woken=1)


def test_a_woken_session_is_in_the_index_as_such_until_its_next_turn() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    shard = live_shard(session)
    assert live_kinds(house, session) == [("active", shard)]
    house.run()
    (asked,) = house.head(session).interventions
    assert live_kinds(house, session) == [("waiting", shard)]

    house.resolve(session, asked, "approve")
    assert live_kinds(house, session) == [("woken", shard)]
    decision = house.workflow.take()
    assert decision is not None
    assert decision.next == "act"
    following = house._state(decision)
    assert live_kinds(house, session) == [("woken", shard)]
    assert following is not None
    house._state(following)

    assert live_kinds(house, session) == [("active", shard)]
    assert house.head(session).wait is None


def test_a_woken_session_that_is_on_its_way_is_looked_at_and_left_alone() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    house.run()
    (asked,) = house.head(session).interventions
    house.resolve(session, asked, "approve")

    assert house.recover() == RoundCounts(looked=1)
    house.run()

    assert house.head(session).state == "completed"
    assert house.head(session).usage.tool_calls == 1


def test_a_woken_session_that_lost_its_execution_too_goes_on_in_the_next() -> None:
    house = FragileHouse(SCRIPT)
    session = approved_without_a_wake_up(house)
    house.lose(session)

    assert house.recover() == RoundCounts(looked=1, restarted=1)
    assert live_kinds(house, session) == [("active", live_shard(session))]
    house.run()

    head = house.head(session)
    assert (head.state, generation(head)) == ("completed", 2)


def test_an_answer_and_an_expiry_leave_a_woken_session_as_an_approval_does() -> None:
    house = FragileHouse([*ASKS, *SCRIPT])
    answered = house.start("Ask").session_id
    house.run()
    house.say(answered, "The blue one")
    assert live_kinds(house, answered) == [("woken", live_shard(answered))]

    expired = FragileHouse(SCRIPT)
    session = expired.start("Tidy up").session_id
    expired.run()
    expired.clock.advance(1_801)
    expired.mortal.dies_before = "wake"
    with pytest.raises(Crash):
        expired.say(session, "Are you there?")  # an expiry that somebody else commits
    assert live_kinds(expired, session) == [("woken", live_shard(session))]
    assert expired.recover() == RoundCounts(looked=1, woken=1)


def test_a_wait_that_somebody_ended_goes_on_once_its_old_execution_waits_no_longer() -> None:
    """Whoever resumed it died before the next execution was started. Resuming it again would start that at once."""
    house = FragileHouse(SCRIPT)
    house.model = ScriptedModel([SCRIPT[0], ProviderUnavailable("away"), *SCRIPT[1:]])
    session = house.start("Tidy up").session_id
    house.run_until("wait")
    waiting = house.decisions[-1]
    house.mortal.dies_before = "stop"
    with pytest.raises(Crash):
        house.resume(session)

    assert live_kinds(house, session) == [("active", live_shard(session))]
    assert house.recover() == RoundCounts()
    house._execute(waiting, lambda decision: None)
    assert house.recover() == RoundCounts(looked=1, started=1)
    house.run()
    assert house.head(session).interventions[0].type == "approval_required"
    assert live_kinds(house, session)[0][0] in ("waiting", "parked")
