"""The local AWS knows the credentials of its own run, each with the principal that it stands for, and nobody else."""

from __future__ import annotations

import http.client
import json
import stat
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from acta.local_aws.credentials import Credentials
from acta.local_aws.emulator_process import ACCOUNT, EmulatorProcess
from acta.local_aws.testing import PROBE, ROLE, Cloud, eventually, refusal
from tests.local_aws.emulators import emulator_on

ANOTHER_ROLE = f"arn:aws:iam::{ACCOUNT}:role/another"
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "dynamodb": ("list_tables", {}),
    "s3": ("list_buckets", {}),
    "stepfunctions": ("list_state_machines", {}),
    "lambda": ("list_functions", {}),
    "sqs": ("list_queues", {}),
    "sts": ("get_caller_identity", {}),
    "cloudformation": ("list_stacks", {}),
    "secretsmanager": ("list_secrets", {}),
    "logs": ("describe_log_groups", {}),
    "cloudwatch": ("list_metrics", {}),
    "events": ("list_rules", {}),
}
"""A service -> a call that changes nothing."""
UNKNOWN = {"InvalidClientTokenId", "UnrecognizedClientException", "InvalidAccessKeyId"}
WRONG = {"SignatureDoesNotMatch", "InvalidSignatureException"}
"""Which of them, depends on the service's protocol. Source: each API reference, "Common errors"."""


def answer_to(cloud: Cloud, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> int:
    connection = http.client.HTTPConnection(cloud.url.removeprefix("http://"), timeout=30)
    try:
        connection.request(method, path, body, dict(headers))
        return connection.getresponse().status
    finally:
        connection.close()


def refusals(url: str, credentials: Credentials) -> set[str]:
    """The error codes of all of them."""
    cloud = Cloud(url, credentials)
    return {
        refusal(getattr(cloud.client(service), call), **arguments)
        for service, (call, arguments) in CALLS.items()
    }


def of_process(cloud: Cloud, function: str) -> Credentials:
    """What a function's process is given."""
    given = cloud.invoke(function, do="environment").value
    return Credentials(given["AWS_ACCESS_KEY_ID"], given["AWS_SECRET_ACCESS_KEY"], given["AWS_SESSION_TOKEN"])


def principal(url: str, credentials: Credentials) -> str:
    return str(Cloud(url, credentials).client("sts").get_caller_identity()["Arn"])


@pytest.mark.parametrize("service", CALLS)
def test_the_credentials_of_the_run_are_accepted_everywhere(cloud: Cloud, service: str) -> None:
    call, arguments = CALLS[service]
    getattr(cloud.client(service), call)(**arguments)


@pytest.mark.parametrize("key", ["test", ACCOUNT, "AKIAIOSFODNN7EXAMPLE"])
def test_a_key_that_this_run_did_not_make_is_refused(emulator: EmulatorProcess, key: str) -> None:
    assert refusals(emulator.url, Credentials(key, "test")) <= UNKNOWN


def test_another_secret_is_refused(emulator: EmulatorProcess) -> None:
    wrong = replace(emulator.credentials, secret_access_key=Credentials.new().secret_access_key)
    assert refusals(emulator.url, wrong) <= WRONG


def test_credentials_of_an_earlier_run_are_refused(tmp_path: Path) -> None:
    with emulator_on(tmp_path) as process:
        earlier = Cloud.of(process)
        user = earlier.client("iam")
        user.create_user(UserName="kept")
        kept = user.create_access_key(UserName="kept")["AccessKey"]
        of_a_function = of_process(earlier, earlier.probe)
        assert principal(process.url, of_a_function)
    with emulator_on(tmp_path) as process:
        of_a_user = Credentials(kept["AccessKeyId"], kept["SecretAccessKey"])
        for credentials in (earlier.credentials, of_a_function, of_a_user):
            assert refusals(process.url, credentials) <= UNKNOWN
        assert process.credentials != earlier.credentials


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/2015-03-31/functions"),
        ("GET", "/a-bucket/a-key"),
        ("PUT", "/a-bucket"),
        ("POST", "/_ministack/reset"),
        ("GET", "/_ministack/lambda-code/{function}"),
        ("GET", "/_ministack/sqs/messages"),
        ("GET", "/_localstack/health"),
        ("PUT", "/_ministack/cfn-response/x/../../reset"),
        ("HEAD", "/a-bucket"),
        ("OPTIONS", "/a-bucket"),
    ],
)
def test_a_request_without_a_signature_is_refused_on_every_path(cloud: Cloud, method: str, path: str) -> None:
    path = path.format(function=cloud.probe)
    for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": "AWS4-HMAC-SHA256 Credential=x"}):
        assert 400 <= answer_to(cloud, method, path, b"", headers) <= 403
    assert not cloud.invoke(cloud.probe).failed


