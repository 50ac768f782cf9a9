"""What is checked before a token is believed, and what an issuer may not lead to."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from acta.client.errors import ApiConnectionError, SignInEndedError, SignInError
from acta.client.sign_in import oidc
from acta.client.sign_in.oidc import Application, AuthorizationRequest, IssuerClient, TokenSet
from acta.local_aws.loopback import free_port
from tests.acta.openid_provider import CLIENT, SUBJECT, OpenIdProvider, jwt

REDIRECT = "http://127.0.0.1:22820/callback"


@pytest.fixture
def provider() -> Iterator[OpenIdProvider]:
    with OpenIdProvider() as running:
        yield running


@pytest.fixture
def issuer(provider: OpenIdProvider) -> Iterator[IssuerClient]:
    application = Application(provider.url, CLIENT)
    with oidc.client(application) as http:
        yield IssuerClient(application, http)


def brought_back(issuer: IssuerClient, attempt: AuthorizationRequest) -> dict[str, str]:
    """What the browser brings back."""
    address = issuer.address_to_open(issuer.endpoints(), attempt, REDIRECT)
    with httpx2.Client(trust_env=False) as browser:
        location = browser.get(address).headers["Location"]
    return {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}


def signed_in(issuer: IssuerClient, attempt: AuthorizationRequest | None = None) -> TokenSet:
    attempt = attempt or AuthorizationRequest()
    endpoints = issuer.endpoints()
    code = issuer.code(endpoints, attempt, brought_back(issuer, attempt))
    return issuer.exchange(endpoints, attempt, code, REDIRECT)


def test_a_code_becomes_tokens_for_who_has_its_verifier(issuer: IssuerClient) -> None:
    tokens = signed_in(issuer)
    assert tokens.subject == SUBJECT
    assert tokens.token.count(".") == 2
    assert tokens.refresh_token


def test_a_code_is_of_no_use_to_another_attempt(issuer: IssuerClient) -> None:
    attempt, endpoints = AuthorizationRequest(), issuer.endpoints()
    code = issuer.code(endpoints, attempt, brought_back(issuer, attempt))
    with pytest.raises(SignInEndedError):
        issuer.exchange(endpoints, AuthorizationRequest(nonce=attempt.nonce), code, REDIRECT)


def test_each_attempt_has_its_own_secrets_and_shows_none(issuer: IssuerClient) -> None:
    one, other = AuthorizationRequest(), AuthorizationRequest()
    assert {one.state, one.nonce, one.verifier}.isdisjoint({other.state, other.nonce, other.verifier})
    assert 43 <= len(one.verifier) <= 128
    assert one.verifier not in repr(one)
    assert one.verifier not in issuer.address_to_open(issuer.endpoints(), one, REDIRECT)


def test_the_challenge_is_that_of_the_standard() -> None:
    """RFC 7636, appendix B."""
    attempt = AuthorizationRequest(verifier="dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    assert attempt.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


@pytest.mark.parametrize(
    ("back", "why"),
    [
        ({"state": "another"}, "not the answer"),
        ({"state": None}, "not the answer"),
        ({"iss": "https://evil.example"}, "another issuer"),
        ({"error": "access_denied", "error_description": "Not today."}, "refused: Not today"),
        ({"code": None}, "no code"),
    ],
)
def test_what_the_browser_brings_back_is_checked(
    provider: OpenIdProvider, issuer: IssuerClient, back: dict[str, Any], why: str
) -> None:
    provider.back = back
    attempt = AuthorizationRequest()
    with pytest.raises(SignInError, match=why):
        issuer.code(issuer.endpoints(), attempt, brought_back(issuer, attempt))


def test_an_issuer_that_names_itself_in_answers_has_to_do_so_in_each(
    provider: OpenIdProvider, issuer: IssuerClient
) -> None:
    provider.changes = {"authorization_response_iss_parameter_supported": True}
    with pytest.raises(SignInError, match="another issuer"):
        signed_in(issuer)
    provider.back = {"iss": provider.url}
    assert signed_in(issuer).subject == SUBJECT


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example"},
        {"aud": "another-client"},
        {"aud": [CLIENT, "another-client"]},
        {"aud": [CLIENT, "another-client"], "azp": "another-client"},
        {"exp": 1},
        {"exp": None},
        {"sub": None},
    ],
)
def test_an_id_token_for_somebody_else_is_not_taken(
    provider: OpenIdProvider, issuer: IssuerClient, claims: dict[str, Any]
) -> None:
    provider.claims = claims
    with pytest.raises(SignInError, match="no ID token that is for this application") as refused:
        signed_in(issuer)
    assert ".x" not in str(refused.value)


@pytest.mark.parametrize("nonce", ["another", None])
def test_an_id_token_of_another_sign_in_is_not_taken(
    provider: OpenIdProvider, issuer: IssuerClient, nonce: str | None
) -> None:
    provider.claims = {"nonce": nonce}
    with pytest.raises(SignInError, match="another sign-in"):
        signed_in(issuer)


def test_a_token_for_several_that_names_this_client_is_taken(
    provider: OpenIdProvider, issuer: IssuerClient
) -> None:
    provider.claims = {"aud": [CLIENT, "api"], "azp": CLIENT}
    assert signed_in(issuer).subject == SUBJECT


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"issuer": "https://evil.example"}, "another issuer"),
        ({"token_endpoint": "http://evil.example/token"}, "https://"),
        ({"token_endpoint": None}, "https://"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "https://"),
        ({"authorization_endpoint": "https://user@evil.example/"}, "https://"),
        ({"revocation_endpoint": "file:///etc/passwd"}, "https://"),
        ({"code_challenge_methods_supported": ["plain"]}, "PKCE"),
    ],
)
def test_a_configuration_that_leads_elsewhere_is_refused(
    provider: OpenIdProvider, issuer: IssuerClient, changes: dict[str, Any], why: str
) -> None:
    provider.changes = changes
    with pytest.raises(SignInError, match=why):
        issuer.endpoints()


@pytest.mark.parametrize(
    "address", ["http://issuer.example", "issuer.example", "", "https://", "ftp://127.0.0.1"]
)
def test_an_issuer_is_asked_over_https_alone(address: str) -> None:
    with pytest.raises(SignInError, match="https://"):
        Application(address, CLIENT)


def test_tokens_are_refreshed_and_stay_the_same_persons(
    provider: OpenIdProvider, issuer: IssuerClient
) -> None:
    tokens = signed_in(issuer)
    again = issuer.refresh(issuer.endpoints(), tokens)
    assert again.token != tokens.token
    assert again.refresh_token not in (None, tokens.refresh_token)
    provider.claims = {"sub": "eve"}
    with pytest.raises(SignInError, match="somebody else"):
        issuer.refresh(issuer.endpoints(), again)


def test_a_refresh_token_that_holds_on_is_kept(provider: OpenIdProvider, issuer: IssuerClient) -> None:
    """Cognito's does; it sends no other one."""
    tokens = signed_in(issuer)
    provider.answer = {"refresh_token": None}
    assert issuer.refresh(issuer.endpoints(), tokens).refresh_token == tokens.refresh_token


