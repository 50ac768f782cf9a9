"""AG10, rogue agents: whatever a function is made to do, no record of the audit trail changes (ADR 54)."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from acta.engine.api.operations import OPERATIONS, operations_in
from acta.infra.lambdas.grants import GRANTS
from acta.infra.sizing import FunctionName
from tests.infra.conftest import Synthesised, Template, listed, text_of

TRAIL = "Audit.Arn"
ON_ITEMS = {
    f"dynamodb:{each}"
    for each in [
        "PutItem",
        "UpdateItem",
        "DeleteItem",
        "BatchWriteItem",
        "PartiQLInsert",
        "PartiQLUpdate",
        "PartiQLDelete",
        "PartiQLSelect",
        "GetItem",
        "BatchGetItem",
        "Query",
        "Scan",
        "ConditionCheckItem",
    ]
}
ON_TABLE = {
    f"dynamodb:{each}" for each in ("DeleteTable", "UpdateTable", "UpdateTimeToLive", "PutResourcePolicy")
}
CHANGES = {
    each for each in ON_ITEMS if any(word in each for word in ("Update", "Delete", "Batch", "PartiQL"))
} - {
    "dynamodb:BatchGetItem",
    "dynamodb:PartiQLSelect",
}


def trail_of(each: Synthesised) -> Mapping[str, Any]:
    (table,) = each.sessions.properties("AWS::DynamoDB::Table")
    return table


def matches(pattern: str, action: str) -> bool:
    return pattern in ("*", action) or (pattern.endswith("*") and action.startswith(pattern[:-1]))


def decided(statements: list[Mapping[str, Any]], action: str) -> str:
    """As IAM evaluates policies of one account: a deny wins, then an allow, else nothing is allowed. Conditions are
    taken to hold. Source: IAM User Guide, "Policy evaluation logic".
    """
    effects = {
        statement["Effect"]
        for statement in statements
        if any(matches(pattern, action) for pattern in listed(statement["Action"]))
        and any(text_of(resource) in ("*", TRAIL) for resource in listed(statement["Resource"]))
    }
    return "Deny" if "Deny" in effects else "Allow" if "Allow" in effects else "nothing"


def roles_of(stateless: Template) -> dict[str, list[Mapping[str, Any]]]:
    """Each role of the stack -> its statements, those of attached policies included."""
    found = {
        name: [
            statement
            for policy in role["Properties"].get("Policies", ())
            for statement in policy["PolicyDocument"]["Statement"]
        ]
        for name, role in stateless.resources("AWS::IAM::Role").items()
    }
    for policy in stateless.properties("AWS::IAM::Policy"):
        for role in policy["Roles"]:
            found[role["Ref"]] += policy["PolicyDocument"]["Statement"]
    return found


def test_no_role_may_do_more_to_the_trail_than_add_to_it_and_only_admin_s_reads_it(each: Synthesised) -> None:
    allowed = {
        (role.split("Role")[0].removesuffix("Base").removesuffix("Tenant"), action)
        for role, statements in roles_of(each.stateless).items()
        for action in ON_ITEMS | ON_TABLE
        if decided(statements, action) == "Allow"
    }
    adding = {(name, "dynamodb:PutItem") for name in ("Start", "Intervene", "Admin", "Mcp", "Step", "Status")}
    assert allowed == {*adding, ("Admin", "dynamodb:Query")}


def test_a_grant_that_slips_in_some_day_changes_no_record(each: Synthesised) -> None:
    slip = {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}
    writers = {
        role: statements
        for role, statements in roles_of(each.stateless).items()
        if decided(statements, "dynamodb:PutItem") == "Allow"
    }
    assert writers
    for statements in writers.values():
        assert {action for action in ON_ITEMS if decided([*statements, slip], action) == "Deny"} == CHANGES


def test_in_aws_the_table_itself_refuses_changes_whoever_asks(each: Synthesised) -> None:
    trail = trail_of(each)
    if each.environment.is_local:
        assert "ResourcePolicy" not in trail
        return
    (statement,) = trail["ResourcePolicy"]["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Principal"]) == ("Deny", {"AWS": "*"})
    assert set(statement["Action"]) == CHANGES
    assert "Condition" not in statement


def test_who_does_what_is_recorded_may_record_it_and_nobody_else(each: Synthesised) -> None:
    answering = {route.function for route in OPERATIONS}
    recording = {name for name in answering if any(route.action is not None for route in operations_in(name))}
    assert {name for name, grants in GRANTS.items() if grants.audit} == recording
    for name in each.environment.functions:
        variables = each.stateless.function(name)["Environment"]["Variables"]
        assert ("ACTA_AUDIT_TABLE" in variables) == (name in recording)


def test_who_answers_people_or_counts_them_knows_their_pseudonyms(each: Synthesised) -> None:
    answering: set[FunctionName] = {
        "usage",
        *(route.function for route in OPERATIONS if route.role is not None),
    }
    assert {name for name, grants in GRANTS.items() if grants.pseudonyms} == answering
    for name in each.environment.functions:
        variables = each.stateless.function(name)["Environment"]["Variables"]
        is_named = variables.get("ACTA_AUDIT_SECRET") == f"acta/{each.environment.name}/audit"
        assert is_named == (name in answering and not each.environment.is_local)


def test_the_trail_stays_when_its_stack_goes_and_is_forgotten_only_where_the_environment_says_so(
    each: Synthesised,
) -> None:
    (table,) = each.sessions.resources("AWS::DynamoDB::Table").values()
    kept = "Retain" if each.environment.retain else "Delete"
    assert table["UpdateReplacePolicy"] == kept
    assert table["DeletionPolicy"].removesuffix("ExceptOnCreate") == kept
    trail = trail_of(each)
    backed_up = trail["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"]
    assert backed_up == each.environment.point_in_time_recovery
    assert trail.get("DeletionProtectionEnabled", False) == each.environment.deletion_protection
    assert trail["SSESpecification"] == {"SSEEnabled": not each.environment.is_local}
    for name in ("start", "intervene", "admin", "mcp", "step", "status"):
        variables = each.stateless.function(name)["Environment"]["Variables"]
        assert variables["ACTA_AUDIT_RETENTION_DAYS"] == str(each.environment.retention.audit) == "0"


def test_the_key_of_the_pseudonyms_is_made_by_aws_and_stands_in_no_template(each: Synthesised) -> None:
    secrets = each.sessions.properties("AWS::SecretsManager::Secret")
    names = [] if each.environment.is_local else [f"acta/{each.environment.name}/audit"]
    assert [secret["Name"] for secret in secrets] == names
    assert all("SecretString" not in secret for secret in secrets)


def test_production_is_told_when_something_is_not_recorded(prod: Synthesised) -> None:
    alarms = alarms_on(prod, "NotRecorded")
    services = {dimension["Value"] for alarm in alarms for dimension in alarm["Dimensions"]}
    assert services == {"acta-start", "acta-intervene", "acta-admin", "acta-mcp", "acta-step", "acta-status"}
    assert {alarm["Threshold"] for alarm in alarms} == {1}


@pytest.mark.parametrize(("name", "statuses"), [("Refused", {"401", "403"}), ("BeyondRate", {"429"})])
def test_production_is_told_of_many_refusals_those_of_the_gateway_included(
    name: str, statuses: set[str], prod: Synthesised
) -> None:
    (alarm,) = alarms_on(prod, name)
    (counted,) = (
        each
        for each in prod.stateless.properties("AWS::Logs::MetricFilter")
        if each["MetricTransformations"][0]["MetricName"] == name
    )
    (metric,) = counted["MetricTransformations"]
    assert (alarm["Namespace"], alarm["Threshold"]) == (metric["MetricNamespace"], 100)
    assert set(re.findall(r'"(\d+)"', counted["FilterPattern"])) == statuses
    (stage,) = prod.stateless.properties("AWS::ApiGatewayV2::Stage")
    (written,) = (
        group
        for group in prod.stateless.resources("AWS::Logs::LogGroup")
        if group == counted["LogGroupName"]["Ref"]
    )
    assert stage["AccessLogSettings"]["DestinationArn"]["Fn::GetAtt"][0] == written
    assert json.loads(stage["AccessLogSettings"]["Format"])["status"] == "$context.status"


def test_production_is_told_of_many_who_ask_for_somebody_s_private_sessions(prod: Synthesised) -> None:
    alarms = alarms_on(prod, "SessionsHidden")
    services = {alarm["Dimensions"][0]["Value"] for alarm in alarms}
    assert services == {"acta-start", "acta-status", "acta-intervene", "acta-mcp"}
    assert {alarm["Threshold"] for alarm in alarms} == {100}


def alarms_on(made: Synthesised, metric: str) -> list[Mapping[str, Any]]:
    return [
        each
        for each in made.stateless.properties("AWS::CloudWatch::Alarm")
        if each.get("MetricName") == metric
    ]
