"""What a session may be given: the request's, the agent's or the deployment's, and never more than the caps."""

import pytest

from acta.engine.limits.caps import NO_CAPS, Caps, LimitValues, beyond, chosen
from acta.engine.models.providers import AllowedModels
from acta.engine.settings import Settings, SettingsError

DEPLOYMENT = Caps(max_steps=100, token_budget=1_000, cost_budget_usd=50)
AGENT = Caps(max_steps=20, cost_budget_usd=5)
USUAL = LimitValues(50, 300, None)


@pytest.mark.parametrize(
    ("named", "agent", "is_admin", "wrong"),
    [
        (LimitValues(), AGENT, False, []),
        (LimitValues(20, 1_000, 5), AGENT, False, []),
        (LimitValues(21, 1_001, 5.5), AGENT, False, ["max_steps", "token_budget", "cost_budget_usd"]),
        (LimitValues(21, 1_000, 50), AGENT, True, []),
        (LimitValues(101, 1_001, 51), AGENT, True, ["max_steps", "token_budget", "cost_budget_usd"]),
        (LimitValues(100, None, 50), NO_CAPS, False, []),
        (LimitValues(101, None, 51), NO_CAPS, False, ["max_steps", "cost_budget_usd"]),
    ],
)
def test_members_keep_to_the_agent_s_caps_and_admins_to_the_deployment_s(
    named: LimitValues, agent: Caps, is_admin: bool, wrong: list[str]
) -> None:
    assert list(beyond(named, agent, DEPLOYMENT, is_admin=is_admin)) == wrong


def test_what_is_wrong_says_the_most_and_who_may_give_more() -> None:
    said = beyond(LimitValues(30, 2_000_000), AGENT, Caps(token_budget=1_000_000), is_admin=False)
    assert said == {
        "max_steps": "The most for sessions of this agent is 20; an admin may give more.",
        "token_budget": "The most in this deployment is 1,000,000.",
    }


@pytest.mark.parametrize(
    ("named", "usual", "agent", "got"),
    [
        (LimitValues(), USUAL, NO_CAPS, LimitValues(50, 300, None)),
        (LimitValues(), USUAL, AGENT, LimitValues(20, 300, 5)),
        (LimitValues(60, 400, 7), USUAL, AGENT, LimitValues(60, 400, 7)),
        (LimitValues(), LimitValues(500, 5_000, 70), NO_CAPS, LimitValues(100, 1_000, 50)),
        (LimitValues(), LimitValues(10, 100, 2), AGENT, LimitValues(10, 100, 2)),
    ],
)
def test_what_is_not_named_is_what_is_usual_within_the_caps_and_an_agent_s_cap_where_nothing_is(
    named: LimitValues, usual: LimitValues, agent: Caps, got: LimitValues
) -> None:
    """An admin named the third; what it may name is checked by `beyond`."""
    assert chosen(named, usual, agent, DEPLOYMENT) == got


def settings(**values: str) -> Settings:
    return Settings.from_environ({"ACTA_ENV": "prod", "ACTA_TABLE": "t", "ACTA_BUCKET": "b", **values})


def test_a_deployment_that_says_nothing_bounds_sessions_and_tenants() -> None:
    usual = settings()
    assert usual.caps == Caps(max_steps=1_000, token_budget=5_000_000, cost_budget_usd=1_000)
    assert usual.tenant_tokens_per_hour == 5_000_000
    assert usual.token_budget <= usual.cap_token_budget


@pytest.mark.parametrize("name", ["TOKEN_BUDGET", "COST_BUDGET_USD", "MAX_OUTPUT_TOKENS"])
def test_what_a_deployment_gives_everybody_is_within_its_caps(name: str) -> None:
    with pytest.raises(SettingsError, match=f"{name.lower()} is above cap_{name.lower()}"):
        settings(**{f"ACTA_{name}": "20", f"ACTA_CAP_{name}": "10"})


@pytest.mark.parametrize(
    ("provider", "model", "allowed"),
    [
        ("anthropic", "claude-sonnet-5-5", True), ("anthropic", "gpt-6-sol", False), ("openai", "o4-mini", True),
        ("openai", "ft:gpt-5-mini:acme::1", False), ("bedrock", "global.anthropic.claude-sonnet-5-5", True),
        ("bedrock", "meta.llama4", False), (None, "gpt-6-sol", True), (None, "llama", False),
        ("anthropic", "tuned", True),
    ],
)  # fmt: skip
def test_without_a_list_models_are_known_by_their_provider_s_names(
    provider: str | None, model: str, allowed: bool
) -> None:
    rule = AllowedModels(own="tuned")
    assert (rule.refusal(provider, model) is None) == allowed
    assert rule.may_call(model), "a stored agent goes on"


def test_a_list_is_exact_and_holds_at_the_call_too() -> None:
    rule = settings(ACTA_ALLOWED_MODELS="claude-a, gpt-a", ACTA_MODEL="own").allowed
    assert [model for model in ("claude-a", "gpt-a", "own", "claude-ab", "claude", "") if rule.may_call(model)] == [
        "claude-a", "gpt-a", "own",
    ]  # fmt: skip
    assert rule.refusal("anthropic", "claude-b") == "This environment allows these models: claude-a, gpt-a."
