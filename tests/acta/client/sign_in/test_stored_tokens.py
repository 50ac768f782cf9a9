"""A client's token renews itself: early, once for all processes, and again where the deployment refuses it."""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from acta.client.api import AsyncClient, Client
from acta.client.deployment import Deployment
from acta.client.errors import ApiConnectionError, AuthenticationError, SignInEndedError
from acta.client.sign_in.oidc import Application, TokenSet
from acta.client.sign_in.store import SignIn, Store
from acta.client.sign_in.stored_tokens import StoredTokens, signed_in
from tests.acta.fake_deployment import FakeDeployment, Reply, success
from tests.acta.openid_provider import CLIENT, SUBJECT, OpenIdProvider, jwt

OLD = "refresh-of-before"


@pytest.fixture
def provider() -> Iterator[OpenIdProvider]:
    with OpenIdProvider() as running:
        running.refresh_tokens.add(OLD)
        yield running


@pytest.fixture
def store(tmp_path: Path, provider: OpenIdProvider, deployment: FakeDeployment) -> Store:
    """With a sign-in whose token has ended."""
    made = Store(tmp_path)
    tokens = TokenSet(jwt({"exp": 1}), 1.0, SUBJECT, OLD)
    made.write("prod", SignIn(deployment.url, Application(provider.url, CLIENT), tokens))
    return made


def with_tokens(store: Store, **different: object) -> None:
    stored = store.read("prod")
    assert stored is not None
    assert stored.tokens is not None
    store.write("prod", replace(stored, tokens=replace(stored.tokens, **different)))  # type: ignore[arg-type]


def bearers(deployment: FakeDeployment) -> list[str]:
    return [request.headers["Authorization"].removeprefix("Bearer ") for request in deployment.requests]


def test_a_token_that_lasts_is_sent_without_asking_the_issuer(
    store: Store, provider: OpenIdProvider, deployment: FakeDeployment
) -> None:
    with_tokens(store, token="t.o.k", expires_at=time.time() + 600)
    deployment.on("GET", "/v1/models", success({"models": []}))
    with Client(signed_in("prod", store)) as client:
        client.models()
    assert bearers(deployment) == ["t.o.k"]
    assert provider.requests == []


def test_a_token_near_its_end_is_replaced_and_the_next_one_is_kept(
    store: Store, provider: OpenIdProvider, deployment: FakeDeployment
) -> None:
    with_tokens(store, token="t.o.k", expires_at=time.time() + 5)
    deployment.on("GET", "/v1/models", success({"models": []}))
    with Client(signed_in("prod", store)) as client:
        client.models()
        client.models()
    kept = store.read("prod")
    assert kept is not None
    assert kept.tokens is not None
    assert bearers(deployment) == [kept.tokens.token] * 2
    assert provider.refreshes() == 1


def test_many_at_once_refresh_once(store: Store, provider: OpenIdProvider) -> None:
    """Each as in a process of its own. A second refresh with the old refresh token would end the sign-in."""
    sources = [StoredTokens(store, "prod") for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        tokens = list(pool.map(lambda source: source.token(), sources))
    assert len(set(tokens)) == 1
    assert provider.refreshes() == 1


def test_a_refused_token_is_replaced_once_and_the_request_sent_again(
    store: Store, provider: OpenIdProvider, deployment: FakeDeployment
) -> None:
    with_tokens(store, token="t.o.k", expires_at=time.time() + 600)
    refused = Reply(401, b'{"message": "Unauthorized"}')
    deployment.on("GET", "/v1/models", refused, success({"models": []}))
    with Client(signed_in("prod", store)) as client:
        client.models()
    first, second = bearers(deployment)
    assert first == "t.o.k" != second
    deployment.on("GET", "/v1/models", refused)
    with Client(signed_in("prod", store)) as client, pytest.raises(AuthenticationError):
        client.models()
    assert len(deployment.requests) == 4


def test_what_another_process_got_meanwhile_is_used(store: Store, provider: OpenIdProvider) -> None:
    mine, other = StoredTokens(store, "prod"), StoredTokens(store, "prod")
    first = mine.token()
    second = other.renewed(first)
    assert mine.renewed(first) == second
    assert provider.refreshes() == 2


def test_an_awaiting_client_renews_too(
    store: Store, provider: OpenIdProvider, deployment: FakeDeployment
) -> None:
    deployment.on("GET", "/v1/models", Reply(401, b"{}"), success({"models": []}))

    async def ask() -> None:
        async with AsyncClient(signed_in("prod", store)) as client:
            await client.models()

    asyncio.run(ask())
    assert provider.refreshes() == 2
    assert len(set(bearers(deployment))) == 2


def test_a_fixed_token_that_is_refused_is_not_sent_again(deployment: FakeDeployment) -> None:
    deployment.on("GET", "/v1/models", Reply(401, b"{}"))
    with Client(Deployment(deployment.url, "a.b.c")) as client, pytest.raises(AuthenticationError):
        client.models()
    assert len(deployment.requests) == 1


def test_a_sign_in_that_has_ended_says_how_to_sign_in_again(
    store: Store, provider: OpenIdProvider, deployment: FakeDeployment
) -> None:
    provider.refresh_tokens.clear()
    with Client(signed_in("prod", store)) as client, pytest.raises(SignInEndedError) as ended:
        client.models()
    assert "`acta login --env prod`" in str(ended.value)
    assert OLD not in str(ended.value)
    assert deployment.requests == []
    kept = store.read("prod")
    assert kept is not None, "a refresh that fails destroys nothing"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_an_issuer_that_is_away_for_a_moment_is_asked_again_and_the_sign_in_goes_on(
    store: Store, provider: OpenIdProvider, deployment: FakeDeployment, status: int
) -> None:
    deployment.on("GET", "/v1/models", success({"models": []}))
    provider.error = (status, {"error": "server_error"})
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        provider.error = None

    with Client(signed_in("prod", store), pause=pause) as client:
        client.models()
    assert len(pauses) == 1
    assert len(deployment.requests) == 1


def test_an_issuer_that_stays_away_is_no_end_of_the_sign_in(
    store: Store, provider: OpenIdProvider, deployment: FakeDeployment
) -> None:
    provider.error = (503, {})
    client = Client(signed_in("prod", store), pause=lambda _: None)
    with client, pytest.raises(ApiConnectionError, match="the issuer"):
        client.models()
    assert deployment.requests == []
    kept = store.read("prod")
    assert kept is not None
    assert kept.tokens is not None
    assert kept.tokens.refresh_token == OLD


def test_without_a_refresh_token_it_ends_with_its_token(store: Store, provider: OpenIdProvider) -> None:
    with_tokens(store, refresh_token=None)
    with pytest.raises(SignInEndedError, match="acta login --env prod"):
        StoredTokens(store, "prod").token()
    assert provider.requests == []


def test_after_a_sign_out_nothing_is_sent(store: Store, deployment: FakeDeployment) -> None:
    store.sign_out("prod")
    with Client(signed_in("prod", store)) as client, pytest.raises(SignInEndedError):
        client.models()
    with pytest.raises(SignInEndedError, match="acta login --env dev"):
        signed_in("dev", store)
    assert deployment.requests == []
