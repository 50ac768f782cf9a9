"""Every provider's model, pointed at llmock; Bedrock by way of a front that speaks its wire format."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from shared.adapters.llm.anthropic.bedrock import BedrockModel
from shared.adapters.llm.anthropic.client import AnthropicModel
from shared.adapters.llm.openai.chat import OpenAIModel
from shared.adapters.llm.openai.responses import OpenAIResponsesModel
from shared.ports.model import Model
from tests.contracts.llm.bedrock_front import REGION, BedrockFront
from tests.contracts.llm.conversations import KEY
from tests.contracts.llm.served import Served

MODELS: dict[str, Callable[[str], Model]] = {
    "anthropic": lambda url: AnthropicModel(KEY, url),
    "openai": lambda url: OpenAIModel(KEY, url),
    "openai-responses": lambda url: OpenAIResponsesModel(KEY, url),
    "bedrock": lambda url: BedrockModel(REGION, url),
}
"""By wire, given a base URL."""


@pytest.fixture(params=list(MODELS))
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def provider(wire: str) -> str:
    return wire.partition("-")[0]


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Bedrock's requests are signed with, and nothing else it could find."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, KEY)
    for name in ("AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")


@pytest.fixture
def model(wire: str, llmock: Any) -> Iterator[Model]:
    llmock.tool_mode("off")
    if wire != "bedrock":
        yield MODELS[wire](llmock.base_url(wire.partition("-")[0]))
        return
    with BedrockFront(llmock.base_url("anthropic")) as front:
        yield MODELS[wire](front.url)


@pytest.fixture
def served() -> Iterator[Served]:
    with Served() as provider:
        yield provider
