"""`acta deploy` tells all at once what would stop a deployment, with what solves it, before anything is changed."""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from fnmatch import fnmatch
from typing import Any

import pytest
from botocore.exceptions import ClientError

from acta.cli.exit_codes import CliError
from acta.cli.operations.deploy import require_ready
from acta.cli.operations.target import OperatorTarget
from acta.infra.deployed.account import CallerIdentity
from acta.infra.deployed.permissions import AccountRegion, deployer_policy
from acta.infra.deployed.preflight import OLDEST, STUCK, DeploymentProblem, Preflight
from acta.infra.environments import DEV, LOCAL, PROD, STAGING, Environment
from acta.infra.options import QueueMessages
from acta.infra.packaging.bundle import ROOT
from acta.infra.posture import settled
from tests.infra.conftest import Synthesised, listed
from tests.infra.test_hardening import EVERYTHING
from tests.infra.test_options import EDGE, KEY_ARN, NETWORK, ORIGIN

HERE = CallerIdentity("123456789012", "eu-west-1", "arn")
ALL = settled(replace(EVERYTHING, bedrock=True, python=(3, 99)))
ENDPOINT = {
    "Type": "AWS::EC2::VPCEndpoint",
    "Properties": {
        "PrivateDnsEnabled": True,
        "ServiceName": {"Fn::Join": ["", ["com.amazonaws.", {"Ref": "AWS::Region"}, ".sts"]]},
    },
}
SECRET = {"Type": "AWS::SecretsManager::Secret", "Properties": {"Name": "acta/prod/anthropic"}}
ADDED: Mapping[str, Mapping[str, Any]] = {
    "Acta-prod-Stateful": {"Key": SECRET},
    "Acta-prod-Stateless": {"Sts": ENDPOINT, "Seeds": {"Type": "Custom::ActaPrompts"}},
    "Acta-prod-Edge": {"Acl": {"Type": "AWS::WAFv2::WebACL"}},
}


def refused(code: str, message: str = "no") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, "Operation")


def secret(SecretId: str, **_: Any) -> Any:  # noqa: N803
    """Only what CloudFront adds to requests is there."""
    if SecretId.endswith("/origin"):
        return {"Name": SecretId}
    raise refused("ResourceNotFoundException")


QUEUE_URL = "https://sqs.eu-west-1.amazonaws.com/123456789012/jobs"
QUEUE = {"VisibilityTimeout": "174", "RedrivePolicy": "{}", "KmsMasterKeyId": KEY_ARN}
FINE: Mapping[str, Any] = {
    "get_parameter": {"Parameter": {"Value": str(OLDEST)}},
    "describe_stacks": refused("ValidationError", "Stack with id Acta-prod-Stateful does not exist"),
    "get_account_settings": {
        "AccountLimit": {"ConcurrentExecutions": 1_000, "UnreservedConcurrentExecutions": 1_000}
    },
    "get_function_concurrency": {},
    "validate_template": {"Parameters": []},
    "list_foundation_models": {"modelSummaries": [{"modelId": "anthropic.claude"}]},
    "describe_secret": secret,
    "describe_certificate": {"Certificate": {"Status": "ISSUED"}},
    "describe_vpc_endpoints": {"VpcEndpoints": []},
    "describe_event_bus": {"Name": "shop"},
    "get_queue_url": {"QueueUrl": QUEUE_URL},
    "get_queue_attributes": {"Attributes": QUEUE},
    "get_bucket_notification_configuration": {"EventBridgeConfiguration": {}},
    "get_bucket_location": {"LocationConstraint": "eu-west-1"},
}
"""Operation -> what AWS answers where all is well."""


class Aws:
    """Clients of an account in which all is well but for these operations, each an answer, an error or a function."""

    def __init__(self, **answers: Any) -> None:
        self.answers = {**FINE, **answers}
        self.asked: list[tuple[str, str, str, Mapping[str, Any]]] = []

    def __call__(self, region: str, service: str) -> Any:
        aws = self

        class Client:
            def __getattr__(self, operation: str) -> Callable[..., Any]:
                def call(**parameters: Any) -> Any:
                    aws.asked.append((region, service, operation, parameters))
                    answer = aws.answers[operation]
                    if isinstance(answer, Exception):
                        raise answer
                    return answer(**parameters) if callable(answer) else answer

                return call

        return Client()


def found(
    environment: Environment = ALL,
    added: Mapping[str, Any] = ADDED,
    place: CallerIdentity = HERE,
    **answers: Any,
) -> list[DeploymentProblem]:
    return list(Preflight(environment, place, added, Aws(**answers)).problems())


