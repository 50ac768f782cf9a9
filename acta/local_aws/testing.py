"""For tests on the local AWS: deploy tiny functions and machines, run them, read how they ended."""

from __future__ import annotations

import io
import itertools
import json
import os
import subprocess
import time
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from http.client import HTTPConnection
from typing import Any, NamedTuple, TypeVar

import boto3
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from acta.local_aws.credentials import Credentials as OfTheLocalAws
from acta.local_aws.emulator_process import ACCOUNT, EmulatorProcess
from acta.local_aws.loopback import HOST

ROLE = f"arn:aws:iam::{ACCOUNT}:role/contract"
"""May do everything."""
EVERYTHING = {"Effect": "Allow", "Action": "*", "Resource": "*"}
INVOKE = "arn:aws:states:::lambda:invoke"
INVOKE_AND_WAIT = INVOKE + ".waitForTaskToken"
PATIENCE_SECONDS = 60.0

# One function for most tests: the event says what to do.
PROBE = """
import os, signal, sys, time

class Refused(Exception):
    pass

def handler(event, context):
    match event.get("do"):
        case "raise":
            raise Refused(event.get("text", "no"))
        case "exit":
            os._exit(event["code"])
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "sleep":
            time.sleep(event["seconds"])
        case "fail_until":
            if event["retry_count"] < event["attempts"]:
                raise Refused("not yet")
        case "large":
            return "x" * event["bytes"]
        case "environment":
            return dict(os.environ)
        case "path":
            return sys.path
    return {"pid": os.getpid(), "event": event}
"""

EVIL = "https://evil.example"
PAGES = {
    "another origin": {"Origin": EVIL},
    "a page without an origin": {"Origin": "null"},
    "a page on another port": {"Origin": "http://127.0.0.1:3000", "Sec-Fetch-Site": "same-site"},
    "an image or a link": {"Sec-Fetch-Site": "cross-site"},
    "a rebound name": {"Host": "evil.example"},
    "a rebound name with our port": {"Host": "evil.example:{port}"},
    "a rebound name and its origin": {"Host": "evil.example:{port}", "Origin": "http://evil.example:{port}"},
    "another port": {"Host": "127.0.0.1:1"},
}
"""What requests of web pages look like, by what the page is. `{port}`: the port that is asked."""

T = TypeVar("T")

_names = itertools.count(1)


@dataclass(frozen=True)
class Reply:
    value: Any
    failed: bool


class SigV4At(SigV4Auth):  # type: ignore[misc]  # it has no types
    at: str | None = None

    def _modify_request_before_signing(self, request: AWSRequest) -> None:
        if self.at is not None:
            request.context["timestamp"] = self.at
        super()._modify_request_before_signing(request)


