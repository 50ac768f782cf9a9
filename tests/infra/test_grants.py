"""What each function may do, written down a second time: a grant added by accident fails here."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from acta.engine.models.providers import WITH_KEY
from acta.engine.recovery.store import ROUNDS
from tests.infra.conftest import Synthesised, listed

READ = {"dynamodb:GetItem", "dynamodb:Query"}
COMMIT = READ | {"dynamodb:PutItem"}
REMEMBER = COMMIT | {"dynamodb:DeleteItem"}
COUNT = {"dynamodb:UpdateItem"}
GET = {"s3:GetObject"}
PUT = GET | {"s3:PutObject"}
EDIT = PUT | {"s3:DeleteObject"}
ERASE = EDIT | {"s3:DeleteObjectVersion"}
START = {"states:StartExecution", "states:SendTaskSuccess"}
LOOK_UP = {"states:DescribeExecution"}
READ_KEY = {"secretsmanager:GetSecretValue"}
KEYS = tuple(f"{provider.name.capitalize()}Key" for provider in WITH_KEY)
"""The secrets of the model providers."""
SET_SECRETS = {
    "secretsmanager:CreateSecret",
    "secretsmanager:DeleteSecret",
    "secretsmanager:PutSecretValue",
}
"""Neither reads one, nor lists them, nor says who else may."""
TOOL_SECRETS = "arn:aws:secretsmanager:region:account:secret:acta/prod/tools/*"
RECEIVER_SECRETS = "arn:aws:secretsmanager:region:account:secret:acta/prod/notify/*"
OF_RECORDS = 'Audit.Arn if {"Null": {"dynamodb:LeadingKeys": "false"}}'
NEVER_OF_RECORDS = {
    "Audit.Arn never": {
        "dynamodb:UpdateItem",
        "dynamodb:DeleteItem",
        "dynamodb:BatchWriteItem",
        "dynamodb:PartiQLInsert",
        "dynamodb:PartiQLUpdate",
        "dynamodb:PartiQLDelete",
    },
}
RECORDED = {OF_RECORDS: {"dynamodb:PutItem"}, **NEVER_OF_RECORDS}
"""Of a function that does what the audit trail has. Whose records is what the session policy says."""
READ_RECORDS = {OF_RECORDS: {"dynamodb:PutItem", "dynamodb:Query"}, **NEVER_OF_RECORDS}
PSEUDONYMS = {"AuditKey": READ_KEY}
URL_KEY = {"UrlKey": READ_KEY}

TABLE = "Table.Arn"
FILES = "Files.Arn/files/*"
LIST_FILES = 'Files.Arn if {"StringLike": {"s3:prefix": "files/*"}}'
WITH_KEYS = 'Table.Arn if {"Null": {"dynamodb:LeadingKeys": "false"}}'
"""Which keys is what the session policy says."""
GET_SEVERAL = {"dynamodb:BatchGetItem"}
OPEN_OF_A_TENANT = {f"{WITH_KEYS.replace('Arn', 'Arn/index/open', 1)}": {"dynamodb:Query"}}
"""By the keys of the index, which the session policy narrows to the tenant's."""

TAKE_OF_THE_RATE = {
    'Table.Arn if {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["T#*#=Q"]}, '
    '"Null": {"dynamodb:LeadingKeys": "false"}}': {"dynamodb:UpdateItem"}
}
"""The shares of a tenant's rate. All that `status` may write, besides records of reads."""
OF_USAGE = (
    'Table.Arn if {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["T#*#=U"]}, '
    '"Null": {"dynamodb:LeadingKeys": "false"}}'
)
"""All that `usage` may write."""
OF_NO_TENANT = (
    'Table.Arn if {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["D"]}, '
    '"Null": {"dynamodb:LeadingKeys": "false"}}'
)
"""The table's items of the deployment. A request that names no key, such as a scan, has no leading keys at all."""
MACHINE = "arn:aws:states:region:account:stateMachine:acta-prod"
EXECUTIONS = "arn:aws:states:region:account:execution:acta-prod:*"
LIST = {"s3:ListBucket"}
LIST_VERSIONS = {"s3:ListBucketVersions"}


