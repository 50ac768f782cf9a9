"""What is behind the API, seen as an operator of the account sees it: the table, the bucket, executions, logs."""

import base64
import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

import boto3
import httpx
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials as Signing

from acta.engine.recovery.store import Round
from acta.infra.engine.workflow import definition
from acta.infra.environments import LOCAL
from acta.local_aws.credentials import Credentials
from tests.e2e.support.person import PATIENCE_SECONDS

VERSIONS = ("Versions", "DeleteMarkers")
FUNCTIONS = (
    "start",
    "status",
    "step",
    "tool",
    "intervene",
    "admin",
    "notify",
    "usage",
    "traces",
    "recover",
    "mcp",
    "wake",
    "console",
    "fallback",
)
LOOK_SECONDS = 0.1


class Behind:
    def __init__(self, endpoint_url: str, credentials: Credentials) -> None:
        self._endpoint_url = endpoint_url
        self._credentials = credentials
        self._clients: dict[str, Any] = {}

    def client(self, service: str) -> Any:
        if service not in self._clients:
            self._clients[service] = boto3.client(
                service,
                endpoint_url=self._endpoint_url,
                region_name="us-east-1",
                **self._credentials.as_arguments(),
                config=Config(retries={"total_max_attempts": 1}, read_timeout=120),
            )
        return self._clients[service]

    @property
    def keys(self) -> Any:
        """The operator's, as botocore has them."""
        return self.client("dynamodb")._get_credentials()

    @cached_property
    def settings(self) -> Mapping[str, str]:
        return dict(self._environment("start"))

    def _environment(self, function: str) -> Mapping[str, str]:
        found = self.client("lambda").get_function_configuration(FunctionName=f"acta-local-{function}")
        variables: Mapping[str, str] = found["Environment"]["Variables"]
        return variables

    def code_of(self, function: str) -> bytes:
        """Its zip. In AWS the address of a function's code is signed; the local AWS asks who wants it."""
        found = self.client("lambda").get_function(FunctionName=f"acta-local-{function}")
        request = AWSRequest("GET", found["Code"]["Location"])
        SigV4Auth(Signing(*self._credentials.as_arguments().values()), "lambda", "us-east-1").add_auth(
            request
        )
        answer = httpx.get(request.url, headers=dict(request.headers.items()), trust_env=False)
        return answer.raise_for_status().content

    @contextmanager
    def configured(self, *functions: str, **variables: str) -> Iterator[None]:
        """The functions with these variables as well, as an operator would set them; as before afterwards."""
        before = {name: self._environment(name) for name in functions}
        for name in functions:
            self._configure(name, {**before[name], **variables})
        try:
            yield
        finally:
            for name in functions:
                self._configure(name, before[name])

    @cached_property
    def _uploaded(self) -> Mapping[str, bytes]:
        """The zips that were uploaded for the deployment, by the hash that Lambda tells of a function's code."""
        s3, found = self.client("s3"), {}
        for bucket in (one["Name"] for one in s3.list_buckets()["Buckets"] if one["Name"].startswith("cdk-")):
            for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket):
                for one in page.get("Contents", ()):
                    data = s3.get_object(Bucket=bucket, Key=one["Key"])["Body"].read()
                    found[base64.b64encode(hashlib.sha256(data).digest()).decode()] = data
        return found

    def code(self, function: str) -> bytes:
        """The zip that runs."""
        found = self.client("lambda").get_function_configuration(FunctionName=f"acta-local-{function}")
        return self._uploaded[found["CodeSha256"]]

    @contextmanager
    def running(self, function: str, code: bytes) -> Iterator[None]:
        """The function with this zip; with its own afterwards."""
        name, own = f"acta-local-{function}", self.code(function)
        self.client("lambda").update_function_code(FunctionName=name, ZipFile=code)
        try:
            yield
        finally:
            self.client("lambda").update_function_code(FunctionName=name, ZipFile=own)

    def recover(self, round: Round) -> Any:
        """What the function answers to the schedule's event for this round."""
        event = json.dumps({"round": round})
        answer = self.client("lambda").invoke(FunctionName="acta-local-recover", Payload=event)
        told = answer["Payload"].read()
        assert "FunctionError" not in answer, told
        return json.loads(told)

    @contextmanager
    def unscheduled(self) -> Iterator[None]:
        """Nothing that happens each minute happens, so that what a test asks for itself is all there is."""
        with self._without_rules("ScheduleExpression"):
            yield

    @contextmanager
    def untold(self) -> Iterator[None]:
        """No function is told of what happens in AWS, such as the end of an execution."""
        with self._without_rules("EventPattern"):
            yield

    @contextmanager
    def _without_rules(self, trigger: str) -> Iterator[None]:
        events = self.client("events")
        rules = [rule["Name"] for rule in events.list_rules()["Rules"] if rule.get(trigger)]
        assert rules, f"there is no rule with {trigger} to switch off"
        for name in rules:
            events.disable_rule(Name=name)
        try:
            yield
        finally:
            for name in rules:
                events.enable_rule(Name=name)

    @contextmanager
    def parking_after(self, seconds: int) -> Iterator[None]:
        """What waits for longer than this is parked, of executions that begin meanwhile."""
        engine, arn = self.client("stepfunctions"), self.settings["ACTA_STATE_MACHINE_ARN"]
        before = engine.describe_state_machine(stateMachineArn=arn)["definition"]
        engine.update_state_machine(stateMachineArn=arn, definition=parking_after(seconds, before))
        try:
            yield
        finally:
            engine.update_state_machine(stateMachineArn=arn, definition=before)

    def _configure(self, function: str, variables: Mapping[str, str]) -> None:
        self.client("lambda").update_function_configuration(
            FunctionName=f"acta-local-{function}", Environment={"Variables": variables}
        )

    @contextmanager
    def throttled(self, route_key: str, *, at_once: int) -> Iterator[None]:
        """That route of the API is answered so often and then no more; as before afterwards."""
        gateway = self.client("apigatewayv2")
        (api,) = gateway.get_apis()["Items"]
        stage = {"ApiId": api["ApiId"], "StageName": "$default"}
        before = gateway.get_stage(**stage)["RouteSettings"]
        rare = {"ThrottlingRateLimit": 0.001, "ThrottlingBurstLimit": at_once}
        gateway.update_stage(**stage, RouteSettings={**before, route_key: rare})
        try:
            yield
        finally:
            gateway.update_stage(**stage, RouteSettings=before)

    def items_of(self, word: str) -> list[Any]:
        """Every item of the table whose keys or attributes have the word in them, in the clear."""
        pages = self.client("dynamodb").get_paginator("scan").paginate(TableName=self.settings["ACTA_TABLE"])
        return [item for page in pages for item in page["Items"] if word in str(item)]

    def items_but_usage(self, word: str) -> list[Any]:
        """Those that are there as soon as a request is answered: usage is counted a moment later."""
        return [item for item in self.items_of(word) if not item["pk"]["S"].endswith("#=U")]

    def has_only(self, word: str, *kinds: set[str]) -> bool:
        """Whether every item with the word has the attributes of one of the kinds, as soon as what a deletion left to
        be counted is counted.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not all(set(item) in kinds for item in self.items_of(word)):
            if time.monotonic() > deadline:
                return False
            time.sleep(LOOK_SECONDS)
        return True

    def audited(self, tenant: str) -> list[Any]:
        """Every item that the audit table has of the tenant, oldest first."""
        found = self.client("dynamodb").query(
            TableName=self.settings["ACTA_AUDIT_TABLE"],
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": f"T#{tenant}"}},
        )
        return list(found["Items"])

    def role_of_a_function(self, name: str) -> str:
        """The ARN of a role that may do nothing. It stays: another test may use it, too."""
        trust = {
            "Effect": "Allow",
            "Action": "sts:AssumeRole",
            "Principal": {"Service": "lambda.amazonaws.com"},
        }
        iam = self.client("iam")
        with suppress(iam.exceptions.EntityAlreadyExistsException):
            iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps({"Statement": trust}))
        return str(iam.get_role(RoleName=name)["Role"]["Arn"])

    @property
    def buckets(self) -> tuple[str, str]:
        """Of files, and of texts of sessions."""
        return self.settings["ACTA_BUCKET"], self.settings["ACTA_SESSION_BUCKET"]

    @contextmanager
    def versioned(self) -> Iterator[None]:
        """Both buckets keep versions meanwhile; that of the files always does."""
        texts = self.buckets[1]
        try:
            self._keep_versions(texts, "Enabled")
            yield
        finally:
            self._keep_versions(texts, "Suspended")

    def _keep_versions(self, bucket: str, status: str) -> None:
        self.client("s3").put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": status})

    def objects_of(self, word: str, *buckets: str) -> list[str]:
        """Every key of the buckets, of all where none is named, that has the word in it: once for each version and
        each delete marker.
        """
        pages = [
            page
            for bucket in buckets or self.buckets
            for page in self.client("s3").get_paginator("list_object_versions").paginate(Bucket=bucket)
        ]
        keys = [each["Key"] for page in pages for kind in VERSIONS for each in page.get(kind, ())]
        return [key for key in keys if word in key]

    def executions(self, session_id: str) -> list[dict[str, Any]]:
        """Of that session, oldest first."""
        arn = self.settings["ACTA_STATE_MACHINE_ARN"]
        pages = self.client("stepfunctions").get_paginator("list_executions").paginate(stateMachineArn=arn)
        found = [each for page in pages for each in page["executions"] if each["name"].startswith(session_id)]
        return sorted(found, key=lambda each: each["startDate"])

    def ended(self, session_id: str) -> list[dict[str, Any]]:
        """Its executions, once all of them have ended: a session is over before its execution is."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            found = self.executions(session_id)
            if all(each["status"] != "RUNNING" for each in found):
                return found
            assert time.monotonic() < deadline, "an execution goes on for ever"
            time.sleep(LOOK_SECONDS)

    def stop(self, session_id: str) -> None:
        """As an operator does."""
        for execution in self.executions(session_id):
            self.client("stepfunctions").stop_execution(executionArn=execution["executionArn"])

    def statuses(self, session_id: str) -> list[str]:
        """Of its executions, oldest first."""
        return [execution["status"] for execution in self.executions(session_id)]

    def history(self, execution_arn: str) -> list[dict[str, Any]]:
        pages = self.client("stepfunctions").get_paginator("get_execution_history")
        found = pages.paginate(executionArn=execution_arn, includeExecutionData=True)
        return [event for page in found for event in page["events"]]

    def start_again(self, execution_arn: str) -> str:
        """StartExecution with the name and input the execution has; its ARN or the error's code."""
        states = self.client("stepfunctions")
        known = states.describe_execution(executionArn=execution_arn)
        try:
            answer = states.start_execution(
                stateMachineArn=known["stateMachineArn"], name=known["name"], input=known["input"]
            )
        except states.exceptions.ExecutionAlreadyExists:
            return "ExecutionAlreadyExists"
        return str(answer["executionArn"])

    def log_lines(self) -> list[str]:
        """Of every Lambda, all that it ever wrote."""
        logs = self.client("logs")
        lines: list[str] = []
        for name in FUNCTIONS:
            pages = logs.get_paginator("filter_log_events").paginate(
                logGroupName=f"/aws/lambda/acta-local-{name}"
            )
            lines += [event["message"] for page in pages for event in page["events"]]
        return lines


def parking_after(seconds: int, deployed: str) -> str:
    """The deployed definition of the state machine, with another time after which sessions that wait are parked."""
    hurried = definition(replace(LOCAL, park_after_seconds=seconds))["States"]
    changed = json.loads(deployed)
    changed["States"]["Route"] = hurried["Route"]
    changed["States"]["Ask"]["TimeoutSeconds"] = hurried["Ask"]["TimeoutSeconds"]
    return json.dumps(changed)


def entered(history: list[dict[str, Any]]) -> list[str]:
    """The names of the states entered, which are the transitions that are paid for."""
    return [
        event["stateEnteredEventDetails"]["name"]
        for event in history
        if event["type"].endswith("StateEntered")
    ]


def payloads(history: list[dict[str, Any]]) -> list[str]:
    """What went into each state and came out of it, as JSON text."""
    details = ("stateEnteredEventDetails", "stateExitedEventDetails")
    found = [event.get(name, {}) for event in history for name in details]
    return [each[side] for each in found for side in ("input", "output") if side in each]


def as_text(history: list[dict[str, Any]]) -> str:
    return json.dumps(history, default=str)
