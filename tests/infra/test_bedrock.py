"""Who may invoke models on Bedrock, and where."""

import json
from dataclasses import replace

import pytest

from acta.infra.environments import PROD
from tests.infra.conftest import Synthesised, synthesised
from tests.infra.test_grants import DATA, actions, resources

INVOKE = {"bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"}


@pytest.fixture(scope="module")
def with_bedrock(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    settings = {"provider": "bedrock", "model": "eu.anthropic.claude-sonnet-5-5"}
    environment = replace(PROD, bedrock=True, settings=settings)
    return synthesised(environment, tmp_path_factory.mktemp("bedrock"))


def _invoking(made: Synthesised) -> dict[str, list[str]]:
    return {
        function: resources(statement)
        for function in DATA
        for statement in made.stateless.statements(function.capitalize())
        if INVOKE & actions(statement)
    }


def test_no_environment_invokes_models_unless_it_is_switched_on(each: Synthesised) -> None:
    assert _invoking(each) == {}


def test_only_step_invokes_models_and_only_claude(with_bedrock: Synthesised) -> None:
    invoking = _invoking(with_bedrock)

    assert invoking.keys() == {"step"}
    profiles, models = sorted(invoking["step"])
    assert "foundation-model/anthropic.claude-*" in models
    assert "inference-profile/*.anthropic.claude-*" in profiles
    assert "AWS::AccountId" in profiles


def test_the_rest_of_what_step_may_do_stays_the_same(with_bedrock: Synthesised, prod: Synthesised) -> None:
    def without(made: Synthesised) -> list[str]:
        return sorted(json.dumps(s) for s in made.stateless.statements("Step") if not INVOKE & actions(s))

    assert without(with_bedrock) == without(prod)


def test_cdk_nag_has_nothing_to_say_against_it(with_bedrock: Synthesised) -> None:
    assert with_bedrock.findings == ()


def test_step_gets_the_provider_and_the_model_as_variables(with_bedrock: Synthesised) -> None:
    variables = with_bedrock.stateless.function("step")["Environment"]["Variables"]

    assert (variables["ACTA_PROVIDER"], variables["ACTA_MODEL"]) == (
        "bedrock",
        "eu.anthropic.claude-sonnet-5-5",
    )