def test_a_target_of_an_unsigned_request_opens_nothing(cloud: Cloud) -> None:
    target = {"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0"}
    assert answer_to(cloud, "POST", "/", b"{}", target) == 400  # as DynamoDB answers
    assert answer_to(cloud, "POST", "/", b"Action=ListUsers&Version=2010-05-08", FORM) == 403


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize(("method", "status"), [("GET", 404), ("POST", 400), ("PUT", 400)])
def test_at_the_address_of_a_pools_keys_nothing_else_is_answered(
    cloud: Cloud, method: str, status: int
) -> None:
    """Authorizers fetch them unsigned, and this pool is not there. A target in the header is not looked at."""
    headers = {"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0"}
    path = "/us-east-1_Abc/.well-known/jwks.json"
    assert answer_to(cloud, method, path, b"{}", headers) == status


def test_a_signature_is_for_one_request(cloud: Cloud) -> None:
    headers = cloud.signed("GET", "/2015-03-31/functions", service="lambda")
    assert answer_to(cloud, "GET", "/2015-03-31/functions", b"", headers) == 200
    assert answer_to(cloud, "GET", "/2015-03-31/functions?MaxItems=1", b"", headers) == 403
    assert answer_to(cloud, "DELETE", f"/2015-03-31/functions/{cloud.probe}", b"", headers) == 403
    body = b'{"Limit": 1}'
    target = {"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0"}
    signed = cloud.signed("POST", "/", body, service="dynamodb", headers=target)
    assert answer_to(cloud, "POST", "/", body, signed) == 200
    assert answer_to(cloud, "POST", "/", b'{"Limit": 2}', signed) == 400


def test_a_signature_of_long_ago_is_refused(cloud: Cloud) -> None:
    path = "/2015-03-31/functions"
    old = cloud.signed("GET", path, service="lambda", at="20200101T000000Z")
    now = cloud.signed("GET", path, service="lambda", at=f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    assert answer_to(cloud, "GET", path, b"", now) == 200
    assert answer_to(cloud, "GET", path, b"", old) == 403


def s3_signing(cloud: Cloud, version: str) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=cloud.url,
        region_name="us-east-1",
        config=Config(signature_version=version),
        **cloud.credentials.as_arguments(),
    )


def test_a_presigned_url_of_s3_is_for_what_it_was_made(cloud: Cloud) -> None:
    s3, bucket = s3_signing(cloud, "s3v4"), "presigned"
    s3.create_bucket(Bucket=bucket)
    s3.put_object(Bucket=bucket, Key="given", Body=b"given")
    s3.put_object(Bucket=bucket, Key="withheld", Body=b"withheld")
    url = s3.generate_presigned_url("get_object", {"Bucket": bucket, "Key": "given"}, ExpiresIn=60)
    with urlopen(url) as answer:
        assert answer.read() == b"given"
    path = url.removeprefix(cloud.url)
    assert answer_to(cloud, "GET", path.replace("/given", "/withheld"), b"", {}) == 403
    scan = {"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0"}
    assert 400 <= answer_to(cloud, "GET", path, b"{}", scan) <= 403


def test_a_signature_of_the_old_version_is_refused(cloud: Cloud) -> None:
    s3 = s3_signing(cloud, "s3")
    assert refusal(s3.list_buckets) == "InvalidRequest"
    url = s3.generate_presigned_url("list_buckets")
    assert answer_to(cloud, "GET", url.removeprefix(cloud.url), b"", {}) == 400


def test_the_health_check_is_open_and_says_nothing(emulator: EmulatorProcess) -> None:
    with urlopen(f"{emulator.url}/_ministack/health") as answer:
        assert json.load(answer) == {}


