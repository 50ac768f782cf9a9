"""Agents: `default` is always there, the others are a tenant's own; every change is seen by the next turn."""

from datetime import timedelta

import pytest

from acta.engine.agents.agent import DEFAULT_AGENT, AgentDefinition, Fallback, Limits, Models, built_in
from acta.engine.agents.store import DefinitionChanged, DefinitionExists
from acta.engine.log.store import KeyTaken
from acta.engine.people.policies import Policy
from tests.stores.backends import Stores
from tests.stores.documents import record_for

pytestmark = pytest.mark.contract


def make_agent(stores: Stores, agent_id: str, name: str = "Agent", version: int = 1) -> AgentDefinition:
    return AgentDefinition(
        agent_id=agent_id,
        name=name,
        system_prompt="You weigh things. Grüße 🪶",
        goal="Weigh",
        provider="openai",
        model="gpt-x",
        models=Models(plan="gpt-y"),
        fallbacks=(Fallback(provider="anthropic", model="claude-x"), Fallback(model="gpt-z")),
        tools=("read_file",),
        limits=Limits(max_steps=7, cost_budget_usd=0.25),
        high_stakes=("read_file",),
        protocol="react",
        interventions={
            "approval_required": Policy(timeout_seconds=60, default_action="reject", role="approver"),
            "checkpoint_review": Policy(),
        },
        version=version,
        created_at=stores.clock.now(),
        updated_at=stores.clock.now(),
    )


def listed(stores: Stores, tenant: str, limit: int) -> list[list[str]]:
    pages, cursor = [], None
    while True:
        page = stores.definitions.agents(tenant, limit=limit, cursor=cursor)
        pages.append([agent.agent_id for agent in page.agents])
        cursor = page.cursor
        if cursor is None:
            return pages


def test_an_agent_is_read_as_it_was_written(stores: Stores, tenant: str) -> None:
    agent = make_agent(stores, "scale")
    stores.definitions.create_agent(tenant, agent)
    assert stores.definitions.agent(tenant, "scale") == agent
    assert stores.other_definitions.snapshot(tenant).agent("scale") == agent
    assert stores.definitions.agent(f"{tenant}x", "scale") is None
    assert stores.definitions.snapshot(f"{tenant}x").agent("scale") is None


def test_the_default_agent_is_there_before_anyone_wrote_one(stores: Stores, tenant: str) -> None:
    assert stores.definitions.agent(tenant, DEFAULT_AGENT) == built_in()
    assert stores.definitions.snapshot(tenant).agent(DEFAULT_AGENT) == built_in()
    assert listed(stores, tenant, 5) == [[DEFAULT_AGENT]]


def test_an_own_default_takes_the_built_in_one_s_place_and_gives_it_back(stores: Stores, tenant: str) -> None:
    own = make_agent(stores, DEFAULT_AGENT, "Ours")
    stores.definitions.replace_agent(tenant, built_in(), own)
    assert stores.definitions.snapshot(tenant).agent(DEFAULT_AGENT) == own
    assert listed(stores, tenant, 5) == [[DEFAULT_AGENT]]
    with pytest.raises(DefinitionChanged):
        stores.definitions.replace_agent(tenant, built_in(), own)

    stores.definitions.delete_agent(tenant, own)
    assert stores.definitions.snapshot(tenant).agent(DEFAULT_AGENT) == built_in()
    with pytest.raises(DefinitionChanged):
        stores.definitions.delete_agent(tenant, own)


def test_an_id_is_taken_once(stores: Stores, tenant: str) -> None:
    agent = make_agent(stores, "scale")
    stores.definitions.create_agent(tenant, agent)
    for taken in (make_agent(stores, "scale", "Other"), make_agent(stores, DEFAULT_AGENT)):
        with pytest.raises(DefinitionExists):
            stores.definitions.create_agent(tenant, taken)
    assert stores.definitions.agent(tenant, "scale") == agent


