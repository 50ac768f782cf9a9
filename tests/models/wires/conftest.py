"""Every provider's model, asked through its official SDK. The server is llmock; Bedrock's model asks it through
`BedrockFront`.

A wire is a way to ask a provider: `openai` is Chat Completions, `openai-responses` the Responses API.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from acta.engine.models.anthropic.client import AnthropicModel, BedrockModel
from acta.engine.models.model import Model
from acta.engine.models.openai.chat import OpenAIModel
from acta.engine.models.openai.responses import OpenAIResponsesModel
from tests.models.wires.anthropic.bedrock_front import REGION, BedrockFront
from tests.models.wires.conversations import KEY
from tests.models.wires.fake_provider import FakeProvider

MODELS: dict[str, Callable[[str], Model]] = {
    "anthropic": lambda url: AnthropicModel(KEY, url),
    "openai": lambda url: OpenAIModel(KEY, url),
    "openai-responses": lambda url: OpenAIResponsesModel(KEY, url),
    "bedrock": lambda url: BedrockModel(REGION, url),
}
"""By wire. Takes a base URL."""


@pytest.fixture(params=list(MODELS))
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def provider(wire: str) -> str:
    return wire.partition("-")[0]


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials to sign Bedrock's requests with. Nothing else of this machine's AWS configuration is found."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, KEY)
    for name in ("AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")


@pytest.fixture(scope="session")
def no_authorities(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An empty directory of certificates."""
    return str(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(autouse=True)
def plain_http(monkeypatch: pytest.MonkeyPatch, no_authorities: str) -> None:
    """Nothing here is asked over TLS. An SDK's client reads every certificate authority when it is made, which takes
    longer than most of these tests; with none to read it also reaches no real provider.
    """
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", no_authorities)


@pytest.fixture
def model(wire: str, llmock: Any) -> Iterator[Model]:
    llmock.tool_mode("off")
    if wire != "bedrock":
        yield MODELS[wire](llmock.base_url(wire.partition("-")[0]))
        return
    with BedrockFront(llmock.base_url("anthropic")) as front:
        yield MODELS[wire](front.url)


@pytest.fixture
def server() -> Iterator[FakeProvider]:
    with FakeProvider() as provider:
        yield provider
