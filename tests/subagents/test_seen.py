"""What is seen of a tree of sessions: the tree itself, listings, events, receipts, usage and traces."""

from typing import Any

import pytest

from acta.engine.log.commit import Commit
from acta.engine.log.head import Head
from acta.engine.traces.spans import Span, spans_of
from acta.engine.turn.budget import all_tokens
from acta.engine.usage.aws_prices import LISTS
from acta.engine.usage.fold import fold
from acta.engine.usage.store import StreamCommit, UsagePartition
from tests.api.session_functions import Person
from tests.doubles.audit import PlainPseudonyms
from tests.doubles.usage import MemoryUsage
from tests.in_process.family import FamilyHouse
from tests.in_process.house import TENANT
from tests.in_process.scripted import call, says
from tests.usage.test_receipts import gateway

AGENTS = {"boss": {"agents": [{"agent": "lead"}]}, "lead": {"agents": [{"agent": "worker"}]}}


FOUND = says("Found it.")


def three_levels(worker: Any = FOUND) -> tuple[FamilyHouse, str]:
    """A boss with two leads, of which each has three workers."""
    scripts = {
        "boss": [says("", call("lead", goal="Look at", map=["the north", "the south"])), says("All done.")],
        "lead": [says("", call("worker", goal="Dig", map=["here", "there", "below"])), says("Dug.")],
        "worker": [worker],
    }
    house = FamilyHouse(scripts, AGENTS)
    boss = house.begin("boss", "Look everywhere")
    house.run()
    return house, boss.session_id


def nodes(house: FamilyHouse, session_id: str, **query: str) -> list[dict[str, Any]]:
    """Of all pages."""
    found: list[dict[str, Any]] = []
    while True:
        told = Person(house).get(f"/v1/sessions/{session_id}/tree", **query)
        assert told.status == 200, told.body
        found += told.data["items"]
        if told.data["next_cursor"] is None:
            return found
        query = {**query, "cursor": told.data["next_cursor"]}


def all_heads(house: FamilyHouse, session_id: str) -> list[Head]:
    below = [each for child in house.children(session_id) for each in all_heads(house, child.session_id)]
    return [house.head(session_id), *below]


def commits(house: FamilyHouse, session_id: str) -> tuple[Commit, ...]:
    return house.repository.commits(TENANT, session_id, 1)


WAITS = says("", call("wait_until", seconds=86_400))
PLACES = [
    (0, "Look everywhere"),
    (1, "Look at\n\nthe north"),
    (2, "Dig\n\nhere"),
    (2, "Dig\n\nthere"),
    (2, "Dig\n\nbelow"),
    (1, "Look at\n\nthe south"),
    (2, "Dig\n\nhere"),
    (2, "Dig\n\nthere"),
    (2, "Dig\n\nbelow"),
]


@pytest.mark.parametrize("limit", ["1", "4", "9", "1000"])
def test_a_tree_has_each_session_before_its_children_in_the_order_of_items_on_pages_of_any_size(
    limit: str,
) -> None:
    house, boss = three_levels()
    found = nodes(house, boss, limit=limit)
    assert [(node["depth"], node["goal"]) for node in found] == PLACES
    assert [node["item"] for node in found] == [None, 1, 1, 2, 3, 2, 1, 2, 3]
    assert [node["about"] for node in found[:5]] == ["", "the north", "here", "there", "below"]
    ids = [node["session_id"] for node in found]
    assert [node["parent_id"] for node in found[:6]] == [None, boss, ids[1], ids[1], ids[1], boss]
    assert {node["goal_met"] for node in found} == {True}
    assert sum(node["tokens"] for node in found) == sum(h.usage.total_tokens for h in all_heads(house, boss))


def test_a_tree_says_who_works_and_what_each_waits_for() -> None:
    house, boss = three_levels(WAITS)
    found = nodes(house, boss)
    waits = [(node["state"], node["state_reason"], node["at_work"], node["made"]) for node in found]
    assert waits[:3] == [
        ("waiting_for_tool", "waiting_for_agents", 2, 2),
        ("waiting_for_tool", "waiting_for_agents", 3, 3),
        ("waiting_for_tool", "waiting_until", 0, 0),
    ]
    assert found[2]["retry_at"] is not None