def test_a_sign_in_that_the_issuer_ended_is_told_apart_from_a_failure(
    provider: OpenIdProvider, issuer: IssuerClient
) -> None:
    tokens = signed_in(issuer)
    provider.error = (400, {"error": "invalid_client"})
    with pytest.raises(SignInError, match=r"status 400 \(invalid_client\)"):
        issuer.refresh(issuer.endpoints(), tokens)
    provider.error = (400, {"error": "invalid_grant"})
    with pytest.raises(SignInEndedError):
        issuer.refresh(issuer.endpoints(), tokens)


def test_the_access_token_is_taken_where_the_api_wants_it(provider: OpenIdProvider) -> None:
    application = Application(provider.url, CLIENT, takes="access_token")
    access = jwt({"exp": 99_999_999_999})
    provider.answer = {"access_token": access}
    with oidc.client(application) as http:
        tokens = signed_in(IssuerClient(application, http))
    assert (tokens.token, tokens.expires_at) == (access, 99_999_999_999)


def test_a_token_that_cannot_be_read_lasts_as_long_as_the_issuer_says(provider: OpenIdProvider) -> None:
    application = Application(provider.url, CLIENT, takes="access_token")
    with oidc.client(application) as http:
        issuer = IssuerClient(application, http, clock=lambda: 1_000.0)
        assert signed_in(issuer).expires_at == 1_000 + provider.ttl
        for none in (None, True, -1, 10**30, "3600"):
            provider.answer = {"expires_in": none}
            assert signed_in(issuer).expires_at == 1_000 + oidc.LEAST_SECONDS
        provider.answer = {"access_token": jwt({"exp": 10**30})}
        assert signed_in(issuer).expires_at == 1_000 + provider.ttl


def test_a_sign_in_is_revoked_where_the_issuer_can(provider: OpenIdProvider, issuer: IssuerClient) -> None:
    tokens = signed_in(issuer)
    assert issuer.revoke(issuer.endpoints(), tokens)
    assert tokens.refresh_token not in provider.refresh_tokens
    provider.changes = {"revocation_endpoint": None}
    assert not issuer.revoke(issuer.endpoints(), tokens)


def test_no_answer_is_no_refusal() -> None:
    application = Application(f"http://127.0.0.1:{free_port()}", CLIENT)
    with (
        oidc.client(application) as http,
        pytest.raises(ApiConnectionError, match="no answer from the issuer"),
    ):
        IssuerClient(application, http).endpoints()


def test_what_shows_tokens_for_a_log_shows_none(issuer: IssuerClient) -> None:
    tokens = signed_in(issuer)
    assert tokens.token not in repr(tokens)
    assert str(tokens.refresh_token) not in repr(tokens)
