"""Programs with a client of the own pool: their tokens name a tenant and roles, and nobody else's do by them."""

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from acta.infra.api.issuers import Machine, OwnPool
from acta.infra.api.machine_claims import MACHINES, ROLES_CLAIM, TENANT_CLAIM, handler
from acta.infra.environments import DEV, PROD, Environment
from acta.infra.stateless import machine_output
from tests.infra.conftest import Synthesised, synthesised

NIGHTLY = Machine("acme")
OF_BILLING = Machine("other", ("member", "finance"))
AUTH = OwnPool(mfa="required", token_minutes=30, machines={"nightly": NIGHTLY, "of-billing": OF_BILLING})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    return synthesised(replace(PROD, auth=AUTH), tmp_path_factory.mktemp("machines"))


def machine_clients(made: Synthesised) -> dict[str, dict[str, Any]]:
    """Logical id -> properties."""
    found = made.stateful.resources("AWS::Cognito::UserPoolClient")
    return {name: each["Properties"] for name, each in found.items() if each["Properties"]["GenerateSecret"]}


def test_each_machine_has_a_client_that_can_be_that_machine_and_no_other(made: Synthesised) -> None:
    clients = machine_clients(made)
    assert len(clients) == 2
    scopes = []
    for client in clients.values():
        assert client["AllowedOAuthFlows"] == ["client_credentials"]
        assert client["AccessTokenValidity"] == 30
        assert "custom:tenant" not in client["WriteAttributes"]
        assert not client.get("CallbackURLs")
        (scope,) = client["AllowedOAuthScopes"]
        scopes.append(scope["Fn::Join"][1][1])
    assert sorted(scopes) == ["/nightly", "/of-billing"]
    (server,) = made.stateful.properties("AWS::Cognito::UserPoolResourceServer")
    assert server["Identifier"] == "acta"


def test_people_cannot_ask_for_the_scope_of_a_machine(made: Synthesised) -> None:
    for client in made.stateful.properties("AWS::Cognito::UserPoolClient"):
        if not client["GenerateSecret"]:
            assert client["AllowedOAuthScopes"] == ["openid", "email", "profile"]


def test_the_gateway_takes_tokens_of_machines(made: Synthesised) -> None:
    (authorizer,) = made.stateless.properties("AWS::ApiGatewayV2::Authorizer")
    named = str(authorizer["JwtConfiguration"]["Audience"])
    assert all(name in named for name in machine_clients(made))
    assert {"MachineNightly", "MachineOfBilling"} <= set(made.stateless.body["Outputs"])


def test_no_two_machines_share_an_output() -> None:
    assert machine_output("nightly-report") == "MachineNightlyReport"
    names = [
        "-".join(parts) for n in range(1, 5) for parts in product(("a", "h", "1", "x", "h1", "ah"), repeat=n)
    ]
    names += ["a1", "a-1b", "ab1", "x1"]
    outputs = {machine_output(name) for name in names}
    assert len(outputs) == len(names)
    assert all(each.isalnum() for each in outputs)


def test_the_trigger_has_no_right_and_cognito_alone_calls_it(made: Synthesised) -> None:
    (pool,) = made.stateful.properties("AWS::Cognito::UserPool")
    assert pool["UserPoolTier"] == "ESSENTIALS"
    assert pool["LambdaConfig"]["PreTokenGenerationConfig"]["LambdaVersion"] == "V3_0"
    (role,) = made.stateful.properties("AWS::IAM::Role")
    assert not role.get("Policies")
    assert not role.get("ManagedPolicyArns")
    assert not made.stateful.resources("AWS::IAM::Policy")
    (permission,) = made.stateful.properties("AWS::Lambda::Permission")
    assert permission["Principal"] == "cognito-idp.amazonaws.com"
    assert "UsersPool" in str(permission["SourceArn"])
    assert made.findings == ()


def test_without_machines_there_is_no_trigger_and_the_plan_is_as_it_was(prod: Synthesised) -> None:
    (pool,) = prod.stateful.properties("AWS::Cognito::UserPool")
    assert not {"LambdaConfig", "UserPoolTier"} & set(pool)
    assert not prod.stateful.resources("AWS::Lambda::Function")


