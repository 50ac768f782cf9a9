"""Limits that a request names, and those that people raise, against the caps of agent and deployment
(docs/design/budgets.md 5)."""

from typing import Any

import pytest

from acta.engine.agents.agent import DEFAULT_AGENT, AgentDefinition, Limits, built_in
from acta.engine.limits.caps import Caps
from tests.api.session_functions import Person
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, plans

AGENT_CAPS = {"max_steps": 20, "token_budget": 9_000, "cost_budget_usd": 5}


def house_of(caps: dict[str, Any], **settings: Any) -> House:
    house = House(ScriptedModel([plans("look")]), token_window_seconds=0, **settings)
    agent = AgentDefinition(
        agent_id=DEFAULT_AGENT, name="A", version=1, caps=Caps(**caps), limits=Limits(token_budget=10)
    )
    house.definitions.replace_agent(TENANT, built_in(), agent)
    return house


@pytest.mark.parametrize(("field", "cap"), AGENT_CAPS.items())
def test_a_start_above_the_agent_s_cap_is_refused_by_its_field_and_an_admin_may(field: str, cap: int) -> None:
    house = house_of(AGENT_CAPS)
    refused = Person(house).start(**{field: cap + 1})
    assert (refused.status, list(refused.error["details"])) == (400, [field])
    assert f"{cap:,}" in str(refused.error["details"])
    assert Person(house).start(**{field: cap}).status == 202
    assert Person(house, "boss", "admin").start(**{field: cap + 1}).status == 202


@pytest.mark.parametrize("roles", [(), ("admin",)])
def test_nobody_starts_a_session_above_the_deployment_s_caps(roles: tuple[str, ...]) -> None:
    house = house_of({}, cap_max_steps=100, cap_token_budget=500_000, cap_cost_budget_usd=50)
    for field, cap in (("max_steps", 100), ("token_budget", 500_000), ("cost_budget_usd", 50)):
        refused = Person(house, "ann", *roles).start(**{field: cap + 1})
        assert (refused.status, list(refused.error["details"])) == (400, [field])
        assert Person(house, "ann", *roles).start(**{field: cap}).status == 202


@pytest.mark.parametrize("token_budget", [5_000_001, 100_000_001, 10**9, 10**200])
def test_however_large_a_token_budget_is_the_answer_names_what_the_deployment_gives(
    token_budget: int,
) -> None:
    refused = Person(house_of({})).start(token_budget=token_budget)
    assert refused.status == 400
    assert refused.error["details"] == {"token_budget": ["The most in this deployment is 5,000,000."]}


@pytest.mark.parametrize("cost_budget_usd", [1_000.01, 1_000_001, 1e308])
def test_however_large_a_cost_budget_is_the_answer_names_what_the_deployment_gives(
    cost_budget_usd: float,
) -> None:
    refused = Person(house_of({})).start(cost_budget_usd=cost_budget_usd)
    assert refused.status == 400
    ((field, (sentence,)),) = refused.error["details"].items()
    assert (field, sentence.startswith("The most in this deployment is 1,000")) == ("cost_budget_usd", True)


def test_a_session_of_a_capped_agent_has_its_dollars_as_limit_where_nobody_names_one() -> None:
    started = Person(house_of(AGENT_CAPS)).start()
    assert started.data["budget"]["cost_budget_usd"] == 5
    assert started.data["run"]["max_steps"] == 20
    assert Person(house_of({})).start().data["budget"]["cost_budget_usd"] is None
    assert Person(house_of({}, cost_budget_usd=3)).start().data["budget"]["cost_budget_usd"] == 3


def asked_for_budget(**settings: Any) -> tuple[House, str, str]:
    house = house_of({"token_budget": 9_000}, **settings)
    session = Person(house).start().data["session_id"]
    house.run()
    (one,) = house.head(session).interventions
    assert one.type == "budget_exceeded"
    return house, session, one.intervention_id


def test_a_raise_above_the_agent_s_cap_is_an_admin_s_to_make() -> None:
    house, session, one = asked_for_budget()
    refused = Person(house).resolve(session, one, "raise", token_budget=9_001)
    assert (refused.status, refused.error["code"]) == (403, "FORBIDDEN")
    assert list(refused.error["details"]) == ["input.token_budget"]
    assert house.head(session).budget.token_budget == 10
    assert Person(house, "boss", "admin").resolve(session, one, "raise", token_budget=9_001).status == 200
    assert house.head(session).budget.token_budget == 9_001


@pytest.mark.parametrize(("roles", "status"), [((), 403), (("admin",), 400)])
def test_nobody_raises_a_limit_above_the_deployment_s_cap(roles: tuple[str, ...], status: int) -> None:
    house, session, one = asked_for_budget(cap_cost_budget_usd=50, cap_token_budget=500_000)
    person = Person(house, "ann", *roles)
    for given in ({"token_budget": 500_001}, {"token_budget": 9_000, "cost_budget_usd": 51}):
        assert person.resolve(session, one, "raise", **given).status == status
    assert Person(house).resolve(session, one, "raise", token_budget=9_000).status == 200


def limits_of(house: House, session: str) -> tuple[int, int, float | None]:
    head = house.head(session)
    assert head.run is not None
    assert head.run.max_steps == head.max_steps
    return head.max_steps, head.budget.token_budget, head.budget.cost_budget_usd


def ended_with_more(house: House) -> str:
    """A session that an admin has started above the agent's caps, and whose run is over."""
    more = {"max_steps": 40, "token_budget": 50_000, "cost_budget_usd": 8}
    session: str = Person(house, "boss", "admin").start(**more).data["session_id"]
    assert limits_of(house, session) == (40, 50_000, 8)
    house.cancel(session)
    return session


def test_a_run_that_a_member_begins_keeps_to_the_agent_s_present_caps_and_an_admin_s_to_the_session_s() -> (
    None
):
    house = house_of(AGENT_CAPS)
    session = ended_with_more(house)
    assert Person(house, "boss", "admin").say(session, "Again").status == 202
    assert limits_of(house, session) == (40, 50_000, 8)
    house.cancel(session)
    assert Person(house).say(session, "Again").status == 202
    assert limits_of(house, session) == (20, 9_000, 5)


def test_a_run_that_anybody_begins_keeps_to_the_deployment_s_present_caps() -> None:
    house = house_of({})
    session = ended_with_more(house)
    lower = {"cap_max_steps": 30, "cap_token_budget": 40_000, "cap_cost_budget_usd": 6}
    house.settings = house.settings.but(**lower)
    assert Person(house, "boss", "admin").say(session, "Again").status == 202
    assert limits_of(house, session) == (30, 40_000, 6)


def test_a_run_within_the_caps_keeps_the_session_s_own_limits() -> None:
    house = house_of(AGENT_CAPS)
    session = Person(house).start(max_steps=3, token_budget=500, cost_budget_usd=1).data["session_id"]
    house.cancel(session)
    assert Person(house).say(session, "Again").status == 202
    assert limits_of(house, session) == (3, 500, 1)