def stopping(*given: Any, **answers: Any) -> list[DeploymentProblem]:
    return [each for each in found(*given, **answers) if each.stops]


def test_where_all_is_well_nothing_stops_and_only_the_other_python_is_told() -> None:
    (told,) = found()
    assert not told.stops
    assert "Deploy with Python 3.99" in told.words
    assert found(replace(ALL, python=sys.version_info[:2], snap_start=False)) == []


def describing(**stack: Any) -> Callable[..., Any]:
    def describe(StackName: str) -> Any:  # noqa: N803
        if StackName.endswith("Stateless"):
            return {"Stacks": [stack]}
        raise FINE["describe_stacks"]

    return describe


ENDPOINT_THERE = {
    "VpcEndpoints": [
        {"VpcEndpointId": "vpce-1", "ServiceName": "com.amazonaws.eu-west-1.sts", "PrivateDnsEnabled": True}
    ]
}
PROBLEMS: Mapping[str, tuple[Mapping[str, Any], str, str]] = {
    "no bootstrap": (
        {"get_parameter": refused("ParameterNotFound")},
        "region eu-west-1 is not prepared",
        "acta bootstrap --env prod",
    ),
    "an old bootstrap": (
        {"get_parameter": {"Parameter": {"Value": str(OLDEST - 1)}}},
        f"region us-east-1 is prepared as of version {OLDEST - 1}, not {OLDEST}",
        "acta bootstrap --env prod",
    ),
    "a stack that is being changed": (
        {"describe_stacks": describing(StackStatus="UPDATE_IN_PROGRESS")},
        "Acta-prod-Stateless is being changed just now (UPDATE_IN_PROGRESS)",
        "aws cloudformation describe-stacks --region eu-west-1 --stack-name Acta-prod-Stateless",
    ),
    **{
        f"a stack in {state}": (
            {"describe_stacks": describing(StackStatus=state)},
            f"Acta-prod-Stateless is in {state}",
            command.format(region="eu-west-1", stack="Acta-prod-Stateless", environment="prod"),
        )
        for state, command in STUCK.items()
    },
    "a new account": (
        {
            "get_account_settings": {
                "AccountLimit": {"ConcurrentExecutions": 10, "UnreservedConcurrentExecutions": 10}
            }
        },
        "can reserve 0",
        "aws service-quotas request-service-quota-increase --region eu-west-1",
    ),
    "a type that the region lacks": (
        {
            "validate_template": refused(
                "ValidationError", "Template format error: Unrecognized resource types: [AWS::A::B]"
            )
        },
        "CloudFormation knows no AWS::A::B in eu-west-1: leave out the option",
        "",
    ),
    "a secret that exists": (
        {"describe_secret": {"Name": "acta/prod/anthropic"}},
        "would create secrets that exist already (acta/prod/anthropic)",
        "aws secretsmanager delete-secret --region eu-west-1 --secret-id acta/prod/anthropic --force-delete-without",
    ),
    "a certificate that waits": (
        {"describe_certificate": {"Certificate": {"Status": "PENDING_VALIDATION"}}},
        f"The certificate of {ORIGIN.name} ({ORIGIN.certificate_arn}) is PENDING_VALIDATION",
        f"aws acm describe-certificate --region us-east-1 --certificate-arn {EDGE.domain.certificate_arn}",
    ),
    "a certificate that is not there": (
        {"describe_certificate": refused("ResourceNotFoundException")},
        "is not there",
        "aws acm describe-certificate",
    ),
    "no secret of the edge": (
        {"describe_secret": refused("ResourceNotFoundException")},
        "The secret acta/prod/origin, which CloudFront adds to requests, does not exist in us-east-1",
        'aws secretsmanager create-secret --region us-east-1 --name acta/prod/origin --secret-string "$SECRET"',
    ),
    "an endpoint with a private name": (
        {"describe_vpc_endpoints": ENDPOINT_THERE},
        f"{NETWORK.vpc_id} already has the endpoint vpce-1 of com.amazonaws.eu-west-1.sts with a private name",
        "",
    ),
    "no bus": (
        {"describe_event_bus": refused("ResourceNotFoundException")},
        "The event source orders takes events of the bus shop, which does not exist in eu-west-1",
        "aws events create-event-bus --region eu-west-1 --name shop",
    ),
    "no queue": (
        {"get_queue_url": refused("AWS.SimpleQueueService.NonExistentQueue")},
        "The event source jobs reads the queue jobs, which does not exist in eu-west-1",
        "aws sqs create-queue --region eu-west-1 --queue-name jobs",
    ),
    "a queue that shows messages again too early": (
        {"get_queue_attributes": {"Attributes": {**QUEUE, "VisibilityTimeout": "28"}}},
        "The visibility timeout of jobs is 28 seconds. Lambda needs 29 at least and advises 174",
        f"aws sqs set-queue-attributes --region eu-west-1 --queue-url {QUEUE_URL} --attributes VisibilityTimeout=174",
    ),
    "no bucket": (
        {"get_bucket_notification_configuration": refused("NoSuchBucket")},
        "The event source scans is for objects of the bucket our-scans, which does not exist",
        "",
    ),
    "a bucket elsewhere": (
        {"get_bucket_location": {"LocationConstraint": None}},
        "The bucket our-scans of the event source scans is in us-east-1, and its events stay there",
        "",
    ),
}
"""What is wrong -> what AWS answers then, words of what is told, and the beginning of a command that solves it."""


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_would_stop_a_deployment_is_told_with_what_solves_it(name: str) -> None:
    answers, words, command = PROBLEMS[name]
    told = stopping(**answers)
    assert any(words in each.words for each in told), told
    commands = [one for each in told for one in each.commands]
    assert any(one.startswith(command) for one in commands) or not command


