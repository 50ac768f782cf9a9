"""A large hour of a tenant is given out in shares: exactly, whoever is at it at once, and spread over partitions."""

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acta.engine.limits.shares import (
    CHUNK_TOKENS,
    MOST_HOUR_SHARES,
    SHARE_TOKENS,
    LeaseChange,
    shares_of,
)
from acta.engine.limits.tenant_hour import Pool, next_grant
from acta.engine.log.commit import Position
from acta.engine.log.store import GrantChanged, TransactionItems
from tests.stores.backends import Aws, Stores, aws_stores, sqlite
from tests.stores.documents import ID, make_commit

pytestmark = pytest.mark.contract

HOUR = 490_000
LARGE = 4 * SHARE_TOKENS


def at(tenant: str, session_id: str) -> Position:
    return Position(tenant=tenant, session_id=session_id, run_id=f"run_{ID}", generation=1, turn=1, first=1)


class Sessions:
    """Each commits what it is granted under its next number."""

    def __init__(self, stores: Stores, tenant: str, limit: int = LARGE) -> None:
        self.stores, self.tenant, self.limit = stores, tenant, limit
        self.granted = Counter[str]()
        self._numbers = Counter[str]()

    def plan(self, session_id: str, wanted: int = CHUNK_TOKENS) -> LeaseChange | None:
        return next_grant(self.stores.index, Pool(self.limit, 0), at(self.tenant, session_id), HOUR, wanted)

    def commit(self, session_id: str, lease: LeaseChange) -> None:
        number = self._numbers[session_id] + 1
        commit = make_commit(self.tenant, session_id, number)
        self.stores.log.append(commit, TransactionItems(leases=(lease,)))
        self._numbers[session_id] = number
        self.granted[session_id] += lease.tokens

    def take(self, session_id: str, wanted: int = CHUNK_TOKENS) -> bool:
        lease = self.plan(session_id, wanted)
        if lease is not None:
            self.commit(session_id, lease)
        return lease is not None

    def give_back(self, session_id: str, tokens: int, share: int | None) -> None:
        self.commit(session_id, LeaseChange(self.tenant, HOUR, -tokens, share=share))

    def free(self) -> list[int]:
        """By share."""
        numbers = range(shares_of(self.limit))
        return [self.stores.index.free_tokens_of_share(self.tenant, HOUR, number) for number in numbers]

    def check(self) -> None:
        free = self.free()
        assert min(free) >= 0
        of_hour = self.stores.index.granted_tokens(self.tenant, HOUR)
        assert sum(self.granted.values()) + sum(free) == of_hour <= self.limit


@pytest.mark.parametrize(
    ("limit", "shares"),
    [(1, 1), (5_000_000, 1), (2 * SHARE_TOKENS - 1, 1), (2 * SHARE_TOKENS, 2), (10**12, MOST_HOUR_SHARES)],
)
def test_a_small_hour_has_no_shares(limit: int, shares: int) -> None:
    assert shares_of(limit) == shares


def test_a_small_hour_is_granted_as_it_was_by_one_item(stores: Stores, tenant: str) -> None:
    sessions = Sessions(stores, tenant, limit=5_000_000)
    assert sessions.plan("ses_1", 30_000) == LeaseChange(tenant, HOUR, 30_000, 5_000_000)
    assert sessions.take("ses_1", 30_000)
    assert stores.index.granted_tokens(tenant, HOUR) == 30_000


def test_each_session_is_granted_from_its_own_share_and_the_hour_is_seldom_touched(
    stores: Stores, tenant: str
) -> None:
    sessions = Sessions(stores, tenant)
    plans = []
    for n in range(60):
        lease = sessions.plan(f"ses_{n}")
        assert lease is not None
        sessions.commit(f"ses_{n}", lease)
        plans.append(lease)

    sessions.check()
    assert {lease.share for lease in plans} == {0, 1, 2, 3}
    assert sum(lease.drawn > 0 for lease in plans) == 4, "once for each share"