def test_a_tree_has_the_open_questions() -> None:
    house, boss = three_levels(says("", call("delete_file", path="notes.md")))
    worker = nodes(house, boss)[2]
    (question,) = worker["questions"]
    assert (question["type"], question["tool"]) == ("approval_required", "delete_file")
    assert question["intervention_id"] == house.head(worker["session_id"]).interventions[0].intervention_id


def test_of_a_tree_that_is_held_only_the_session_that_people_paused_has_the_question() -> None:
    house, boss = three_levels(says("", call("delete_file", path="notes.md")))
    house.pause(boss)
    house.run()
    asked = {node["depth"]: {one["type"] for one in node["questions"]} for node in nodes(house, boss)}
    assert asked == {0: {"checkpoint_review"}, 1: set(), 2: {"approval_required"}}


def test_the_part_of_a_tree_below_a_child_is_a_tree_and_no_other_session_is_in_it() -> None:
    house, boss = three_levels()
    lead = nodes(house, boss)[1]["session_id"]
    found = nodes(house, lead, limit="2")
    assert [node["depth"] for node in found] == [0, 1, 1, 1]
    assert found[0]["parent_id"] is found[0]["call_id"] is None
    other = nodes(house, boss)[5]["session_id"]
    page = Person(house).get(f"/v1/sessions/{other}/tree", limit="1")
    cursor = page.data["next_cursor"]
    refused = Person(house).get(f"/v1/sessions/{lead}/tree", cursor=cursor)
    assert (refused.status, list(refused.error["details"])) == (400, ["cursor"])


def test_a_session_names_its_parent_and_what_its_children_have_of_its_budget() -> None:
    house, boss = three_levels(WAITS)
    lead = nodes(house, boss)[1]["session_id"]
    top = Person(house).get(f"/v1/sessions/{boss}").data["session"]
    middle = Person(house).get(f"/v1/sessions/{lead}").data["session"]
    assert top["parent"] is None
    assert middle["parent"]["session_id"] == boss
    assert [each["agent_id"] for each in middle["parent"]["chain"]] == ["boss"]
    assert (middle["parent"]["item"], middle["parent"]["about"]) == (1, "the north")
    assert (top["children"]["at_work"], top["children"]["made"], top["children"]["tokens"]) == (2, 2, 0)
    assert top["children"]["reserved_tokens"] > middle["children"]["reserved_tokens"] > 0
    worker = nodes(house, boss)[2]["session_id"]
    assert Person(house).get(f"/v1/sessions/{worker}").data["session"]["children"] is None


def test_a_listing_has_the_sessions_that_people_started_and_children_if_they_are_asked_for() -> None:
    house, boss = three_levels()
    other = house.begin("worker", "Alone")
    house.run()

    def listed(**query: str) -> list[str]:
        found: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            told = Person(house).get("/v1/sessions", limit="2", **query, **cursor)
            found += [each["session_id"] for each in told.data["items"]]
            if told.data["next_cursor"] is None:
                return found
            cursor = {"cursor": told.data["next_cursor"]}

    assert sorted(listed()) == sorted([boss, other.session_id])
    assert listed(agent_id="worker") == [other.session_id]
    assert len(listed(children="true")) == 10
    assert len(listed(children="true", agent_id="worker")) == 7


def test_open_children_are_left_out_of_the_listing_of_sessions_at_work() -> None:
    house, boss = three_levels(WAITS)
    told = Person(house).get("/v1/sessions", state="waiting_for_tool")
    assert [each["session_id"] for each in told.data["items"]] == [boss]
    with_them = Person(house).get("/v1/sessions", state="waiting_for_tool", children="true")
    assert len(with_them.data["items"]) == 9