def on_sessions(actions: set[str]) -> dict[str, set[str]]:
    """On the objects, and on their bucket, where only what is under the prefix may be listed."""
    may_list = LIST | LIST_VERSIONS if actions >= ERASE else LIST
    return {
        "Texts.Arn/sessions/*": actions,
        'Texts.Arn if {"StringLike": {"s3:prefix": "sessions/*"}}': may_list,
    }


Granted = Mapping[str, set[str]]
OWN: Mapping[str, Granted] = {
    "start": {MACHINE: START, EXECUTIONS: LOOK_UP | {"states:StopExecution"}, **PSEUDONYMS},
    "status": {OF_NO_TENANT: {"dynamodb:GetItem"}, **PSEUDONYMS},
    "step": {
        OF_NO_TENANT: {"dynamodb:GetItem"},
        MACHINE: START,
        EXECUTIONS: LOOK_UP | {"states:StopExecution"},
        **PSEUDONYMS,
        **dict.fromkeys(KEYS, READ_KEY),
    },
    "tool": {
        MACHINE: {"states:StartExecution"},
        EXECUTIONS: LOOK_UP,
        "arn:aws:lambda:region:account:function:acta-prod-tool-*": {"lambda:InvokeFunction"},
        **URL_KEY,
    },
    "intervene": {MACHINE: START, EXECUTIONS: LOOK_UP | {"states:StopExecution"}, **PSEUDONYMS},
    "admin": {
        OF_NO_TENANT: {"dynamodb:GetItem", "dynamodb:PutItem"},
        **PSEUDONYMS,
        **URL_KEY,
        "arn:aws:lambda:region:account:function:acta-prod-tool:live": {"lambda:InvokeFunction"},
    },
    "usage": PSEUDONYMS,
    "recover": {
        MACHINE: START | {"states:ListExecutions"},
        EXECUTIONS: LOOK_UP | {"states:StopExecution"},
        "arn:aws:lambda:region:account:function:acta-prod-recover:live": {"lambda:InvokeFunction"},
    },
    "mcp": {
        OF_NO_TENANT: {"dynamodb:GetItem"},
        MACHINE: START,
        EXECUTIONS: LOOK_UP | {"states:StopExecution"},
        **PSEUDONYMS,
    },
    "wake": {MACHINE: START, EXECUTIONS: LOOK_UP | {"states:StopExecution"}, **URL_KEY},
    "console": {},
    "fallback": {},
}
"""Function -> what it may act on whoever it works for -> its actions there, besides `common()`. For `notify`:
test_notifications.py.
"""
DATA: Mapping[str, Granted] = {
    "start": {WITH_KEYS: COMMIT | COUNT, **TAKE_OF_THE_RATE, **on_sessions(PUT), **RECORDED},
    "status": {
        WITH_KEYS: READ | GET_SEVERAL,
        **OPEN_OF_A_TENANT,
        **TAKE_OF_THE_RATE,
        **on_sessions(GET),
        **RECORDED,
    },
    "step": {
        **RECORDED,
        WITH_KEYS: REMEMBER | COUNT,
        **TAKE_OF_THE_RATE,
        **on_sessions(PUT),
        FILES: PUT,
        LIST_FILES: LIST,
    },
    "tool": {
        WITH_KEYS: REMEMBER | COUNT,
        **on_sessions(PUT),
        FILES: EDIT,
        LIST_FILES: LIST,
        TOOL_SECRETS: READ_KEY,
    },
    "intervene": {
        WITH_KEYS: COMMIT | COUNT | {"dynamodb:BatchWriteItem"},
        **TAKE_OF_THE_RATE,
        **on_sessions(ERASE),
        **RECORDED,
    },
    "admin": {
        WITH_KEYS: REMEMBER,
        **TAKE_OF_THE_RATE,
        FILES: EDIT | {"s3:GetObjectVersion"},
        LIST_FILES: LIST | LIST_VERSIONS,
        TOOL_SECRETS: SET_SECRETS,
        RECEIVER_SECRETS: SET_SECRETS,
        **READ_RECORDS,
    },
    "mcp": {
        WITH_KEYS: COMMIT | COUNT | GET_SEVERAL,
        **OPEN_OF_A_TENANT,
        **TAKE_OF_THE_RATE,
        **on_sessions(PUT),
        **RECORDED,
    },
    "wake": {
        WITH_KEYS: COMMIT | COUNT,
        **on_sessions(PUT),
        FILES: PUT,
        LIST_FILES: LIST,
        TOOL_SECRETS: READ_KEY,
    },
    "usage": {
        TABLE: {"dynamodb:BatchGetItem", "dynamodb:GetItem"},
        OF_USAGE: COUNT | {"dynamodb:PutItem", "dynamodb:DeleteItem"},
        "Table.StreamArn": {
            f"dynamodb:{name}" for name in ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")
        },
    },
    "recover": {
        TABLE: COMMIT | COUNT | {"dynamodb:BatchWriteItem", "dynamodb:DeleteItem", "dynamodb:Scan"},
        f"{TABLE}/index/live": {"dynamodb:Query"},
        FILES: PUT,
        LIST_FILES: LIST,
        **on_sessions(ERASE),
    },
    "console": {},
    "fallback": {},
}
"""Function -> tenants' items and objects -> its actions there. All but `recover` and `usage` have them one tenant at
a time."""
ONE_ROLE = ("usage", "recover", "console", "fallback")
BY_TENANT = tuple(name for name in DATA if name not in ONE_ROLE)


