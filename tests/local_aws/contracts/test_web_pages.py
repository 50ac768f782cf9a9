"""A web page that a developer has open cannot use the local AWS, nor can another user of the machine take what
functions are called with. A key is in the processes of one function only.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from acta.local_aws.emulator_process import EmulatorProcess
from acta.local_aws.testing import (
    EVIL,
    PAGES,
    PROBE,
    ROLE,
    Answer,
    Cloud,
    needs_another_user,
    refusal,
    send,
    sent_by_another_user,
    zipped,
)
from tests.local_aws.emulators import KEYED
from tests.local_aws.sink import Sink

FUNCTIONS = "/2015-03-31/functions"
CALLED = """
import os, urllib.request

def handler(event, context):
    urllib.request.urlopen(os.environ["CALLED"], b"{}", timeout=20)
"""

# A runtime of its own, which answers every event with the address of its Runtime API.
CUSTOM_RUNTIME = """#!/usr/bin/env python3
import json, os
from urllib.request import Request, urlopen

address = os.environ["AWS_LAMBDA_RUNTIME_API"]
invocations = f"http://{address}/2018-06-01/runtime/invocation"
while True:
    with urlopen(f"{invocations}/next") as event:
        request_id = event.headers["Lambda-Runtime-Aws-Request-Id"]
    urlopen(Request(f"{invocations}/{request_id}/response", json.dumps(address).encode())).close()
