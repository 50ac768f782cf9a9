"""The window that a model is assumed to have, and how much of it a conversation takes."""

import pytest

from acta.engine.agents.agent import AgentDefinition, Limits
from acta.engine.models.agent_model import AgentModels
from acta.engine.models.providers import PROVIDERS, UNKNOWN, context_tokens, known_model
from acta.engine.settings import Settings


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("claude-sonnet-5-5", 1_000_000),
        ("claude-haiku-5-5", 1_000_000),
        ("claude-sonnet-4-6", 1_000_000),
        ("claude-sonnet-4-5-20250929", 200_000),
        ("anthropic.claude-haiku-4-5-v1:0", 200_000),
        ("global.anthropic.claude-opus-5-5", 1_000_000),
        ("claude-of-next-year", 200_000),
        ("gpt-6.2-sol", 922_000),
        ("openai.gpt-6-sol", 922_000),
        ("gpt-5.2", 272_000),
        ("gpt-4o-mini", 128_000),
        ("openai/gpt-4.1", 1_000_000),
        ("gpt-5-chat-latest", 128_000),
        ("o3", 200_000),
        ("gpt-4-0613", 8_000),
        ("llama-3.1-8b", 32_000),
        ("", 32_000),
    ],
)
def test_a_model_has_the_window_of_its_row_whatever_a_provider_puts_around_its_name(
    model: str, window: int
) -> None:
    assert known_model(model).window == window


@pytest.mark.parametrize("model", [each.default_model for each in PROVIDERS.values()])
def test_every_default_model_is_known(model: str) -> None:
    assert known_model(model).window > UNKNOWN.window


@pytest.mark.parametrize(
    ("provider", "model", "wanted", "tokens"),
    [
        ("anthropic", "claude-sonnet-5-5", 0, 200_000),
        ("anthropic", "claude-sonnet-5-5", 700_000, 700_000),
        ("anthropic", "claude-sonnet-5-5", 9_000_000, 1_000_000),
        ("anthropic", "claude-haiku-5-5", 0, 100_000),
        ("anthropic", "claude-haiku-5-5", 300_000, 300_000),
        ("bedrock", "global.anthropic.claude-haiku-5-5", 0, 100_000),
        ("openai", "gpt-6.2-sol", 0, 272_000),
        ("openai", "gpt-6.2-sol", 900_000, 900_000),
        ("openai", "gpt-4o", 0, 128_000),
        ("openai", "gpt-4o", 20_000, 20_000),
        ("openai", "llama-3.1-8b", 500_000, 32_000),
    ],
)
def test_a_conversation_is_shortened_before_its_price_rises_unless_somebody_wants_more(
    provider: str, model: str, wanted: int, tokens: int
) -> None:
    assert context_tokens(provider, model, wanted) == tokens


def test_what_an_agent_says_goes_before_what_the_environment_says() -> None:
    models = AgentModels(Settings(env="test", table="t", bucket="b", context_tokens=50_000))
    usual = AgentDefinition(agent_id="a", name="A")
    long = AgentDefinition(agent_id="a", name="A", limits=Limits(context_tokens=600_000))
    found = [models.context_tokens(each, "anthropic", "claude-opus-5-5") for each in (usual, long)]
    assert found == [50_000, 600_000]
