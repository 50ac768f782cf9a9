"""Ten thousand sessions need recovery at once, and a scan has time for a part of them: all go on within a number of
scans that follows from the number of requests (docs/design/recovery.md 17).

What a request costs is counted here and not timed. The doubles stand for DynamoDB and Step Functions.
"""

from collections.abc import Iterator
from math import ceil
from typing import Any

import pytest

from acta.engine.agents.agent import DEFAULT_AGENT
from acta.engine.clock import SESSION
from acta.engine.errors import PoisonedSession, StoreThrottled
from acta.engine.log.commit import Commit
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.dynamodb_index import DynamoIndex
from acta.engine.log.store import LIVE_SHARDS, IndexEntry, LiveEntry, LivePage
from acta.engine.recovery.store import RoundCounts
from acta.engine.recovery.sweep import Unreadable
from acta.engine.store.table_layout import item_listing, listing_key
from acta.engine.turn.engine import ExecutionStatus
from tests.in_process.house import TENANT
from tests.in_process.scripted import ScriptedModel, completes, plans
from tests.runs.fragile import DELETE, GRACE, Crash, FragileHouse, MortalWorkflow
from tests.stores import in_memory

LOST, WOKEN, DAMAGED, THROTTLED, AT_WORK = 6_500, 1_000, 500, 500, 1_500
REQUESTS = 3_000
"""A scan's: what 45 seconds have room for at 15 ms each."""
A_TENTH = 10
"""The sample divides every number of sessions by it."""
REQUESTS_OF_A_TENTH = 600
PER_RESTART, PER_WAKE_UP = 4, 3
"""A session's head and its execution's status, and then a commit and a start, or the token."""
ASIDE = 200
"""Of a scan's requests: the index, the list of executions, and what cannot be read and is met among the others."""


class Requests:
    """Counts; `left` says whether the scan may make another. `most`: what one scan has."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.made = 0

    def begin(self) -> None:
        self.made = 0

    def left(self) -> bool:
        return self.made < self.most


class CountedIndex(DynamoIndex):
    def __init__(self, house: FragileHouse, requests: Requests) -> None:
        vars(self).update(vars(house.index))
        self._requests = requests

    def live(self, *which: Any, **more: Any) -> LivePage:
        self._requests.made += 1
        return super().live(*which, **more)


class CountedLog(DynamoLog):
    """`errors`: by session, raised for its newest commit."""

    def __init__(self, house: FragileHouse, requests: Requests) -> None:
        vars(self).update(vars(house.log))
        self._requests = requests
        self.errors: dict[str, Exception] = {}

    def latest(self, tenant: str, session_id: str) -> Commit | None:
        self._requests.made += 1
        if session_id in self.errors:
            raise self.errors[session_id]
        return super().latest(tenant, session_id)

    def append(self, *what: Any) -> None:
        self._requests.made += 1
        super().append(*what)


class CountedWorkflow(MortalWorkflow):
    def __init__(self, house: FragileHouse, requests: Requests) -> None:
        vars(self).update(vars(house.workflow))
        self._requests = requests

    def running(self) -> Iterator[str]:
        for number, session_id in enumerate(super().running()):
            self._requests.made += number % 1_000 == 0
            yield session_id

    def status(self, *which: Any) -> ExecutionStatus:
        self._requests.made += 1
        return super().status(*which)

    def start(self, *which: Any) -> bool:
        self._requests.made += 1
        return super().start(*which)

    def wake(self, *which: Any) -> None:
        self._requests.made += 1
        super().wake(*which)


class Disaster(FragileHouse):
    """Sessions of every kind that a scan may meet. `requests`: those of the scan that is made."""

    def __init__(self, most_requests: int = REQUESTS) -> None:
        super().__init__([], tenant_tokens_per_hour=0)
        self.requests = Requests(most_requests)

    def strike(
        self, *, lost: int, woken: int = 0, damaged: int = 0, throttled: int = 0, at_work: int = 0
    ) -> None:
        """The lost ones are the newest."""
        self.woken = self._decided(woken)
        self.damaged = [self._listed() for _ in range(damaged)]
        self.throttled = [self.start("Tidy up").session_id for _ in range(throttled)]
        for _ in range(at_work):
            self.start("Tidy up")
        self.lost = [self.start("Tidy up").session_id for _ in range(lost)]
        for session in (*self.throttled, *self.lost):
            self.lose(session)
        self.clock.advance(GRACE + 1)
        requests = self.requests
        self.index = CountedIndex(self, requests)
        self.workflow = self.mortal = CountedWorkflow(self, requests)
        self.log = self.counted = CountedLog(self, requests)
        self.counted.errors |= dict.fromkeys(self.damaged, PoisonedSession("damaged"))
        self.counted.errors |= dict.fromkeys(self.throttled, StoreThrottled("too many requests"))

    def _listed(self) -> str:
        """A session of which nothing is stored but its entry."""
        session = self.clock.new_id(SESSION)
        live = LiveEntry("active", self.clock.now())
        in_memory.list_session(self.table, IndexEntry(TENANT, session, DEFAULT_AGENT, "active", live))
        return session

    def _decided(self, count: int) -> list[str]:
        """Sessions for which a person has decided, and whose executions nobody has woken."""
        self.model = ScriptedModel([plans("tidy up"), DELETE] * count + [completes("Tidied.")], forever=True)
        sessions = [self.start("Tidy up").session_id for _ in range(count)]
        self.run()
        for session in sessions:
            self.mortal.dies_before = "wake"
            with pytest.raises(Crash):
                self.resolve(session, self.head(session).interventions[0], "approve")
        return sessions

    def scan(self) -> RoundCounts:
        """One minute's, and the next turn of the executions that it has woken."""
        self.clock.advance(60)
        self.requests.begin()
        tally = self.sweep(time_is_left=self.requests.left)
        assert self.requests.made <= self.requests.most + PER_RESTART
        while (decision := self.workflow.take()) is not None:
            if decision.at.session_id in self.woken:
                following = self._state(decision)
                assert following is not None
                self._state(following)
        return tally

    def standing_still(self) -> set[str]:
        """Sessions that need recovery, whoever could give it."""
        running = set(MortalWorkflow.running(self.workflow))
        return {session for session in (*self.lost, *self.throttled) if session not in running} | {
            session for session in self.woken if self._is_woken(session)
        }

    def _is_woken(self, session: str) -> bool:
        item = self.table.get_item(TableName=in_memory.TABLE, Key=listing_key(TENANT, session))["Item"]
        live = item_listing(TENANT, item).live
        return live is not None and live.kind == "woken"


