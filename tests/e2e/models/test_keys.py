"""The provider's key in Secrets Manager: rotated without a deployment, and never seen when it is wrong."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from llmock.scenarios import Reply

from acta.local_aws.emulator_process import ACCOUNT, REGION
from tests.doubles.keyed_provider import KeyedProvider
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind, as_text
from tests.e2e.support.person import Person
from tests.e2e.support.rights import allowed
from tests.e2e.support.thinking import calls, end, plan
from tests.models.wires.anthropic.bedrock_front import SIGNED
from tests.models.wires.converse.events import CALL, STREAM, delta, ended
from tests.models.wires.fake_provider import FakeProvider

OLD, NEW = "sk-ant-the-old-key-of-the-test", "sk-ant-the-new-key-of-the-test"


@pytest.fixture
def secret(behind: Behind) -> Iterator[str]:
    """The name of a secret with the old key in it, which `step` may read."""
    name = f"acta/test/{uuid.uuid4().hex}"
    behind.client("secretsmanager").create_secret(Name=name, SecretString=OLD)
    # also once it is deleted: what is not there has no ARN of its own, and the name alone stands for it
    arns = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:{name}*"
    with allowed(behind.client, "step", "secretsmanager:GetSecretValue", arns):
        yield name


@pytest.fixture
def provider(llmock_server: Any) -> Iterator[KeyedProvider]:
    with KeyedProvider(llmock_server.base_url("anthropic"), OLD) as keyed:
        yield keyed


@pytest.fixture
def model(behind: Behind, secret: str, provider: KeyedProvider, llmock: Any) -> Iterator[Any]:
    variables = {
        "ACTA_PROVIDER": "anthropic",
        "ACTA_PROVIDER_SECRETS": json.dumps({"anthropic": secret}),
        "ANTHROPIC_BASE_URL": provider.url,
    }
    with behind.configured("step", **variables):
        yield llmock.tool_mode("off")


def _asks() -> Any:
    return calls(("update_plan", {"action": "wait_for_user", "reason": "Shall I?"}))


def test_a_key_rotated_between_two_turns_is_used_without_a_deployment(
    ann: Person, model: Any, provider: KeyedProvider, behind: Behind, secret: str
) -> None:
    model.add(plan(), _asks(), end("Done with the new key."))
    session_id = ann.start("A goal")
    ann.asked(session_id)

    behind.client("secretsmanager").put_secret_value(SecretId=secret, SecretString=f'{{"api_key": "{NEW}"}}')
    provider.accepted = {NEW}
    ann.post(f"/v1/sessions/{session_id}/messages", {"content": "Yes"})
    seen = ann.finished(session_id)

    assert seen.session["result"]["answer"] == "Done with the new key."
    assert provider.keys == [OLD, OLD, OLD, NEW]
    assert seen.session["usage"]["llm_calls"] == 3
    assert seen.of("llm.retried") == []


def test_a_wrong_key_fails_the_session_at_once_and_neither_it_nor_its_secret_is_named(
    ann: Person, model: Any, provider: KeyedProvider, behind: Behind, secret: str
) -> None:
    provider.accepted = set()

    seen = ann.finished(ann.start("A goal"))

    assert (seen.session["state"], seen.session["error"]["code"]) == ("failed", "PROVIDER_KEY_REFUSED")
    assert provider.keys == [OLD]
    (execution,) = behind.executions(seen.session["session_id"])
    told = (str(seen), as_text(behind.history(execution["executionArn"])), *behind.log_lines())
    assert not [text for text in told if OLD in text or secret in text]


def test_a_secret_without_a_key_fails_the_session_at_once_and_nobody_is_asked(
    ann: Person, model: Any, provider: KeyedProvider, behind: Behind, secret: str
) -> None:
    behind.client("secretsmanager").delete_secret(SecretId=secret, ForceDeleteWithoutRecovery=True)

    seen = ann.finished(ann.start("A goal"))

    assert (seen.session["state"], seen.session["error"]["code"]) == ("failed", "PROVIDER_KEY_REFUSED")
    assert secret not in str(seen)
    assert provider.keys == []


def test_an_admin_sees_the_models_and_whether_the_key_works_and_never_the_key(
    admit: Admit, model: Any, provider: KeyedProvider, secret: str, behind: Behind
) -> None:
    admin = admit(role="admin")

    found = admin.data("/v1/models")
    assert found["default"] == {"provider": "anthropic", "model": "claude-sonnet-5-5"}
    assert {one["provider"]: one["key"] for one in found["providers"]}["anthropic"] == "present"

    def check() -> str:
        answer = admin.post("/v1/models/check")
        assert answer.status_code == 200, answer.text
        assert OLD not in answer.text
        told: dict[str, str] = {one["provider"]: one["status"] for one in answer.json()["data"]["providers"]}
        return told["anthropic"]

    assert check() == "works"
    provider.accepted = {NEW}
    assert check() == "refused"
    behind.client("secretsmanager").put_secret_value(SecretId=secret, SecretString=NEW)
    assert check() == "works"
    assert provider.keys == [OLD, OLD, NEW]
    assert OLD not in str(found)
    assert secret not in str(found)


def test_endpoints_of_the_operator_serve_the_agents_that_name_them_over_every_protocol(
    ann: Person, admit: Admit, secret: str, behind: Behind, llmock: Any, llmock_server: Any
) -> None:
    ann.put_file("a.md", "Buy milk.")
    model, admin = "openai.gpt-oss-120b-1:0", admit(tenant=ann.tenant, role="admin")
    with (
        KeyedProvider(llmock_server.base_url("openai"), OLD) as openai,
        KeyedProvider(llmock_server.base_url("anthropic"), OLD) as anthropic,
        FakeProvider() as bedrock,
    ):
        urls = {
            "chat": openai.url,
            "responses": openai.url,
            "messages": anthropic.url,
            "converse": bedrock.url,
        }
        for name in ("chat", "responses", "messages"):
            llmock.tool_mode("off").add(
                calls(("read_file", {"path": "a.md"})), Reply(text=f"Said over {name}.")
            )
        bedrock.queue(*CALL, *ended("tool_use"), headers=STREAM)
        bedrock.queue(delta(0, text="Said over converse."), *ended("end_turn"), headers=STREAM)
        variables = {
            "ACTA_PROVIDERS": json.dumps(
                {
                    name: {"url": url, "protocol": name, "secret": name != "converse", "models": [model]}
                    for name, url in urls.items()
                }
            ),
            "ACTA_PROVIDER_SECRETS": json.dumps(dict.fromkeys(("chat", "responses", "messages"), secret)),
            "ACTA_MODELS": json.dumps(
                {name: {model: {"input": 1, "output": 2, "window": 32_000}} for name in urls}
            ),
        }
        with behind.configured("step", "admin", **variables):
            agent = {"planning": "when_needed", "effort": "low"}
            refused = admin.post("/v1/agents", {**agent, "name": "No", "provider": "chatt"})
            seen = {}
            for name in urls:
                made = {**agent, "agent_id": name, "name": name, "provider": name}
                assert admin.post("/v1/agents", made).status_code == 201
                seen[name] = ann.finished(ann.start("Read a.md", agent_id=name, cost_budget_usd=1)).session
            asked = [each.body for each in (*llmock.requests, *bedrock.requests)]
            checked = admin.post("/v1/models/check").json()["data"]["providers"]

    assert refused.status_code == 400
    assert {name: one["result"]["answer"] for name, one in seen.items()} == {
        name: f"Said over {name}." for name in urls
    }
    assert all(one["usage"]["llm_calls"] == 2 and one["usage"]["cost_usd"] > 0 for one in seen.values())
    assert ["Buy milk." in json.dumps(body) for body in asked] == [False, True] * 4
    assert (openai.keys, anthropic.keys) == ([OLD] * 6, [OLD] * 3)
    assert all(SIGNED.match(each.headers["authorization"]) for each in bedrock.requests)
    assert bedrock.requests[0].body["additionalModelRequestFields"] == {"reasoning_effort": "low"}
    statuses = {one["provider"]: one["status"] for one in checked}
    assert [statuses[name] for name in urls] == ["works", "works", "works", "unchecked"]