class Cloud:
    def __init__(self, url: str, credentials: OfTheLocalAws) -> None:
        self.url = url
        self.credentials = credentials

    @classmethod
    def of(cls, emulator: EmulatorProcess) -> Cloud:
        """As the operator of a running emulator sees it, who made ROLE."""
        cloud = cls(emulator.url, emulator.credentials)
        with suppress(ClientError):  # it is there already
            cloud.role("contract", EVERYTHING)
        return cloud

    def client(self, service: str) -> Any:
        return boto3.client(
            service,
            endpoint_url=self.url,
            region_name="us-east-1",
            **self.credentials.as_arguments(),
            config=Config(retries={"total_max_attempts": 1}, read_timeout=120, max_pool_connections=40),
        )

    def role(self, name: str, *statements: Mapping[str, Any], trusts: object = None) -> str:
        """The ARN of a new role. `trusts`: a Principal; else Lambda, Step Functions and the account."""
        principal = trusts or {
            "AWS": f"arn:aws:iam::{ACCOUNT}:root",
            "Service": ["lambda.amazonaws.com", "states.amazonaws.com"],
        }
        trust = {"Statement": {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": principal}}
        iam = self.client("iam")
        made = iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(trust))
        if statements:
            iam.put_role_policy(
                RoleName=name,
                PolicyName="allowed",
                PolicyDocument=json.dumps({"Statement": list(statements)}),
            )
        return str(made["Role"]["Arn"])

    def signed(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        service: str,
        at: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, str]:
        """The headers of a request, and those that sign it. `at`: such as 20200101T000000Z; by default now."""
        request = AWSRequest(method, f"{self.url}{path}", headers, body)
        signer = SigV4At(Credentials(*self.credentials.as_arguments().values()), service, "us-east-1")
        signer.at = at
        signer.add_auth(request)
        return dict(request.headers.items())

    @cached_property
    def functions(self) -> Any:
        return self.client("lambda")

    @cached_property
    def states(self) -> Any:
        return self.client("stepfunctions")

    @cached_property
    def probe(self) -> str:
        """The name of the function that runs PROBE."""
        return self.deploy(PROBE)

    def deploy(
        self,
        source: str,
        *,
        timeout: int = 30,
        files: Mapping[str, str] | None = None,
        role: str = ROLE,
        **more: Any,
    ) -> str:
        name = f"function-{next(_names)}"
        self.functions.create_function(
            FunctionName=name,
            Runtime="python3.11",
            Role=role,
            Handler="main.handler",
            Timeout=timeout,
            Code={"ZipFile": zipped({"main.py": source, **(files or {})})},
            **more,
        )
        return name

    def deploy_custom_runtime(self, bootstrap: str) -> str:
        """A function whose zip brings its own runtime, an executable named `bootstrap`."""
        name = f"function-{next(_names)}"
        self.functions.create_function(
            FunctionName=name,
            Runtime="provided.al2023",
            Role=ROLE,
            Handler="unused",
            Timeout=30,
            Code={"ZipFile": zipped({"bootstrap": bootstrap})},
        )
        return name

    def invoke(self, function: str, **event: Any) -> Reply:
        answer = self.functions.invoke(FunctionName=function, Payload=json.dumps(event))
        return Reply(json.loads(answer["Payload"].read()), "FunctionError" in answer)

    def machine(self, definition: Mapping[str, Any], role: str = ROLE) -> str:
        """The ARN of a new machine. JSONata unless the definition says otherwise."""
        text = json.dumps({"QueryLanguage": "JSONata", **definition})
        answer = self.states.create_state_machine(
            name=f"machine-{next(_names)}", definition=text, roleArn=role
        )
        return str(answer["stateMachineArn"])

    def start(self, definition: Mapping[str, Any], data: Any = None) -> str:
        """The ARN of a new execution of a new machine."""
        arn = self.machine(definition)
        return str(
            self.states.start_execution(stateMachineArn=arn, input=json.dumps(data or {}))["executionArn"]
        )

    def run(self, definition: Mapping[str, Any], data: Any = None) -> dict[str, Any]:
        """DescribeExecution of the finished execution, `output` decoded."""
        return self.finished(self.start(definition, data))

    def finished(self, execution: str) -> dict[str, Any]:
        def closed() -> dict[str, Any] | None:
            found: dict[str, Any] = self.states.describe_execution(executionArn=execution)
            return None if found["status"] == "RUNNING" else found

        found = eventually(closed)
        if found.get("output"):
            found["output"] = json.loads(found["output"])
        return found

    def events(self, execution: str) -> list[dict[str, Any]]:
        pages = self.states.get_paginator("get_execution_history").paginate(executionArn=execution)
        return [event for page in pages for event in page["events"]]

    def submitted_token(self, execution: str, nth: int = 1) -> str:
        """The token the nth attempt's Lambda was given as `token`, once that Lambda has returned."""

        def token() -> str | None:
            submitted = [e for e in self.events(execution) if e["type"] == "TaskSubmitted"]
            if len(submitted) < nth:
                return None
            output = json.loads(submitted[nth - 1]["taskSubmittedEventDetails"]["output"])
            return str(output["Payload"]["event"]["token"])

        return eventually(token)


def zipped(files: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            member = zipfile.ZipInfo(name)
            member.external_attr = 0o755 << 16
            archive.writestr(member, text)
    return packed.getvalue()


def eventually(probe: Callable[[], T | None]) -> T:
    """What the probe returns once it returns something."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (found := probe()) is None:
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)
    return found


def refusal(call: Callable[..., Any], **arguments: Any) -> str:
    """The error code the call is refused with."""
    try:
        call(**arguments)
    except ClientError as error:
        return str(error.response["Error"]["Code"])
    raise AssertionError("the call was accepted")


def one_state(state: Mapping[str, Any], **machine: Any) -> dict[str, Any]:
    """A machine of the single state "Only"."""
    ends = {} if state["Type"] in ("Succeed", "Fail") else {"End": True}
    return {"StartAt": "Only", "States": {"Only": {**ends, **state}}, **machine}


def invoking(function: str, payload: Any, **fields: Any) -> dict[str, Any]:
    """A Task that invokes a function and gives its reply."""
    return {
        "Type": "Task",
        "Resource": INVOKE,
        "Arguments": {"FunctionName": function, "Payload": payload},
        "Output": "{% $states.result.Payload %}",
        **fields,
    }


def awaiting(function: str, payload: Any | None = None, **fields: Any) -> dict[str, Any]:
    """A Task that hands its token to a function and waits for it to come back."""
    return {
        "Type": "Task",
        "Resource": INVOKE_AND_WAIT,
        "Arguments": {
            "FunctionName": function,
            "Payload": payload or {"token": "{% $states.context.Task.Token %}"},
        },
        **fields,
    }


class Answer(NamedTuple):
    """`headers`: their names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def send(port: int, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> Answer:
    """One request with exactly these headers. A page may send text/plain without a preflight."""
    filled = {name: value.format(port=port) for name, value in headers.items()}
    complete = {"Host": f"{HOST}:{port}", "Content-Type": "text/plain", **filled}
    connection = HTTPConnection(HOST, port, timeout=30)
    connection.request(method, path, body, complete)
    response = connection.getresponse()
    answer = Answer(
        response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    )
    connection.close()
    return answer


needs_another_user = pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another user")


def sent_by_another_user(port: int, request: bytes) -> bytes:
    """What a process of `nobody` receives until the end of the connection."""
    script = 'exec 3<>/dev/tcp/127.0.0.1/"$1" && cat >&3 && cat <&3'
    return subprocess.run(
        ["/bin/bash", "-c", script, "bash", str(port)],
        input=request,
        capture_output=True,
        user="nobody",
        extra_groups=[],
        cwd="/",
        timeout=30,
        check=True,
    ).stdout
