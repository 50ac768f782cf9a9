"""The session log: one writer per number, whole transactions, exact documents, tenants apart."""

from random import Random
from threading import Barrier, Thread

import pytest

from acta.engine.errors import SchemaUnknown
from acta.engine.limits.shares import LeaseChange
from acta.engine.log.commit import Commit
from acta.engine.log.conversation import Content, UserEntry
from acta.engine.log.store import (
    GrantChanged,
    IndexEntry,
    LogPage,
    NumberTaken,
    Occupied,
    SessionLog,
    SessionReceiver,
    TransactionItems,
)
from tests.stores.backends import Stores
from tests.stores.documents import (
    ROUTE,
    full_commit,
    largest_commit,
    make_commit,
    make_intervention,
    record_for,
)

pytestmark = pytest.mark.contract


def test_a_session_nobody_started_is_empty(stores: Stores, tenant: str) -> None:
    assert stores.log.latest(tenant, "ses_none") is None
    assert stores.log.read(tenant, "ses_none", 1) == LogPage((), complete=True)


def test_commits_come_back_exactly_and_in_order(stores: Stores, tenant: str) -> None:
    commits = [full_commit(tenant, "ses_1", number) for number in range(1, 13)]
    for commit in commits:
        stores.log.append(commit)

    assert stores.log.read(tenant, "ses_1", 1) == LogPage(tuple(commits), complete=True)
    assert stores.log.read(tenant, "ses_1", 11).commits == tuple(commits[10:])
    assert stores.log.read(tenant, "ses_1", 13) == LogPage((), complete=True)
    assert stores.log.latest(tenant, "ses_1") == commits[-1]


def test_a_limited_tail_says_whether_there_is_more(stores: Stores, tenant: str) -> None:
    commits = [make_commit(tenant, "ses_1", number) for number in range(1, 6)]
    for commit in commits:
        stores.log.append(commit)

    assert stores.log.read(tenant, "ses_1", 1, 2) == LogPage(tuple(commits[:2]), complete=False)
    assert stores.log.read(tenant, "ses_1", 4, 2) == LogPage(tuple(commits[3:]), complete=True)


def test_of_two_writers_on_one_number_one_wins(stores: Stores, tenant: str) -> None:
    mine, theirs = make_commit(tenant, "ses_1", 1, "mine"), make_commit(tenant, "ses_1", 1, "theirs")

    stores.log.append(mine)
    with pytest.raises(NumberTaken):
        stores.other_log.append(theirs)

    assert stores.other_log.read(tenant, "ses_1", 1).commits == (mine,)