def test_each_process_has_credentials_of_its_own_that_stand_for_the_role_of_its_function(
    cloud: Cloud, emulator: EmulatorProcess
) -> None:
    one, two = cloud.deploy(PROBE), cloud.deploy(PROBE)
    cloud.functions.update_function_configuration(FunctionName=two, Role=ANOTHER_ROLE)
    of_one, of_two = of_process(cloud, one), of_process(cloud, two)
    assert principal(emulator.url, of_one) == f"arn:aws:sts::{ACCOUNT}:assumed-role/contract/{one}"
    assert principal(emulator.url, of_two) == f"arn:aws:sts::{ACCOUNT}:assumed-role/another/{two}"
    assert principal(emulator.url, emulator.credentials) == f"arn:aws:iam::{ACCOUNT}:root"
    assert len({each.access_key_id for each in (of_one, of_two, emulator.credentials)}) == 3


ECHOING_RUNTIME = """#!/usr/bin/env python3
import json, os
from urllib.request import Request, urlopen

invocations = f"http://{os.environ['AWS_LAMBDA_RUNTIME_API']}/2018-06-01/runtime/invocation"
while True:
    with urlopen(f"{invocations}/next") as event:
        request_id = event.headers["Lambda-Runtime-Aws-Request-Id"]
    urlopen(Request(f"{invocations}/{request_id}/response", json.dumps(dict(os.environ)).encode())).close()
"""


def test_a_function_with_a_runtime_of_its_own_has_its_role_too(
    cloud: Cloud, emulator: EmulatorProcess
) -> None:
    function = cloud.deploy_custom_runtime(ECHOING_RUNTIME)
    given = of_process(cloud, function)
    assert principal(emulator.url, given) == f"arn:aws:sts::{ACCOUNT}:assumed-role/contract/{function}"


def test_another_role_is_for_the_next_process(cloud: Cloud, emulator: EmulatorProcess) -> None:
    function = cloud.deploy(PROBE)
    before = of_process(cloud, function)
    cloud.functions.update_function_configuration(FunctionName=function, Role=ANOTHER_ROLE)
    assert "/another/" in principal(emulator.url, of_process(cloud, function))
    eventually(lambda: True if refused(emulator.url, before) else None)


def test_credentials_end_with_their_process(cloud: Cloud, emulator: EmulatorProcess) -> None:
    function = cloud.deploy(PROBE)
    given = of_process(cloud, function)
    assert not refused(emulator.url, given)
    assert cloud.invoke(function, do="kill").failed
    eventually(lambda: True if refused(emulator.url, given) else None)


def test_temporary_credentials_are_of_no_use_without_their_token(
    cloud: Cloud, emulator: EmulatorProcess
) -> None:
    given = of_process(cloud, cloud.probe)
    for token in (None, "x"):
        assert refusals(emulator.url, replace(given, session_token=token)) <= UNKNOWN | {"InvalidToken"}


def test_who_assumes_a_role_is_that_role(cloud: Cloud, emulator: EmulatorProcess) -> None:
    given = cloud.client("sts").assume_role(RoleArn=ROLE, RoleSessionName="deploying")["Credentials"]
    assumed = Credentials(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"])
    assert principal(emulator.url, assumed) == f"arn:aws:sts::{ACCOUNT}:assumed-role/contract/deploying"


def test_only_the_owner_can_read_the_credentials_and_no_log_has_them(tmp_path: Path) -> None:
    with emulator_on(tmp_path) as process:
        credentials = process.credentials
        assert stat.S_IMODE(process.credentials_file.stat().st_mode) == 0o600
        refusals(process.url, replace(credentials, secret_access_key="x"))
        shown = Path("/proc", str(process.pid))
        if shown.exists():
            for name in ("cmdline", "environ"):
                assert credentials.secret_access_key not in (shown / name).read_text()
    assert not process.credentials_file.exists()
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert process.log_path in left
    assert [path for path in left if credentials.secret_access_key in path.read_text(errors="replace")] == []


def refused(url: str, credentials: Credentials) -> bool:
    try:
        principal(url, credentials)
    except ClientError as error:
        return error.response["Error"]["Code"] in UNKNOWN
    return False