MEASURE = {"cloudwatch:GetMetricData", "lambda:GetAccountSettings"}
LOOK = {"cloudwatch:DescribeAlarms"}
"""Of CodeDeploy during a roll-out, on all alarms as in AWS's own policy for it."""
"""Only recovery may. They have no ARN."""


def common(function: str) -> dict[str, set[str]]:
    """What every function may: write its own log, and traces, which have no ARN."""
    return {
        f"{function.capitalize()}Logs.Arn": {"logs:CreateLogStream", "logs:PutLogEvents"},
        "*": {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}
        | (MEASURE if function == "recover" else set()),
    }


def actions(statement: Any) -> set[str]:
    return set(listed(statement["Action"]))


def resources(statement: Any) -> list[str]:
    return [json.dumps(each) for each in listed(statement["Resource"])]


@pytest.mark.parametrize("function", BY_TENANT)
def test_a_functions_own_role_reaches_no_tenants_data(function: str, prod: Synthesised) -> None:
    name = function.capitalize()
    its_other_role = {f"{name}TenantRole.Arn": {"sts:AssumeRole"}}
    granted = prod.stateless.granted(f"{name}BaseRole") | prod.stateless.granted(f"{name}Assume")
    assert granted == {**OWN[function], **common(function), **its_other_role}
    assert own_role(prod, function).startswith(f"{name}BaseRole")


