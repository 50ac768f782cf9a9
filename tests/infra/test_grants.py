"""What each function may do, written down a second time: a grant added by accident fails here."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.infra.conftest import Synthesised

READ = {"dynamodb:GetItem", "dynamodb:Query"}
COMMIT = READ | {"dynamodb:PutItem"}
REMEMBER = COMMIT | {"dynamodb:DeleteItem"}
GET = {"s3:GetObject", "s3:ListBucket"}
PUT = GET | {"s3:PutObject"}
EDIT = PUT | {"s3:DeleteObject"}
START = {"states:StartExecution", "states:DescribeExecution", "states:SendTaskSuccess"}
EVERY = {"logs:CreateLogStream", "logs:PutLogEvents"}
TRACES = {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}

ALLOWED = {
    "start": COMMIT | EDIT | START | {"states:StopExecution"},
    "status": READ | GET,
    "step": REMEMBER | EDIT | {"secretsmanager:GetSecretValue"},
    "tool": REMEMBER | EDIT | {"lambda:InvokeFunction"},
    "intervene": COMMIT | {"dynamodb:BatchWriteItem"} | EDIT | START | {"states:StopExecution"},
    "admin": REMEMBER | EDIT,
    "tend": COMMIT | EDIT | START | {"states:ListExecutions"},
}


def actions(statement: Any) -> set[str]:
    found = statement["Action"]
    return {found} if isinstance(found, str) else set(found)


def resources(statement: Any) -> list[str]:
    found = statement["Resource"]
    return [json.dumps(each) for each in (found if isinstance(found, list) else [found])]


@pytest.mark.parametrize("function", ALLOWED)
def test_a_function_may_do_what_it_needs_and_nothing_else(function: str, prod: Synthesised) -> None:
    granted = set().union(*map(actions, prod.stateless.statements(function.capitalize())))
    assert granted == ALLOWED[function] | EVERY | TRACES


@pytest.mark.parametrize("function", ALLOWED)
def test_a_role_has_no_managed_policy(function: str, each: Synthesised) -> None:
    roles = each.stateless.resources("AWS::IAM::Role")
    assert all("ManagedPolicyArns" not in role["Properties"] for role in roles.values())


def test_a_wildcard_stands_only_where_nothing_narrower_exists(each: Synthesised) -> None:
    for role in each.stateless.resources("AWS::IAM::Role"):
        for statement in each.stateless.statements(role.split("Role")[0]):
            assert all("*" not in action for action in actions(statement))
            for resource in resources(statement):
                if resource == '"*"':
                    without_resources = {"xray:", "logs:"}
                    assert all(action.startswith(tuple(without_resources)) for action in actions(statement))
                elif "*" in resource:
                    # objects under a prefix, executions of one machine, streams of one log group, tenants' tools
                    ends = ("/files/*", "/sessions/*", ":execution:acta-", ":function:acta-tool-*")
                    assert any(end in resource for end in ends), resource


@pytest.mark.parametrize(
    ("function", "own", "other"),
    [("tool", "files", None), ("admin", "files", "sessions"), ("step", "sessions", "files")],
)
def test_files_and_sessions_are_apart(function: str, own: str, other: str | None, prod: Synthesised) -> None:
    objects = [
        resource
        for statement in prod.stateless.statements(function.capitalize())
        if any(action.startswith("s3:") for action in actions(statement))
        for resource in resources(statement)
    ]
    assert any(f"/{own}/*" in resource for resource in objects)
    assert not any(f"/{other}/*" in resource for resource in objects)


def test_only_step_reads_the_models_keys(prod: Synthesised) -> None:
    readers = {
        function
        for function in ALLOWED
        for statement in prod.stateless.statements(function.capitalize())
        if "secretsmanager:GetSecretValue" in actions(statement)
    }
    assert readers == {"step"}


def test_only_tool_invokes_functions_and_only_those_that_are_tools(prod: Synthesised) -> None:
    invoked = {
        (function, resource.rpartition(":")[2].strip('"]}'))
        for function in ALLOWED
        for statement in prod.stateless.statements(function.capitalize())
        if "lambda:InvokeFunction" in actions(statement)
        for resource in resources(statement)
    }
    assert invoked == {("tool", "acta-tool-*")}


def test_the_state_machine_may_invoke_the_three_functions_it_names(prod: Synthesised) -> None:
    invoked = [
        resource
        for statement in prod.stateless.statements("Workflow")
        if actions(statement) == {"lambda:InvokeFunction"}
        for resource in resources(statement)
    ]
    assert sorted(json.loads(each)["Fn::GetAtt"][0].split("Function")[0] for each in invoked) == [
        "Intervene",
        "Step",
        "Tool",
    ]


def test_only_this_account_s_gateway_schedule_and_state_machine_reach_a_function(each: Synthesised) -> None:
    for permission in each.stateless.properties("AWS::Lambda::Permission"):
        if permission["Principal"] == "events.amazonaws.com":
            (rule,) = each.stateless.resources("AWS::Events::Rule")
            assert permission["SourceArn"] == {"Fn::GetAtt": [rule, "Arn"]}
            assert permission["FunctionName"]["Fn::GetAtt"][0].startswith("Tend")
        else:
            assert permission["Principal"] == "apigateway.amazonaws.com"
            assert "execute-api" in json.dumps(permission["SourceArn"])


def test_only_tend_reads_across_tenants_and_only_who_they_are(prod: Synthesised) -> None:
    indexes = {
        (function, *actions(statement), resource.rpartition("/index/")[2].strip('"]}'))
        for function in ALLOWED
        for statement in prod.stateless.statements(function.capitalize())
        for resource in resources(statement)
        if "/index/" in resource
    }
    assert indexes == {("tend", "dynamodb:Query", "live")}


def test_each_minute_recovery_looks_for_sessions_that_have_stopped(each: Synthesised) -> None:
    (rule,) = each.stateless.properties("AWS::Events::Rule")
    assert (rule["ScheduleExpression"], rule["State"]) == ("rate(1 minute)", "ENABLED")
    (target,) = rule["Targets"]
    assert target["Arn"]["Fn::GetAtt"][0].startswith("TendFunction")
    assert target["RetryPolicy"] == {"MaximumRetryAttempts": 0}


@pytest.mark.parametrize("environment", ["staging", "prod"])
def test_cdk_nag_has_nothing_left_to_say(environment: str, synthesise: Callable[[str], Synthesised]) -> None:
    assert synthesise(environment).findings == ()