"""


def cors(answer: Answer) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name.startswith("access-control-")}


def is_refused_as_a_page(answer: Answer) -> bool:
    """By the guard, before anybody looked at who signed it."""
    return answer.status == 403 and b"programs of this machine only" in answer.body and not cors(answer)


@pytest.fixture(params=list(PAGES.values()), ids=list(PAGES))
def page(request: pytest.FixtureRequest) -> dict[str, str]:
    headers: dict[str, str] = request.param
    return headers


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink() as made:
        yield made


def test_a_page_cannot_create_a_function(
    cloud: Cloud, emulator: EmulatorProcess, page: dict[str, str]
) -> None:
    request = {
        "FunctionName": "of-a-page",
        "Runtime": "python3.11",
        "Role": ROLE,
        "Handler": "main.handler",
        "Code": {"ZipFile": base64.b64encode(zipped({"main.py": PROBE})).decode()},
    }
    body = json.dumps(request).encode()
    signed = cloud.signed("POST", FUNCTIONS, body, service="lambda")
    answer = send(emulator.port, "POST", FUNCTIONS, {**signed, **page}, body)
    assert is_refused_as_a_page(answer)
    assert refusal(cloud.functions.get_function, FunctionName="of-a-page") == "ResourceNotFoundException"

    assert send(emulator.port, "POST", FUNCTIONS, signed, body).status == 201
    cloud.functions.delete_function(FunctionName="of-a-page")


def test_a_page_cannot_run_a_function(
    cloud: Cloud, emulator: EmulatorProcess, page: dict[str, str], sink: Sink
) -> None:
    function = cloud.deploy(CALLED, Environment={"Variables": {"CALLED": sink.url("/called")}})
    path = f"{FUNCTIONS}/{function}/invocations"
    signed = cloud.signed("POST", path, b"{}", service="lambda")
    assert is_refused_as_a_page(send(emulator.port, "POST", path, {**signed, **page}, b"{}"))
    assert sink.heard == []
    assert not cloud.invoke(function).failed
    assert len(sink.heard) == 1


@pytest.mark.parametrize("method", ["GET", "OPTIONS", "HEAD", "POST"])
@pytest.mark.parametrize("path", ["/", "/_ministack/health", "/_aws/execute-api/", "/_aws/execute-api/x"])
def test_a_page_is_refused_on_every_path_of_the_emulators_own(
    cloud: Cloud, emulator: EmulatorProcess, method: str, path: str
) -> None:
    signed = cloud.signed(method, path, service="s3")
    answer = send(emulator.port, method, path, {**signed, "Origin": EVIL})
    assert answer.status == 403
    assert method == "HEAD" or is_refused_as_a_page(answer)


@pytest.mark.parametrize("path", ["/", "/_ministack/health", FUNCTIONS + "/", "/a-bucket/a-key"])
@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_no_answer_lets_another_origin_read_it(
    cloud: Cloud, emulator: EmulatorProcess, method: str, path: str
) -> None:
    signed = cloud.signed(method, path, service="lambda" if path.startswith(FUNCTIONS) else "s3")
    answer = send(emulator.port, method, path, signed)
    assert answer.status != 403
    assert not cors(answer)
    assert not cors(send(emulator.port, method, path, {}))


def test_a_page_cannot_open_a_web_socket(emulator: EmulatorProcess) -> None:
    handshake = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(bytes(16)).decode(),
    }
    path = "/_aws/execute-api/x/stage"
    assert send(emulator.port, "GET", path, {**handshake, "Origin": EVIL}).status == 403


def test_a_page_may_call_a_deployed_api_and_the_apis_own_configuration_says_who_may_read(
    cloud: Cloud, emulator: EmulatorProcess
) -> None:
    gateway = cloud.client("apigatewayv2")
    api_id = gateway.create_api(
        Name="of-pages",
        ProtocolType="HTTP",
        CorsConfiguration={"AllowOrigins": ["https://app.example"], "AllowMethods": ["GET"]},
    )["ApiId"]
    arn = cloud.functions.get_function(FunctionName=cloud.probe)["Configuration"]["FunctionArn"]
    integration = gateway.create_integration(
        ApiId=api_id, IntegrationType="AWS_PROXY", IntegrationUri=arn, PayloadFormatVersion="2.0"
    )["IntegrationId"]
    gateway.create_route(ApiId=api_id, RouteKey="GET /open", Target=f"integrations/{integration}")
    gateway.create_stage(ApiId=api_id, StageName="$default", AutoDeploy=True)
    path = f"/_aws/execute-api/{api_id}/$default/open"
    ours = {"Origin": "https://app.example", "Sec-Fetch-Site": "cross-site", "Host": "localhost:1"}

    asked = send(emulator.port, "OPTIONS", path, {**ours, "Access-Control-Request-Method": "GET"})
    assert cors(asked)["access-control-allow-origin"] == "https://app.example"
    answer = send(emulator.port, "GET", path, ours)
    assert (answer.status, cors(answer)["access-control-allow-origin"]) == (200, "https://app.example")
    assert not cors(send(emulator.port, "GET", path, {**ours, "Origin": EVIL}))
    assert send(emulator.port, "GET", path, {**ours, "Host": "evil.example"}).status == 403


def test_the_origins_of_a_template_are_obeyed(cloud: Cloud, emulator: EmulatorProcess) -> None:
    allowed = {"AllowOrigins": ["https://app.example"], "AllowMethods": ["PUT"], "ExposeHeaders": ["etag"]}
    properties = {"Name": "of-a-template", "ProtocolType": "HTTP", "CorsConfiguration": allowed}
    template = {"Resources": {"Api": {"Type": "AWS::ApiGatewayV2::Api", "Properties": properties}}}
    formation = cloud.client("cloudformation")
    formation.create_stack(StackName="of-pages", TemplateBody=json.dumps(template))
    formation.get_waiter("stack_create_complete").wait(
        StackName="of-pages", WaiterConfig={"Delay": 1, "MaxAttempts": 30}
    )
    (made,) = formation.describe_stack_resources(StackName="of-pages")["StackResources"]
    path = f"/_aws/execute-api/{made['PhysicalResourceId']}/$default/any"
    page = {"Origin": "https://app.example", "Access-Control-Request-Method": "PUT", "Host": "localhost:1"}

    asked = cors(send(emulator.port, "OPTIONS", path, page))
    assert asked["access-control-allow-origin"] == "https://app.example"
    assert asked["access-control-allow-methods"] == "PUT"
    assert asked["access-control-expose-headers"] == "etag"
    assert not cors(send(emulator.port, "OPTIONS", path, {**page, "Origin": EVIL}))


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/2018-06-01/runtime/invocation/next"),
        ("POST", "/2018-06-01/runtime/invocation/x/response"),
        ("POST", "/2018-06-01/runtime/init/error"),
    ],
)
def test_the_runtime_api_of_a_function_refuses_a_page(
    cloud: Cloud, page: dict[str, str], method: str, path: str
) -> None:
    address = cloud.invoke(cloud.probe, do="environment").value["AWS_LAMBDA_RUNTIME_API"]
    port = int(address.rpartition(":")[2])
    answer = send(port, method, path, page, b"{}" if method == "POST" else b"")
    assert (answer.status, answer.body) == (403, b"")
    assert not cloud.invoke(cloud.probe).failed


def test_the_runtime_api_of_a_custom_runtime_refuses_a_page(cloud: Cloud, page: dict[str, str]) -> None:
    function = cloud.deploy_custom_runtime(CUSTOM_RUNTIME)
    port = int(cloud.invoke(function).value.rpartition(":")[2])
    answer = send(port, "POST", "/2018-06-01/runtime/init/error", page, b"{}")
    assert (answer.status, answer.body) == (403, b"")
    assert not cloud.invoke(function).failed


@needs_another_user
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("runtime", ["python", "of its own"])
def test_the_runtime_api_of_a_function_refuses_another_user_of_the_machine(
    cloud: Cloud, method: str, runtime: str
) -> None:
    """Who asks there is given somebody's event, and may answer it."""
    if runtime == "python":
        address = cloud.invoke(cloud.probe, do="environment").value["AWS_LAMBDA_RUNTIME_API"]
    else:
        address = cloud.invoke(cloud.deploy_custom_runtime(CUSTOM_RUNTIME)).value
    path = "invocation/next" if method == "GET" else "init/error"
    request = f"{method} /2018-06-01/runtime/{path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\n\r\n"
    answer = sent_by_another_user(int(address.rpartition(":")[2]), request.encode())
    assert answer.split()[1] == b"403"


def test_a_key_is_in_the_processes_of_its_function_and_in_no_others(
    cloud: Cloud, emulator: EmulatorProcess
) -> None:
    cloud.functions.create_function(
        FunctionName=KEYED,
        Runtime="python3.11",
        Role=ROLE,
        Handler="main.handler",
        Timeout=30,
        Code={"ZipFile": zipped({"main.py": PROBE})},
    )
    assert cloud.invoke(KEYED, do="environment").value["KEY"] == "secret"
    assert "KEY" not in cloud.invoke(cloud.probe, do="environment").value
    process = Path(f"/proc/{emulator.pid}")
    if process.exists():
        assert b"KEY=secret" not in (process / "environ").read_bytes()
        assert b"secret" not in (process / "cmdline").read_bytes()
