"""Where an environment asks for it, what people and the engine wait for starts from a snapshot: a published version."""

import json
from dataclasses import replace

import pytest

from acta.infra.environments import STAGING, Webhook
from acta.infra.sizing import CALLED_BY_EVENTS
from tests.infra.conftest import Synthesised, Template, synthesised

ON = replace(STAGING, snap_start=True, notifications=Webhook("https://hooks.example.com/acta"))
WAITED_FOR = set(ON.functions) - CALLED_BY_EVENTS


@pytest.fixture(scope="module")
def on(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return synthesised(ON, tmp_path_factory.mktemp("snap-start")).stateless


def logical_ids(template: Template) -> dict[str, str]:
    """Function -> the logical id of its Lambda."""
    return {
        each["Properties"]["Handler"].split(".")[2]: name
        for name, each in template.resources("AWS::Lambda::Function").items()
    }


def aliases(template: Template) -> dict[str, str]:
    """Function -> the logical id of its alias."""
    return {function: name for name, function in template.aliases.items()}


def test_every_function_that_somebody_waits_for_has_a_snapshot_and_no_other(on: Template) -> None:
    having = {name for name in ON.functions if "SnapStart" in on.function(name)}
    assert having == WAITED_FOR
    assert all(on.function(name)["SnapStart"] == {"ApplyOn": "PublishedVersions"} for name in having)


def test_the_engine_calls_aliases_and_may_call_nothing_else(on: Template) -> None:
    (machine,) = on.properties("AWS::StepFunctions::StateMachine")
    called = {name: {"Ref": alias} for name, alias in aliases(on).items()}
    engine = ("step", "tool", "intervene")
    assert sorted(map(json.dumps, machine["DefinitionSubstitutions"].values())) == sorted(
        json.dumps(called[name]) for name in engine
    )
    (invokes,) = [each for each in on.statements("WorkflowRole") if each.get("Sid") == "Functions"]
    allowed = {json.dumps(each) for each in invokes["Resource"]}
    assert allowed == {json.dumps(called[name]) for name in engine}


def test_the_api_calls_aliases_and_may_call_nothing_else(on: Template) -> None:
    named = {alias: name for name, alias in aliases(on).items()}
    reached = {
        named[each["IntegrationUri"]["Ref"]] for each in on.properties("AWS::ApiGatewayV2::Integration")
    }
    assert reached == WAITED_FOR - {"tool"}
    permitted = {
        named[each["FunctionName"]["Ref"]]
        for each in on.properties("AWS::Lambda::Permission")
        if each["Principal"] == "apigateway.amazonaws.com"
    }
    assert permitted == reached


def test_without_the_option_there_are_no_snapshots(each: Synthesised) -> None:
    assert all("SnapStart" not in made for made in each.stateless.properties("AWS::Lambda::Function"))
