"""Every function is called by its alias, in every environment; what the alias names is a published version in AWS."""

import json
from collections.abc import Callable
from typing import Any

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


def calls_of(made: Synthesised) -> set[tuple[str, str, str]]:
    """What is called, by which service, on whose behalf: from rules, routes and the user pool, each as JSON."""

    def call(called: Any, service: str, source: Any) -> tuple[str, str, str]:
        return json.dumps(called), f"{service}.amazonaws.com", json.dumps(source)

    found = set()
    for template in (made.stateful, made.sessions, made.stateless):
        for name, each in template.body["Resources"].items():
            properties = each.get("Properties", {})
            match each["Type"]:
                case "AWS::Events::Rule":
                    source = {"Fn::GetAtt": [name, "Arn"]}
                    functions = [each["Arn"] for each in properties["Targets"] if "Ref" in each["Arn"]]
                    found |= {call(each, "events", source) for each in functions}  # others put into a queue
                case "AWS::ApiGatewayV2::Integration":
                    found.add(call(properties["IntegrationUri"], "apigateway", properties["ApiId"]))
                case "AWS::Cognito::UserPool":
                    source = {"Fn::GetAtt": [name, "Arn"]}
                    for trigger in properties.get("LambdaConfig", {}).values():
                        called = trigger["LambdaArn"] if isinstance(trigger, dict) else trigger
                        found.add(call(called, "cognito-idp", source))
                case "AWS::SNS::Subscription":
                    assert properties["Protocol"] != "lambda"
    return found


def permitted(made: Synthesised) -> set[tuple[str, str, str]]:
    """What the policies of the functions and of their aliases allow, in the same way."""
    found = set()
    for template in (made.stateful, made.sessions, made.stateless):
        for each in template.properties("AWS::Lambda::Permission"):
            assert each["Action"] == "lambda:InvokeFunction"
            source = each["SourceArn"]
            if "Fn::Join" in source:  # of an API: its ARN ends with stage, method and path
                *_, source, ending = source["Fn::Join"][1]
                assert ending == "/*/*/*"
            found.add((json.dumps(each["FunctionName"]), each["Principal"], json.dumps(source)))
    return found


def test_whatever_calls_a_function_is_permitted_exactly_what_it_calls(each: Synthesised) -> None:
    assert calls_of(each) == permitted(each)
    assert len(calls_of(each)) > 5


@pytest.mark.thorough
def test_whatever_an_option_brings_is_permitted_exactly_what_it_calls(
    everything: Callable[[str], Synthesised],
) -> None:
    made = everything("prod")
    assert calls_of(made) == permitted(made)
    assert "cognito-idp.amazonaws.com" in {service for _, service, _ in permitted(made)}
