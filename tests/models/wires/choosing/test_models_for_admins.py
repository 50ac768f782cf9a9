"""Whether a provider accepts its key. The server knows which keys it accepts."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from acta.engine.models.models_for_admins import check_key
from acta.engine.models.providers import PROVIDERS
from acta.local_aws.loopback import free_port
from tests.doubles.keyed_provider import KeyedProvider
from tests.models.wires.conversations import KEY
from tests.models.wires.fake_provider import FakeProvider


@pytest.fixture(params=["anthropic", "openai"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def keyed(provider: str, llmock: Any) -> Iterator[KeyedProvider]:
    with KeyedProvider(llmock.base_url(provider), KEY) as made:
        yield made


def test_an_accepted_key_works_after_one_request(provider: str, keyed: KeyedProvider) -> None:
    assert check_key(PROVIDERS[provider], KEY, keyed.url) == "works"
    assert keyed.keys == [KEY]


def test_a_key_that_the_provider_does_not_accept_is_refused(provider: str, keyed: KeyedProvider) -> None:
    assert check_key(PROVIDERS[provider], "sk-another", keyed.url) == "refused"


@pytest.mark.parametrize("key", ["sk-\nant", "sk-ant\n", "sk-ünt", " "])
def test_a_key_that_no_header_can_carry_is_refused_without_a_request(
    provider: str, keyed: KeyedProvider, key: str
) -> None:
    assert check_key(PROVIDERS[provider], key, keyed.url) == "refused"
    assert keyed.keys == []


@pytest.mark.parametrize("key", ["", None])
def test_without_a_key_there_is_no_request(provider: str, keyed: KeyedProvider, key: str | None) -> None:
    assert check_key(PROVIDERS[provider], key, keyed.url) == "missing"
    assert keyed.keys == []


@pytest.mark.parametrize(
    ("status", "meaning"),
    [
        (401, "refused"),
        (403, "unchecked"),
        (402, "works"),
        (429, "works"),
        (404, "unchecked"),
        (500, "unreachable"),
        (529, "unreachable"),
    ],
)
def test_every_other_status_says_something_about_the_key(
    provider: str, llmock: Any, status: int, meaning: str
) -> None:
    llmock.fail(status, times=None)

    assert check_key(PROVIDERS[provider], KEY, llmock.base_url(provider)) == meaning


def test_a_key_that_is_refused_in_words_is_refused() -> None:
    body = {"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}
    with FakeProvider() as server:
        server.queue(json.dumps([body]).encode(), status=400, headers={"content-type": "application/json"})
        assert check_key(PROVIDERS["openai"], KEY, f"{server.url}/v1") == "refused"


def test_a_server_that_is_not_there_is_unreachable(provider: str) -> None:
    assert check_key(PROVIDERS[provider], KEY, f"http://127.0.0.1:{free_port()}/v1") == "unreachable"


@pytest.mark.parametrize("without", ["bedrock", "offline"])
def test_providers_without_a_key_of_their_own_are_not_asked(without: str) -> None:
    assert check_key(PROVIDERS[without], "", None) == "unchecked"
