"""The providers' SDKs as they are in the zip of `step`, cut down: each API that Acta calls works from there.

The SDKs and the adapters come from the zip's folder; the server is llmock.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from acta.infra.environments import select
from acta.infra.packaging.bundle import ROOT, Bundler
from acta.infra.packaging.install import LEFT_OUT, target_of
from tests.models.wires.anthropic.bedrock_front import REGION, BedrockFront

KEY = "sk-test-not-to-be-seen"
CALLS = """
import json, sys
bundle, key, region, urls = sys.argv[1:]
sys.path.insert(0, bundle)
urls = json.loads(urls)
from acta.engine.models.anthropic.client import BedrockModel
from acta.engine.models.anthropic.client import AnthropicModel
from acta.engine.models.models_for_admins import check_key
from acta.engine.models.own_providers import own_providers
from acta.engine.models.openai.chat import OpenAIModel
from acta.engine.models.openai.responses import OpenAIResponsesModel
from acta.engine.log.conversation import Content, UserEntry
from acta.engine.models.model import ModelRequest, OfferedTool

tool = OfferedTool("read_file", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
hello = UserEntry(message_id="u", content=Content.of("Hello"))
asked = ModelRequest("test-model", "You work.", (tool,), (hello,), "", 99)
answered = {}
for wire, model in (
    ("anthropic", AnthropicModel(key, urls["anthropic"])),
    ("bedrock", BedrockModel(region, urls["bedrock"])),
    ("openai", OpenAIModel(key, urls["openai"])),
    ("openai-responses", OpenAIResponsesModel(key, urls["openai"])),
):
    answered[wire] = bool(model.complete(asked, timeout=60).text)
for api in ("messages", "responses", "chat"):
    url = urls["anthropic" if api == "messages" else "openai"]
    row = own_providers({"mine": {"url": url, "protocol": api, "secret": True}})["mine"]
    # What llmock does not have is a status of the provider, and no failed import.
    answered[f"models by {api}"] = check_key(row, key, url) in ("works", "unchecked")
homes = {sys.modules[name].__file__.startswith(bundle) for name in ("anthropic", "openai", "httpx2", "pydantic")}
print(json.dumps([answered, sorted(homes)]))
"""


@pytest.fixture(scope="module")
def bundle() -> Path:
    return Bundler(target_of(select("local"))).build("step")


def test_every_call_of_a_provider_works_from_the_zip(bundle: Path, llmock: Any) -> None:
    llmock.tool_mode("off")
    with BedrockFront(llmock.base_url("anthropic")) as front:
        urls = {
            "anthropic": llmock.base_url("anthropic"),
            "openai": llmock.base_url("openai"),
            "bedrock": front.url,
        }
        done = subprocess.run(
            [
                ROOT / ".venv-runtime" / "bin" / "python",
                "-B", "-I", "-c", CALLS, str(bundle), KEY, REGION, json.dumps(urls),
            ],
            env={
                "PATH": os.environ["PATH"],
                "AWS_ACCESS_KEY_ID": KEY,
                "AWS_SECRET_ACCESS_KEY": KEY,
                "AWS_EC2_METADATA_DISABLED": "true",
            },
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    answered, homes = json.loads(done.stdout.splitlines()[-1])
    assert answered == dict.fromkeys(
        (
            "anthropic", "bedrock", "openai", "openai-responses",
            "models by messages", "models by responses", "models by chat",
        ),
        True,
    )  # fmt: skip
    assert homes == [True]


def test_what_is_left_out_is_in_no_zip(bundle: Path) -> None:
    assert [name for names in LEFT_OUT.values() for name in names if (bundle / name).exists()] == []
