"""Every function is called by its alias, in every environment; what the alias names is a published version in AWS."""

import json

import pytest

from acta.infra.environments import ENVIRONMENTS
from tests.infra.conftest import HASH, Synthesised, Template


def unqualified(template: Template) -> dict[str, str]:
    """Logical id of each Lambda -> its name."""
    return {
        name: each["Properties"]["Handler"].split(".")[2]
        for name, each in template.resources("AWS::Lambda::Function").items()
    }


@pytest.mark.thorough
def test_every_function_has_one_alias_of_the_same_name(each: Synthesised) -> None:
    template = each.stateless
    assert sorted(template.aliases.values()) == sorted(unqualified(template).values())
    assert {one["Name"] for one in template.properties("AWS::Lambda::Alias")} == {"live"}


def test_in_aws_it_names_the_version_that_the_release_publishes(prod: Synthesised) -> None:
    versions = prod.stateless.resources("AWS::Lambda::Version")
    assert len(versions) == len(ENVIRONMENTS["prod"].functions)
    for alias in prod.stateless.properties("AWS::Lambda::Alias"):
        name, attribute = alias["FunctionVersion"]["Fn::GetAtt"]
        assert attribute == "Version"
        assert versions[name]["Properties"]["FunctionName"] == alias["FunctionName"]


def test_versions_of_former_releases_stay_and_those_of_an_undone_deployment_go(prod: Synthesised) -> None:
    """Else the deployment could not be repeated: Lambda publishes nothing twice."""
    for version in prod.stateless.resources("AWS::Lambda::Version").values():
        assert version["DeletionPolicy"] == "RetainExceptOnCreate"
        assert version["UpdateReplacePolicy"] == "Retain"


def test_locally_it_names_the_newest_code_until_a_rollback_moves_it(local: Synthesised) -> None:
    assert local.stateless.resources("AWS::Lambda::Version") == {}
    names = {one["FunctionVersion"] for one in local.stateless.properties("AWS::Lambda::Alias")}
    assert names == {"$LATEST"}


def test_nothing_but_prompts_calls_a_function_itself(
    each: Synthesised,
) -> None:
    """CloudFormation refuses another service token for a custom resource."""
    functions = unqualified(each.stateless)
    callers = {
        HASH.sub("", name)
        for name, one in each.stateless.body["Resources"].items()
        if one["Type"] not in ("AWS::Lambda::Function", "AWS::Lambda::Version", "AWS::Lambda::Alias")
        and any(f'{{"Fn::GetAtt": ["{function}", "Arn"]}}' in json.dumps(one) for function in functions)
    }
    moves_aliases = {"RollOutRole"} if each.environment.name in ("staging", "prod") else set()
    assert callers == {"SeedsPrompts"} | moves_aliases


def test_the_api_is_permitted_to_call_an_alias_before_it_calls_it(each: Synthesised) -> None:
    permissions = {
        one["Properties"]["FunctionName"]["Ref"]: name
        for name, one in each.stateless.resources("AWS::Lambda::Permission").items()
        if one["Properties"]["Principal"] == "apigateway.amazonaws.com"
    }
    for integration in each.stateless.resources("AWS::ApiGatewayV2::Integration").values():
        called = integration["Properties"]["IntegrationUri"]["Ref"]
        assert permissions[called] in integration["DependsOn"]