@pytest.mark.parametrize("function", BY_TENANT)
def test_its_second_role_has_tenants_data_alone_and_only_the_function_may_assume_it(
    function: str, prod: Synthesised
) -> None:
    name = function.capitalize()
    assert prod.stateless.granted(f"{name}TenantRole") == DATA[function]
    (role,) = prod.stateless.resources_named(f"{name}TenantRole", "AWS::IAM::Role")
    properties = prod.stateless.resources("AWS::IAM::Role")[role]["Properties"]
    (trust,) = properties["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"AWS": {"Fn::GetAtt": [own_role(prod, function), "Arn"]}}
    assert (trust["Effect"], trust["Action"]) == ("Allow", "sts:AssumeRole")
    assert "Condition" not in trust


@pytest.mark.parametrize("function", ONE_ROLE)
def test_who_works_for_no_tenant_has_one_role(function: str, prod: Synthesised) -> None:
    granted = prod.stateless.granted(function.capitalize())
    assert granted == {**OWN[function], **DATA[function], **common(function)}


@pytest.mark.parametrize("function", BY_TENANT)
def test_a_function_knows_its_second_role_and_is_not_made_before_it_may_assume_it(
    function: str, each: Synthesised
) -> None:
    made = function_resource(each, function)
    (tenant_role,) = each.stateless.resources_named(f"{function.capitalize()}TenantRole", "AWS::IAM::Role")
    (policy,) = each.stateless.resources_named(f"{function.capitalize()}AssumeTenantRole", "AWS::IAM::Policy")
    variables = made["Properties"]["Environment"]["Variables"]
    assert variables["ACTA_TENANT_ROLE"] == {"Fn::GetAtt": [tenant_role, "Arn"]}
    assert variables["AWS_STS_REGIONAL_ENDPOINTS"] == "regional"
    assert policy in made["DependsOn"]


def own_role(each: Synthesised, function: str) -> str:
    """The logical id of the role that the function runs with."""
    role: str = function_resource(each, function)["Properties"]["Role"]["Fn::GetAtt"][0]
    return role


def function_resource(each: Synthesised, function: str) -> Mapping[str, Any]:
    (name,) = each.stateless.resources_named(f"{function.capitalize()}Function", "AWS::Lambda::Function")
    return each.stateless.resources("AWS::Lambda::Function")[name]


def test_a_role_has_no_managed_policy(each: Synthesised) -> None:
    roles = each.stateless.resources("AWS::IAM::Role")
    assert all("ManagedPolicyArns" not in role["Properties"] for role in roles.values())


def test_a_wildcard_stands_only_where_nothing_narrower_exists(each: Synthesised) -> None:
    for role in each.stateless.resources("AWS::IAM::Role"):
        for statement in each.stateless.statements(role):
            assert all("*" not in action for action in actions(statement))
            for resource in resources(statement):
                if resource == '"*"':
                    without_resources = {"xray:", "logs:"}
                    assert all(
                        action.startswith(tuple(without_resources))
                        for action in actions(statement) - MEASURE - LOOK
                    )
                elif "*" in resource:
                    # objects under a prefix, executions of one machine, streams of one log group, tenants' tools
                    tools = f":function:acta-{each.environment.name}-tool-*"
                    secrets = f":secret:acta/{each.environment.name}/tools/*"
                    signing = f":secret:acta/{each.environment.name}/notify/*"
                    ends = ("/files/*", "/sessions/*", ":execution:acta-", tools, secrets, signing)
                    assert any(end in resource for end in ends), resource


@pytest.mark.parametrize("function", DATA)
def test_files_and_sessions_are_apart(function: str, each: Synthesised) -> None:
    """Only `tool`, `step`, `wake` and `recover` work with both; `admin` serves files; all others know sessions only."""
    things = each.stateless.granted(function.capitalize())
    prefixes = {prefix for prefix in ("files", "sessions") if any(f"{prefix}/*" in thing for thing in things)}
    both = {"files", "sessions"}
    others = {
        "tool": both,
        "step": both,
        "wake": both,
        "recover": both,
        "admin": {"files"},
        "usage": set(),
        "console": set(),
        "fallback": set(),
    }
    assert prefixes == others.get(function, {"sessions"})


@pytest.mark.parametrize("function", DATA)
def test_who_reads_objects_lists_those_under_the_same_prefix_and_no_others(
    function: str, each: Synthesised
) -> None:
    """Without the prefix `start` could list the names of every tenant's files; `StringLikeIfExists` would let it, in a
    request that names no prefix.
    """
    granted = each.stateless.granted(function.capitalize())
    read = {tuple(thing.split("/", 1)) for thing, allowed in granted.items() if allowed >= GET}
    listing = {thing for thing, allowed in granted.items() if allowed >= LIST}
    assert listing == {
        f'{bucket} if {{"StringLike": {{"s3:prefix": "{prefix}"}}}}' for bucket, prefix in read
    }


def test_only_step_reads_the_models_keys(prod: Synthesised) -> None:
    readers = {
        function
        for function in DATA
        for statement in prod.stateless.statements(function.capitalize())
        if "secretsmanager:GetSecretValue" in actions(statement)
        and any(each in key for each in KEYS for key in resources(statement))
    }
    assert readers == {"step"}


def test_tool_invokes_functions_that_are_tools_admin_invokes_tool_and_recover_itself_and_nobody_else_any(
    prod: Synthesised,
) -> None:
    invoked = {
        (function, resource.rpartition(":function:")[2].strip('"]}'))
        for function in DATA
        for statement in prod.stateless.statements(function.capitalize())
        if "lambda:InvokeFunction" in actions(statement)
        for resource in resources(statement)
    }
    assert invoked == {
        ("tool", "acta-prod-tool-*"),
        ("admin", "acta-prod-tool:live"),
        ("recover", "acta-prod-recover:live"),
    }


def test_the_state_machine_may_invoke_the_three_functions_it_names(prod: Synthesised) -> None:
    invoked = [
        json.loads(resource)
        for statement in prod.stateless.statements("Workflow")
        if actions(statement) == {"lambda:InvokeFunction"}
        for resource in resources(statement)
    ]
    aliases = [prod.stateless.aliases[each["Ref"]] for each in invoked]
    assert sorted(aliases) == ["intervene", "step", "tool"]


def test_only_this_account_s_gateway_rules_and_state_machine_reach_a_function(each: Synthesised) -> None:
    rules = {
        f'{{"Fn::GetAtt": ["{name}", "Arn"]}}'
        for name, rule in each.stateless.resources("AWS::Events::Rule").items()
        if "Ref" in rule["Properties"]["Targets"][0]["Arn"]  # the others put events into a queue
    }
    for permission in each.stateless.properties("AWS::Lambda::Permission"):
        if permission["Principal"] == "events.amazonaws.com":
            rules.remove(json.dumps(permission["SourceArn"]))
            assert each.stateless.aliases[permission["FunctionName"]["Ref"]] == "recover"
        else:
            assert permission["Principal"] == "apigateway.amazonaws.com"
            assert "execute-api" in json.dumps(permission["SourceArn"])
    assert rules == set()


def test_only_recover_reads_across_tenants_and_only_who_they_are(prod: Synthesised) -> None:
    indexes = {
        (function, *actions(statement), resource.rpartition("/index/")[2].strip('"]}'))
        for function in DATA
        for statement in prod.stateless.statements(function.capitalize())
        for resource in resources(statement)
        if "/index/" in resource
    }
    of_one_tenant = {(function, "dynamodb:Query", "open") for function in ("status", "mcp")}
    assert indexes == {("recover", "dynamodb:Query", "live")} | of_one_tenant


def rules_with(each: Synthesised, trigger: str) -> list[Mapping[str, Any]]:
    """Those that call a function."""
    found = each.stateless.properties("AWS::Events::Rule")
    return [rule for rule in found if trigger in rule and "Ref" in rule["Targets"][0]["Arn"]]


def test_every_minute_recovery_makes_each_of_its_rounds_in_an_invocation_of_its_own(
    each: Synthesised,
) -> None:
    """The rule for providers' lines: test_provider_limits.py."""
    sent: list[Any] = []
    for rule in rules_with(each, "ScheduleExpression"):
        assert (rule["ScheduleExpression"], rule["State"]) == ("rate(1 minute)", "ENABLED")
        (target,) = rule["Targets"]
        assert each.stateless.aliases[target["Arn"]["Ref"]] == "recover"
        assert target["RetryPolicy"] == {"MaximumRetryAttempts": 0}
        sent.append(json.loads(target["Input"]))
    assert [event for event in sent if event != {"admit": True}] == [{"round": round} for round in ROUNDS]


def test_recovery_is_told_of_executions_of_this_machine_that_end_before_their_run(each: Synthesised) -> None:
    (rule,) = rules_with(each, "EventPattern")
    (machine,) = each.stateless.resources("AWS::StepFunctions::StateMachine")
    assert rule["State"] == "ENABLED"
    assert rule["EventPattern"] == {
        "source": ["aws.states"],
        "detail-type": ["Step Functions Execution Status Change"],
        "detail": {"status": ["ABORTED", "FAILED", "TIMED_OUT"], "stateMachineArn": [{"Ref": machine}]},
    }
    (target,) = rule["Targets"]
    assert each.stateless.aliases[target["Arn"]["Ref"]] == "recover"


def test_an_event_is_kept_no_longer_than_the_scan_needs_to_find_its_session_and_none_is_repeated(
    each: Synthesised,
) -> None:
    ((target,),) = (rule["Targets"] for rule in rules_with(each, "EventPattern"))
    assert target["RetryPolicy"] == {"MaximumEventAgeInSeconds": 300}
    (queue,) = each.stateless.properties("AWS::Lambda::EventInvokeConfig")
    assert queue["FunctionName"]["Ref"].startswith("RecoverFunction")
    assert queue["Qualifier"] == "live"
    assert (queue["MaximumEventAgeInSeconds"], queue["MaximumRetryAttempts"]) == (300, 0)


@pytest.mark.parametrize("environment", ["staging", "prod"])
def test_cdk_nag_has_nothing_left_to_say(environment: str, synthesise: Callable[[str], Synthesised]) -> None:
    assert synthesise(environment).findings == ()
