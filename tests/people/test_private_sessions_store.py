"""What the log and the index give a person: a private session only where they may see it (ADR 50)."""

import base64
from collections.abc import Callable
from contextlib import suppress

import pytest

from acta.engine.bound_tenant import bound_to
from acta.engine.errors import SessionHidden
from acta.engine.log.store import IndexEntry, TransactionItems
from acta.engine.people.intervention import Intervention
from acta.engine.people.visibility import Reach, Viewer
from tests.stores.backends import Aws, Stores, aws_stores
from tests.stores.documents import make_commit, make_head, make_intervention

pytestmark = pytest.mark.contract

OWNER = "someone"


def viewer(user: str, *roles: str, reach: Reach = "owner") -> Viewer:
    return Viewer(user, frozenset(roles), reach)


def store(stores: Stores, tenant: str, session_id: str, *asked: Intervention, private: bool = True) -> None:
    """A session of `OWNER` with these open questions."""
    head = make_head(
        tenant, session_id, visibility="private" if private else "tenant", interventions=tuple(asked)
    )
    listing = IndexEntry(tenant, session_id, "a", "active", private_to=head.private_to)
    stores.log.append(
        make_commit(tenant, session_id, 1, head=head), TransactionItems(listing=listing, interventions=asked)
    )


def question(number: int, **fields: object) -> Intervention:
    return make_intervention("ses_1", f"int_{number}", **{"private_to": OWNER, **fields})


def is_there(stores: Stores, tenant: str, session_id: str = "ses_1") -> bool:
    """By either way of reading, which agree."""
    ways: tuple[Callable[[], object], ...] = (
        lambda: stores.log.latest(tenant, session_id),
        lambda: stores.log.read(tenant, session_id, since=1).commits,
        lambda: stores.log.read(tenant, session_id, since=1, limit=1).commits,
    )
    found = []
    for read in ways:
        try:
            found.append(bool(read()))
        except SessionHidden:
            found.append(False)
    assert len(set(found)) == 1, found
    return found[0]


def test_a_private_session_is_there_for_its_owner_and_for_the_engine(stores: Stores, tenant: str) -> None:
    store(stores, tenant, "ses_1")
    store(stores, tenant, "ses_2", private=False)
    assert is_there(stores, tenant)
    with bound_to(tenant):
        assert is_there(stores, tenant)
    for person, sees in ((viewer(OWNER), True), (viewer("mia", "admin", "approver"), False)):
        with bound_to(tenant, person):
            assert is_there(stores, tenant) is sees
            assert is_there(stores, tenant, "ses_2")


@pytest.mark.parametrize(
    ("reach", "roles", "sees"),
    [
        ("admin", ("admin",), True), ("admin", ("member", "approver"), False),
        ("decider", ("approver",), True), ("decider", ("admin", "finance"), False),
    ],
)  # fmt: skip
def test_on_some_routes_it_is_there_for_an_admin_or_for_who_decides(
    stores: Stores, tenant: str, reach: Reach, roles: tuple[str, ...], sees: bool
) -> None:
    store(stores, tenant, "ses_1", question(1, role="approver"), question(2, role=None))
    with bound_to(tenant, viewer("mia", *roles, reach=reach)):
        assert is_there(stores, tenant) is sees


def test_what_was_open_once_lets_nobody_in_and_who_was_let_in_goes_on_to_the_end_of_the_request(
    stores: Stores, tenant: str
) -> None:
    asked = question(1, role="approver")
    store(stores, tenant, "ses_1", asked)
    decided = asked.model_copy(update={"state": "resolved", "resolution": "approve", "resolved_by": "app"})
    after = make_commit(tenant, "ses_1", 2, head=make_head(tenant, "ses_1", visibility="private"))
    with bound_to(tenant, viewer("app", "approver", reach="decider")):
        assert stores.log.latest(tenant, "ses_1") is not None
        stores.log.append(after, TransactionItems(interventions=(decided,)))
        assert is_there(stores, tenant)
    with bound_to(tenant, viewer("app", "approver", reach="decider")):
        assert not is_there(stores, tenant)
        assert stores.index.intervention(tenant, "int_1") == decided
        assert is_there(stores, tenant)
    with bound_to(tenant, viewer("eve", "approver", reach="decider")):
        assert stores.index.intervention(tenant, "int_1") is None


@pytest.mark.parametrize(
    ("person", "may"),
    [
        (viewer(OWNER), [1, 2]), (viewer("mia", "admin"), [2]), (viewer("mia", "member", reach="admin"), [2]),
        (viewer("mia", "admin", reach="admin"), [1, 2, 3]), (None, [1, 2, 3]),
    ],
)  # fmt: skip
def test_the_listing_says_whose_a_session_is_and_what_is_not_listed_is_for_admins(
    stores: Stores, tenant: str, person: Viewer | None, may: list[int]
) -> None:
    store(stores, tenant, "ses_1")
    store(stores, tenant, "ses_2", private=False)
    passed = []
    with bound_to(tenant, person):
        for number in (1, 2, 3):
            with suppress(SessionHidden):
                stores.index.check_listed(tenant, f"ses_{number}")
                passed.append(number)
    assert passed == may


