"""What a process does to make its first client of AWS."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from botocore.awsrequest import AWSPreparedRequest
from botocore.exceptions import DataNotFoundError, EndpointConnectionError

from acta.engine.aws.clients import make_client

ROOT = Path(__file__).parents[2]
COUNTING = """
import sys
from acta.engine.aws.clients import make_client
import botocore.client
listed = []
sys.addaudithook(lambda event, args: listed.append(args) if event == "os.listdir" else None)
for service in ("dynamodb", "s3"):
    print(make_client(service).meta.service_model.service_name)
print(len(listed))
"""


def test_a_client_is_made_without_a_look_at_the_other_services() -> None:
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "AWS_DEFAULT_REGION": "us-east-1"}
    done = subprocess.run(
        [sys.executable, "-c", COUNTING], env=environ, capture_output=True, text=True, check=True
    )
    *services, folders = done.stdout.split()
    assert services == ["dynamodb", "s3"]
    assert int(folders) < 20


def test_a_request_says_that_it_is_actas_and_nothing_of_the_machine() -> None:
    client = make_client(
        "dynamodb",
        attempts=1,
        endpoint_url="http://127.0.0.1:9",
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
    )
    said: list[bytes] = []

    def seen(request: AWSPreparedRequest, **_: object) -> None:
        said.append(bytes(request.headers["User-Agent"]))

    client.meta.events.register("before-send.dynamodb", seen)
    with pytest.raises(EndpointConnectionError):
        client.list_tables()
    assert [name.partition(b"/")[0] for name in said] == [b"acta botocore"]


def test_a_service_that_aws_does_not_have_is_refused() -> None:
    with pytest.raises(DataNotFoundError):
        make_client("no-such-service")
