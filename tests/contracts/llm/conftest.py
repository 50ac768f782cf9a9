"""Both providers' models, pointed at llmock."""

from collections.abc import Callable
from typing import Any

import pytest

from shared.adapters.llm.anthropic import AnthropicModel
from shared.adapters.llm.openai import OpenAIModel
from shared.ports.model import Model
from tests.contracts.llm.conversations import KEY

CLASSES: dict[str, Callable[[str, str], Model]] = {"anthropic": AnthropicModel, "openai": OpenAIModel}


@pytest.fixture(params=["anthropic", "openai"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def model(provider: str, llmock: Any) -> Model:
    llmock.tool_mode("off")
    return CLASSES[provider](KEY, llmock.base_url(provider))
