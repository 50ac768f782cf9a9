"""Checks that read AWS: each passes on a deployment as it should be, and fails or stays open on its own mistake."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from acta.cli.operations.verify.checks import Check, CheckAnswer, Verified, answer
from acta.cli.operations.verify.table import CHECKS
from acta.engine.aws.tenant_credentials import session_policy
from acta.infra.environments import PROD, Environment
from acta.infra.names import metrics_namespace
from acta.infra.posture import with_decisions
from acta.infra.sizing import CALLED_BY_EVENTS
from tests.doubles.aws_answers import Answers, account_with, refused

ACCOUNT = "111122223333"
MACHINE = f"arn:aws:states:eu-west-1:{ACCOUNT}:stateMachine:acta-prod"
OUTPUTS = {
    "StateMachineArn": MACHINE,
    "TableName": "table",
    "BucketName": "files",
    "SessionBucketName": "sessions",
    "ApiUrl": "https://api.example.com",
    "AlarmsTopicArn": f"arn:aws:sns:eu-west-1:{ACCOUNT}:alarms",
}
TENANTS = f"arn:aws:iam::{ACCOUNT}:role/acta-prod-tenant"
NOW = datetime.now(UTC)
POINTS_OF_POSTURE = "posture"
"""Its reading has tests of its own: `tests/infra/test_deployed_posture.py`."""


def environment() -> Environment:
    decided = {
        "default_visibility": "tenant",
        "retention.ended_sessions": 0,
        "watch.emails": [],
        "tool_network": False,
    }
    return replace(with_decisions(PROD, decided), account=ACCOUNT, region="eu-west-1")


def configured(asked: Any) -> dict[str, Any]:
    return {
        "FunctionName": asked["FunctionName"],
        "Role": f"arn:aws:iam::{ACCOUNT}:role/own",
        "State": "Active",
        "LastUpdateStatus": "Successful",
        "Architectures": ["arm64"],
        "Environment": {"Variables": {"ACTA_TENANT_ROLE": TENANTS}},
    }


def event(status: str, kind: str = "AWS::Lambda::Function") -> dict[str, Any]:
    return {
        "StackId": "id",
        "EventId": "id",
        "StackName": "Acta-prod-Stateless",
        "LogicalResourceId": "Step",
        "ResourceType": kind,
        "ResourceStatus": status,
        "ResourceStatusReason": f"arn:aws:lambda:eu-west-1:{ACCOUNT}:function:x: no",
        "Timestamp": NOW,
    }


def events_of(*messages: str) -> Callable[[Any], dict[str, Any]]:
    milliseconds = round(NOW.timestamp() * 1_000)
    found = [{"logStreamName": "s", "timestamp": milliseconds, "message": each} for each in messages]
    return lambda asked: {
        "events": found if asked["logGroupName"].endswith(("-step", "apis/acta-prod")) else []
    }


def stack(status: str) -> Callable[[Any], dict[str, Any]]:
    return lambda asked: {
        "Stacks": [{"StackName": asked["StackName"], "CreationTime": NOW, "StackStatus": status}]
    }


def allowed_to_own_tenant(asked: Any) -> dict[str, Any]:
    """IAM's simulator, as far as these questions need one."""
    assert asked["PermissionsBoundaryPolicyInputList"] == [
        session_policy("acta-verify-a", "aws", "files", "sessions")
    ]
    (action,), (resource,) = asked["ActionNames"], asked["ResourceArns"]
    named = [each["ContextKeyValues"][0] for each in asked["ContextEntries"]] or [resource]
    decision = "allowed" if "acta-verify-a" in named[0] else "implicitDeny"
    return {
        "EvaluationResults": [
            {"EvalActionName": action, "EvalResourceName": resource, "EvalDecision": decision}
        ]
    }


def alarm(name: str, state: str = "OK") -> dict[str, Any]:
    return {
        "AlarmName": f"acta-prod-{name}",
        "StateValue": state,
        "AlarmActions": [OUTPUTS["AlarmsTopicArn"]],
    }


def history(*summaries: tuple[str, str, timedelta]) -> dict[str, Any]:
    return {
        "AlarmHistoryItems": [
            {"HistoryItemType": kind, "HistorySummary": summary, "Timestamp": NOW - timedelta(days=2) + after}
            for kind, summary, after in summaries
        ]
    }


CREATED = ("ConfigurationUpdate", 'Alarm "x" created', timedelta())


def values(**by_id: float) -> Callable[[Any], dict[str, Any]]:
    """CloudWatch's answer: the value of each query's id, or else 1."""
    return lambda asked: {
        "MetricDataResults": [
            {
                "Id": each["Id"],
                "Label": each["Id"],
                "Timestamps": [NOW],
                "Values": [by_id.get(each["Id"], 1.0)],
                "StatusCode": "Complete",
            }
            for each in asked["MetricDataQueries"]
        ]
    }


