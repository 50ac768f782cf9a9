"""A tenant's listings: newest first, in pages whose cursors are good for nothing else."""

import itertools
from collections.abc import Iterable
from datetime import datetime, timedelta

import pytest

from acta.engine.log.head import CoarseState
from acta.engine.log.store import (
    LIVE_SHARDS,
    IndexEntry,
    InterventionPage,
    ListingEntry,
    ListingFilter,
    LiveEntry,
    LiveKind,
    LiveSession,
    TransactionItems,
    live_shard,
    mark,
)
from acta.engine.people.intervention import InterventionState
from acta.engine.store.table_layout import listing_item
from tests.stores.backends import MOST_SEARCHED, Aws, Stores, aws_stores
from tests.stores.documents import NOW, make_commit, make_intervention

pytestmark = pytest.mark.contract


def listed(
    stores: Stores, tenant: str, limit: int, states: tuple[CoarseState, ...] = (), agent_id: str | None = None
) -> list[list[str]]:
    """Every page's session ids."""
    pages, cursor = [], None
    while True:
        page = stores.index.sessions(tenant, states=states, agent_id=agent_id, limit=limit, cursor=cursor)
        pages.append([entry.session_id for entry in page.entries])
        cursor = page.cursor
        if cursor is None:
            return pages


def fill(stores: Stores, tenant: str, count: int, state: CoarseState = "active", first: int = 0) -> None:
    stores.list_quickly(
        [IndexEntry(tenant, f"ses_{n:05d}", f"agent-{n % 2}", state) for n in range(first, first + count)]
    )


def test_sessions_come_newest_first_in_pages_and_the_last_page_says_so(stores: Stores, tenant: str) -> None:
    fill(stores, tenant, 6)
    assert listed(stores, tenant, 4) == [
        ["ses_00005", "ses_00004", "ses_00003", "ses_00002"],
        ["ses_00001", "ses_00000"],
    ]
    assert listed(stores, tenant, 6) == [[f"ses_{n:05d}" for n in reversed(range(6))]]
    assert listed(stores, f"{tenant}x", 4) == [[]]


def test_a_listing_can_be_filtered_by_states_and_agent(stores: Stores, tenant: str) -> None:
    fill(stores, tenant, 4, "active")
    fill(stores, tenant, 4, "failed", first=4)
    fill(stores, tenant, 4, "completed", first=8)

    assert listed(stores, tenant, 9, ("failed", "completed"), "agent-1") == [
        ["ses_00011", "ses_00009", "ses_00007", "ses_00005"]
    ]
    assert listed(stores, tenant, 2, ("active",)) == [["ses_00003", "ses_00002"], ["ses_00001", "ses_00000"]]
    assert listed(stores, tenant, 2, ("idle",)) == [[]]


def test_a_filter_that_skips_many_goes_on_until_it_has_something(stores: Stores, tenant: str) -> None:
    fill(stores, tenant, 2, "failed")
    fill(stores, tenant, 1_100, "completed", first=2)

    assert listed(stores, tenant, 10, ("failed",)) == [["ses_00001", "ses_00000"]]


@pytest.mark.parametrize("state", ["idle", "active", "waiting_for_user"])
def test_sessions_that_are_not_over_are_found_at_once_behind_any_number_that_are(
    stores: Stores, tenant: str, state: CoarseState
) -> None:
    fill(stores, tenant, 5, state)
    fill(stores, tenant, 1_100, "completed", first=5)

    assert listed(stores, tenant, 2, (state,)) == [
        ["ses_00004", "ses_00003"],
        ["ses_00002", "ses_00001"],
        ["ses_00000"],
    ]
    assert listed(stores, tenant, 9, (state,), "agent-1") == [["ses_00003", "ses_00001"]]


def test_a_page_with_a_cursor_says_how_far_it_has_looked(stores: Stores, tenant: str) -> None:
    names = []
    for _ in range(3):
        stores.clock.advance(3_600)
        names.append(stores.clock.new_id("ses"))
    stores.list_quickly([IndexEntry(tenant, name, "a", "completed") for name in names])
    page = stores.index.sessions(tenant, states=(), agent_id=None, limit=2, cursor=None)
    assert page.cursor is not None
    at = stores.index.searched_to(page.cursor)
    assert at is not None
    assert abs(at - (stores.clock.now() - timedelta(hours=1))) < timedelta(seconds=2)
    assert stores.index.searched_to(stores.index.cursor_after_session(tenant, "ses_1")) is None


