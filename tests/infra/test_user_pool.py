"""The own user pool as it is synthesised: who may sign in, with which client, and what a client may do."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from acta.client.sign_in.loopback import CALLBACK_PATH, PORTS
from acta.infra.api.issuers import ExternalIssuer, OwnPool
from acta.infra.environments import PROD, Environment
from tests.infra.conftest import HASH, Synthesised, synthesised

IN_AWS = ("dev", "staging", "prod")
PAGE = "https://app.example.com/signed-in"


def clients(made: Synthesised) -> dict[str, Mapping[str, Any]]:
    """Logical id, without its hash -> properties."""
    found = made.stateful.resources("AWS::Cognito::UserPoolClient")
    return {HASH.sub("", name).removeprefix("UsersPool"): each["Properties"] for name, each in found.items()}


@pytest.fixture(scope="module")
def with_page(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    auth = OwnPool(mfa="required", token_minutes=15, sign_in_days=7, page_urls=(PAGE,))
    return synthesised(replace(PROD, auth=auth), tmp_path_factory.mktemp("page"))


def outputs(made: Synthesised) -> dict[str, Any]:
    return {name: each["Value"] for name, each in made.stateless.body["Outputs"].items()}


@pytest.mark.parametrize("name", IN_AWS)
def test_people_sign_in_on_the_pools_page_and_a_code_comes_back_to_their_own_machine(
    name: str, synthesise: Callable[[str], Synthesised]
) -> None:
    (client,) = clients(synthesise(name)).values()
    assert client["CallbackURLs"] == [f"http://127.0.0.1:{port}{CALLBACK_PATH}" for port in PORTS]
    assert len(PORTS) == 3
    assert client["AllowedOAuthScopes"] == ["openid", "email", "profile"]


def test_every_client_is_public_and_gets_tokens_for_a_code_and_in_no_other_way(
    with_page: Synthesised,
) -> None:
    """No implicit flow, no password sent to the API, no address at example.com."""
    made = clients(with_page)
    assert set(made) == {"Client", "Page"}
    for client in made.values():
        assert client["AllowedOAuthFlowsUserPoolClient"] is True
        assert client["AllowedOAuthFlows"] == ["code"]
        assert client["ExplicitAuthFlows"] == ["ALLOW_CUSTOM_AUTH"]
        assert client["GenerateSecret"] is False
        assert client["SupportedIdentityProviders"] == ["COGNITO"]
        assert not any("example.com" in url and url != PAGE for url in client["CallbackURLs"])
    assert made["Page"]["CallbackURLs"] == [PAGE]


def test_each_refresh_token_works_once_and_what_renews_past_the_pages_is_off(
    with_page: Synthesised,
) -> None:
    """Cognito refuses the flow for a client whose refresh tokens rotate. The flow that is named works for nobody."""
    of_page = with_page.stateless.resources("AWS::Cognito::UserPoolClient").values()
    for client in (*clients(with_page).values(), *(each["Properties"] for each in of_page)):
        assert client["RefreshTokenRotation"] == {"Feature": "ENABLED", "RetryGracePeriodSeconds": 30}
        assert "ALLOW_REFRESH_TOKEN_AUTH" not in client["ExplicitAuthFlows"]
    (pool,) = with_page.stateful.properties("AWS::Cognito::UserPool")
    triggers = pool.get("LambdaConfig", {})
    assert not {"DefineAuthChallenge", "CreateAuthChallenge", "VerifyAuthChallengeResponse"} & set(triggers)


def test_no_client_says_who_has_an_account_and_each_lets_a_sign_in_be_revoked(with_page: Synthesised) -> None:
    for client in clients(with_page).values():
        assert client["PreventUserExistenceErrors"] == "ENABLED"
        assert client["EnableTokenRevocation"] is True


def test_no_client_may_write_the_tenant_or_anything_but_name_and_address(with_page: Synthesised) -> None:
    for client in clients(with_page).values():
        assert sorted(client["WriteAttributes"]) == ["email", "name"]
        assert "custom:tenant" in client["ReadAttributes"]


def test_how_long_tokens_and_sign_ins_last_is_the_environments(with_page: Synthesised) -> None:
    made = clients(with_page)
    units = {"AccessToken": "minutes", "IdToken": "minutes", "RefreshToken": "minutes"}
    for client in made.values():
        assert client["TokenValidityUnits"] == units
        assert (client["IdTokenValidity"], client["AccessTokenValidity"]) == (15, 15)
    assert made["Client"]["RefreshTokenValidity"] == 7 * 24 * 60
    assert made["Page"]["RefreshTokenValidity"] == 12 * 60


def test_the_gateway_takes_tokens_of_each_of_its_clients_and_of_no_other(
    with_page: Synthesised, prod: Synthesised
) -> None:
    for made, count in ((with_page, 2), (prod, 1)):
        (authorizer,) = made.stateless.properties("AWS::ApiGatewayV2::Authorizer")
        named = authorizer["JwtConfiguration"]["Audience"]
        of_pool = made.stateful.resources("AWS::Cognito::UserPoolClient")
        (of_page,) = made.stateless.resources("AWS::Cognito::UserPoolClient")
        ids = [*of_pool, of_page]
        assert len(named) == count + 1 == len(ids)
        assert all(any(name in str(each) for each in named) for name in ids)


def test_the_page_has_a_client_that_brings_people_back_to_it_and_knows_its_issuer(prod: Synthesised) -> None:
    ((name, page),) = prod.stateless.resources("AWS::Cognito::UserPoolClient").items()
    properties = page["Properties"]
    (back,) = properties["CallbackURLs"]
    assert back["Fn::Join"][1][-1] == "/console/signed-in"
    assert properties["AllowedOAuthFlows"] == ["code"]
    assert "ALLOW_USER_SRP_AUTH" not in properties.get("ExplicitAuthFlows", [])
    (function,) = (
        each["Properties"]
        for each in prod.stateless.resources("AWS::Lambda::Function").values()
        if each["Properties"]["Handler"] == "acta.functions.console.handler.handler"
    )
    known = function["Environment"]["Variables"]
    assert known["ACTA_CONSOLE_CLIENT"] == {"Ref": name}
    assert (known["ACTA_CONSOLE_TAKES"], known["ACTA_CONSOLE_SCOPES"]) == ("id_token", "openid email profile")
    assert ".amazoncognito.com" in str(known["ACTA_CONSOLE_CONNECTS"])


def test_the_address_of_the_pages_cannot_be_another_deployments(prod: Synthesised) -> None:
    """All accounts of a region share the names; the stack's UUID is in it."""
    (domain,) = prod.stateful.properties("AWS::Cognito::UserPoolDomain")
    uuid = {"Fn::Select": [2, {"Fn::Split": ["/", {"Ref": "AWS::StackId"}]}]}
    assert domain["Domain"] == {"Fn::Join": ["", ["acta-", uuid]]}


