"""`/v1/models`: admins see what is configured; nobody sees the keys."""

from collections.abc import Mapping
from typing import Any

import pytest

from acta.embedded.table import SqliteTable
from acta.engine.agents.agent import AgentDefinition, Fallback, Models
from acta.engine.agents.dynamodb import DynamoDefinitions
from acta.engine.api.app import Api
from acta.engine.app import App
from acta.engine.errors import AwsDenied
from acta.engine.models.choose import SecretReader
from acta.engine.models.models_for_admins import ModelListing
from acta.engine.models.providers import PROVIDERS
from acta.engine.settings import Settings
from acta.testing.clock import FakeClock
from tests.api.gateway import TENANT, Gateway, claims
from tests.doubles.audit import memory_audit

KEY = "sk-ant-not-to-be-shown"


def _secrets(texts: Mapping[str, str | None]) -> SecretReader:
    def read(name: str, *, refresh: bool = False) -> str:
        text = texts[name]
        if text is None:
            raise AwsDenied("get_secret_value: AccessDeniedException")
        return text

    return read


class Deployment:
    def __init__(
        self, secrets: Mapping[str, str | None] | None = None, *, offline: bool = True, **settings: Any
    ) -> None:
        named = {"env": "test", "table": "t", "bucket": "b", "offline": offline}
        chosen = Settings(**{**named, **settings})
        self.definitions = DynamoDefinitions("t", FakeClock(), SqliteTable(None))
        self.environ: dict[str, str] = {}
        models = ModelListing(chosen, self.environ, _secrets(secrets or {}))
        self.audit = memory_audit()
        app = App(chosen, definitions=self.definitions, configured_models=models)
        self._handler = Api("step", app, audit=self.audit).handler

    def caller(self, role: str = "admin") -> Gateway:
        return Gateway(self._handler, token=claims(roles=f"[{role}]"))

    def models(self) -> Any:
        answer = self.caller().request("GET", "/v1/models")
        assert answer.status == 200
        assert KEY not in answer.body.decode()
        return answer.data


def test_without_a_key_the_default_is_the_offline_model_which_costs_nothing() -> None:
    found = Deployment().models()

    assert found["default"] == {"provider": "offline", "model": "offline-rules"}
    (only,) = found["models"]
    assert only["usd_per_million_tokens"] == {
        "input": 0, "cached_input": 0, "cache_write": 0, "output": 0, "above": None,
    }  # fmt: skip
    assert (only["context_window_tokens"], only["context_tokens"]) == (1_000_000, 200_000)
    assert {"agent_id": None, "purpose": "default"} in only["used_by"]
    assert {"agent_id": "default", "purpose": "think"} in only["used_by"]


def test_where_the_stand_in_is_not_there_it_is_not_offered_and_the_default_has_no_key() -> None:
    deployment = Deployment(offline=False)
    agent = AgentDefinition(agent_id="old", name="Old", provider="offline", version=1)
    deployment.definitions.create_agent(TENANT, agent)

    found = deployment.models()

    assert found["default"] == {"provider": "anthropic", "model": "claude-sonnet-5-5"}
    states = {one["provider"]: one["key"] for one in found["providers"]}
    assert states == {
        each.name: "missing" if each.key_variable else "not_needed"
        for each in PROVIDERS.values()
        if each.name != "offline"
    }
    assert {one["provider"] for one in found["models"]} == {"anthropic"}


def test_agents_models_stand_once_each_with_who_uses_them_for_what() -> None:
    deployment = Deployment()
    deployment.environ["ANTHROPIC_API_KEY"] = KEY
    agent = AgentDefinition(
        agent_id="librarian",
        name="Librarian",
        provider="openai",
        model="gpt-5.4",
        models=Models(plan="gpt-5.4-mini"),
        fallbacks=(Fallback(provider="anthropic", model="claude-haiku-4-5"),),
        version=1,
    )
    deployment.definitions.create_agent(TENANT, agent)

    found = {one["model"]: one for one in deployment.models()["models"]}

    assert list(found) == ["claude-sonnet-5-5", "gpt-5.4-mini", "gpt-5.4", "claude-haiku-4-5"]
    assert [use["purpose"] for use in found["gpt-5.4"]["used_by"]] == ["think", "final", "summary"]
    assert found["gpt-5.4-mini"]["used_by"] == [{"agent_id": "librarian", "purpose": "plan"}]
    assert found["claude-haiku-4-5"]["used_by"] == [{"agent_id": "librarian", "purpose": "fallback"}]
    assert found["claude-haiku-4-5"]["usd_per_million_tokens"]["output"] == 5.0
    assert found["gpt-5.4"]["usd_per_million_tokens"]["above"]["prompt_tokens"] == 272_000


def test_a_model_nobody_vouches_for_has_no_price() -> None:
    deployment = Deployment(provider="openai", model="somebodys-own")

    assert deployment.models()["models"][0]["usd_per_million_tokens"] is None


@pytest.mark.parametrize(
    ("stored", "state"), [(KEY, "present"), ("unset", "missing"), ("", "missing"), (None, "unreadable")]
)
def test_the_state_of_a_key_is_shown_and_not_the_key(stored: str | None, state: str) -> None:
    deployment = Deployment({"acta/anthropic": stored}, provider_secrets={"anthropic": "acta/anthropic"})

    keys = {one["provider"]: one["key"] for one in deployment.models()["providers"]}

    without = {each.name: "missing" if each.key_variable else "not_needed" for each in PROVIDERS.values()}
    assert keys == {**without, "anthropic": state}


def test_a_check_of_a_deployment_without_keys_asks_nobody() -> None:
    answer = Deployment().caller().request("POST", "/v1/models/check", json_body={})

    statuses = {one["provider"]: one["status"] for one in answer.data["providers"]}
    assert statuses == {
        each.name: "missing" if each.key_variable else "unchecked" for each in PROVIDERS.values()
    }


@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/models"), ("POST", "/v1/models/check")])
def test_members_see_no_models(method: str, path: str) -> None:
    assert Deployment().caller("member").request(method, path, json_body={}).status == 403