def test_all_of_it_is_told_at_once_and_nothing_is_deployed(capsys: pytest.CaptureFixture[str]) -> None:
    answers: dict[str, Any] = {}
    for given, _, _ in PROBLEMS.values():
        answers |= given
    answers["describe_secret"] = {"Name": "there"}
    chosen = OperatorTarget(ALL, HERE)
    with pytest.raises(CliError, match=r"^13 problems .* nothing was deployed"):
        require_ready(chosen, ADDED, Aws(**answers))
    told = capsys.readouterr()
    assert [line.split()[0] for line in told.out.splitlines() if not line.startswith(" ")] == [
        f"{n}." for n in range(1, 14)
    ]
    assert "Deploy with Python 3.99" in told.err


def test_what_the_caller_may_not_read_is_told_and_stops_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    denied = Aws(**dict.fromkeys(FINE, refused("AccessDeniedException")))
    require_ready(OperatorTarget(ALL, HERE), ADDED, denied)
    told = capsys.readouterr()
    assert told.out == ""
    lines = [line for line in told.err.splitlines() if "was not checked" in line]
    assert len(lines) == 10
    assert all("AccessDenied" in line for line in lines)


def test_whoever_deploys_may_read_all_that_is_looked_at() -> None:
    aws = Aws()
    list(Preflight(ALL, HERE, ADDED, aws).problems())
    assert {operation for _, _, operation, _ in aws.asked} == FINE.keys()
    granted = deployer_policy(ALL, AccountRegion(HERE.account, HERE.region))["Statement"]
    for region, service, operation, parameters in aws.asked:
        action = f"{service}:{''.join(word.capitalize() for word in operation.split('_'))}"
        resource = {
            "ssm": f"parameter{parameters.get('Name')}",
            "cloudformation": f"stack/{parameters.get('StackName')}/1",
            "lambda": f"function:{parameters.get('FunctionName')}",
            "secretsmanager": f"secret:{parameters.get('SecretId')}-a1b2c3",
            "sqs": "jobs",
            "events": f"event-bus/{parameters.get('Name')}",
        }.get(service, "")
        action = action.replace(
            "NotificationConfiguration", "Notification"
        )  # S3's actions have names of their own
        bucket = f"arn:aws:s3:::{parameters['Bucket']}" if service == "s3" else None
        arn = (
            parameters.get("CertificateArn")
            or bucket
            or f"arn:aws:{service}:{region}:{HERE.account}:{resource}"
        )
        assert any(
            action in listed(each["Action"]) and any(fnmatch(arn, one) for one in listed(each["Resource"]))
            for each in granted
        ), f"{action} on {arn}"


def test_an_environment_without_options_is_asked_about_nothing_else() -> None:
    aws = Aws()
    assert not [each for each in Preflight(DEV, HERE, {}, aws).problems() if each.stops]
    assert {service for _, service, _, _ in aws.asked} == {"ssm", "cloudformation", "lambda"}
    assert {region for region, *_ in aws.asked} == {"eu-west-1"}