def claims(made: Synthesised, monkeypatch: pytest.MonkeyPatch, source: str, *scopes: str) -> Any:
    """What the deployed trigger adds, with the variables that are deployed with it."""
    (function,) = made.stateful.properties("AWS::Lambda::Function")
    monkeypatch.setenv(MACHINES, function["Environment"]["Variables"][MACHINES])
    event = {"triggerSource": source, "request": {"scopes": list(scopes)}, "response": {}}
    deployed: dict[str, Any] = {}
    exec(function["Code"]["ZipFile"], deployed)  # noqa: S102
    answered = deployed["handler"](event, None)
    assert answered == handler({**event, "response": {}}, None)
    added = answered["response"].get("claimsAndScopeOverrideDetails", {})
    return added.get("accessTokenGeneration", {}).get("claimsToAddOrOverride")


def test_a_machines_token_names_its_tenant_and_its_roles(
    made: Synthesised, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = claims(made, monkeypatch, "TokenGeneration_ClientCredentials", "acta/of-billing")
    assert found == {TENANT_CLAIM: "other", ROLES_CLAIM: ["member", "finance"]}


def test_what_a_machines_token_gets_is_none_of_the_pools_own_claims() -> None:
    """Cognito leaves those out of a machine's token, and no attribute of a person can have another name.

    Source: Amazon Cognito developer guide, "Claims and scopes reference": `cognito:groups` and `custom:` are of users,
    "Any claim not in the user pool token schema" of machines, too.
    """
    for name in (TENANT_CLAIM, ROLES_CLAIM):
        assert ":" not in name
        assert name not in {DEV.tenant_claim, DEV.roles_claim}


def test_the_functions_read_the_claims_of_machines_where_there_are_some(
    made: Synthesised, prod: Synthesised, local: Synthesised
) -> None:
    def read(of: Synthesised) -> set[tuple[str, str]]:
        variables = [
            each["Environment"]["Variables"]
            for each in of.stateless.properties("AWS::Lambda::Function")
            if each["Handler"].startswith("acta.functions.")
        ]
        assert variables
        return {
            (each.get("ACTA_MACHINE_TENANT_CLAIM", ""), each.get("ACTA_MACHINE_ROLES_CLAIM", ""))
            for each in variables
        }

    assert read(made) == {(TENANT_CLAIM, ROLES_CLAIM)}
    assert read(prod) == read(local) == {("", "")}


@pytest.mark.parametrize(
    "source",
    ["TokenGeneration_HostedAuth", "TokenGeneration_RefreshTokens", "TokenGeneration_Authentication"],
)
def test_a_persons_token_stays_as_it_is_whatever_scopes_it_has(
    made: Synthesised, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    assert claims(made, monkeypatch, source, "openid", "acta/nightly") is None


@pytest.mark.parametrize(
    "scopes", [(), ("openid",), ("acta/unknown",), ("acta/nightly", "acta/of-billing"), ("xacta/nightly",)]
)
def test_a_machine_that_is_not_known_gets_no_token(
    made: Synthesised, monkeypatch: pytest.MonkeyPatch, scopes: tuple[str, ...]
) -> None:
    with pytest.raises(ValueError, match="no machine"):
        claims(made, monkeypatch, "TokenGeneration_ClientCredentials", *scopes)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Machine(""),
        lambda: Machine("a/b"),
        lambda: Machine("t" * 65),
        lambda: Machine("t", ()),
        lambda: Machine("t", ("Billing admin",)),
        lambda: Machine("t", ("r",) * 6),
        lambda: OwnPool(machines={"Nightly": NIGHTLY}),
        lambda: OwnPool(machines={"a/b": NIGHTLY}),
        lambda: OwnPool(machines={f"m{n}": NIGHTLY for n in range(41)}),
        lambda: OwnPool(machines={f"m{n}": Machine("t" * 64, ("r" * 64,)) for n in range(25)}),
    ],
)
def test_a_machine_that_cannot_be_meant_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"Machine|machine"):
        make()


def test_the_table_of_machines_fits_into_a_variable() -> None:
    environment = Environment(name="dev", auth=AUTH)
    assert isinstance(environment.auth, OwnPool)
    assert set(json.loads(environment.auth.machine_table)) == {"nightly", "of-billing"}