def test_an_entry_follows_its_session(stores: Stores, tenant: str) -> None:
    states: tuple[CoarseState, ...] = ("active", "waiting_for_user", "completed")
    for number, state in enumerate(states, start=1):
        entry = IndexEntry(tenant, "ses_1", "a", state)
        stores.log.append(make_commit(tenant, "ses_1", number), TransactionItems(listing=entry))

    page = stores.index.sessions(tenant, states=(), agent_id=None, limit=5, cursor=None)
    assert page.entries == (IndexEntry(tenant, "ses_1", "a", "completed"),)


def test_an_entry_keeps_what_recovery_wrote_down(stores: Stores, tenant: str) -> None:
    entry = IndexEntry(tenant, "ses_1", "a", "active", LiveEntry("active", NOW))
    stores.log.append(make_commit(tenant, "ses_1", 1), TransactionItems(listing=entry))
    page = stores.index.sessions(tenant, states=(), agent_id=None, limit=5, cursor=None)
    assert page.entries == (entry,)


SHARDED = tuple(range(LIVE_SHARDS))


def live(
    stores: Stores,
    kind: LiveKind,
    *tenants: str,
    before: datetime | None = None,
    shards: Iterable[int] = SHARDED,
    limit: int = 500,
) -> list[LiveSession]:
    """Shard after shard, page after page, of these tenants: other tests' are there too."""
    found: list[LiveSession] = []
    for shard in shards:
        cursor: str | None = None
        while True:
            page = stores.index.live(kind, shard, before=before, limit=limit, cursor=cursor)
            found += [each for each in page.sessions if each.tenant in tenants]
            cursor = page.cursor
            if cursor is None:
                break
    return found


def of_one_shard(count: int) -> list[str]:
    """Ids of sessions whose entries stand together."""
    names = (f"ses_{n}" for n in itertools.count())
    return list(itertools.islice((name for name in names if live_shard(name) == 7), count))


KINDS: tuple[LiveKind, ...] = ("active", "woken", "waiting", "parked")


@pytest.mark.parametrize("kind", KINDS)
def test_live_sessions_of_all_tenants_come_oldest_first_by_kind(
    stores: Stores, tenant: str, kind: LiveKind
) -> None:
    other = f"{tenant}#{'long:' * 60}"
    times = [NOW + timedelta(microseconds=n) for n in range(5)]
    names = [((tenant, other)[n % 2], session) for n, session in enumerate(reversed(of_one_shard(5)))]
    stores.list_quickly(
        [IndexEntry(*name, "a", "active", LiveEntry(kind, at)) for name, at in zip(names, times, strict=True)]
        + [IndexEntry(tenant, "ses_none", "a", "completed")]
    )

    wanted = [LiveSession(*name, at) for name, at in zip(names, times, strict=True)]
    here = (7,)
    elsewhere = {*SHARDED} - {*here}
    assert live(stores, kind, tenant, other, shards=here, limit=2) == wanted
    assert live(stores, kind, tenant, other, shards=here, before=times[3], limit=2) == wanted[:3]
    assert live(stores, kind, tenant, other, shards=elsewhere) == []
    assert [live(stores, each, tenant, other, shards=here, limit=2) for each in KINDS if each != kind] == [
        []
    ] * 3


@pytest.mark.thorough
def test_live_sessions_are_spread_over_all_shards(stores: Stores, tenant: str) -> None:
    entries = [
        IndexEntry(tenant, f"ses_{n}", "a", "active", LiveEntry("active", NOW))
        for n in range(20 * LIVE_SHARDS)
    ]
    stores.list_quickly(entries)

    sizes = [len(live(stores, "active", tenant, shards=[shard])) for shard in SHARDED]

    assert sum(sizes) == len(entries)
    assert min(sizes) > 0