def test_of_writers_at_the_same_moment_one_wins(
    stores: Stores, tenant: str, request: pytest.FixtureRequest
) -> None:
    if "moto" in request.node.name:
        pytest.skip("moto does not lock its tables")
    together, won, lost = Barrier(4), [], []

    def write(log: SessionLog, commit: Commit) -> None:
        together.wait(10)
        try:
            log.append(commit)
            won.append(commit)
        except NumberTaken:
            lost.append(commit)

    writers = [
        Thread(target=write, args=(log, make_commit(tenant, "ses_1", 1, f"writer {i}")))
        for i, log in enumerate((stores.log, stores.other_log) * 2)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(30)

    assert (len(won), len(lost)) == (1, 3)
    assert stores.log.read(tenant, "ses_1", 1).commits == tuple(won)


def test_who_repeats_a_write_after_a_lost_answer_finds_its_own_key(stores: Stores, tenant: str) -> None:
    commit = make_commit(tenant, "ses_1", 1, "run/1/think")
    stores.log.append(commit)

    with pytest.raises(NumberTaken):
        stores.log.append(commit)

    latest = stores.log.latest(tenant, "ses_1")
    assert latest is not None
    assert latest.key == "run/1/think"


def test_a_commit_and_its_extra_items_are_written_together(stores: Stores, tenant: str) -> None:
    commit = make_commit(tenant, "ses_1", 1)
    entry = IndexEntry(tenant, "ses_1", "default", "waiting_for_user")
    open_one = make_intervention("ses_1", "int_1")
    record = record_for(stores.clock, tenant)

    stores.log.append(commit, TransactionItems(entry, (open_one,), record))

    assert stores.log.latest(tenant, "ses_1") == commit
    page = stores.index.sessions(tenant, states=(), agent_id=None, limit=10, cursor=None)
    assert page.entries == (entry,)
    assert stores.index.intervention(tenant, "int_1") == open_one
    assert stores.index.idempotency_record(tenant, ROUTE, "k") == record


def test_extra_items_of_a_lost_number_are_not_written(stores: Stores, tenant: str) -> None:
    stores.log.append(make_commit(tenant, "ses_1", 1, "theirs"))
    extra_items = TransactionItems(
        IndexEntry(tenant, "ses_1", "default", "active"),
        (make_intervention("ses_1", "int_1"),),
        record_for(stores.clock, tenant),
    )

    with pytest.raises(NumberTaken):
        stores.log.append(make_commit(tenant, "ses_1", 1, "mine"), extra_items)

    assert stores.index.sessions(tenant, states=(), agent_id=None, limit=10, cursor=None).entries == ()
    assert stores.index.intervention(tenant, "int_1") is None
    assert stores.index.idempotency_record(tenant, ROUTE, "k") is None


def test_what_comes_with_a_restored_commit_replaces_nothing(stores: Stores, tenant: str) -> None:
    question = make_intervention("ses_1", "int_1")
    listing = IndexEntry(tenant, "ses_1", "default", "waiting_for_user")
    receiver = SessionReceiver(tenant, "ses_1", "https://hooks.example.com")
    there = TransactionItems(listing=listing, interventions=[question], receiver=receiver)
    stores.log.append(make_commit(tenant, "ses_1", 1), there)

    later = listing._replace(state="completed")
    for more in (
        TransactionItems(interventions=[make_intervention("ses_2", "int_1")], restored=True),
        TransactionItems(listing=later, restored=True),
        TransactionItems(receiver=receiver._replace(url="https://elsewhere.example"), restored=True),
    ):
        session = "ses_2" if more.interventions else "ses_1"
        with pytest.raises(Occupied):
            stores.log.append(make_commit(tenant, session, 2), more)
    assert stores.log.latest(tenant, "ses_2") is None
    assert stores.index.interventions(tenant, state=None, limit=9, cursor=None).items == (question,)
    assert [
        each.state
        for each in stores.index.sessions(tenant, states=(), agent_id=None, limit=9, cursor=None).entries
    ] == ["waiting_for_user"]
    stores.log.append(
        make_commit(tenant, "ses_3", 1),
        TransactionItems(interventions=[make_intervention("ses_3", "int_3")], restored=True),
    )
    assert stores.log.latest(tenant, "ses_3") is not None


def test_a_companion_of_another_tenant_is_refused(stores: Stores, tenant: str) -> None:
    with pytest.raises(ValueError, match="tenant"):
        stores.log.append(
            make_commit(tenant, "ses_1", 1), TransactionItems(IndexEntry(f"{tenant}x", "ses_1", "a", "idle"))
        )
    assert stores.log.latest(tenant, "ses_1") is None


@pytest.mark.parametrize(
    ("one", "session", "other", "other_session"),
    [
        ("a#S#b", "c", "a", "b#S#c"),
        ("a", "b#S#c", "a#S#b", "c"),
        ("a#", "b", "a", "b"),
        ("a%23", "b", "a#", "b"),
        ("ä", "b", "Ã¤", "b"),
        ("a/sessions/b", "c", "a", "c"),
        ("..", "b", ".", "b"),
        ("x" * 3_000, "b", "x" * 3_001, "b"),
        ("A", "b", "a", "b"),
    ],
)
def test_no_spelling_of_a_tenant_reaches_another_one(
    stores: Stores, tenant: str, one: str, session: str, other: str, other_session: str
) -> None:
    one, other = one + tenant, other + tenant
    commit = make_commit(one, session, 1)
    stores.log.append(
        commit,
        TransactionItems(IndexEntry(one, session, "a", "idle"), (make_intervention(session, "int_1"),)),
    )

    assert stores.log.latest(one, session) == commit
    assert stores.log.latest(other, other_session) is None
    assert stores.log.read(other, session, 1).commits == ()
    assert stores.index.sessions(other, states=(), agent_id=None, limit=9, cursor=None).entries == ()
    assert stores.index.interventions(other, state=None, limit=9, cursor=None).items == ()
    assert stores.index.intervention(other, "int_1") is None


def test_a_log_of_more_than_a_megabyte_is_read_whole_and_in_order(stores: Stores, tenant: str) -> None:
    chance = Random(1)
    for number in range(1, 16):
        text = chance.randbytes(100_000).hex()
        entry = UserEntry(message_id=f"msg_{number}", content=Content.of(text))
        stores.log.append(make_commit(tenant, "ses_1", number, entries=(entry,)))

    tail = stores.log.read(tenant, "ses_1", 1)
    assert [commit.number for commit in tail.commits] == list(range(1, 16))
    assert tail.complete
    limited = stores.log.read(tenant, "ses_1", 1, 14)
    assert (limited.commits, limited.complete) == (tail.commits[:14], False)


def test_the_largest_head_the_domain_allows_fits(stores: Stores, tenant: str) -> None:
    commit = largest_commit(tenant, "ses_1")
    stores.log.append(commit)
    assert stores.log.latest(tenant, "ses_1") == commit


def test_a_commit_of_an_unknown_schema_version_is_refused(stores: Stores, tenant: str) -> None:
    stores.log.append(make_commit(tenant, "ses_1", 1))
    stores.set_version(tenant, "ses_1", 1, 99)

    with pytest.raises(SchemaUnknown, match="99"):
        stores.log.latest(tenant, "ses_1")
    with pytest.raises(SchemaUnknown):
        stores.log.read(tenant, "ses_1", 1)


def test_a_deleted_session_leaves_nothing_and_its_neighbours_stay(stores: Stores, tenant: str) -> None:
    for session_id in ("ses_1", "ses_2"):
        for number in range(1, 31):
            ids = (f"int_{session_id}_{number}",) if number % 10 == 0 else ()
            stores.log.append(
                make_commit(tenant, session_id, number),
                TransactionItems(
                    IndexEntry(tenant, session_id, "a", "active") if number == 1 else None,
                    tuple(make_intervention(session_id, each) for each in ids),
                ),
            )
    stores.set_version(tenant, "ses_1", 3, 99)

    stores.log.delete(tenant, "ses_1")
    stores.log.delete(tenant, "ses_1")

    assert stores.log.latest(tenant, "ses_1") is None
    assert stores.log.read(tenant, "ses_1", 1).commits == ()
    assert len(stores.log.read(tenant, "ses_2", 1).commits) == 30
    page = stores.index.sessions(tenant, states=(), agent_id=None, limit=10, cursor=None)
    assert [entry.session_id for entry in page.entries] == ["ses_2"]
    left = stores.index.interventions(tenant, state=None, limit=10, cursor=None).items
    assert {each.session_id for each in left} == {"ses_2"}
    assert len(left) == 3


def test_an_hours_tokens_are_granted_with_the_commit_or_not_at_all(stores: Stores, tenant: str) -> None:
    first = LeaseChange(tenant, 7, 500, limit=1_000)
    stores.log.append(make_commit(tenant, "ses_1", 1), TransactionItems(leases=(first,)))
    assert stores.index.granted_tokens(tenant, 7) == 500
    assert stores.index.granted_tokens(tenant, 8) == 0

    too_much = LeaseChange(tenant, 7, 501, limit=1_000)
    with pytest.raises(GrantChanged):
        stores.log.append(make_commit(tenant, "ses_1", 2), TransactionItems(leases=(too_much,)))
    assert stores.index.granted_tokens(tenant, 7) == 500
    assert stores.log.read(tenant, "ses_1", 2).commits == ()

    rest = LeaseChange(tenant, 7, 500, limit=1_000)
    stores.log.append(make_commit(tenant, "ses_1", 2), TransactionItems(leases=(rest,)))
    assert stores.index.granted_tokens(tenant, 7) == 1_000


def test_what_is_given_back_is_taken_once_whatever_the_limit_is_and_granted_again(
    stores: Stores, tenant: str
) -> None:
    all_of_it = LeaseChange(tenant, 7, 1_000, limit=1_000)
    back = TransactionItems(leases=(LeaseChange(tenant, 7, -400),))
    stores.log.append(make_commit(tenant, "ses_1", 1), TransactionItems(leases=(all_of_it,)))
    stores.log.append(make_commit(tenant, "ses_1", 2), back)
    assert stores.index.granted_tokens(tenant, 7) == 600
    with pytest.raises(NumberTaken):
        stores.log.append(make_commit(tenant, "ses_1", 2), back)
    assert stores.index.granted_tokens(tenant, 7) == 600
    again = LeaseChange(tenant, 7, 400, limit=1_000)
    stores.log.append(make_commit(tenant, "ses_2", 1), TransactionItems(leases=(again,)))
    assert stores.index.granted_tokens(tenant, 7) == 1_000


def test_who_lost_both_the_number_and_the_hour_gets_the_error_of_the_number(
    stores: Stores, tenant: str
) -> None:
    theirs = LeaseChange(tenant, 7, 500, limit=1_000)
    stores.log.append(make_commit(tenant, "ses_1", 1, "theirs"), TransactionItems(leases=(theirs,)))
    mine = LeaseChange(tenant, 7, 900, limit=1_000)
    with pytest.raises(NumberTaken):
        stores.log.append(make_commit(tenant, "ses_1", 1, "mine"), TransactionItems(leases=(mine,)))


def test_a_late_worker_does_not_bring_a_deleted_session_back(stores: Stores, tenant: str) -> None:
    for number in (1, 2, 3):
        stores.log.append(make_commit(tenant, "ses_1", number))
    stores.log.delete(tenant, "ses_1")

    for number in (1, 2, 3):
        with pytest.raises(NumberTaken):
            stores.log.append(make_commit(tenant, "ses_1", number, "late"))
    assert stores.log.latest(tenant, "ses_1") is None
