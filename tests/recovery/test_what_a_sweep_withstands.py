"""No request that fails and no session that cannot be read keeps the others from going on
(docs/design/recovery.md 30)."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest

from acta.engine.errors import (
    AwsDenied,
    CommitContention,
    PoisonedSession,
    StoreThrottled,
    StoreUnavailable,
)
from acta.engine.log.commit import Commit
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.dynamodb_index import DynamoIndex
from acta.engine.log.store import LIVE_SHARDS, LiveKind, LivePage, live_shard
from acta.engine.recovery.store import RoundCounts
from acta.engine.turn.engine import ExecutionStatus
from acta.testing.workflow import MemoryWorkflow
from tests.in_process.house import House
from tests.runs.fragile import GRACE, FragileHouse

LOST = 3 * LIVE_SHARDS
THROTTLED = StoreThrottled("too many requests")


def with_lost_sessions(count: int = LOST) -> tuple[FragileHouse, list[str]]:
    house = FragileHouse([])
    sessions = [house.start("Tidy up").session_id for _ in range(count)]
    for session in sessions:
        house.lose(session)
    house.clock.advance(GRACE + 1)
    return house, sessions


class RefusingIndex(DynamoIndex):
    """Raises `error` for the pages of a kind and a shard that `refuses` names."""

    def __init__(
        self, house: House, refuses: Callable[[LiveKind, int | None], bool], error: Exception = THROTTLED
    ) -> None:
        vars(self).update(vars(house.index))
        self._refuses = refuses
        self._error = error

    def live(
        self, kind: LiveKind, shard: int, *, before: datetime | None, limit: int, cursor: str | None
    ) -> LivePage:
        if self._refuses(kind, shard):
            raise self._error
        return super().live(kind, shard, before=before, limit=limit, cursor=cursor)


class RefusingLog(DynamoLog):
    """Raises the error for the newest commit of these sessions."""

    def __init__(self, house: House, errors: dict[str, Exception]) -> None:
        vars(self).update(vars(house.log))
        self.errors = errors
        self.asked: list[str] = []

    def latest(self, tenant: str, session_id: str) -> Commit | None:
        self.asked.append(session_id)
        if session_id in self.errors:
            raise self.errors[session_id]
        return super().latest(tenant, session_id)


class RefusingWorkflow(MemoryWorkflow):
    """The list of executions breaks off after so many, and no status is told for these sessions."""

    def __init__(self, house: House, listed: int | None = None, unanswered: frozenset[str] = frozenset()):
        vars(self).update(vars(house.workflow))
        self._listed = listed
        self._unanswered = unanswered

    def running(self) -> Iterator[str]:
        for number, session_id in enumerate(super().running()):
            if number == self._listed:
                raise THROTTLED
            yield session_id

    def status(self, session_id: str, run_id: str, generation: int) -> ExecutionStatus:
        if session_id in self._unanswered:
            raise THROTTLED
        return super().status(session_id, run_id, generation)


@pytest.mark.parametrize("error", [THROTTLED, StoreUnavailable("no answer"), RuntimeError("denied")])
def test_a_shard_that_cannot_be_read_costs_its_own_sessions_a_minute_and_no_others(error: Exception) -> None:
    house, sessions = with_lost_sessions()
    there = [session for session in sessions if live_shard(session) == 3]
    assert there
    whole, house.index = house.index, RefusingIndex(house, lambda kind, shard: shard == 3, error)

    tally = house.sweep()

    assert (tally.looked, tally.restarted) == (LOST - len(there), LOST - len(there))
    assert tally.unanswered + tally.unreadable == 3, "once for each kind of live session"
    assert (tally.unreadable > 0) is isinstance(error, RuntimeError)
    assert house.told == [("index", type(error).__name__)] * 3
    house.index = whole
    assert house.sweep() == RoundCounts(looked=len(there), restarted=len(there))


def test_a_page_in_the_middle_of_a_shard_that_is_refused_leaves_what_was_read_before_it() -> None:
    house, sessions = with_lost_sessions()

    class SecondPages(DynamoIndex):
        def __init__(self) -> None:
            vars(self).update(vars(house.index))

        def live(self, *which: Any, cursor: str | None, **more: Any) -> LivePage:
            if cursor is not None:
                raise THROTTLED
            return super().live(*which, **more | {"limit": 1}, cursor=None)

    house.index = SecondPages()
    first_pages = len({live_shard(session) for session in sessions})

    tally = house.sweep()

    assert tally.restarted == first_pages
    assert tally.unanswered > 0


def test_a_list_of_executions_that_breaks_off_costs_needless_looks_and_nothing_else() -> None:
    house, _ = with_lost_sessions()
    for _ in range(10):
        house.start("Tidy up")
    house.clock.advance(GRACE + 1)
    house.workflow = house.mortal = RefusingWorkflow(house, listed=4)  # type: ignore[assignment]

    tally = house.sweep()

    assert tally == RoundCounts(looked=LOST + 6, restarted=LOST, unanswered=1)
    assert house.told == [("executions", "StoreThrottled")]


def test_a_session_whose_execution_cannot_be_asked_for_is_left_for_the_next_minute() -> None:
    house, sessions = with_lost_sessions()
    before = house.workflow
    house.workflow = RefusingWorkflow(house, unanswered=frozenset(sessions[:2]))

    assert house.sweep() == RoundCounts(looked=LOST, restarted=LOST - 2, unanswered=2)
    house.workflow = before
    assert house.sweep() == RoundCounts(looked=2, restarted=2)


def test_where_not_one_page_can_be_read_the_scan_fails() -> None:
    house, _ = with_lost_sessions(1)
    house.index = RefusingIndex(house, lambda kind, shard: True)
    with pytest.raises(StoreThrottled):
        house.sweep()


def test_sessions_that_could_not_be_read_come_last_and_the_damaged_ones_ever_more_seldom() -> None:
    house, sessions = with_lost_sessions()
    throttled, damaged = sessions[0], sessions[1]
    log = RefusingLog(house, {throttled: THROTTLED, damaged: PoisonedSession("damaged")})
    house.log = log
    assert house.sweep() == RoundCounts(looked=LOST, restarted=LOST - 2, unanswered=1, unreadable=1)
    others = [house.start("Tidy up").session_id for _ in range(LOST)]
    for session in others:
        house.lose(session)

    log.asked.clear()
    tally = house.recover()  # a minute later
    assert tally == RoundCounts(looked=LOST + 2, restarted=LOST, unanswered=1, unreadable=1)
    assert {throttled, damaged} <= set(log.asked[-2:])

    log.asked.clear()
    assert house.recover() == RoundCounts(looked=1, unanswered=1, put_off=1)
    assert set(log.asked) == {throttled}
    assert house.sweep(everything=True).looked == LOST * 2, "an operator's repair puts nothing off"


def test_a_missing_permission_and_a_crowd_of_writers_are_no_damage_and_put_nothing_off() -> None:
    house, sessions = with_lost_sessions()
    denied: dict[str, Exception] = {sessions[0]: AwsDenied("no"), sessions[1]: CommitContention("others")}
    house.log = RefusingLog(house, denied)
    assert house.sweep() == RoundCounts(looked=LOST, restarted=LOST - 2, unanswered=2)
    assert house.recover() == RoundCounts(looked=2, unanswered=2)


def test_a_session_that_can_be_read_again_goes_on() -> None:
    house, sessions = with_lost_sessions(2)
    log = RefusingLog(house, {sessions[0]: PoisonedSession("damaged")})
    house.log = log
    assert house.sweep() == RoundCounts(looked=2, restarted=1, unreadable=1)
    log.errors.clear()

    assert house.recover() == RoundCounts(looked=1, restarted=1)


def test_each_scan_reads_another_shard_first_and_goes_through_the_sessions_in_another_order() -> None:
    house, sessions = with_lost_sessions()
    log = RefusingLog(house, dict.fromkeys(sessions, THROTTLED))
    house.log = log
    first_shards: list[int] = []
    whole = house.index
    orders = []
    for _ in range(LIVE_SHARDS):
        read: list[int] = []
        house.index = RefusingIndex(house, lambda kind, shard, read=read: bool(read.append(shard)))  # type: ignore[misc]
        log.asked.clear()
        house.unreadable = type(house.unreadable)()
        house.sweep()
        orders.append(tuple(log.asked))
        first_shards.append(read[0])
        house.index = whole
        house.clock.advance(60)

    assert set(first_shards) == set(range(LIVE_SHARDS))
    assert len(set(orders)) == LIVE_SHARDS
    assert len({order[-1] for order in orders}) > LIVE_SHARDS // 2, "none is always among the last"
