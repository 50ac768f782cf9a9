"""Where an environment names what a provider takes, sessions may queue for it (ADR 106); elsewhere nothing is there."""

import json
from dataclasses import replace

import pytest

from acta.engine.queue.places import LEARN, ProviderLimits
from acta.engine.settings import Settings
from acta.infra.environments import PROD, UnusableValue
from tests.infra.conftest import Synthesised, synthesised
from tests.infra.test_grants import actions

LIMITS = {"anthropic": ProviderLimits(tokens_per_minute=400_000)}


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    return synthesised(replace(PROD, provider_limits=LIMITS), tmp_path_factory.mktemp("limited"))


@pytest.fixture(scope="module")
def learning(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    """As `-c provider_limits` names it, and nothing but it."""
    named = PROD.with_context("provider_limits", '{"openai": "learn"}')
    return synthesised(named, tmp_path_factory.mktemp("learning"))


def variables(made: Synthesised, function: str) -> dict[str, str]:
    found: dict[str, str] = made.stateless.function(function)["Environment"]["Variables"]
    return found


def each_minute(made: Synthesised) -> list[object]:
    rules = [each for each in made.stateless.properties("AWS::Events::Rule") if "ScheduleExpression" in each]
    return [target.get("Input") for rule in rules for target in rule["Targets"]]


def test_who_asks_providers_and_who_admits_know_the_limits(limited: Synthesised) -> None:
    for function in ("step", "recover"):
        told = json.loads(variables(limited, function)["ACTA_PROVIDER_LIMITS"])
        assert told == {"anthropic": {"tokens_per_minute": 400_000}}
    assert "ACTA_PROVIDER_LIMITS" not in variables(limited, "tool")


def test_the_line_is_looked_after_each_minute_and_at_once(limited: Synthesised) -> None:
    assert each_minute(limited).count('{"admit":true}') == 1
    assert variables(limited, "step")["ACTA_RECOVER_FUNCTION"] == "acta-prod-recover:live"


def test_step_reaches_the_buckets_of_providers_and_no_other_item_of_the_deployment(
    limited: Synthesised,
) -> None:
    assert buckets_of_step(limited) == ["D#*#=A"]


def buckets_of_step(made: Synthesised) -> list[str]:
    """The keys that it may update besides those of a tenant."""
    (statement,) = (
        each for each in made.stateless.statements("StepBase") if "dynamodb:UpdateItem" in actions(each)
    )
    keys: list[str] = statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
    return keys


def test_limits_that_are_to_be_learnt_bring_all_that_named_ones_do(learning: Synthesised) -> None:
    for function in ("step", "recover"):
        told = {
            name: value if isinstance(value, str) else "made-by-cloudformation"
            for name, value in variables(learning, function).items()
        }
        assert Settings.from_environ(told).limits_of_providers == {"openai": LEARN}
    assert each_minute(learning).count('{"admit":true}') == 1
    assert variables(learning, "step")["ACTA_RECOVER_FUNCTION"] == "acta-prod-recover:live"
    assert buckets_of_step(learning) == ["D#*#=A"]
    assert learning.findings == ()


def test_cdk_nag_has_nothing_to_say_against_it(limited: Synthesised) -> None:
    assert limited.findings == ()


def test_without_limits_nothing_of_it_is_deployed(prod: Synthesised) -> None:
    assert each_minute(prod).count('{"admit":true}') == 0
    assert "ACTA_RECOVER_FUNCTION" not in variables(prod, "step")


def test_limits_that_cannot_be_read_are_refused() -> None:
    assert PROD.with_context("provider_limits", '{"openai": {"requests_per_minute": 3}}').provider_limits == {
        "openai": ProviderLimits(requests_per_minute=3)
    }
    for text in ("no", "[]", '{"openai": {"cars": 3}}'):
        with pytest.raises(UnusableValue):
            PROD.with_context("provider_limits", text)
