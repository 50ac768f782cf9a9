"""Listings of large rows: a page ends by its bytes, and the next one goes on behind the last row told
(docs/design/api.md 8)."""

from collections.abc import Callable

import pytest

from acta.engine.api.envelope import json_bytes
from acta.engine.log.head import Head
from acta.engine.log.store import TransactionItems
from acta.engine.people.answers import intervention_view
from acta.engine.people.intervention import Intervention
from acta.engine.sessions.answers import session_view
from acta.engine.sessions.pages import Page, page_of_items
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, says
from tests.stores.documents import make_commit, make_intervention

MB = 1_000_000
LARGE_PLAN = [{"description": "ü" * 1_000, "input": {"a": "é" * 950}} for _ in range(10)]


@pytest.fixture(scope="module")
def house() -> House:
    """Thirty sessions with as large a plan as there may be, and as many decisions with a large input."""
    planned = says("", call("update_plan", action="create", goal="g" * 2_000, steps=LARGE_PLAN))
    done = says("", call("update_plan", action="fail", reason="r"))
    made = House(ScriptedModel([reply for _ in range(30) for reply in (planned, done)]))
    for _ in range(30):
        made.start("Plan")
        made.run()
    decided = [
        make_intervention("ses_1", f"int_{n:02d}", state="resolved", input={"input": {"a": "x" * 65_000}})
        for n in range(30)
    ]
    made.log.append(make_commit(TENANT, "ses_1", 1), TransactionItems(interventions=decided))
    return made


Read = Callable[[House, int, str | None], Page]


def page_of_sessions(house: House, limit: int, cursor: str | None) -> Page:
    def behind(head: Head) -> str:
        return house.index.cursor_after_session(TENANT, head.session_id)

    found = house.index.sessions(TENANT, states=(), agent_id=None, limit=limit, cursor=cursor)
    heads = [house.head(entry.session_id) for entry in found.entries]
    return page_of_items(heads, session_view, behind, found.cursor)


def page_of_interventions(house: House, limit: int, cursor: str | None) -> Page:
    def behind(one: Intervention) -> str:
        return house.index.cursor_after_intervention(TENANT, one.intervention_id)

    found = house.index.interventions(TENANT, state=None, limit=limit, cursor=cursor)
    return page_of_items(found.items, intervention_view, behind, found.cursor)


@pytest.mark.parametrize("limit", [1, 7, 100])
@pytest.mark.parametrize(
    ("name", "read"), [("session_id", page_of_sessions), ("intervention_id", page_of_interventions)]
)
def test_large_rows_come_each_once_in_pages_under_a_megabyte(
    house: House, name: str, read: Read, limit: int
) -> None:
    told: list[str] = []
    cursor: str | None = None
    while True:
        page = read(house, limit, cursor)
        assert 1 <= len(page.items) <= limit
        assert json_bytes(page._asdict()) < MB
        told += [item[name] for item in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(told) == 30
    assert told == sorted(set(told), reverse=True)


def test_a_page_of_a_hundred_large_rows_would_have_been_too_much(house: House) -> None:
    assert len(page_of_sessions(house, 100, None).items) < 30
    assert len(page_of_interventions(house, 100, None).items) < 30