@pytest.mark.parametrize("name", IN_AWS)
def test_nobody_makes_an_account_for_themselves_and_a_lost_password_comes_by_email_alone(
    name: str, synthesise: Callable[[str], Synthesised]
) -> None:
    (pool,) = synthesise(name).stateful.properties("AWS::Cognito::UserPool")
    assert pool["AdminCreateUserConfig"]["AllowAdminCreateUserOnly"] is True
    assert pool["AccountRecoverySetting"]["RecoveryMechanisms"] == [{"Name": "verified_email", "Priority": 1}]


def test_the_stack_says_all_that_a_sign_in_needs(with_page: Synthesised, prod: Synthesised) -> None:
    found = outputs(prod)
    assert found["SignInClient"] == found["Audience"]
    assert (found["SignInScopes"], found["SignInTakes"]) == ("openid email profile", "id_token")
    assert {"ApiUrl", "Issuer", "UserPoolId"} <= set(found)
    assert "PageClient" not in found
    assert outputs(with_page)["PageClient"] != found["SignInClient"]


def test_an_external_issuer_says_its_own_client_where_it_has_one(tmp_path: Path) -> None:
    auth = ExternalIssuer("https://login.example.com/", "acta", sign_in_client="acta-cli")
    found = outputs(synthesised(Environment(name="dev", auth=auth), tmp_path / "with"))
    assert found["Issuer"] == "https://login.example.com/"
    assert (found["SignInClient"], found["SignInTakes"]) == ("acta-cli", "access_token")
    assert found["SignInScopes"] == "openid email profile offline_access"
    without = outputs(synthesised(Environment(name="dev", auth=replace(auth, sign_in_client=None)), tmp_path))
    assert not {"SignInClient", "SignInScopes", "UserPoolId"} & set(without)


def test_the_page_signs_in_at_an_external_issuer_by_a_client_that_is_named(tmp_path: Path) -> None:
    auth = ExternalIssuer(
        "https://login.example.com/eu/",
        "acta",
        page_client="acta-page",
        page_connects=("https://tokens.example.com",),
        sign_in_takes="id_token",
    )
    made = synthesised(Environment(name="dev", auth=auth), tmp_path).stateless
    (known,) = (
        each["Properties"]["Environment"]["Variables"]
        for each in made.resources("AWS::Lambda::Function").values()
        if each["Properties"]["Handler"] == "acta.functions.console.handler.handler"
    )
    assert known["ACTA_CONSOLE_ISSUER"] == "https://login.example.com/eu/"
    assert known["ACTA_CONSOLE_CLIENT"] == "acta-page"
    assert known["ACTA_CONSOLE_CONNECTS"] == "https://login.example.com https://tokens.example.com"
    (authorizer,) = made.properties("AWS::ApiGatewayV2::Authorizer")
    assert authorizer["JwtConfiguration"]["Audience"] == ["acta", "acta-page"]


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: OwnPool(token_minutes=4), "token_minutes"),
        (lambda: OwnPool(token_minutes=1_441), "token_minutes"),
        (lambda: OwnPool(sign_in_days=0), "sign_in_days"),
        (lambda: OwnPool(page_urls=("http://app.example.com",)), "page_urls"),
        (lambda: OwnPool(page_urls=("https://app.example.com/#code",)), "page_urls"),
        (lambda: ExternalIssuer("https://i", "a", page_connects=("https://t/x",)), "page_connects"),
        (lambda: ExternalIssuer("https://i", "a", sign_in_scopes=("email",)), "sign_in_scopes"),
        (lambda: ExternalIssuer("https://i", "a", sign_in_scopes=("openid", "a b")), "sign_in_scopes"),
    ],
)
def test_a_sign_in_that_cannot_be_meant_is_refused(make: Callable[[], object], names: str) -> None:
    with pytest.raises(ValueError, match=names):
        make()
