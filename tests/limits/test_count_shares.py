"""A large tenant's counts are given to shares: exactly, whoever is at them at once, and spread over items (ADR 107)."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acta.engine.errors import LimitReached, TooManyOpenSessions
from acta.engine.limits.shares import MOST_COUNT_SHARES, OF_A_SHARE, count_shares_of
from acta.engine.limits.tenant_limits import Start, TenantLimits, minute_of
from acta.engine.log.store import IndexEntry, NumberTaken, Places, SessionLog, TransactionItems
from tests.bench.stand.capacity import write_units
from tests.stores.backends import Aws, Stores, aws_stores
from tests.stores.documents import make_commit

pytestmark = pytest.mark.contract

SHARES = 4


class Tenant:
    """Sessions that begin and end, and what is open of them by the rule."""

    def __init__(
        self, stores: Stores, name: str, most_open: int | None = 10, starts: int | None = None
    ) -> None:
        self.stores, self.name = stores, name
        self.limits = TenantLimits(starts, most_open)
        self.shares = SHARES
        self.open: dict[str, int] = {}
        """Session -> the number of its next commit."""
        self.started = 0
        self._names = count()

    def begin(self, log: SessionLog | None = None, *, limited: bool = True, share: int | None = None) -> str:
        session_id = f"ses_{next(self._names)}"
        start = Start(
            minute_of(self.stores.clock.now()), self.limits.starts_per_minute, self.limits.open_sessions
        )
        places = self._places(session_id, 1, start if limited else None, share)
        listing = IndexEntry(self.name, session_id, "default", "active", counted=True)
        items = TransactionItems(listing, places=places)
        (log or self.stores.log).append(make_commit(self.name, session_id, 1), items)
        if limited:
            most_open, starts = self.limits.open_sessions, self.limits.starts_per_minute
            assert most_open is None or len(self.open) < most_open, "one more than may be open"
            assert starts is None or self.started < starts, "one more than may start"
        self.open[session_id] = 2
        self.started += limited
        return session_id

    def end(self, session_id: str, log: SessionLog | None = None, share: int | None = None) -> None:
        items = TransactionItems(
            IndexEntry(self.name, session_id, "default", "completed"),
            places=self._places(session_id, -1, None, share),
        )
        (log or self.stores.log).append(make_commit(self.name, session_id, self.open[session_id]), items)
        del self.open[session_id]

    def _places(self, session_id: str, opened: int, start: Start | None, share: int | None) -> Places:
        own = crc32(session_id.encode()) if share is None else share
        return Places(self.name, opened, start, own % self.shares, self.shares)

    def begin_all(self) -> int:
        """Until one is refused; how many began."""
        for number in count():
            try:
                self.begin()
            except LimitReached:
                return number
        raise AssertionError

    def check(self) -> None:
        assert self.stores.index.counts(self.name).open == len(self.open)


@pytest.mark.parametrize(
    ("limits", "shares"),
    [
        (TenantLimits(), 1),
        (TenantLimits(open_sessions=100), 1),
        (TenantLimits(open_sessions=2 * OF_A_SHARE - 1), 1),
        (TenantLimits(open_sessions=2 * OF_A_SHARE), 2),
        (TenantLimits(10, 10**6), 1),
        (TenantLimits(10**6, 3 * OF_A_SHARE), 3),
        (TenantLimits(10**6, None), MOST_COUNT_SHARES),
    ],
)
def test_a_tenant_with_small_limits_is_counted_by_one_item(limits: TenantLimits, shares: int) -> None:
    assert count_shares_of(limits) == shares


def test_as_many_are_open_as_may_be_and_not_one_more(stores: Stores, tenant: str) -> None:
    sessions = Tenant(stores, tenant)
    for _ in range(3):
        while len(sessions.open) < 10:
            sessions.begin()
            sessions.check()
        for log in (stores.log, stores.other_log):
            for share in range(SHARES):
                with pytest.raises(TooManyOpenSessions) as refused:
                    sessions.begin(log, share=share)
        assert refused.value.quota == ("open-sessions", 10, None)
        for session_id in list(sessions.open)[::2]:
            sessions.end(session_id)
            sessions.check()


@pytest.mark.parametrize("share", range(SHARES))
def test_a_place_that_another_share_has_is_found_before_a_start_is_refused(
    stores: Stores, tenant: str, share: int
) -> None:
    sessions = Tenant(stores, tenant)
    assert sessions.begin_all() == 10
    sessions.end(next(iter(sessions.open)))
    sessions.begin(share=share)
    with pytest.raises(TooManyOpenSessions):
        sessions.begin(share=share)
    sessions.check()


def test_as_many_start_in_a_minute_as_may_and_the_next_begins_anew(stores: Stores, tenant: str) -> None:
    sessions = Tenant(stores, tenant, most_open=None, starts=9)
    for _ in range(3):
        assert sessions.begin_all() == 9
        with pytest.raises(LimitReached) as refused:
            sessions.begin(stores.other_log)
        assert refused.value.quota == ("starts", 9, 60)
        assert stores.index.counts(tenant).starts == 9
        stores.clock.advance(60)
        sessions.started = 0


def test_a_place_of_one_share_and_a_start_of_another_are_enough(stores: Stores, tenant: str) -> None:
    sessions = Tenant(stores, tenant, most_open=4, starts=8)
    assert sessions.begin_all() == 4
    for number in range(4):
        sessions.end(next(iter(sessions.open)), share=number)
        sessions.begin(share=number + 1)
        sessions.check()
    sessions.end(next(iter(sessions.open)))
    with pytest.raises(LimitReached, match="has started 8 runs"):
        sessions.begin()


def test_a_limit_that_is_lowered_holds_although_shares_have_places(stores: Stores, tenant: str) -> None:
    sessions = Tenant(stores, tenant, most_open=80)
    for _ in range(30):
        sessions.begin()
    sessions.limits = TenantLimits(open_sessions=20)
    stores.clock.advance(60)
    for shares in (SHARES, 1, 2):
        sessions.shares = shares
        assert sessions.begin_all() == 0
    while len(sessions.open) > 18:
        sessions.end(next(iter(sessions.open)))
        sessions.check()
    assert sessions.begin_all() == 2


@pytest.mark.thorough
def test_limits_that_are_small_by_now_have_the_places_that_shares_had(stores: Stores, tenant: str) -> None:
    sessions = Tenant(stores, tenant, most_open=40)
    for _ in range(8):
        sessions.begin()
    sessions.shares, sessions.limits = 1, TenantLimits(open_sessions=10)
    assert sessions.begin_all() == 2
    sessions.check()
    sessions.shares, sessions.limits = SHARES, TenantLimits(open_sessions=40)
    assert sessions.begin_all() == 30


def test_what_no_start_opened_leaves_no_place_to_a_start(stores: Stores, tenant: str) -> None:
    """Recovery counts sessions of the time before there was a limit."""
    sessions = Tenant(stores, tenant)
    sessions.begin_all()
    for _ in range(3):
        sessions.begin(limited=False)
    sessions.check()
    for _ in range(3):
        sessions.end(next(iter(sessions.open)))
        with pytest.raises(TooManyOpenSessions):
            sessions.begin()
    sessions.end(next(iter(sessions.open)))
    assert sessions.begin_all() == 1
    sessions.check()


def test_a_commit_that_loses_its_number_draws_nothing(stores: Stores, tenant: str) -> None:
    sessions = Tenant(stores, tenant, starts=10)
    session_id = sessions.begin()
    before = stores.index.counts(tenant)
    start = Start(minute_of(stores.clock.now()), 10, 10)
    for share in range(SHARES):
        places = Places(tenant, 1, start, share, SHARES)
        with pytest.raises(NumberTaken):
            stores.log.append(make_commit(tenant, session_id, 1), TransactionItems(places=places))
    assert stores.index.counts(tenant) == before
    assert sessions.begin_all() == 9


def test_a_session_that_cannot_be_read_gives_its_place_back(stores: Stores, tenant: str) -> None:
    sessions = Tenant(stores, tenant)
    sessions.begin_all()
    lost = next(iter(sessions.open))
    stores.spoil(tenant, lost, 1)
    stores.log.delete(tenant, lost)
    del sessions.open[lost]
    sessions.check()
    assert sessions.begin_all() == 1


class Client:
    """A DynamoDB client. `before`, `after`: what happens in the moment before a transaction, and once it is made."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.before: list[Callable[[], None]] = []
        self.after: list[Callable[[], None]] = []
        self.failed = 0
        self.reads = 0
        self.written: list[str] = []
        self.units = 0

    def __getattr__(self, name: str) -> Any:
        def call(**request: Any) -> Any:
            if name != "transact_write_items":
                self.reads += 1
                return getattr(self._client, name)(**request)
            if self.before:
                self.before.pop()()
            try:
                answer = self._client.transact_write_items(**request)
            except Exception:
                self.failed += 1
                raise
            if self.after:
                self.after.pop()()
            actions = [action for each in request["TransactItems"] for action in each.values()]
            self.written += [each["Key"]["sk"]["S"] for each in actions if "Key" in each]
            self.units += sum(2 * write_units(each["Item"]) if "Item" in each else 2 for each in actions)
            return answer

        return call