def test_the_agent_and_its_idempotency_record_are_written_together_or_not_at_all(
    stores: Stores, tenant: str
) -> None:
    record = record_for(stores.clock, tenant)
    stores.definitions.create_agent(tenant, make_agent(stores, "one"), record)
    with pytest.raises(KeyTaken):
        stores.definitions.create_agent(tenant, make_agent(stores, "two"), record)
    assert stores.definitions.agent(tenant, "two") is None
    assert stores.index.idempotency_record(tenant, record.route, record.key) == record

    stores.clock.set(record.expires_at + timedelta(seconds=1))  # stored in whole seconds
    stores.definitions.create_agent(tenant, make_agent(stores, "two"), record)
    assert stores.definitions.agent(tenant, "two") is not None


def test_a_replacement_of_what_was_not_read_is_refused(stores: Stores, tenant: str) -> None:
    first = make_agent(stores, "scale")
    stores.definitions.create_agent(tenant, first)
    mine = first.model_copy(update={"name": "Mine", "version": 2})
    stores.definitions.replace_agent(tenant, first, mine)

    theirs = first.model_copy(update={"name": "Theirs", "version": 2})
    with pytest.raises(DefinitionChanged):
        stores.other_definitions.replace_agent(tenant, first, theirs)
    with pytest.raises(DefinitionChanged):
        stores.other_definitions.delete_agent(tenant, first)
    assert stores.definitions.agent(tenant, "scale") == mine


def test_an_agent_made_again_under_its_id_is_another_one(stores: Stores, tenant: str) -> None:
    first = make_agent(stores, "scale")
    stores.definitions.create_agent(tenant, first)
    stores.definitions.delete_agent(tenant, first)
    assert stores.definitions.agent(tenant, "scale") is None
    stores.clock.advance(1)
    again = make_agent(stores, "scale")
    stores.definitions.create_agent(tenant, again)
    with pytest.raises(DefinitionChanged):
        stores.definitions.replace_agent(tenant, first, first.model_copy(update={"version": 2}))
    assert stores.definitions.agent(tenant, "scale") == again


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 6])
def test_agents_are_listed_by_id_in_pages_with_the_built_in_one_in_its_place(
    stores: Stores, tenant: str, limit: int
) -> None:
    ids = ["Z", "a", "b-1", "b_1", "c"]
    for agent_id in reversed([*ids, "e", "x1"]):
        stores.definitions.create_agent(tenant, make_agent(stores, agent_id))

    pages = listed(stores, tenant, limit)

    assert [agent_id for page in pages for agent_id in page] == [*ids, DEFAULT_AGENT, "e", "x1"]
    assert all(len(page) == limit for page in pages[:-1])
    assert 0 < len(pages[-1]) <= limit
    assert listed(stores, f"{tenant}x", limit) == [[DEFAULT_AGENT]]


def test_a_cursor_of_another_listing_is_refused(stores: Stores, tenant: str) -> None:
    stores.definitions.create_agent(tenant, make_agent(stores, "a"))
    cursor = stores.definitions.agents(tenant, limit=1, cursor=None).cursor
    assert cursor is not None
    for other, used in ((f"{tenant}x", cursor), (tenant, "x"), (tenant, cursor[:-1]), (tenant, "")):
        with pytest.raises(ValueError, match="cursor"):
            stores.definitions.agents(other, limit=1, cursor=used)


def test_a_warm_worker_sees_every_change_at_its_next_look(stores: Stores, tenant: str) -> None:
    turns, admin = stores.definitions, stores.other_definitions
    assert turns.snapshot(tenant).agent("scale") is None

    first = make_agent(stores, "scale")
    admin.create_agent(tenant, first)
    assert turns.snapshot(tenant).agent("scale") == first

    second = first.model_copy(update={"system_prompt": "Weigh twice.", "version": 2})
    admin.replace_agent(tenant, first, second)
    assert turns.snapshot(tenant).agent("scale") == second

    admin.delete_agent(tenant, second)
    assert turns.snapshot(tenant).agent("scale") is None