SEARCH = {"expression": f"SEARCH('{{{metrics_namespace('prod')},end}} MetricName=\"RunsEnded\"', 'Sum', 300)"}
DASHBOARD = {"DashboardBody": json.dumps({"widgets": [{"properties": {"metrics": [[SEARCH]]}}]})}
REPORT = "REPORT RequestId: 1 Duration: 20 ms Memory Size: 512 MB Max Memory Used: 97 MB Init Duration: {} ms"
PACKED = '{"message": "session policy packed", "tenant_hash": "6a0b", "PackedPolicySize": %d}'


def logs_kept(days: int) -> dict[str, Any]:
    names = [f"/aws/lambda/acta-prod-{each}" for each in environment().functions]
    return {"logGroups": [{"logGroupName": each, "retentionInDays": days} for each in names]}


def good() -> Answers:
    return {
        "sts.get_caller_identity": {"Account": ACCOUNT, "Arn": f"arn:aws:iam::{ACCOUNT}:user/ann", "UserId": "u"},
        "cloudformation.describe_stacks": stack("UPDATE_COMPLETE"),
        "cloudformation.describe_stack_events": {"StackEvents": [event("CREATE_COMPLETE")]},
        "iam.list_attached_role_policies": {
            "AttachedPolicies": [
                {"PolicyName": "acta-prod-execution-1", "PolicyArn": f"arn:aws:iam::{ACCOUNT}:policy/p-execution-1"}
            ]
        },
        "lambda.get_account_settings": {
            "AccountLimit": {"ConcurrentExecutions": 2_000, "UnreservedConcurrentExecutions": 2_000}
        },
        "lambda.get_function_concurrency": {},
        "lambda.list_versions_by_function": lambda asked: {
            "Versions": [
                {
                    "Version": "1",
                    "LastModified": "2026-11-23T10:00:00.000+0000",
                    "Environment": {"Variables": {"ACTA_RELEASE": "one"}},
                }
            ]
        },
        "lambda.get_alias": {"FunctionVersion": "1", "RevisionId": "r"},
        "lambda.get_function_configuration": configured,
        "logs.describe_log_groups": logs_kept(PROD.retention.logs),
        "stepfunctions.describe_state_machine": {
            "stateMachineArn": MACHINE, "name": "acta-prod", "definition": "{}", "roleArn": TENANTS,
            "type": "STANDARD", "creationDate": NOW,
        },
        "stepfunctions.validate_state_machine_definition": {"result": "OK", "diagnostics": []},
        "iam.list_role_policies": {"PolicyNames": ["own"]},
        "iam.get_role_policy": lambda asked: {
            "RoleName": asked["RoleName"], "PolicyName": "own", "PolicyDocument": "{}"
        },
        "accessanalyzer.validate_policy": {"findings": []},
        "iam.simulate_custom_policy": allowed_to_own_tenant,
        "dynamodb.describe_continuous_backups": {
            "ContinuousBackupsDescription": {
                "ContinuousBackupsStatus": "ENABLED",
                "PointInTimeRecoveryDescription": {
                    "PointInTimeRecoveryStatus": "ENABLED", "RecoveryPeriodInDays": 35
                },
            }
        },
        "logs.filter_log_events": events_of(REPORT.format(812.34), PACKED % 61),
        "cloudwatch.describe_alarms": {"MetricAlarms": [alarm("StepErrors"), alarm("DueRecoveryStopped")]},
        "cloudwatch.describe_alarm_history": history(CREATED),
        "cloudwatch.get_metric_data": values(due=35, woken=35, events=35, housekeeping=34, timed=35),
        "cloudwatch.get_dashboard": DASHBOARD,
    }  # fmt: skip


def check(name: str) -> Check:
    (found,) = (each for each in CHECKS if each.name == name)
    return found


def asked(name: str, answers: Answers, **different: Any) -> CheckAnswer:
    time = iter(range(10_000))
    deployed = Verified(
        replace(environment(), **different),
        account_with(answers),
        OUTPUTS,
        pause=lambda seconds: None,
        clock=lambda: float(next(time) * 60),
    )
    return answer(check(name), deployed, frozenset({"read-only"}))


FROM_AWS = [
    "stacks_never_failed", "narrow_rights", "concurrency", "one_release", "functions_ready", "logs_end", "definition",
    "policies_valid", "tenants_apart", "restorable", "access_log", "packed_policies", "rounds", "dashboard", "alarms",
    "first_hour", "cold_starts", "hour",
]  # fmt: skip


