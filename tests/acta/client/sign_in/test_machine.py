"""A program's token: got with its secret, kept in memory, renewed before its end and where it is refused."""

from collections.abc import Iterator

import pytest

from acta.client.api import Client
from acta.client.deployment import Deployment
from acta.client.errors import SignInError
from acta.client.sign_in.machine import MachineTokens
from tests.acta.fake_deployment import FakeDeployment, Reply, success
from tests.acta.openid_provider import MACHINE, SECRET, OpenIdProvider


@pytest.fixture
def provider() -> Iterator[OpenIdProvider]:
    with OpenIdProvider() as running:
        yield running


def grants(provider: OpenIdProvider) -> int:
    return sum(form.get("grant_type") == "client_credentials" for _, form in provider.requests)


def test_a_token_is_got_once_and_again_near_its_end(provider: OpenIdProvider) -> None:
    now = [1_000.0]
    tokens = MachineTokens(provider.url, MACHINE, SECRET, clock=lambda: now[0])
    first = tokens.token()
    assert tokens.token() == first
    now[0] += provider.ttl - 30
    assert tokens.token() != first
    assert grants(provider) == 2


def test_the_secret_is_in_no_form_and_no_error(provider: OpenIdProvider) -> None:
    MachineTokens(provider.url, MACHINE, SECRET).token()
    assert all(SECRET not in str(form) for _, form in provider.requests)
    with pytest.raises(SignInError, match="invalid_client") as refused:
        MachineTokens(provider.url, MACHINE, "a wrong secret").token()
    assert "a wrong secret" not in str(refused.value)


def test_a_refused_token_is_replaced(provider: OpenIdProvider, deployment: FakeDeployment) -> None:
    deployment.on("GET", "/v1/models", Reply(401, b"{}"), success({"models": []}))
    where = Deployment(deployment.url, MachineTokens(provider.url, MACHINE, SECRET))
    with Client(where) as client:
        client.models()
    assert len({request.headers["Authorization"] for request in deployment.requests}) == 2
    assert grants(provider) == 2


def test_scopes_are_asked_for_where_they_are_named(provider: OpenIdProvider) -> None:
    MachineTokens(provider.url, MACHINE, SECRET, scopes="acta/nightly").token()
    MachineTokens(provider.url, MACHINE, SECRET).token()
    assert [form.get("scope") for _, form in provider.requests if form] == ["acta/nightly", None]
