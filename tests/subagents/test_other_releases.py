"""A release that does not know a field of a tree carries it through (docs/design/releases.md)."""

from datetime import UTC, datetime
from typing import Any

from acta.engine.log.head import Child, Children, Head, Later, OpenCall, Parent
from tests.stores.documents import make_head

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_fields_of_a_later_release_stay_in_a_head_through_the_commits_of_this_one() -> None:
    child = Child(item=0, tokens=5_000, usd=0.5)
    of = Children(
        effect_id="eff_1",
        agent_id="a",
        count=2,
        at_once=1,
        session_at_once=1,
        tokens=5_000,
        started=1,
        working=(child,),
    )
    later = Later(kind="agent", began=NOW, until=NOW)
    open_call = OpenCall(call_id="call_1", name="a", state="started", later=later, children=of)
    parent = Parent(session_id="ses_1", run_id="run_1", call_id="call_1", item=0, chain=())
    stored: dict[str, Any] = make_head("acme", "ses_2", calls=(open_call,), parent=parent).model_dump(
        mode="json"
    )
    stored["parent"]["of_tomorrow"] = 1
    stored["calls"][0]["children"]["of_tomorrow"] = 2
    stored["calls"][0]["children"]["working"][0]["of_tomorrow"] = 3
    stored["calls"][0]["later"]["of_tomorrow"] = 4

    head = Head.model_validate(stored)
    (call,) = head.calls
    assert call.children is not None
    assert head.parent is not None
    changed = call.model_copy(update={"children": call.children.model_copy(update={"started": 2})})
    written = head.with_call(changed).model_copy(
        update={"parent": head.parent.model_copy(update={"told": True})}
    )

    again = written.model_dump(mode="json")
    assert again["parent"]["of_tomorrow"] == 1
    assert again["calls"][0]["children"]["of_tomorrow"] == 2
    assert again["calls"][0]["children"]["working"][0]["of_tomorrow"] == 3
    assert again["calls"][0]["later"]["of_tomorrow"] == 4
