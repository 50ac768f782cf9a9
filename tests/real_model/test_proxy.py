"""A LiteLLM proxy, which nobody here wrote, as a provider of the deployment's own: each protocol that it speaks, and a
whole deployed session. What the small model says is never looked at.
"""

import contextlib
import json
from collections.abc import Iterator

import pytest

from acta.engine.errors import ProviderKeyRefused, TransientError
from acta.engine.models.anthropic.client import AnthropicModel
from acta.engine.models.model import Model
from acta.engine.models.models_for_admins import check_key
from acta.engine.models.openai.chat import OpenAIModel
from acta.engine.models.openai.responses import OpenAIResponsesModel
from acta.engine.models.own_providers import own_providers
from acta.infra.toolchain import make_side_environment
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import OVER, Person
from tests.models.wires.conversations import READ_FILE, assistant, call, request, result, user
from tests.real_model.proxy import MODEL, PROXY_KEY, Proxy
from tests.real_model.server import ModelServer
from tests.real_model.test_session import WAITING, settled

TIMEOUT = 120.0


@pytest.fixture(scope="session")
def proxy(server: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    make_side_environment("litellm", "Python environment of the LiteLLM proxy")
    with Proxy(server.base_url, tmp_path_factory.mktemp("proxy")) as started:
        yield started


def models(proxy: Proxy, key: str = PROXY_KEY) -> dict[str, Model]:
    return {
        "chat": OpenAIModel(key, proxy.base_url, "gateway"),
        "responses": OpenAIResponsesModel(key, proxy.base_url, "gateway"),
        "messages": AnthropicModel(key, proxy.base_url.removesuffix("/v1"), "gateway"),
    }


@pytest.mark.parametrize("protocol", ["chat", "responses", "messages"])
def test_a_conversation_is_answered_and_counted(proxy: Proxy, protocol: str) -> None:
    entries = (
        user("Read it."),
        assistant("I read.", call("c1", path="a.md")),
        result("c1", "Buy milk."),
        user("Say hello.", 2),
    )
    asked = request(*entries, model=MODEL, tools=(), suffix="", max_tokens=40)

    reply = models(proxy)[protocol].complete(asked, timeout=TIMEOUT)

    assert reply.stop in ("end", "max_tokens")
    assert reply.usage.input > 0
    assert 0 < reply.usage.output <= 40


@pytest.mark.parametrize("protocol", ["chat", "responses", "messages"])
def test_a_wrong_key_is_refused_and_not_named(proxy: Proxy, protocol: str) -> None:
    """A proxy without a database cannot look a key up, and answers 400 (`no_db_connection`)."""
    with pytest.raises(ProviderKeyRefused) as refused:
        models(proxy, "sk-wrong-key")[protocol].complete(request(model=MODEL), timeout=TIMEOUT)
    assert "sk-wrong" not in str(refused.value)


def test_the_check_of_keys_understands_it(proxy: Proxy) -> None:
    told = {"gateway": {"url": proxy.base_url, "protocol": "chat", "secret": True}}
    row = own_providers(told)["gateway"]

    assert check_key(row, PROXY_KEY, row.address) == "works"
    assert check_key(row, "sk-wrong-key", row.address) == "refused"


def test_deployed_sessions_of_agents_that_name_it_come_to_a_defined_end_with_a_price_over_each_protocol(
    proxy: Proxy, ann: Person, admit: Admit, behind: Behind
) -> None:
    urls = {
        "chat": proxy.base_url,
        "responses": proxy.base_url,
        "messages": proxy.base_url.removesuffix("/v1"),
    }
    variables = {
        "ACTA_PROVIDERS": json.dumps(
            {
                name: {"url": url, "protocol": name, "secret": True, "models": [MODEL]}
                for name, url in urls.items()
            }
        ),
        "ACTA_MODELS": json.dumps(
            {name: {MODEL: {"input": 1, "output": 2, "window": 8_192}} for name in urls}
        ),
        "ACTA_MAX_OUTPUT_TOKENS": "40",
        **{f"{name.upper()}_API_KEY": PROXY_KEY for name in urls},
    }
    admin = admit(tenant=ann.tenant, role="admin")
    with behind.configured("step", "admin", **variables):
        for name in urls:
            # Without tools of its own the server makes no calls of this model's words, at which it breaks streams off.
            agent = {"agent_id": name, "name": name, "provider": name, "protocol": "react"}
            assert admin.post("/v1/agents", agent).status_code == 201
            session, _ = settled(ann, ann.start("Say hello.", agent_id=name, max_steps=2, cost_budget_usd=1))
            ann.post(f"/v1/sessions/{session['session_id']}/cancel")

            assert session["state"] in (*OVER, WAITING)
            assert session["usage"]["llm_calls"] >= 1
            assert session["usage"]["cost_usd"] > 0
            steps = ann.items(f"/v1/sessions/{session['session_id']}/steps")
            assert {step["name"] for step in steps if step["kind"] in ("plan", "llm")} == {MODEL}


def test_tools_are_taken_over_chat(proxy: Proxy) -> None:
    """Most often the small model writes what no server can read as a call; what is taken is one that was offered."""
    asked = request(user("Read a.md."), model=MODEL, tools=(READ_FILE,), suffix="", max_tokens=20)

    named: set[str] = set()
    with contextlib.suppress(TransientError):
        named = {called.name for called in models(proxy)["chat"].complete(asked, timeout=TIMEOUT).calls}

    assert named <= {"read_file"}