@pytest.mark.parametrize(
    ("part", "requests"),
    [(A_TENTH, REQUESTS_OF_A_TENTH), pytest.param(1, REQUESTS, marks=pytest.mark.thorough)],
    ids=["a tenth of them", "all of them"],
)
def test_all_that_stand_still_go_on_within_the_scans_that_their_requests_take(
    part: int, requests: int
) -> None:
    house = Disaster(requests)
    lost, woken, damaged = LOST // part, WOKEN // part, DAMAGED // part
    house.strike(
        lost=lost, woken=woken, damaged=damaged, throttled=THROTTLED // part, at_work=AT_WORK // part
    )
    needed = PER_RESTART * lost + PER_WAKE_UP * woken
    tallies: list[RoundCounts] = []

    while house.standing_still() - {*house.throttled}:
        tallies.append(house.scan())
        assert len(tallies) <= ceil(needed / (requests - ASIDE))

    assert sum(tally.restarted for tally in tallies) == lost
    assert sum(tally.woken for tally in tallies) == woken
    assert house.standing_still() == {*house.throttled}
    for session in house.throttled:
        del house.counted.errors[session]
    for _ in range(2):
        tallies.append(house.scan())
    assert house.standing_still() == set()
    last = house.scan()
    assert last == RoundCounts(
        looked=last.unreadable, unreadable=last.unreadable, put_off=damaged - last.unreadable
    )


def test_the_newest_go_on_among_ten_thousand_older_ones_that_no_process_remembers() -> None:
    house = Disaster()
    house.strike(damaged=10_000, lost=50)
    scans = 0

    while house.standing_still():
        house.unreadable = Unreadable()  # each scan is a new process's
        tally = house.scan()
        scans += 1
        assert tally.unreadable + tally.left + tally.unread > 0
        assert scans <= LIVE_SHARDS


def test_a_scan_that_has_no_time_left_says_what_it_has_not_done() -> None:
    house = Disaster()
    house.strike(lost=2_000)

    tally = house.scan()

    assert tally.restarted == tally.looked > 0
    assert tally.left > 0
    assert tally.unread > 0
