"""A limit in dollars holds whatever is known of prices (docs/design/budgets.md 18)."""

from typing import Any

import pytest

from acta.engine.agents.agent import DEFAULT_AGENT, AgentDefinition, Fallback, Models, built_in
from acta.engine.errors import ProviderOverloaded, ValidationFailed
from acta.engine.models.fallback import with_fallbacks
from acta.engine.models.model import Model, TokenUsage
from acta.engine.models.providers import OFFLINE, cost_usd
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, Turn, call, completes, plans, says, step

PRICED, UNPRICED = "claude-sonnet-5-5", "somebodys-own"
DEAR = TokenUsage(input=10_000, output=1_000)
LOOKS = says("", call("list_files"))._replace(usage=DEAR)
SCRIPT: list[Turn] = [plans("look"), LOOKS, says("", step(1, "completed", "ok")), completes("Done.")]
BUSY = ProviderOverloaded("busy")


def speaking(provider: str, *turns: Turn) -> ScriptedModel:
    model = ScriptedModel(turns)
    model.provider = provider
    return model


def house_with(speaker: Model, **agent: Any) -> House:
    house = House(speaker)
    definition = AgentDefinition(agent_id=DEFAULT_AGENT, name="A", version=1, **agent)
    house.definitions.replace_agent(TENANT, built_in(), definition)
    return house


def priced(name: str) -> float:
    cost = cost_usd("anthropic", name, DEAR)
    assert cost is not None
    return cost


def test_a_model_without_a_price_is_not_called_under_a_cost_budget_and_the_error_says_what_to_do() -> None:
    model = speaking("anthropic", *SCRIPT)
    house = house_with(model, model=UNPRICED)
    session = house.start("Look", cost_budget_usd=1.0).session_id
    house.run()
    head = house.head(session)
    assert (head.state, head.error and head.error.code) == ("failed", "PRICE_UNKNOWN")
    assert head.error is not None
    assert f"the price of {UNPRICED} at anthropic is not known" in head.error.message
    assert "`models` of the environment" in head.error.message
    assert (model.requests, head.usage.llm_calls) == ([], 0)


@pytest.mark.parametrize("purpose", ["plan", "think", "final", "summary"])
def test_nothing_is_paid_for_on_the_way_to_a_model_without_a_price(purpose: str) -> None:
    model = speaking("anthropic", *SCRIPT)
    house = house_with(model, model=PRICED, models=Models(**{purpose: UNPRICED}))
    session = house.start("Look", cost_budget_usd=1.0).session_id
    house.run()
    failure = house.head(session).error
    assert failure is not None
    assert (failure.code, model.requests) == ("PRICE_UNKNOWN", [])


def test_an_agent_that_is_given_a_model_without_a_price_meanwhile_is_stopped_at_its_next_turn() -> None:
    model = speaking("anthropic", *SCRIPT)
    house = house_with(model, model=PRICED)
    session = house.start("Look", cost_budget_usd=1.0).session_id

    def change(decision: object) -> None:
        before = house.definitions.snapshot(TENANT).agent(DEFAULT_AGENT)
        assert before is not None
        if len(model.requests) == 2 and before.model == PRICED:
            changed = before.model_copy(update={"model": UNPRICED, "version": before.version + 1})
            house.definitions.replace_agent(TENANT, before, changed)

    house.run(change)
    head = house.head(session)
    assert (head.error and head.error.code, len(model.requests)) == ("PRICE_UNKNOWN", 2)


@pytest.mark.parametrize(("provider", "limit"), [("anthropic", None), (OFFLINE, 1.0)])
def test_without_a_cost_budget_or_without_cost_a_price_is_not_needed(
    provider: str, limit: float | None
) -> None:
    house = house_with(speaking(provider, *SCRIPT), model=UNPRICED)
    session = house.start("Look", cost_budget_usd=limit).session_id
    house.run()
    assert house.head(session).state == "completed"


