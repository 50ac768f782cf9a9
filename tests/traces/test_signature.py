"""What X-Ray's endpoint gets is signed for it, and the signature holds for the bytes that are sent."""

import os
from collections.abc import Iterator

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from acta.engine.egress.address import FOR_TRACES, AddressGuard, Target
from acta.engine.settings import Settings
from acta.engine.traces.otlp import LOCAL_HEADERS, Signature, addressed, headers_of
from acta.engine.traces.spans import SpansNotDelivered

KEYS = Credentials("AKIDEXAMPLE", "a secret key", "a session token")
BODY = b"\x0a\x02spans"
TARGET = Target("https", "xray.eu-west-1.amazonaws.com", 443, "/v1/traces", "192.0.2.1")


@pytest.fixture
def region() -> Iterator[str]:
    before = os.environ.get("AWS_REGION")
    os.environ["AWS_REGION"] = "eu-west-1"
    yield "eu-west-1"
    os.environ.pop("AWS_REGION")
    if before is not None:
        os.environ["AWS_REGION"] = before


def test_a_request_is_signed_for_xray_in_its_region() -> None:
    sent = Signature("eu-west-1", KEYS)(TARGET, BODY)
    assert sent["X-Amz-Security-Token"] == "a session token"
    scope = f"{sent['X-Amz-Date'][:8]}/eu-west-1/xray/aws4_request"
    assert f"Credential=AKIDEXAMPLE/{scope}" in sent["Authorization"]
    assert "a secret key" not in str(sent)


def test_the_signature_is_that_of_the_request_as_it_is_sent() -> None:
    """Signed again, as the other side does, from what a request on the wire has."""
    sent = Signature("eu-west-1", KEYS)(TARGET, BODY)
    on_the_wire = {
        "Host": TARGET.host,
        "Content-Type": "application/x-protobuf",
        "X-Amz-Date": sent["X-Amz-Date"],
    }
    on_the_wire["X-Amz-Security-Token"] = sent["X-Amz-Security-Token"]
    request = AWSRequest(
        "POST", "https://xray.eu-west-1.amazonaws.com/v1/traces", data=BODY, headers=on_the_wire
    )
    request.context["timestamp"] = sent["X-Amz-Date"]
    again = SigV4Auth(KEYS, "xray", "eu-west-1")
    signed = again.signature(again.string_to_sign(request, again.canonical_request(request)), request)
    assert sent["Authorization"].endswith(f"Signature={signed}")


def test_the_endpoint_is_that_of_the_function_s_region(region: str) -> None:
    asked = Settings(env="prod", table="t", bucket="b", traces_xray=True)
    url = "https://xray.eu-west-1.amazonaws.com/v1/traces"
    assert addressed(asked).traces_url == url
    guard = AddressGuard(addressed(asked), lambda host, port: ["52.94.0.1"], lists=FOR_TRACES)
    assert guard.resolve(url).host == "xray.eu-west-1.amazonaws.com"
    os.environ["AWS_REGION"] = "cn-north-1"
    assert addressed(asked).traces_url == "https://xray.cn-north-1.amazonaws.com.cn/v1/traces"
    assert isinstance(headers_of(asked), Signature)


@pytest.mark.parametrize("text", ['{"Authorization": 1}', "[]", "Authorization=Bearer"])
def test_headers_of_another_form_send_nothing_and_are_in_no_error(text: str) -> None:
    os.environ[LOCAL_HEADERS] = text
    try:
        with pytest.raises(SpansNotDelivered) as failed:
            headers_of(Settings(env="local", is_local=True, table="t", bucket="b"))(TARGET, BODY)
    finally:
        del os.environ[LOCAL_HEADERS]
    assert "Bearer" not in str(failed.value)


def test_headers_are_a_json_object() -> None:
    os.environ[LOCAL_HEADERS] = '{"Authorization": "Bearer x"}'
    try:
        headers = headers_of(Settings(env="local", is_local=True, table="t", bucket="b"))(TARGET, BODY)
    finally:
        del os.environ[LOCAL_HEADERS]
    assert headers == {"Authorization": "Bearer x"}