def test_starts_and_ends_are_spread_over_items_and_the_tenant_s_is_seldom_touched(
    aws: Aws, tenant: str
) -> None:
    client = Client(aws.dynamodb)
    stores = aws_stores(aws._replace(dynamodb=client))
    sessions = Tenant(stores, tenant, most_open=3_200, starts=3_200)
    for _ in range(24):
        sessions.end(sessions.begin())
    assert client.written.count("O") == SHARES
    assert {sk for sk in client.written if sk != "O"} == {f"O#{number:02d}" for number in range(SHARES)}
    assert client.reads == client.failed == SHARES, "once for each share"
    written = len(client.written)
    sessions.end(sessions.begin())
    assert len(client.written) == written + 2, (
        "a start and an end cost one update each, as for a small tenant"
    )


class Crash(BaseException):
    """The worker is gone."""


@pytest.mark.parametrize("after", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_wherever_a_worker_dies_what_is_counted_is_what_is_open(
    sqlite_account: Aws, tenant: str, after: bool
) -> None:
    """At each transaction in turn, before it or after it was made: draws and ends among them."""
    client = Client(sqlite_account.dynamodb)
    stores = aws_stores(sqlite_account._replace(dynamodb=client))
    sessions = Tenant(stores, tenant, most_open=6)

    def died(act: Callable[[], object]) -> bool:
        if after:
            client.after.append(die)
        else:
            client.before.append(die)
        try:
            with suppress(LimitReached):
                act()
        except Crash:
            client.before.clear()
            client.after.clear()
            return True
        client.after.clear()
        return False

    for number in range(8):
        name = f"ses_{2 * number}"
        if died(sessions.begin) and stores.log.latest(tenant, name) is not None:
            sessions.open[name] = 2
        sessions.check()
        with suppress(LimitReached):
            sessions.begin()
        sessions.check()
    sessions.begin_all()
    assert len(sessions.open) == 6
    for name in list(sessions.open):
        assert died(partial(sessions.end, name))
        if after:
            del sessions.open[name]
        sessions.check()
    for name in list(sessions.open):
        sessions.end(name)
    assert sessions.begin_all() == 6


def die() -> None:
    raise Crash


moves = st.lists(
    st.tuples(
        st.sampled_from(["begin", "begin", "begin", "end", "end", "uncounted", "minute", "fewer"]),
        st.integers(0, SHARES - 1),
        st.booleans(),
    ),
    min_size=10,
    max_size=40,
)


@pytest.mark.parametrize("most_starts", [None, 8])
@pytest.mark.thorough
def test_whatever_comes_nobody_is_refused_wrongly_and_no_limit_is_passed(
    stores: Stores, tenant: str, most_starts: int | None
) -> None:
    """One after the other, by workers that believe in several numbers of shares."""
    names = count()

    @settings(max_examples=8, deadline=None)
    @given(moves)
    def live(steps: list[tuple[str, int, bool]]) -> None:
        stores.clock.advance(60)
        sessions = Tenant(stores, f"{tenant}-{next(names)}", most_open=6, starts=most_starts)
        for what, share, other in steps:
            log = stores.other_log if other else stores.log
            if what == "begin":
                may = len(sessions.open) < 6 and (most_starts is None or sessions.started < most_starts)
                try:
                    sessions.begin(log, share=share)
                except LimitReached:
                    assert not may, "refused while there was room"
            elif what == "end" and sessions.open:
                sessions.end(list(sessions.open)[share % len(sessions.open)], log, share)
            elif what == "uncounted":
                sessions.begin(log, limited=False, share=share)
            elif what == "minute":
                stores.clock.advance(60)
                sessions.started = 0
            elif what == "fewer":
                sessions.shares = share + 1
            sessions.check()

    live()


@pytest.mark.parametrize("most_starts", [None, 9])
@pytest.mark.thorough
def test_no_limit_is_passed_however_workers_race(
    sqlite_account: Aws, tenant: str, most_starts: int | None
) -> None:
    """Others do all that they do in the moment between what one has read and what it writes."""
    client, names = Client(sqlite_account.dynamodb), count()
    stores = aws_stores(sqlite_account._replace(dynamodb=client))

    @settings(max_examples=12, deadline=None)
    @given(moves)
    def live(steps: list[tuple[str, int, bool]]) -> None:
        stores.clock.advance(60)
        sessions = Tenant(stores, f"{tenant}-{next(names)}", most_open=6, starts=most_starts)

        def act(what: str, share: int) -> None:
            with suppress(LimitReached, NumberTaken):
                if what in ("begin", "uncounted"):
                    sessions.begin(limited=what == "begin", share=share)
                elif what == "end" and sessions.open:
                    sessions.end(list(sessions.open)[share % len(sessions.open)], share=share)

        for what, share, waits in steps:
            if waits:
                client.before.append(partial(act, what, share))
                continue
            act(what, share)
            client.before.clear()
            sessions.check()
            if most_starts is not None and sessions.started:
                assert stores.index.counts(sessions.name).starts == sessions.started

    live()