def test_a_fallback_without_a_price_counts_at_the_first_models_and_the_limit_holds() -> None:
    limit = priced(PRICED)
    first = speaking("anthropic", plans("look"), BUSY, LOOKS)
    second = speaking("openai", LOOKS)
    model, _ = with_fallbacks((first, PRICED), [(second, UNPRICED)])
    house = house_with(model, model=PRICED, fallbacks=(Fallback(provider="openai", model=UNPRICED),))
    session = house.start("Look", cost_budget_usd=limit).session_id
    house.run()
    head = house.head(session)
    (asked,) = head.interventions
    assert (asked.type, len(first.requests), len(second.requests)) == ("budget_exceeded", 2, 1)
    assert head.usage.cost_usd is None, "what is not wholly known is not told as if it were"
    assert asked.context["cost_usd"] > limit
    house.resolve(session, asked, "raise", cost_budget_usd=10 * limit)
    with pytest.raises(AssertionError, match="a reply too many"):
        house.run()
    assert len(first.requests) == 4, "the raised limit carries calls again"


def test_a_limit_in_dollars_is_raised_above_what_is_spent_already() -> None:
    house = house_with(speaking("anthropic", plans("look")._replace(usage=DEAR)), model=PRICED)
    session = house.start("Look", cost_budget_usd=0.02).session_id
    house.run()
    (asked,) = house.head(session).interventions
    with pytest.raises(ValidationFailed) as refused:
        house.resolve(session, asked, "raise", cost_budget_usd=0.02)
    assert refused.value.details == {"input.cost_budget_usd": ["more than 0.02, the present limit"]}
    for too_low in (0.021, priced(PRICED)):
        with pytest.raises(ValidationFailed, match="used up already") as refused:
            house.resolve(session, asked, "raise", cost_budget_usd=too_low)
        assert refused.value.details == {"input.cost_budget_usd": [f"more than {priced(PRICED)}"]}
    house.resolve(session, asked, "raise", cost_budget_usd=0.031)
    assert house.head(session).budget.cost_budget_usd == 0.031


def test_what_is_known_goes_on_being_counted_after_a_call_without_a_price() -> None:
    limit = 2.5 * priced(PRICED)
    first = speaking("anthropic", plans("look"), BUSY, LOOKS, LOOKS, LOOKS)
    second = speaking("openai", says("", call("list_files", path="b")))
    model, _ = with_fallbacks((first, PRICED), [(second, UNPRICED)])
    house = house_with(model, model=PRICED)
    session = house.start("Look", cost_budget_usd=limit).session_id
    house.run()
    head = house.head(session)
    assert [one.type for one in head.interventions] == ["budget_exceeded"]
    assert (head.usage.cost_usd, len(first.requests)) == (None, 4)
    charged = head.budget.charged_usd
    assert charged <= limit < charged + priced(PRICED), "a call that could pass the limit is not made"


LOOKS_AND_ENDS = (LOOKS, says("", step(1, "completed", "ok")), completes("Done."))


def test_a_question_about_dollars_says_how_many_the_next_call_needs_and_that_many_carry_it() -> None:
    model = speaking("anthropic", plans("look")._replace(usage=DEAR), *LOOKS_AND_ENDS)
    house = house_with(model, model=PRICED)
    session = house.start("Look", cost_budget_usd=0.04).session_id
    house.run()
    (asked,) = house.head(session).interventions
    assert "token_budget_needed" not in asked.context, "300,000 tokens are plenty"
    needed = asked.context["cost_budget_usd_needed"]
    assert needed > asked.context["cost_budget_usd"] == 0.04
    assert needed == round(needed, 2), "whole cents"
    house.resolve(session, asked, "raise", cost_budget_usd=needed)
    house.run()
    assert len(model.requests) > 1
    assert house.head(session).budget.token_budget == asked.context["token_budget"], "the other limit stays"


def test_where_both_limits_are_short_the_question_says_both() -> None:
    model = speaking("anthropic", plans("look")._replace(usage=DEAR), *LOOKS_AND_ENDS)
    house = house_with(model, model=PRICED)
    session = house.start("Look", cost_budget_usd=0.04, token_budget=11_500).session_id
    house.run()
    (asked,) = house.head(session).interventions
    needed = {name: asked.context[f"{name}_needed"] for name in ("token_budget", "cost_budget_usd")}
    house.resolve(session, asked, "raise", **needed)
    house.run()
    assert len(model.requests) > 1
