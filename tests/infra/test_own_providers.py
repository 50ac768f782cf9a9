"""The providers of an environment's own, as they are deployed."""

import json
from dataclasses import replace
from typing import Any

import pytest

from acta.engine.settings import Settings, SettingsError
from acta.infra.environments import PROD, Environment
from acta.infra.lambdas.grants import own_bedrock
from tests.infra.conftest import Synthesised, synthesised
from tests.infra.test_grants import DATA, actions

PROVIDERS: dict[str, dict[str, Any]] = {
    "gateway": {"url": "https://llm.example.com/v1", "protocol": "chat", "secret": True},
    "azure": {"url": "https://acme.openai.azure.com/openai/v1", "protocol": "responses", "secret": "team/azure"},
    "nova": {"protocol": "converse", "models": ["eu.amazon.nova-2-lite-v1:0", "deepseek.v3.2"]},
    "mantle": {"url": "https://bedrock-mantle.eu-west-1.api.aws/openai/v1", "protocol": "responses", "role": True},
    "vllm": {"url": "https://vllm.example.com/v1", "protocol": "chat", "models": ["qwen3-32b"]},
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    return synthesised(replace(PROD, providers=PROVIDERS), tmp_path_factory.mktemp("providers"))


def test_a_secret_is_made_for_each_key_that_the_operator_does_not_keep(made: Synthesised) -> None:
    names = [each["Name"] for each in made.stateful.properties("AWS::SecretsManager::Secret")]

    assert "acta/prod/gateway" in names
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


def test_step_alone_invokes_the_models_that_a_provider_lists_and_signs_for_mantle(made: Synthesised) -> None:
    granted = {
        function: {
            each["Sid"]: json.dumps(each["Resource"])
            for each in made.stateless.statements(function.capitalize())
            if str(each.get("Sid", "")).startswith("Own")
        }
        for function in DATA
    }
    assert {function for function, found in granted.items() if found} == {"step"}
    models, mantle = granted["step"]["OwnModels"], granted["step"]["OwnMantle"]
    for arn in ("foundation-model/amazon.nova-2-lite-v1:0", "inference-profile/eu.amazon.nova-2-lite-v1:0"):
        assert f'{arn}"' in models
    assert 'foundation-model/deepseek.v3.2"' in models
    assert "foundation-model/*" not in models
    assert "bedrock-mantle:*" in mantle


def test_a_provider_that_lists_no_models_may_be_asked_for_any() -> None:
    (arns,) = own_bedrock({"all": {"protocol": "converse"}}).values()

    assert [arn.rpartition(":")[2] for arn in arns] == ["foundation-model/*", "inference-profile/*"]


def test_cdk_nag_has_nothing_to_say_against_them(made: Synthesised) -> None:
    assert made.findings == ()