def test_the_parents_events_say_when_each_child_begins_and_ends() -> None:
    house, boss = three_levels()
    told = [
        event.data | {"type": event.type, "text": event.text}
        for commit in commits(house, boss)
        for event in commit.events
        if event.type.startswith("child.")
    ]
    leads = house.children(boss)
    assert [(each["type"], each["item"]) for each in told if each["type"] == "child.started"] == [
        ("child.started", 1),
        ("child.started", 2),
    ]
    ended = {each["session_id"]: each for each in told if each["type"] == "child.finished"}
    assert {lead.session_id: all_tokens(lead.budget) for lead in leads} == {
        name: each["tokens"] for name, each in ended.items()
    }
    assert told[0]["text"] == "agent lead (1 of 2) started"
    assert {each["text"].split(" (1")[0] for each in ended.values()} >= {"agent lead"}
    assert all(each["state"] == "completed" and each["goal_met"] for each in ended.values())


def test_a_receipt_has_the_sessions_own_costs_and_those_of_its_tree() -> None:
    house, boss = three_levels()
    api = gateway(house, LISTS["us-east-1"])

    def receipt(session_id: str) -> dict[str, Any]:
        found: dict[str, Any] = api.request("GET", f"/v1/sessions/{session_id}/receipt").data
        return found

    own, heads = receipt(boss), all_heads(house, boss)
    assert own["counts"]["model_calls"] == 2
    assert (own["tree"]["sessions"], own["tree"]["complete"]) == (9, True)
    assert own["tree"]["tokens"] == sum(head.usage.total_tokens for head in heads)
    each = [receipt(head.session_id)["aws"]["usd"] for head in heads]
    assert own["tree"]["estimated_aws_usd"] == pytest.approx(sum(each))
    worker = next(head for head in heads if head.agent_id == "worker")
    assert receipt(worker.session_id)["tree"] is None


def test_usage_counts_each_session_of_a_tree_once_for_its_own_agent() -> None:
    house, boss = three_levels()
    usage = MemoryUsage(house.table)
    heads = all_heads(house, boss)
    stream = [
        StreamCommit(UsagePartition(TENANT, head.session_id), commit.number, commit.at)
        for head in heads
        for commit in commits(house, head.session_id)
    ]
    fold(usage, PlainPseudonyms(), stream)
    fold(usage, PlainPseudonyms(), stream)
    by_agent: dict[str, int] = {}
    for key, row in usage.rows(TENANT, "agent", 0, 10**9):
        by_agent[key.name] = by_agent.get(key.name, 0) + row.fresh + row.cached + row.output
    expected: dict[str, int] = {}
    for head in heads:
        expected[head.agent_id] = expected.get(head.agent_id, 0) + head.usage.total_tokens
    assert by_agent == expected
    assert set(by_agent) == {"boss", "lead", "worker"}


def spans(house: FamilyHouse, session_id: str) -> list[Span]:
    return [span for commit in commits(house, session_id) for span in spans_of(commit)]


def test_a_tree_is_one_trace_and_a_childs_run_is_below_the_call_that_started_it() -> None:
    house, boss = three_levels()
    heads = all_heads(house, boss)
    found = [span for head in heads for span in spans(house, head.session_id)]
    by_id = {span.span_id: span for span in found}
    assert len(by_id) == len(found), "no id stands twice"
    assert len({span.trace_id for span in found}) == 1
    (root,) = (span for span in found if not span.parent_id)
    assert root.name == "invoke_agent boss"
    assert all(span.parent_id in by_id for span in found if span is not root)
    above = {
        span.name: by_id[span.parent_id].name
        for span in found
        if span.name.startswith("invoke_agent") and span is not root
    }
    assert above == {"invoke_agent lead": "execute_tool lead", "invoke_agent worker": "execute_tool worker"}
    for span in found:
        if span.name == "execute_tool worker":
            below = [each for each in found if each.parent_id == span.span_id]
            assert len(below) == 3
            assert all(span.start <= each.end <= span.end for each in below)
