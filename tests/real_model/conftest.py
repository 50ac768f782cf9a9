"""Only where ACTA_TEST_MODEL is set (`make test-model`): 130 MB are downloaded once, and a model really computes."""

import os
from collections.abc import Iterator

import pytest

from acta.engine.models.calls import CallProgress
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.models.openai.chat import ChatReplyBuilder, OpenAIModel, to_body
from acta.infra.toolchain import make_side_environment
from tests.e2e.conftest import Admit, admit, ann, behind
from tests.real_model.server import KEY, ModelServer

__all__ = ["Admit", "admit", "ann", "behind"]

WANTED = "ACTA_TEST_MODEL"

collect_ignore_glob = [] if os.environ.get(WANTED) else ["test_*.py"]


@pytest.fixture(scope="session")
def environment() -> None:
    """Makes `.venv-model`. Fails where it cannot be made: whoever asks for these tests wants to see them run."""
    make_side_environment("model", "Python environment of the real small model")


@pytest.fixture(scope="session")
def server(environment: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    with ModelServer(tmp_path_factory.mktemp("model") / "log") as started:
        yield started.wait()


class Caller(OpenAIModel):
    """One that has to call a tool, because a model this small does not choose to."""

    def _call(self, request: ModelRequest, timeout: float, progress: CallProgress) -> ModelReply:
        body = {**to_body(request, official=False), "tool_choice": "required"}
        create = self._client.sdk_client.chat.completions.create
        return self._client.call(create, body, ChatReplyBuilder, request, timeout, progress)


@pytest.fixture
def caller(server: ModelServer) -> OpenAIModel:
    return Caller(KEY, server.base_url)


@pytest.fixture
def model(server: ModelServer) -> OpenAIModel:
    return OpenAIModel(KEY, server.base_url)
