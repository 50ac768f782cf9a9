"""The providers of an environment's own, as they are deployed."""

import json
from dataclasses import replace
from typing import Any

import pytest

from acta_engine.settings import Settings, SettingsError
from acta_infra.environments import PROD, Environment
from tests.infra.conftest import Synthesised, synthesised
from tests.infra.test_grants import actions

PROVIDERS: dict[str, dict[str, Any]] = {
    "gateway": {"url": "https://llm.example.com/v1", "protocol": "chat", "secret": True},
    "azure": {"url": "https://acme.openai.azure.com/openai/v1", "protocol": "responses", "secret": "team/azure"},
    "vllm": {"url": "https://vllm.example.com/v1", "protocol": "chat", "models": ["qwen3-32b"]},
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    return synthesised(replace(PROD, providers=PROVIDERS), tmp_path_factory.mktemp("providers"))


def test_a_secret_is_made_for_each_key_that_the_operator_does_not_keep(made: Synthesised) -> None:
    names = [each["Name"] for each in made.stateful.properties("AWS::SecretsManager::Secret")]

    assert names[-1] == "acta/prod/gateway"
    assert not any("azure" in name or "vllm" in name for name in names)


def test_step_alone_may_read_the_keys_and_knows_their_names(made: Synthesised, prod: Synthesised) -> None:
    variables = made.stateless.function("step")["Environment"]["Variables"]
    names = json.loads(variables["ACTA_PROVIDER_SECRETS"])
    assert (names["gateway"], names["azure"], "vllm" in names) == ("acta/prod/gateway", "team/azure", False)

    def keys(of: Synthesised) -> list[str]:
        (found,) = [each for each in of.stateless.statements("Step") if each.get("Sid") == "Keys"]
        assert actions(found) == {"secretsmanager:GetSecretValue"}
        return [json.dumps(each) for each in found["Resource"]]

    added = [each for each in keys(made) if each not in keys(prod)]
    assert len(added) == 2
    assert "GatewayKey" in added[0]
    assert "secret:team/azure-??????" in added[1]


def test_every_function_knows_the_endpoints(made: Synthesised) -> None:
    for function in made.environment.functions:
        variables = made.stateless.function(function)["Environment"]["Variables"]
        given = {name: str(value) for name, value in variables.items()}
        assert Settings.from_environ(given).providers == PROVIDERS


@pytest.mark.parametrize("changed", [{"protocol": "soap"}, {"url": ""}])
def test_an_endpoint_that_cannot_be_is_refused_before_anything_is_made(changed: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="environment prod: gateway: "):
        replace(PROD, providers={"gateway": {**PROVIDERS["gateway"], **changed}})


def test_an_environment_in_aws_has_no_endpoint_with_plain_http() -> None:
    plain = {"gateway": {"url": "http://10.0.0.1/v1", "protocol": "chat"}}
    environment: Environment = replace(PROD, providers=plain)

    with pytest.raises(SettingsError, match="gateway: only an environment of the local kind may use http"):
        Settings(env="prod", table="t", bucket="b", providers=environment.providers)
