"""Providers of the deployment's own that are asked with the function's role: endpoints of Amazon Bedrock."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from acta.engine.models.calls import bedrock_region
from acta.engine.models.choose import choose
from acta.engine.models.models_for_admins import ModelListing
from acta.engine.models.own_providers import own_providers
from acta.engine.models.providers import PROVIDERS
from acta.engine.settings import Settings
from tests.models.wires.conversations import KEY, TIMEOUT, request
from tests.models.wires.fake_provider import FakeProvider
from tests.models.wires.stream_formats import answer

SETTINGS = Settings(env="local", is_local=True, table="t", bucket="b")
SIGNED = re.compile(
    rf"AWS4-HMAC-SHA256 Credential={KEY}/\d{{8}}/eu-central-1/bedrock-mantle/aws4_request, .*"
)


def no_secret(name: str, *, refresh: bool = False) -> str:
    raise AssertionError(f"{name} was read")


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    before = dict(PROVIDERS)
    yield
    PROVIDERS.clear()
    PROVIDERS.update(before)


def told(url: str, **row: Any) -> dict[str, Any]:
    return {"aws": {"url": url, "role": True, "models": ["openai.gpt-6-sol"], **row}}


@pytest.mark.parametrize(("protocol", "wire"), [("chat", "openai"), ("responses", "openai-responses")])
def test_openai_s_protocols_are_signed_with_the_role_and_no_key_is_sent(
    server: FakeProvider, protocol: str, wire: str
) -> None:
    server.queue(
        *answer(wire, "ok", "stop" if wire == "openai" else "completed"),
        headers={"content-type": "text/event-stream"},
    )
    PROVIDERS.update(own_providers(told(f"{server.url}/openai/v1", protocol=protocol)))
    model, name = choose(SETTINGS, {}, no_secret, "aws")

    assert model.complete(request(model=name), timeout=TIMEOUT).text == "ok"
    (sent,) = server.requests
    assert (name, sent.path.startswith("/openai/v1/")) == ("openai.gpt-6-sol", True)
    assert SIGNED.fullmatch(sent.headers["authorization"])
    assert sent.headers["x-amz-security-token"] == KEY


def test_converse_needs_no_url_and_no_key_and_cannot_be_checked_for_one() -> None:
    PROVIDERS.update(
        own_providers({"nova": {"protocol": "converse", "models": ["eu.amazon.nova-2-lite-v1:0"]}})
    )
    model, name = choose(SETTINGS, {}, no_secret, "nova")
    listing = ModelListing(SETTINGS, {}, no_secret)

    assert (model.provider, name) == ("nova", "eu.amazon.nova-2-lite-v1:0")
    assert listing.check(PROVIDERS["nova"]) == "unchecked"
    assert {"provider": "nova", "key": "not_needed"} in listing.listed([])["providers"]


@pytest.mark.parametrize("row", [{"protocol": "messages"}, {"protocol": "chat", "secret": True}])
def test_what_the_role_cannot_sign_is_refused(row: dict[str, Any]) -> None:
    with pytest.raises(
        ValueError, match="with its role the function asks Amazon Bedrock over chat, responses or"
    ):
        own_providers(told("https://llm.example.com", **row))


@pytest.mark.parametrize(
    ("url", "region"),
    [
        ("https://bedrock-mantle.us-east-2.api.aws/openai/v1", "us-east-2"),
        ("https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com/openai/v1", "us-gov-west-1"),
        ("https://bedrock.internal.example.com/v1", None),
        (None, None),
    ],
)
def test_an_endpoint_says_its_region(url: str | None, region: str | None) -> None:
    assert bedrock_region(url) == region