def test_a_session_whose_share_is_empty_is_granted_from_another_and_all_is_given_out(
    stores: Stores, tenant: str
) -> None:
    sessions = Sessions(stores, tenant)
    for n in range(4):
        assert sessions.take(f"ses_{n}", LARGE // 8)
    wanted = 1_000_000
    taken = 0
    while sessions.take("ses_one", wanted):
        taken += wanted
        sessions.check()
    assert sum(sessions.granted.values()) > LARGE - 4 * wanted
    assert not sessions.take("ses_0", wanted), "nor is there a share that has it for another"
    sessions.check()


def test_of_two_that_want_the_last_tokens_of_a_share_one_is_granted(stores: Stores, tenant: str) -> None:
    sessions = Sessions(stores, tenant)
    assert sessions.take("ses_1")
    lease = sessions.plan("ses_1", LARGE // 32 - CHUNK_TOKENS)
    assert lease is not None
    assert lease.drawn == 0
    sessions.commit("ses_1", lease)
    with pytest.raises(GrantChanged):
        sessions.commit("ses_2", lease)
    sessions.check()


def test_a_share_takes_from_the_hour_only_what_the_hour_still_has(stores: Stores, tenant: str) -> None:
    sessions = Sessions(stores, tenant)
    lease = sessions.plan("ses_1")
    assert lease is not None
    nearly_all = LeaseChange(tenant, HOUR, LARGE - 1_000, LARGE)
    stores.log.append(make_commit(tenant, "ses_old", 1), TransactionItems(leases=(nearly_all,)))
    with pytest.raises(GrantChanged):
        sessions.commit("ses_1", lease)
    assert stores.index.granted_tokens(tenant, HOUR) == LARGE - 1_000
    assert not sessions.take("ses_1")
    assert sessions.take("ses_1", 1_000)


def test_what_is_given_back_to_a_share_is_granted_from_it_again(stores: Stores, tenant: str) -> None:
    sessions = Sessions(stores, tenant)
    lease = sessions.plan("ses_1")
    assert lease is not None
    sessions.commit("ses_1", lease)
    of_hour = stores.index.granted_tokens(tenant, HOUR)
    sessions.give_back("ses_1", 15_000, lease.share)
    sessions.check()
    assert stores.index.granted_tokens(tenant, HOUR) == of_hour, "an end does not touch the hour's own item"
    assert sum(sessions.free()) == of_hour - 5_000


def test_a_share_that_was_never_there_takes_what_is_given_back(stores: Stores, tenant: str) -> None:
    sessions = Sessions(stores, tenant)
    sessions.give_back("ses_1", 100, 2)
    assert sessions.free() == [0, 0, 100, 0]


def test_a_grant_belongs_to_its_own_tenant(stores: Stores, tenant: str) -> None:
    theirs = LeaseChange("other", HOUR, 5, LARGE, 0, 5)
    with pytest.raises(ValueError, match="tenant"):
        stores.log.append(make_commit(tenant, "ses_1", 1), TransactionItems(leases=(theirs,)))


def test_grants_of_an_hour_are_in_as_many_partitions_as_it_has_shares(aws: Aws, tenant: str) -> None:
    sessions = Sessions(aws_stores(aws), tenant)
    for n in range(40):
        assert sessions.take(f"ses_{n}")
    found = [
        item["pk"]["S"]
        for page in aws.dynamodb.get_paginator("scan").paginate(TableName=aws.table)
        for item in page["Items"]
        if item["pk"]["S"].startswith(f"T#{tenant}#=L")
    ]
    assert sorted(found) == [f"T#{tenant}#=L{number:02d}" for number in range(4)]


steps = st.lists(
    st.tuples(
        st.integers(0, 6), st.sampled_from([1_000, 20_000, 700_000, 3_000_000, 9_000_000]), st.booleans()
    ),
    max_size=60,
)


@given(steps)
def test_the_hour_is_never_exceeded_however_workers_race(moves: list[tuple[int, int, bool]]) -> None:
    """Some commit at once, some later what they saw before."""
    sessions = Sessions(aws_stores(sqlite()), "acme")
    held: list[tuple[str, LeaseChange]] = []

    def committed() -> Iterator[bool]:
        for session_id, lease in held:
            try:
                sessions.commit(session_id, lease)
            except GrantChanged:
                yield False
            else:
                yield True

    for number, wanted, waits in moves:
        lease = sessions.plan(f"ses_{number}", wanted)
        if lease is None:
            assert max(sessions.free()) < wanted
            continue
        held.append((f"ses_{number}", lease))
        if not waits:
            held.reverse()
            assert any(committed()), "one of those who race wins"
            held.clear()
        sessions.check()
