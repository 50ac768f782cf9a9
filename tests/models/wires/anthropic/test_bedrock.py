"""Bedrock's own part: names, signature, errors before and inside an answer."""

import json

import pytest

from acta.engine.errors import (
    ActaError,
    ContextTooLong,
    ProviderKeyRefused,
    ProviderOverloaded,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
    StreamBroken,
    TransientError,
)
from acta.engine.models.anthropic.client import BedrockModel
from tests.models.wires.anthropic.bedrock_front import REGION, problem_with
from tests.models.wires.anthropic.event_stream import chunk, exception
from tests.models.wires.conversations import KEY, SECRET_TEXT, TIMEOUT, request
from tests.models.wires.fake_provider import FakeProvider
from tests.models.wires.stream_formats import answer

pytestmark = pytest.mark.contract
PROFILE = "global.anthropic.claude-sonnet-5-5"
ARN = f"arn:aws:bedrock:{REGION}:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-6-v1:0"
STREAM = {"content-type": "application/vnd.amazon.eventstream"}


def failure(server: FakeProvider, model: str = PROFILE) -> ActaError:
    with pytest.raises(ActaError) as caught:
        BedrockModel(REGION, server.url).complete(request(model=model), timeout=TIMEOUT)
    assert caught.value.__context__ is None
    assert SECRET_TEXT not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("model", "path"),
    [
        (PROFILE, f"/model/{PROFILE}/invoke-with-response-stream"),
        (ARN, f"/model/{ARN.replace('/', '%2F')}/invoke-with-response-stream"),
    ],
)
def test_a_model_is_named_as_bedrock_names_it_and_the_request_is_signed(
    server: FakeProvider, model: str, path: str
) -> None:
    server.queue(*answer("bedrock", "ok", "end_turn"), headers=STREAM)

    reply = BedrockModel(REGION, server.url).complete(request(model=model), timeout=TIMEOUT)

    (request_,) = server.requests
    assert reply.text == "ok"
    assert request_.path == path
    assert problem_with(request_) is None
    assert f"Credential={KEY}/" in request_.headers["authorization"]
    assert "x-api-key" not in request_.headers


@pytest.mark.parametrize(
    ("status", "name", "expected"),
    [
        (429, "ThrottlingException", ProviderOverloaded),
        (429, "ModelNotReadyException", ProviderOverloaded),
        (400, "ServiceQuotaExceededException", ProviderOverloaded),
        (503, "ServiceUnavailableException", ProviderOverloaded),
        (500, "InternalServerException", ProviderUnavailable),
        (424, "ModelErrorException", ProviderUnavailable),
        (408, "ModelTimeoutException", ProviderTimeout),
        (403, "AccessDeniedException", ProviderKeyRefused),
        (400, "ValidationException", ProviderRejected),
        (404, "ResourceNotFoundException", ProviderRejected),
    ],
)
def test_an_exception_becomes_the_error_for_whoever_has_to_react(
    server: FakeProvider, status: int, name: str, expected: type[ActaError]
) -> None:
    body = json.dumps({"message": f"about {SECRET_TEXT}"}).encode()
    server.queue(
        body, status=status, headers={"x-amzn-ErrorType": f"{name}:http://internal.amazon.com/coral/"}
    )

    error = failure(server)

    assert type(error) is expected
    assert len(server.requests) == 1, "retries are the engine's"


def test_a_prompt_that_exceeds_the_window_has_its_own_error(server: FakeProvider) -> None:
    body = json.dumps({"message": "prompt is too long: 210000 tokens > 200000 maximum"}).encode()
    server.queue(body, status=400, headers={"x-amzn-ErrorType": "ValidationException"})

    assert type(failure(server)) is ContextTooLong


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("throttlingException", ProviderOverloaded),
        ("serviceUnavailableException", ProviderOverloaded),
        ("internalServerException", ProviderUnavailable),
        ("modelStreamErrorException", ProviderUnavailable),
        ("modelTimeoutException", ProviderTimeout),
        ("validationException", ProviderRejected),
        ("neverHeardOfException", StreamBroken),
    ],
)
@pytest.mark.parametrize("after", [0, 1, 3])
def test_an_exception_inside_a_stream_is_recognised_by_its_name(
    server: FakeProvider, name: str, expected: type[ActaError], after: int
) -> None:
    server.queue(*answer("bedrock", "Half", "end_turn")[:after], exception(name, SECRET_TEXT), headers=STREAM)

    broken = after == 3 and issubclass(expected, TransientError)
    assert type(failure(server)) is (StreamBroken if broken else expected)


@pytest.mark.parametrize("at", [1, 3, 4])
@pytest.mark.parametrize("how", ["half a frame", "another checksum", "no json", "no end"])
def test_a_broken_answer_is_never_taken_for_a_complete_one(server: FakeProvider, how: str, at: int) -> None:
    pieces = answer("bedrock", "one two three", "end_turn")
    last = {
        "half a frame": pieces[at][:-7],
        "another checksum": pieces[at][:-1] + bytes([pieces[at][-1] ^ 1]),
        "no json": chunk(b"{not json"),
        "no end": b"\0",
    }[how]
    server.queue(*pieces[:at], last, broken=how == "no end", headers=STREAM)

    assert type(failure(server)) is StreamBroken


def test_a_key_of_bedrocks_own_stands_in_for_a_signature(
    server: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-api-key")
    server.queue(*answer("bedrock", "ok", "end_turn"), headers=STREAM)

    BedrockModel(REGION, server.url).complete(request(model=PROFILE), timeout=TIMEOUT)

    assert server.requests[0].headers["authorization"] == "Bearer bedrock-api-key"


def test_without_credentials_the_run_fails_with_the_reason(
    server: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name)
    model = BedrockModel(
        "sa-east-1", server.url
    )  # its own region, because the SDK keeps what a region's session found

    with pytest.raises(ProviderKeyRefused, match="no AWS credentials"):
        model.complete(request(), timeout=TIMEOUT)

    assert server.requests == []
