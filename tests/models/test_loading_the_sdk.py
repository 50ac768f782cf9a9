"""Loading an SDK takes seconds in a new process. That is no time of the provider's: it has not been asked yet, and a
call that is given up before it is made would be charged.
"""

import subprocess
import sys
import threading
from functools import cached_property
from typing import Any

import pytest

from acta.engine.models.anthropic.client import AnthropicModel
from acta.engine.models.model import ModelRequest
from acta.engine.models.openai.chat import OpenAIModel
from acta.engine.models.openai.client import OpenAIClient
from acta.engine.models.openai.responses import OpenAIResponsesModel

ASKED = ModelRequest("m", "", (), (), "", 100)


class Loaded(Exception):
    """Ends the call where the SDK would be ready."""


class Loading:
    """Notes which thread loads the SDK: the caller's has no limit of its own, the call's has the model's."""

    def __init__(self) -> None:
        self.by: threading.Thread | None = None

    def load(self) -> Any:
        self.by = threading.current_thread()
        raise Loaded


def anthropic(loading: Loading) -> AnthropicModel:
    class Model(AnthropicModel):
        @cached_property
        def _client(self) -> Any:
            return loading.load()

    return Model("key")


def openai(loading: Loading, model: OpenAIModel | OpenAIResponsesModel) -> OpenAIModel | OpenAIResponsesModel:
    class Client(OpenAIClient):
        @cached_property
        def sdk_client(self) -> Any:
            return loading.load()

    model._client = Client("key", None)
    return model


@pytest.mark.parametrize("api", ["messages", "chat", "responses"])
def test_an_sdk_is_loaded_before_the_time_of_the_call_runs(api: str) -> None:
    loading = Loading()
    match api:
        case "messages":
            model: Any = anthropic(loading)
        case "chat":
            model = openai(loading, OpenAIModel("key"))
        case _:
            model = openai(loading, OpenAIResponsesModel("key"))
    with pytest.raises(Loaded):
        model.complete(ASKED, timeout=30.0)
    assert loading.by is threading.current_thread()


@pytest.mark.parametrize(
    "client",
    [
        "from acta.engine.models.anthropic.client import AnthropicModel as Client",
        "from acta.engine.models.openai.client import OpenAIClient as Client",
    ],
)
def test_the_collector_rests_while_an_sdk_is_loaded_and_never_looks_at_it(client: str) -> None:
    """In a process of its own: here the SDK may be there."""
    code = f"""
import gc
{client}
def collections():
    return sum(each["collections"] for each in gc.get_stats())
before = collections()
Client("key", None)._sdk
assert collections() - before < 5, "it was looked for garbage in between"
assert gc.get_freeze_count() > 10_000
assert gc.isenabled()
frozen = gc.get_freeze_count()
Client("another", None)._sdk
assert gc.get_freeze_count() <= frozen, "once in a process"
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
