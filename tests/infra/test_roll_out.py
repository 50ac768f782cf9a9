"""How aliases move to a new version in each environment: at once, or bit by bit and back by an alarm."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from acta.infra.environments import DEV, ENVIRONMENTS, LOCAL
from acta.infra.options import AtOnce, Canary, Linear, Way
from tests.infra.conftest import Synthesised, Template, synthesised

GROUP = "AWS::CodeDeploy::DeploymentGroup"
GRADUAL = ("staging", "prod")


def groups(template: Template) -> dict[str, Mapping[str, Any]]:
    """Function -> the deployment group that moves its alias."""
    found = {}
    for alias, function in template.aliases.items():
        policy = template.body["Resources"][alias].get("UpdatePolicy")
        if policy is not None:
            group = policy["CodeDeployLambdaAliasUpdate"]["DeploymentGroupName"]["Ref"]
            found[function] = template.resources(GROUP)[group]["Properties"]
    return found


def alarms_of(template: Template, group: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    alarms = template.resources("AWS::CloudWatch::Alarm")
    return [alarms[each["Name"]["Ref"]]["Properties"] for each in group["AlarmConfiguration"]["Alarms"]]


def metrics(alarm: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Id of a metric -> its dimensions."""
    return {
        each["Id"]: {one["Name"]: one["Value"] for one in each["MetricStat"]["Metric"]["Dimensions"]}
        for each in alarm["Metrics"]
        if "MetricStat" in each
    }


def test_where_releases_are_taken_into_use_at_once_nothing_of_codedeploy_is_deployed(
    each: Synthesised,
) -> None:
    is_gradual = each.environment.name in GRADUAL
    kinds = {one["Type"] for one in each.stateless.body["Resources"].values()}
    assert any(kind.startswith("AWS::CodeDeploy") for kind in kinds) == is_gradual
    assert bool(groups(each.stateless)) == is_gradual


@pytest.mark.parametrize(
    ("name", "configuration"),
    [("staging", "LambdaCanary10Percent5Minutes"), ("prod", "LambdaCanary10Percent30Minutes")],
)
def test_a_tenth_of_the_calls_goes_first_where_people_rely_on_it(
    name: str, configuration: str, synthesise: Any
) -> None:
    made = synthesise(name).stateless
    assert set(groups(made)) == set(ENVIRONMENTS[name].functions)
    for group in groups(made).values():
        assert group["DeploymentConfigName"] == f"CodeDeployDefault.{configuration}"


def test_an_alarm_of_the_new_version_takes_it_back(prod: Synthesised) -> None:
    for function, group in groups(prod.stateless).items():
        assert group["AutoRollbackConfiguration"] == {
            "Enabled": True,
            "Events": ["DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_REQUEST", "DEPLOYMENT_STOP_ON_ALARM"],
        }
        assert group["AlarmConfiguration"]["Enabled"]
        worse, fails = alarms_of(prod.stateless, group)
        dimensions = metrics(worse)
        for name in ("all_calls", "all_errors"):
            assert set(dimensions[name]) == {"FunctionName", "Resource"}
        for name in ("new_calls", "new_errors"):
            version, attribute = dimensions[name]["ExecutedVersion"]["Fn::GetAtt"]
            assert attribute == "Version"
            of = prod.stateless.resources("AWS::Lambda::Version")[version]["Properties"]["FunctionName"][
                "Ref"
            ]
            assert (
                prod.stateless.body["Resources"][of]["Properties"]["Handler"]
                == f"acta.functions.{function}.handler.handler"
            )
        assert fails["MetricName"] == "5xx"


def worse(all_calls: int, all_errors: int, new_calls: int, new_errors: int, prod: Synthesised) -> bool:
    """What the alarm's expression says of these sums. Its words are the operators of this language but for two."""
    alarm, _ = alarms_of(prod.stateless, groups(prod.stateless)["step"])
    (expression,) = (each["Expression"] for each in alarm["Metrics"] if "Expression" in each)
    assert expression.startswith("IF(")
    assert expression.endswith(", 1, 0)")
    condition = expression.removeprefix("IF(").removesuffix(", 1, 0)").replace("AND", "and")
    return bool(eval(condition, {}, locals()))  # noqa: S307  # it is our own


@pytest.mark.parametrize(
    ("sums", "is_worse"),
    [
        ((100, 3, 10, 3), True),  # only the new one fails
        ((100, 2, 10, 2), False),  # too few to tell
        ((100, 100, 10, 10), False),  # an outage: all fail
        ((100, 48, 10, 3), False),  # an outage: half of both fail
        ((100, 12, 10, 3), True),  # three in ten against one in ten
        ((10, 10, 10, 10), False),  # the old one is not called any more
    ],
)
def test_worse_is_who_fails_twice_as_often_as_the_version_beside_it(
    sums: tuple[int, int, int, int], is_worse: bool, prod: Synthesised
) -> None:
    assert worse(*sums, prod) == is_worse


def test_codedeploy_may_move_the_aliases_of_acta_and_do_nothing_else(prod: Synthesised) -> None:
    granted = prod.stateless.granted("RollOutRole")
    assert granted.pop("*") == {"cloudwatch:DescribeAlarms"}
    assert {frozenset(each) for each in granted.values()} == {
        frozenset({"lambda:GetAlias", "lambda:GetProvisionedConcurrencyConfig", "lambda:UpdateAlias"})
    }
    names = {each.removesuffix(":live").removesuffix("Function.Arn").lower() for each in granted}
    assert names == set(ENVIRONMENTS["prod"].functions)
    (role,) = prod.stateless.resources_named("RollOutRole", "AWS::IAM::Role")
    assert "ManagedPolicyArns" not in prod.stateless.body["Resources"][role]["Properties"]


@pytest.mark.parametrize(
    ("way", "configuration"),
    [
        (Canary(10), "LambdaCanary10Percent10Minutes"),
        (Canary(15), "LambdaCanary10Percent15Minutes"),
        (Linear(1), "LambdaLinear10PercentEvery1Minute"),
        (Linear(2), "LambdaLinear10PercentEvery2Minutes"),
        (Linear(3), "LambdaLinear10PercentEvery3Minutes"),
        (Linear(10), "LambdaLinear10PercentEvery10Minutes"),
    ],
)
@pytest.mark.thorough
def test_every_other_way_is_one_of_awss(way: Way, configuration: str, tmp_path: Any) -> None:
    made = synthesised(replace(DEV, roll_out=way), tmp_path).stateless
    assert {each["DeploymentConfigName"] for each in groups(made).values()} == {
        f"CodeDeployDefault.{configuration}"
    }


def test_a_way_that_aws_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Canary\.minutes is 5, 10, 15 or 30"):
        Canary(7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"Linear\.minutes is 1, 2, 3 or 10"):
        Linear(5)  # type: ignore[arg-type]


def test_the_local_environment_knows_one_way() -> None:
    assert LOCAL.roll_out == AtOnce()
    with pytest.raises(ValueError, match="at once"):
        replace(LOCAL, roll_out=Canary(5))


def test_no_alarm_waits_for_a_resource_that_waits_for_it(prod: Synthesised) -> None:
    """CloudFormation refuses a circle: an alias waits for its group, the group for the alarm and the role."""
    for name in ("RollOutRole", "RollOutStepWorse", "RollOutApiFails"):
        (made,) = (each for each in prod.stateless.body["Resources"] if each.startswith(name))
        text = json.dumps(prod.stateless.body["Resources"][made])
        assert not any(alias in text for alias in prod.stateless.aliases)