HALF_WORKING: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "a queue with a short visibility timeout": (
        {"get_queue_attributes": {"Attributes": {**QUEUE, "VisibilityTimeout": "30"}}},
        "The visibility timeout of jobs is 30 seconds",
    ),
    "a queue without a dead-letter queue": (
        {"get_queue_attributes": {"Attributes": {"VisibilityTimeout": "174"}}},
        "The queue jobs has no dead-letter queue",
    ),
    "a bucket that tells nobody": (
        {"get_bucket_notification_configuration": {"QueueConfigurations": [{"QueueArn": "arn:theirs"}]}},
        "The bucket our-scans does not send its events to EventBridge",
    ),
}


@pytest.mark.parametrize("name", HALF_WORKING)
def test_event_sources_that_would_lose_or_repeat_events_are_told_and_stop_nothing(name: str) -> None:
    answers, words = HALF_WORKING[name]
    told = [each for each in found(**answers) if words in each.words]
    assert [each.stops for each in told] == [False]
    commands = [one for each in told for one in each.commands]
    assert all("arn:theirs" in one for one in commands if "notification" in one), "what is there stays"


def test_a_queue_with_a_key_of_the_account_needs_that_key_in_its_source() -> None:
    without = replace(ALL, event_sources={"jobs": QueueMessages("jobs", tenants=("acme",))})
    assert any(f"encrypted with the key {KEY_ARN}" in each.words for each in stopping(without))
    for key in ("alias/aws/sqs", ""):
        assert stopping(without, get_queue_attributes={"Attributes": {**QUEUE, "KmsMasterKeyId": key}}) == []


def test_a_region_is_asked_about_the_types_of_its_own_stacks() -> None:
    aws = Aws()
    list(Preflight(ALL, HERE, ADDED, aws).problems())
    templates = {
        region: json.loads(parameters["TemplateBody"])
        for region, _, operation, parameters in aws.asked
        if operation == "validate_template"
    }
    kinds = {
        region: {each["Type"] for each in one["Resources"].values()} for region, one in templates.items()
    }
    assert kinds == {
        "eu-west-1": {"AWS::EC2::VPCEndpoint", "AWS::SecretsManager::Secret"},
        "us-east-1": {"AWS::WAFv2::WebACL"},
    }


@pytest.mark.parametrize(
    ("environment", "region", "words"),
    [
        (replace(STAGING, snap_start=True), "ap-southeast-6", "no SnapStart in ap-southeast-6"),
        (replace(STAGING, bedrock=True), "eu-west-1", "no model of Anthropic in eu-west-1"),
        (DEV, "eu-west-1", "only 99 Lambdas at once in eu-west-1"),
    ],
)
def test_what_does_less_than_it_says_is_told_and_stops_nothing(
    environment: Environment, region: str, words: str
) -> None:
    few = {"AccountLimit": {"ConcurrentExecutions": 99, "UnreservedConcurrentExecutions": 99}}
    answers = {"list_foundation_models": {"modelSummaries": []}, "get_account_settings": few}
    told = found(replace(environment, reserved_concurrency={}), {}, HERE._replace(region=region), **answers)
    assert [each.stops for each in told if words in each.words] == [False]


def test_tools_of_tenants_need_a_region_that_keeps_their_processes_apart() -> None:
    """The environment is pinned to no region: the caller's counts."""
    tools = replace(PROD, tools_dir=str(ROOT / "examples" / "tools"))
    assert tools.region is None
    there = HERE._replace(region="ap-southeast-6")
    assert ["no tenant isolation in ap-southeast-6" in each.words for each in stopping(tools, {}, there)] == [
        True
    ]
    assert stopping(tools, {}) == []


def test_the_local_aws_needs_no_python_of_its_own() -> None:
    assert found(replace(LOCAL, python=(3, 99)), {}) == []


def test_an_environment_may_have_a_bootstrap_of_its_own() -> None:
    aws = Aws()
    list(Preflight(replace(ALL, bootstrap_qualifier="ours"), HERE, {}, aws).problems())
    asked = {
        (region, given["Name"]) for region, _, operation, given in aws.asked if operation == "get_parameter"
    }
    assert asked == {(region, "/cdk-bootstrap/ours/version") for region in ("eu-west-1", "us-east-1")}
    with pytest.raises(ValueError, match="bootstrap_qualifier"):
        replace(DEV, bootstrap_qualifier="Ours!")


def test_the_templates_ask_for_that_version(each: Synthesised) -> None:
    (rule,) = (json.dumps(each.stateless.body["Rules"][name]) for name in ("CheckBootstrapVersion",))
    assert f'"{OLDEST - 1}"' in rule
    assert f'"{OLDEST}"' not in rule