def test_an_entry_that_cannot_be_read_is_counted_and_hides_no_other(account: Aws, tenant: str) -> None:
    stores = aws_stores(account)
    first, damaged = of_one_shard(2)
    stores.list_quickly([IndexEntry(tenant, first, "a", "active", LiveEntry("active", NOW))])
    item = listing_item(IndexEntry(tenant, damaged, "a", "active", LiveEntry("active", NOW)))
    account.dynamodb.put_item(TableName=account.table, Item=item | {"live_at": {"S": "long ago"}})

    page = stores.index.live("active", 7, before=None, limit=500, cursor=None)

    assert LiveSession(tenant, first, NOW) in page.sessions
    assert page.damaged == 1


def test_a_session_leaves_the_live_ones_when_it_is_over_or_gone(stores: Stores, tenant: str) -> None:
    for session_id in ("ses_1", "ses_2", "ses_3"):
        entry = IndexEntry(tenant, session_id, "a", "active", LiveEntry("active", NOW))
        stores.log.append(make_commit(tenant, session_id, 1), TransactionItems(listing=entry))
    over = IndexEntry(tenant, "ses_1", "a", "completed")
    stores.log.append(make_commit(tenant, "ses_1", 2), TransactionItems(listing=over))
    stores.log.delete(tenant, "ses_2")
    waits = IndexEntry(tenant, "ses_3", "a", "waiting_for_user", LiveEntry("parked", NOW))
    stores.log.append(make_commit(tenant, "ses_3", 2), TransactionItems(listing=waits))

    assert live(stores, "active", tenant) == []
    assert live(stores, "parked", tenant) == [LiveSession(tenant, "ses_3", NOW)]


def test_interventions_are_listed_newest_first_and_by_state(stores: Stores, tenant: str) -> None:
    opened = [make_intervention("ses_1", f"int_{n}") for n in range(5)]
    stores.log.append(make_commit(tenant, "ses_1", 1), TransactionItems(interventions=opened))
    resolved = opened[3].model_copy(update={"state": "resolved", "resolution": "approve", "resolved_by": "u"})
    stores.log.append(make_commit(tenant, "ses_1", 2), TransactionItems(interventions=(resolved,)))

    first = stores.index.interventions(tenant, state="pending", limit=3, cursor=None)
    assert first.items == (opened[4], opened[2], opened[1])
    rest = stores.index.interventions(tenant, state="pending", limit=3, cursor=first.cursor)
    assert (rest.items, rest.cursor) == ((opened[0],), None)
    assert stores.index.interventions(tenant, state="resolved", limit=3, cursor=None).items == (resolved,)
    assert stores.index.intervention(tenant, "int_3") == resolved
    assert stores.index.intervention(tenant, "int_9") is None


def test_interventions_of_one_session_are_listed_apart_from_the_others(stores: Stores, tenant: str) -> None:
    opened = [make_intervention(f"ses_{n % 2}", f"int_{n}") for n in range(6)]
    for session_id in ("ses_0", "ses_1"):
        own = [one for one in opened if one.session_id == session_id]
        stores.log.append(make_commit(tenant, session_id, 1), TransactionItems(interventions=own))
    expired = opened[3].model_copy(update={"state": "expired", "resolution": "reject"})
    stores.log.append(make_commit(tenant, "ses_1", 2), TransactionItems(interventions=(expired,)))

    def listed(
        state: InterventionState | None, limit: int = 9, cursor: str | None = None
    ) -> InterventionPage:
        return stores.index.interventions(tenant, state=state, limit=limit, cursor=cursor, session_id="ses_1")

    assert listed(None) == ((opened[5], expired, opened[1]), None)
    assert listed("expired") == ((expired,), None)
    assert listed("resolved") == ((), None)
    first = listed(None, 2)
    assert first.items == (opened[5], expired)
    assert listed(None, 2, first.cursor) == ((opened[1],), None)


def test_a_reader_that_ends_a_page_early_goes_on_behind_the_last_row_it_gave(
    stores: Stores, tenant: str
) -> None:
    fill(stores, tenant, 4)
    opened = [make_intervention("ses_1", f"int_{n}") for n in range(4)]
    stores.log.append(make_commit(tenant, "ses_1", 1), TransactionItems(interventions=opened))

    behind = stores.index.cursor_after_session(tenant, "ses_00002")
    rest = stores.index.sessions(tenant, states=(), agent_id=None, limit=9, cursor=behind)
    assert [entry.session_id for entry in rest.entries] == ["ses_00001", "ses_00000"]
    behind = stores.index.cursor_after_intervention(tenant, "int_2")
    found = stores.index.interventions(tenant, state="pending", limit=9, cursor=behind)
    assert found.items == (opened[1], opened[0])