@pytest.mark.parametrize("name", FROM_AWS)
def test_a_deployment_as_it_should_be_passes(name: str) -> None:
    found = asked(name, good())
    assert (found.state, found.said) == ("passed", "")
    assert found.figures


WRONG: list[tuple[str, Answers, str, dict[str, float | str]]] = [
    ("stacks_never_failed", {"cloudformation.describe_stacks": stack("UPDATE_ROLLBACK_COMPLETE")}, "failed",
     {"status": "UPDATE_ROLLBACK_COMPLETE"}),
    ("stacks_never_failed", {"cloudformation.describe_stacks": stack("UPDATE_IN_PROGRESS")}, "not answered", {}),
    ("stacks_never_failed", {"cloudformation.describe_stacks": refused("ValidationError")}, "failed",
     {"status": "missing"}),
    ("stacks_never_failed", {"cloudformation.describe_stack_events": {"StackEvents": [event("CREATE_FAILED")]}},
     "failed", {"type": "AWS::Lambda::Function", "status": "CREATE_FAILED"}),
    ("narrow_rights", {"iam.list_attached_role_policies": {"AttachedPolicies": [
        {"PolicyName": "AdministratorAccess", "PolicyArn": "arn:aws:iam::aws:policy/AdministratorAccess"}]}},
     "not answered", {"policies": 1}),
    ("concurrency", {"lambda.get_account_settings": {
        "AccountLimit": {"ConcurrentExecutions": 10, "UnreservedConcurrentExecutions": 10}}}, "failed", {}),
    ("concurrency", {"lambda.get_account_settings": refused("AccessDeniedException")}, "not answered", {}),
    ("one_release", {"lambda.get_alias": {
        "FunctionVersion": "1", "RevisionId": "r", "RoutingConfig": {"AdditionalVersionWeights": {"2": 0.1}}}},
     "not answered", {}),
    ("one_release", {"lambda.get_alias": {"FunctionVersion": "2", "RevisionId": "r"}}, "failed", {}),
    ("functions_ready", {"lambda.get_function_configuration": lambda asked: {**configured(asked), "State": "Failed"}},
     "failed", {"state": "Failed", "function": "start"}),
    ("functions_ready", {"lambda.get_function_configuration":
        lambda asked: {**configured(asked), "Architectures": ["x86_64"]}}, "failed", {"architecture": "x86_64"}),
    ("hour", {"cloudwatch.get_metric_data": values(recover_Invocations=0, recover_Duration=0)}, "not answered", {}),
    ("cold_starts", {"logs.filter_log_events": events_of(
        "INIT_REPORT Init Duration: 9999.81 ms Phase: init Status: timeout")}, "failed", {"slowest_ms": 9999.81}),
    ("logs_end", {"logs.describe_log_groups": logs_kept(7)}, "failed", {"missing": 0, "wrong": 12}),
    ("logs_end", {"logs.describe_log_groups": {"logGroups": [
        {"logGroupName": "/aws/lambda/acta-prod-ann-step", "retentionInDays": 7}]}}, "failed", {"missing": 12}),
    ("definition", {"stepfunctions.validate_state_machine_definition": {"result": "FAIL", "diagnostics": [
        {"severity": "ERROR", "code": "INVALID_JSONATA_EXPRESSION", "message": "no"}]}}, "failed",
     {"first": "INVALID_JSONATA_EXPRESSION"}),
    ("policies_valid", {"accessanalyzer.validate_policy": {"findings": [
        {"findingType": "ERROR", "issueCode": "INVALID_ACTION", "findingDetails": "no", "learnMoreLink": "l",
         "locations": []}]}}, "failed", {"first": "INVALID_ACTION"}),
    ("tenants_apart", {"iam.simulate_custom_policy": lambda asked: {"EvaluationResults": [
        {"EvalActionName": asked["ActionNames"][0], "EvalResourceName": "*", "EvalDecision": "allowed"}]}}, "failed",
     {"action": "dynamodb.GetItem", "wanted": "implicitDeny", "decision": "allowed"}),
    ("tenants_apart", {"iam.simulate_custom_policy": refused("AccessDenied", 403)}, "not answered",
     {"call": "simulate_custom_policy", "code": "AccessDenied"}),
    ("restorable", {"dynamodb.describe_continuous_backups": {"ContinuousBackupsDescription": {
        "ContinuousBackupsStatus": "ENABLED",
        "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "DISABLED"}}}}, "failed", {}),
    ("access_log", {"logs.filter_log_events": {"events": []}}, "failed", {}),
    ("access_log", {"logs.filter_log_events": refused("ResourceNotFoundException")}, "not answered",
     {"code": "ResourceNotFoundException"}),
    ("packed_policies", {"logs.filter_log_events": events_of(PACKED % 64, PACKED % 101)}, "failed",
     {"most_percent": 101.0, "least_percent": 64.0}),
    ("packed_policies", {"logs.filter_log_events": events_of()}, "not answered", {}),
    ("rounds", {"cloudwatch.get_metric_data": values(due=35, woken=3, events=35, housekeeping=35, timed=35)}, "failed",
     {"woken": 3.0}),
    ("dashboard", {"cloudwatch.get_metric_data": {"MetricDataResults": [], "Messages": [
        {"Code": "InvalidExpression", "Value": "no"}]}}, "failed", {"code": "InvalidExpression"}),
    ("dashboard", {"cloudwatch.get_metric_data": {"MetricDataResults": []}}, "not answered", {}),
    ("alarms", {"cloudwatch.describe_alarms": {"MetricAlarms": [alarm("Api5xx", "ALARM")]}}, "failed",
     {"first": "Api5xx"}),
    ("alarms", {"cloudwatch.describe_alarms": {"MetricAlarms": [alarm("ann-Api5xx", "ALARM")]}}, "not answered", {}),
    ("first_hour", {"cloudwatch.describe_alarm_history": history(
        CREATED, ("StateUpdate", "Alarm updated from INSUFFICIENT_DATA to ALARM", timedelta(minutes=16)))}, "failed",
     {}),
    ("first_hour", {"cloudwatch.describe_alarm_history": history()}, "not answered", {}),
    ("cold_starts", {"logs.filter_log_events": events_of(REPORT.format(10_400.5))}, "failed",
     {"slowest_ms": 10_400.5, "step_mb": 97.0}),
    ("cold_starts", {"logs.filter_log_events": events_of()}, "not answered", {}),
    ("hour", {"cloudwatch.get_metric_data": values(recover_Duration=3_600_000.0)}, "failed", {}),
    ("hour", {"cloudwatch.get_metric_data": {"MetricDataResults": []}}, "not answered", {}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "answers", "state", "figures"), WRONG, ids=[f"{name} {state}" for name, _, state, _ in WRONG]
)
def test_its_own_mistake_shows(
    name: str, answers: Answers, state: str, figures: dict[str, float | str]
) -> None:
    found = asked(name, {**good(), **answers})
    assert (found.state, found.figures.items() >= figures.items()) == (state, True), found
    assert found.said


def test_an_alarm_that_rings_later_than_in_its_first_hour_is_no_false_one() -> None:
    late = ("StateUpdate", "Alarm updated from OK to ALARM", timedelta(hours=5))
    answers = {**good(), "cloudwatch.describe_alarm_history": history(CREATED, late)}
    assert asked("first_hour", answers).state == "passed"


def test_the_creation_of_an_alarm_is_also_known_by_its_data() -> None:
    (created,) = history(("ConfigurationUpdate", "Alarm x", timedelta()))["AlarmHistoryItems"]
    (rang,) = history(("StateUpdate", "Alarm updated from OK to ALARM", timedelta(minutes=20)))[
        "AlarmHistoryItems"
    ]
    items = [{**created, "HistoryData": '{"type": "Create", "createdAlarm": {}}'}, rang]
    answers = {**good(), "cloudwatch.describe_alarm_history": {"AlarmHistoryItems": items}}
    assert asked("first_hour", answers).state == "failed"


@pytest.mark.parametrize("name", ["tools_apart", "spans"])
def test_what_an_environment_does_not_have_is_not_answered(name: str) -> None:
    assert asked(name, good()).state == "not answered"


def test_what_goes_wrong_in_a_check_ends_that_check_alone() -> None:
    found = asked("definition", {**good(), "stepfunctions.describe_state_machine": KeyError(ACCOUNT)})
    assert (found.state, dict(found.figures)) == ("not answered", {"error": "KeyError"})


@pytest.mark.parametrize(("status", "state"), [("On", "passed"), ("Off", "failed"), (None, "failed")])
def test_functions_that_people_wait_for_have_the_snapshots_that_the_environment_asks_for(
    status: str | None, state: str
) -> None:
    def configuration(asked: Any) -> dict[str, Any]:
        by_event = asked["FunctionName"].rpartition("-")[2] in CALLED_BY_EVENTS
        snaps = {"SnapStart": {"ApplyOn": "PublishedVersions", "OptimizationStatus": status}}
        return {**configured(asked), **(snaps if status and not by_event else {})}

    found = asked(
        "functions_ready", {**good(), "lambda.get_function_configuration": configuration}, snap_start=True
    )
    assert found.state == state
