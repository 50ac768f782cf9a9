"""A deployment of the release before is updated to this one in place: nothing new has a name that is taken."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from infra.environments import PROD, Webhook
from tests.infra.conftest import synthesised
from tests.releases import previous

pytestmark = pytest.mark.thorough

Resources = Mapping[str, Mapping[str, Any]]
HOOK = "https://hooks.example.com/acta"
BEFORE = f"""
import json, tempfile
from dataclasses import replace
from aws_cdk import App
from infra.app import add_stacks
from infra.environments import PROD, Webhook
app = App(outdir=tempfile.mkdtemp(), context={{"aws:cdk:bundling-stacks": []}})
add_stacks(app, replace(PROD, notifications=Webhook("{HOOK}")))
stack = app.synth().get_stack_by_name("Acta-prod-Stateless")
print(json.dumps(stack.template["Resources"]))
"""
NAMES = (
    "FunctionName", "LogGroupName", "QueueName", "StateMachineName", "TopicName", "RoleName", "ApplicationName",
    "DeploymentGroupName",
)  # fmt: skip
NAMED = (
    "AWS::CodeDeploy::Application", "AWS::CodeDeploy::DeploymentGroup", "AWS::IAM::Role", "AWS::Lambda::Function",
    "AWS::Logs::LogGroup", "AWS::SNS::Topic", "AWS::SQS::Queue", "AWS::StepFunctions::StateMachine",
)  # fmt: skip


@pytest.fixture(scope="module")
def before() -> Resources:
    try:
        found: Resources = json.loads(previous.run(BEFORE).strip().splitlines()[-1])
    except previous.NoHistory as missing:
        pytest.skip(str(missing))
    return found


@pytest.fixture(scope="module")
def now(tmp_path_factory: pytest.TempPathFactory) -> Resources:
    environment = replace(PROD, notifications=Webhook(HOOK))
    found: Resources = synthesised(environment, tmp_path_factory.mktemp("now")).stateless.body["Resources"]
    return found


def names(resources: Resources) -> Iterator[tuple[tuple[str, ...], str]]:
    """What may be there once in an account, and the logical id that has it."""
    for logical_id, each in resources.items():
        kind, properties = each["Type"], each["Properties"]
        if kind in NAMED:
            for name in NAMES:
                if name in properties:
                    yield (kind, json.dumps(properties[name])), logical_id
        elif kind == "AWS::Lambda::Alias":
            yield (kind, json.dumps(properties["FunctionName"]), properties["Name"]), logical_id
        elif kind == "AWS::Lambda::EventSourceMapping":
            called = json.dumps(properties["FunctionName"])
            yield (kind, json.dumps(properties["EventSourceArn"]), called), logical_id


def test_what_has_a_name_in_both_releases_is_the_same_resource(before: Resources, now: Resources) -> None:
    taken = dict(names(before))
    moved = {name: (taken[name], new) for name, new in names(now) if name in taken and taken[name] != new}
    assert moved == {}


def test_functions_that_both_releases_have_are_updated_where_they_are(
    before: Resources, now: Resources
) -> None:
    def functions(resources: Resources) -> set[str]:
        return {name for name, each in resources.items() if each["Type"] == "AWS::Lambda::Function"}

    assert functions(before) <= functions(now)


def test_a_mapping_of_the_stream_that_is_replaced_has_another_name_for_its_function(
    before: Resources, now: Resources
) -> None:
    """CloudFormation makes the new one first, and AWS refuses a second one for the same stream and name."""
    for name, each in now.items():
        old = before.get(name)
        if each["Type"] != "AWS::Lambda::EventSourceMapping" or old is None:
            continue
        replaced = [
            one
            for one in ("EventSourceArn", "StartingPosition")
            if old["Properties"].get(one) != each["Properties"].get(one)
        ]
        if replaced:
            assert old["Properties"]["FunctionName"] != each["Properties"]["FunctionName"], name


def test_the_prompts_keep_the_function_that_stores_them(before: Resources, now: Resources) -> None:
    """CloudFormation refuses another service token for a custom resource."""
    ((name, old),) = ((key, each) for key, each in before.items() if each["Type"] == "Custom::ActaPrompts")
    assert now[name]["Properties"]["ServiceToken"] == old["Properties"]["ServiceToken"]
