"""Asking for more, over whole runs: every answer leads on or back to a question, never round in circles
(docs/design/budgets.md 19)."""

from typing import Any

import pytest

from acta.engine.errors import ValidationFailed
from acta.engine.models.model import ModelReply, TokenUsage
from acta.engine.models.providers import OFFLINE
from acta.engine.people.intervention import Intervention
from tests.in_process.house import House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step

DEAR = TokenUsage(input=4_000, output=100)
"""Four of these use up most of 20,000 tokens."""


def script() -> list[ModelReply]:
    looks = [says("", call("list_files", path=f"folder{n}")) for n in range(6)]
    turns = [plans("look"), *looks, says("", step(1, "completed", "ok")), completes("Done.")]
    return [turn._replace(usage=DEAR) for turn in turns]


def asked_at_the_limit(cost_budget_usd: float | None = None) -> tuple[House, str, Intervention]:
    model = ScriptedModel(script())
    if cost_budget_usd is not None:
        model.provider = OFFLINE
    house = House(model, token_window_seconds=0)
    limits = {"token_budget": 20_000, "cost_budget_usd": cost_budget_usd}
    session = house.start("Look", **limits).session_id
    house.run()
    (asked,) = house.head(session).interventions
    assert asked.type == "budget_exceeded"
    return house, session, asked


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "input"),
        ({"token_budget": 20_000}, "input.token_budget"),
        ({"token_budget": 1}, "input.token_budget"),
        ({"token_budget": 1, "cost_budget_usd": 5}, "input.token_budget"),
        ({"token_budget": 90_000, "cost_budget_usd": 0.5}, "input.cost_budget_usd"),
        ({"token_budget": 90_000, "cost_budget_usd": 0.1}, "input.cost_budget_usd"),
        ({"token_budget": 0}, "input.token_budget"),
        ({"cost_budget_usd": 0}, "input.cost_budget_usd"),
        ({"token_budget": "much"}, "input.token_budget"),
        ({"tokens": 90_000}, "input.tokens"),
    ],
)
def test_a_raise_that_raises_nothing_is_refused_and_the_question_stays_open(
    given: dict[str, Any], field: str
) -> None:
    house, session, asked = asked_at_the_limit(cost_budget_usd=0.5)
    with pytest.raises(ValidationFailed) as refused:
        house.resolve(session, asked, "raise", **given)
    assert list(refused.value.details or {}) == [field]
    assert house.head(session).interventions == (asked,)


def test_a_refused_limit_is_told_the_present_one() -> None:
    house, session, asked = asked_at_the_limit()
    with pytest.raises(ValidationFailed) as refused:
        house.resolve(session, asked, "raise", token_budget=16_446)
    assert refused.value.details == {"input.token_budget": ["more than 20000, the present limit"]}


def test_a_raise_that_does_not_carry_the_next_call_is_asked_about_anew() -> None:
    house, session, asked = asked_at_the_limit()
    house.resolve(session, asked, "raise", token_budget=20_001)
    house.run()
    (again,) = house.head(session).interventions
    assert again.type == "budget_exceeded"
    assert again.intervention_id != asked.intervention_id
    house.resolve(session, again, "raise", token_budget=100_000)
    house.run()
    assert house.head(session).state == "completed"


def test_a_raise_of_the_money_does_not_hide_that_the_tokens_are_used_up() -> None:
    house, session, asked = asked_at_the_limit(cost_budget_usd=0.5)
    for dollars in (1.0, 2.0, 3.0):
        house.resolve(session, asked, "raise", cost_budget_usd=dollars)
        house.run()
        (asked,) = house.head(session).interventions
        assert asked.context["token_budget_needed"] > asked.context["token_budget"] == 20_000
        assert "cost_budget_usd_needed" not in asked.context
    house.resolve(session, asked, "finish")
    house.run()
    result = house.head(session).result
    assert result is not None
    assert (result.goal_met, result.reason) == (False, "budget_exceeded")


def test_a_limit_that_the_session_does_not_have_is_not_raised() -> None:
    house, session, asked = asked_at_the_limit()
    with pytest.raises(ValidationFailed) as refused:
        house.resolve(session, asked, "raise", cost_budget_usd=1.0)
    assert "input.cost_budget_usd" in (refused.value.details or {})
    assert house.head(session).interventions == (asked,)


def test_going_on_before_the_tenants_hour_is_over_leads_back_to_the_question() -> None:
    turns = [plans("look"), says("", call("list_files")), says("", step(1, "skipped")), completes("Done.")]
    spent = [turn._replace(usage=TokenUsage(1_500, 4_000)) for turn in turns]
    house = House(ScriptedModel(spent), tenant_tokens_per_hour=14_000)
    session = house.start("Look").session_id
    house.run()
    (asked,) = house.head(session).interventions
    for _ in range(3):
        house.resolve(session, asked, "continue")
        house.run()
        before, (asked,) = asked, house.head(session).interventions
        assert asked.intervention_id != before.intervention_id
        assert (asked.context["scope"], asked.timeout_at) == ("tenant", before.timeout_at)
    house.clock.advance(3_600)
    house.time_out(session)
    house.run()
    assert house.head(session).usage.llm_calls > 2
