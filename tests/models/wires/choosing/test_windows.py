"""The window that a model is assumed to have."""

import pytest

from acta_engine.models.providers import PROVIDERS, UNKNOWN_WINDOW, context_window


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("claude-sonnet-4-6", 200_000),
        ("anthropic.claude-haiku-4-5-v1:0", 200_000),
        ("gpt-4o-mini", 128_000),
        ("openai/gpt-4.1", 1_000_000),
        ("gpt-5.2", 272_000),
        ("gpt-5-chat-latest", 128_000),
        ("o3", 200_000),
        ("llama-3.1-8b", UNKNOWN_WINDOW),
        ("gpt-4", 8_000),
    ],
)
def test_a_model_has_the_window_that_all_of_its_name_have(model: str, window: int) -> None:
    assert context_window(model) == window


@pytest.mark.parametrize("model", [each.default_model for each in PROVIDERS.values()])
def test_every_default_model_is_known(model: str) -> None:
    assert context_window(model) > UNKNOWN_WINDOW