def listed(stores: Stores, tenant: str, limit: int) -> list[list[str]]:
    pages, cursor = [], None
    while True:
        page = stores.index.sessions(tenant, states=(), agent_id=None, limit=limit, cursor=cursor)
        pages.append([entry.session_id for entry in page.entries])
        cursor = page.cursor
        if cursor is None:
            return pages


def fill(stores: Stores, tenant: str, owners: list[str | None]) -> None:
    stores.list_quickly(
        [
            IndexEntry(tenant, f"ses_{n:05d}", "a", "active", private_to=owner)
            for n, owner in enumerate(owners)
        ]
    )


def test_pages_of_a_listing_are_as_full_as_if_the_hidden_sessions_were_not_there(
    stores: Stores, tenant: str
) -> None:
    fill(stores, tenant, [None, *["ann"] * 9, None, "mia", *["ann"] * 250, None])
    with bound_to(tenant, viewer("mia")):
        assert listed(stores, tenant, 2) == [["ses_00262", "ses_00011"], ["ses_00010", "ses_00000"]]
        assert listed(stores, tenant, 4) == [["ses_00262", "ses_00011", "ses_00010", "ses_00000"]]
    with bound_to(tenant, viewer("lee", "admin")):
        assert listed(stores, tenant, 3) == [["ses_00262", "ses_00010", "ses_00000"]]
    with bound_to(tenant, viewer("ann")):
        assert sum(map(len, listed(stores, tenant, 100))) == 262
    assert sum(map(len, listed(stores, tenant, 300))) == 263


def test_a_page_looks_at_so_many_hidden_sessions_and_the_next_goes_on(stores: Stores, tenant: str) -> None:
    fill(stores, tenant, [None, *["ann"] * 2_100, None])
    with bound_to(tenant, viewer("mia")):
        pages = listed(stores, tenant, 5)
    assert 1 < len(pages) < 9
    assert [each for page in pages for each in page] == ["ses_02101", "ses_00000"]


def test_on_aws_the_cursor_of_a_page_names_nothing_that_is_hidden(account: Aws, tenant: str) -> None:
    """Also where very many were made in one second, which the cursor stays behind until all are looked at."""
    stores = aws_stores(account)
    names = []
    for _ in range(2):
        stores.clock.advance(2)
        names += [stores.clock.new_id("ses") for _ in range(1_300)]
    hidden = [IndexEntry(tenant, name, "a", "active", private_to="ann") for name in names]
    stores.list_quickly([IndexEntry(tenant, "ses_0", "a", "active"), *hidden])
    seen, cursor, pages = [], None, 0
    with bound_to(tenant, viewer("mia")):
        while cursor is not None or not pages:
            page = stores.index.sessions(tenant, states=(), agent_id=None, limit=5, cursor=cursor)
            seen += [entry.session_id for entry in page.entries]
            cursor, pages = page.cursor, pages + 1
            raw = base64.urlsafe_b64decode((cursor or "") + "==").decode(errors="replace")
            assert not any(name in raw for name in names)
            assert pages < 9
    assert seen == ["ses_0"]
    assert pages > 1


def test_questions_are_listed_for_their_owner_and_open_ones_for_who_decides(
    stores: Stores, tenant: str
) -> None:
    asked = [
        question(1, role="approver"),
        question(2, role=None),
        question(3, role="approver", state="expired"),
        question(4, role="finance"),
        question(5, role="approver", private_to=None),
    ]
    store(stores, tenant, "ses_1", *asked)

    def ids(person: Viewer, limit: int = 9) -> list[str]:
        with bound_to(tenant, person):
            found: list[str] = []
            cursor = None
            while True:
                page = stores.index.interventions(tenant, state=None, limit=limit, cursor=cursor)
                found += [one.intervention_id for one in page.items]
                cursor = page.cursor
                if cursor is None:
                    by_id = [stores.index.intervention(tenant, f"int_{n}") for n in (5, 4, 3, 2, 1)]
                    assert found == [one.intervention_id for one in by_id if one is not None]
                    return found

    assert ids(viewer(OWNER)) == ["int_5", "int_4", "int_3", "int_2", "int_1"]
    assert ids(viewer("app", "approver")) == ids(viewer("app", "approver", "x"), 1) == ["int_5", "int_1"]
    assert ids(viewer("app", "approver", "finance")) == ["int_5", "int_4", "int_1"]
    assert ids(viewer("mia", "admin")) == ids(viewer("mia")) == ["int_5"]
    many = viewer("app", *(f"a{n:03d}" for n in range(99)), "approver", *(f"z{n:03d}" for n in range(99)))
    assert ids(many) == ["int_5", "int_1"]