@pytest.mark.parametrize("forged", ["", "x", "c2VzXzE", "%%%", "ü", "A" * 40, "AAAAAAAAAAA=\n"])
def test_a_forged_cursor_is_refused(stores: Stores, tenant: str, forged: str) -> None:
    with pytest.raises(ValueError, match="cursor"):
        stores.index.sessions(tenant, states=(), agent_id=None, limit=3, cursor=forged)
    with pytest.raises(ValueError, match="cursor"):
        stores.index.interventions(tenant, state=None, limit=3, cursor=forged)


def test_a_cursor_of_another_tenant_or_listing_is_refused(stores: Stores, tenant: str) -> None:
    fill(stores, tenant, 3)
    cursor = stores.index.sessions(tenant, states=(), agent_id=None, limit=1, cursor=None).cursor
    assert cursor is not None

    for foreign in (cursor[:-1], cursor + "A", cursor.swapcase(), cursor + "="):
        with pytest.raises(ValueError, match="cursor"):
            stores.index.sessions(tenant, states=(), agent_id=None, limit=1, cursor=foreign)
    with pytest.raises(ValueError, match="cursor"):
        stores.index.sessions(f"{tenant}x", states=(), agent_id=None, limit=1, cursor=cursor)
    with pytest.raises(ValueError, match="cursor"):
        stores.index.interventions(tenant, state=None, limit=1, cursor=cursor)


def known(tenant: str, number: int, by: str, goal: str, **metadata: str) -> IndexEntry:
    marks = frozenset(mark(name, value) for name, value in metadata.items())
    return IndexEntry(tenant, f"ses_{number}", "a", "completed", listed=ListingEntry(by, goal, marks))


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (ListingFilter(created_by="ann"), [0, 2]),
        (ListingFilter(goal="MAY"), [0, 1]),
        (ListingFilter(metadata=("ticket", "7")), [0, 3]),
        (ListingFilter("ann", "invoices", ("ticket", "7")), [0]),
        (ListingFilter(metadata=("ticke", "t7")), []),
        (ListingFilter(goal="%"), []),
    ],
)
def test_sessions_are_found_by_person_goal_and_metadata(
    stores: Stores, tenant: str, wanted: ListingFilter, found: list[int]
) -> None:
    entries = [
        known(tenant, 0, "ann", "invoices of may", ticket="7", team="x"),
        known(tenant, 1, "bob", "the invoices of may"),
        known(tenant, 2, "ann", "rivers"),
        known(tenant, 3, "bob", "rivers", ticket="7"),
    ]
    stores.list_quickly(entries)
    page = stores.index.sessions(
        tenant, states=("completed",), agent_id="a", limit=9, cursor=None, wanted=wanted
    )
    assert [entry.session_id for entry in page.entries] == [f"ses_{n}" for n in reversed(found)]
    assert [entry.listed for entry in page.entries] == [entries[n].listed for n in reversed(found)]


def test_a_page_of_what_is_rare_looks_at_no_more_than_its_bound_and_goes_on_from_there(
    stores: Stores, tenant: str
) -> None:
    others = [
        IndexEntry(tenant, f"ses_{n:05d}", "a", "idle", listed=ListingEntry("bob", "", frozenset()))
        for n in range(MOST_SEARCHED + 100)
    ]
    mine = IndexEntry(tenant, "ses_", "a", "idle", listed=ListingEntry("ann", "", frozenset()))
    stores.list_quickly([mine, *others])
    pages, cursor = [], None
    while True:
        page = stores.index.sessions(
            tenant, states=(), agent_id=None, limit=5, cursor=cursor, wanted=ListingFilter(created_by="ann")
        )
        pages.append([entry.session_id for entry in page.entries])
        cursor = page.cursor
        if cursor is None:
            break
    assert pages == [[], ["ses_"]]
