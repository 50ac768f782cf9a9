"""Only where ACTA_TEST_MODEL is set (`make test-model`): 130 MB are downloaded once, and a model really computes."""

import os
from collections.abc import Iterator

import pytest

from acta_engine.models.openai.chat import OpenAIModel
from acta_infra.local.toolchain import make_side_environment
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


@pytest.fixture
def model(server: ModelServer) -> OpenAIModel:
    return OpenAIModel(KEY, server.base_url)
