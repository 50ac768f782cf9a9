"""How large what is deployed may be: AWS's limits that a template can reach, with all options and the longest name.

Each limit has its page of AWS's documentation, read in November 2026.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from acta.infra.environments import LONGEST_NAME
from tests.infra.conftest import Synthesised, Template

REFERENCE = "x" * 128
"""What stands for the value of a reference. An ARN of ours has at most 110 characters, with the longest names."""
ENVIRONMENT_BYTES = 4_096
"""Of a function's variables, names and values. Lambda developer guide, "Lambda quotas"."""
INLINE_POLICIES = 10_240
"""Characters of a role's inline policies together. This and the next: IAM user guide, "IAM and AWS STS quotas"."""
TRUST_POLICY = 2_048
FUNCTION_POLICY = 20_480
"""Bytes of the policy that says who may invoke a function. Lambda developer guide, "Lambda quotas"."""
TEMPLATE, RESOURCES, OUTPUTS = 1_000_000, 500, 200
"""CloudFormation user guide, "Understand CloudFormation quotas"."""
WIDGETS, WIDGET_METRICS, DASHBOARD_METRICS = 500, 500, 2_500
"""CloudWatch user guide, "CloudWatch service quotas" and "Dashboard body structure"."""
ROUTES, INTEGRATIONS = 300, 300
"""API Gateway developer guide, "Quotas for configuring and running an HTTP API"."""
DEFINITION = 1_000_000
"""Bytes of a state machine. Step Functions developer guide, "Step Functions service quotas"."""
ACCESS_LOG_FORMAT = 3_000
"""API Gateway developer guide, "Quotas for configuring and running an HTTP API"."""


@pytest.fixture(params=["prod", pytest.param("a" * LONGEST_NAME, marks=pytest.mark.thorough)])
def made(request: pytest.FixtureRequest, everything: Callable[[str], Synthesised]) -> Synthesised:
    return everything(request.param)


def plain(value: Any) -> Any:
    """The value as AWS gets it, with `REFERENCE` for what is not known yet."""
    match value:
        case {"Fn::Join": [str() as between, list() as parts]}:
            return between.join(str(plain(each)) for each in parts)
        case {"Ref": _} | {"Fn::GetAtt": _} | {"Fn::ImportValue": _} | {"Fn::Select": _} | {"Fn::Sub": _}:
            return REFERENCE
        case dict():
            return {name: plain(each) for name, each in value.items()}
        case list():
            return [plain(each) for each in value]
    return value


def length(document: Any) -> int:
    """Characters without white space, as IAM counts."""
    return len(json.dumps(plain(document), separators=(",", ":")))


def templates(made: Synthesised) -> Iterator[Template]:
    yield from (
        each for each in (made.stateful, made.sessions, made.stateless, made.edge) if each is not None
    )


def test_a_template_is_within_what_cloudformation_takes(made: Synthesised) -> None:
    for each in templates(made):
        assert len(json.dumps(each.body)) < TEMPLATE
        assert len(each.body["Resources"]) < RESOURCES
        assert len(each.body.get("Outputs", ())) < OUTPUTS


def test_a_function_has_room_for_its_variables(made: Synthesised) -> None:
    functions = made.stateless.resources("AWS::Lambda::Function")
    assert len(functions) >= len(made.environment.functions)
    for name, each in functions.items():
        variables = plain(each["Properties"].get("Environment", {}).get("Variables", {}))
        assert sum(len((key + value).encode()) for key, value in variables.items()) <= ENVIRONMENT_BYTES, name


def test_a_role_has_room_for_its_policies(made: Synthesised) -> None:
    sizes: dict[str, int] = {}
    for template in templates(made):
        for name, each in template.resources("AWS::IAM::Role").items():
            assert length(each["Properties"]["AssumeRolePolicyDocument"]) <= TRUST_POLICY
            sizes[name] = sum(length(one["PolicyDocument"]) for one in each["Properties"].get("Policies", ()))
        for each in template.properties("AWS::IAM::Policy"):
            for role in each["Roles"]:
                sizes[role["Ref"]] += length(each["PolicyDocument"])
    assert len(sizes) > 10
    assert max(sizes.values()) <= INLINE_POLICIES


def test_whoever_may_invoke_a_function_fits_into_its_policy(made: Synthesised) -> None:
    """A statement also has an id and the names of its fields, which Lambda adds: 300 bytes are enough for them."""
    sizes: dict[str, int] = {}
    for each in made.stateless.properties("AWS::Lambda::Permission"):
        called = json.dumps(each["FunctionName"])
        sizes[called] = sizes.get(called, 0) + length(each) + 300
    assert sizes
    assert max(sizes.values()) <= FUNCTION_POLICY


def test_a_dashboard_has_no_more_graphs_and_lines_than_one_may_have(made: Synthesised) -> None:
    (dashboard,) = made.stateless.properties("AWS::CloudWatch::Dashboard")
    widgets = json.loads(plain(dashboard["DashboardBody"]))["widgets"]
    metrics = [len(each["properties"].get("metrics", ())) for each in widgets]
    assert 0 < len(widgets) <= WIDGETS
    assert max(metrics) <= WIDGET_METRICS
    assert sum(metrics) <= DASHBOARD_METRICS


def test_the_api_has_room_for_its_routes_and_its_log(made: Synthesised) -> None:
    assert 0 < len(made.stateless.resources("AWS::ApiGatewayV2::Route")) < ROUTES
    assert 0 < len(made.stateless.resources("AWS::ApiGatewayV2::Integration")) < INTEGRATIONS
    for stage in made.stateless.properties("AWS::ApiGatewayV2::Stage"):
        assert len(stage["AccessLogSettings"]["Format"]) <= ACCESS_LOG_FORMAT


def test_the_state_machine_is_within_what_step_functions_takes(made: Synthesised) -> None:
    (machine,) = made.stateless.properties("AWS::StepFunctions::StateMachine")
    assert len(plain(machine["DefinitionString"]).encode()) < DEFINITION


NAMES: Mapping[tuple[str, str], int] = {
    ("AWS::CloudWatch::Alarm", "AlarmName"): 255,
    ("AWS::CodeDeploy::Application", "ApplicationName"): 100,
    ("AWS::Lambda::Function", "FunctionName"): 64,
    ("AWS::Lambda::Function", "Description"): 256,
    ("AWS::Logs::LogGroup", "LogGroupName"): 512,
    ("AWS::SNS::Topic", "TopicName"): 256,
    ("AWS::SQS::Queue", "QueueName"): 80,
    ("AWS::SecretsManager::Secret", "Name"): 512,
    ("AWS::StepFunctions::StateMachine", "StateMachineName"): 80,
    ("AWS::WAFv2::WebACL", "Name"): 128,
}
"""Type and property -> its longest value. Source: the API reference of each service."""


def test_the_longest_name_of_an_environment_fits_into_every_name(made: Synthesised) -> None:
    for (kind, option), longest in NAMES.items():
        given = [each[option] for one in templates(made) for each in one.properties(kind) if option in each]
        assert given, f"{kind} has no {option}"
        assert max(len(plain(name)) for name in given) <= longest, kind
