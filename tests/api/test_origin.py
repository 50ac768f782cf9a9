"""With a front (CloudFront and its firewall), nobody goes round it."""

import hashlib
from collections.abc import Mapping

import pytest

from acta.engine.api.app import Api
from acta.engine.api.incoming import read_request, source_address
from acta.engine.app import App
from acta.engine.settings import Settings, SettingsError
from tests.api.gateway import Answer, Gateway

SECRET, OLDER = "a long random secret", "the one before"
FRONTED = Settings(
    env="test",
    table="table",
    bucket="bucket",
    origin_hashes=",".join(hashlib.sha256(each.encode()).hexdigest() for each in (SECRET, OLDER)),
)
PLAIN = Settings(env="test", table="table", bucket="bucket")


def ask(settings: Settings, headers: Mapping[str, str], path: str = "/healthz") -> Answer:
    return Gateway(Api("fallback", App(settings)).handler, token=None).request("GET", path, headers=headers)


@pytest.mark.parametrize(
    "headers", [{"x-acta-origin": SECRET}, {"X-Acta-Origin": SECRET}, {"x-acta-origin": OLDER}]
)
def test_what_the_front_passes_on_is_answered(headers: Mapping[str, str]) -> None:
    assert ask(FRONTED, headers).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-acta-origin": ""},
        {"x-acta-origin": "guessed"},
        {"x-acta-origin": f"{SECRET},{SECRET}"},
        {"x-acta-origin": hashlib.sha256(SECRET.encode()).hexdigest()},
        {"x-acta-origin": "\udcff"},
    ],
    ids=["nothing", "empty", "guessed", "sent twice", "the hash itself", "no text"],
)
def test_what_goes_round_the_front_is_refused_before_anything_is_looked_at(
    headers: Mapping[str, str],
) -> None:
    for path in ("/healthz", "/nothing", "/v1/sessions/ses_1"):
        answer = ask(FRONTED, headers, path)
        assert (answer.status, answer.error["code"]) == (403, "FORBIDDEN")
        assert "own address" in answer.error["message"]


def test_without_a_front_nobody_needs_its_secret() -> None:
    assert ask(PLAIN, {}).status == 200


def test_the_clients_address_is_the_fronts_word_where_there_is_one_and_else_the_gateways() -> None:
    event = {"requestContext": {"http": {"sourceIp": "192.0.2.1"}}}
    told = {"x-acta-address": "2001:db8::7"}
    assert source_address(event, told, FRONTED) == "2001:db8::7"
    assert source_address(event, told, PLAIN) == "192.0.2.1", "a client's own word counts for nothing"
    assert source_address({}, {}, PLAIN) == ""


def test_a_request_s_network_is_the_client_s_with_a_front_and_without() -> None:
    asked = {
        "routeKey": "GET /healthz",
        "rawPath": "/healthz",
        "headers": {"X-Acta-Origin": SECRET, "X-Acta-Address": "198.51.100.7"},
        "requestContext": {"http": {"method": "GET", "sourceIp": "192.0.2.1"}},
    }
    assert read_request(asked, FRONTED).source == "198.51.100.0/24"
    assert read_request(asked, PLAIN).source == "192.0.2.0/24"


@pytest.mark.parametrize("hashes", ["secret", "A" * 64, "a" * 64 + ",", "a" * 65])
def test_the_secret_itself_is_no_setting(hashes: str) -> None:
    with pytest.raises(SettingsError, match="ACTA_ORIGIN_HASHES"):
        Settings.from_environ(
            {"ACTA_ENV": "e", "ACTA_TABLE": "t", "ACTA_BUCKET": "b", "ACTA_ORIGIN_HASHES": hashes}
        )
