"""Who is calling."""

import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest

from acta.engine.api.identity import Caller, claimed, from_event, is_program
from acta.engine.errors import CallerError, Forbidden, Unauthorized
from acta.engine.settings import Settings
from tests.api.gateway import Gateway, claims
from tests.api.samples import SETTINGS, start_api

OWN_POOL = SETTINGS.but(tenant_claim="custom:tenant", roles_claim="cognito:groups")
WITH_MACHINES = OWN_POOL.but(machine_tenant_claim="acta_tenant", machine_roles_claim="acta_roles")
"""Of an own pool with machines."""
MACHINE = {
    "sub": "1example23456789",
    "client_id": "1example23456789",
    "token_use": "access",
    "scope": "acta/nightly",
    "acta_tenant": "acme",
    "acta_roles": "[member finance]",
}
PERSON = {"sub": "1f0c3a52-7d0e-4b1c-9a54-1f0d5f2f8b11", "token_use": "id", "cognito:username": "1f0c3a52"}


def bearer(token: Mapping[str, object], settings: Settings = WITH_MACHINES) -> Caller:
    return from_event(with_claims(token), settings.but(roles_have_no_spaces=True))


def with_claims(token: Mapping[str, object]) -> dict[str, object]:
    return {"requestContext": {"authorizer": {"jwt": {"claims": token}}}}


def test_a_machine_has_the_tenant_and_the_roles_of_its_own_claims() -> None:
    assert bearer(MACHINE) == Caller("acme", "1example23456789", frozenset({"member", "finance"}))
    assert claimed(with_claims(MACHINE), WITH_MACHINES) == ("acme", "1example23456789")


def test_where_no_machines_are_listed_their_claims_count_for_nothing() -> None:
    with pytest.raises(Forbidden, match="names no tenant"):
        bearer(MACHINE, OWN_POOL)
    assert claimed(with_claims(MACHINE), OWN_POOL)[0] == ""


@pytest.mark.parametrize(
    "person",
    [
        PERSON,
        {**PERSON, "token_use": "access", "client_id": "1example23456789"},
        {**PERSON, "client_id": ""},
        {**PERSON, "custom:tenant": ""},
        {**MACHINE, "custom:tenant": " "},
        {**MACHINE, "client_id": ["1example23456789"]},
    ],
)
def test_claims_of_machines_in_anybody_elses_token_count_for_nothing(person: Mapping[str, object]) -> None:
    """No such token is ever made (`acta/infra/api/machine_claims.py`), and if it were it would reach nothing."""
    token = {"acta_tenant": "acme", "acta_roles": "[admin]", **person}
    with pytest.raises(Forbidden, match="names no tenant"):
        bearer(token)
    assert claimed(with_claims(token), WITH_MACHINES)[0] in ("", " ")


def test_a_person_has_the_tenant_and_the_roles_of_the_pools_claims_alone() -> None:
    pools = {**PERSON, "custom:tenant": "theirs", "cognito:groups": "[member]"}
    found = bearer({**pools, "acta_tenant": "acme", "acta_roles": "[admin]"})
    assert (found.tenant, found.roles) == ("theirs", frozenset({"member"}))
    without_roles = {**PERSON, "custom:tenant": "theirs", "acta_roles": "[admin]"}
    assert bearer(without_roles).roles == frozenset()


@pytest.mark.parametrize("tenant", [None, "", " ", "a/b", "-a", 7])
def test_a_machine_without_a_usable_tenant_reaches_nothing(tenant: object) -> None:
    with pytest.raises(Forbidden):
        bearer({**MACHINE, "acta_tenant": tenant})


def test_a_machine_has_no_role_of_a_claim_that_is_not_its_own() -> None:
    token = {name: value for name, value in MACHINE.items() if name != "acta_roles"}
    assert bearer({**token, "cognito:groups": "[admin]"}).roles == frozenset()


@pytest.mark.parametrize(
    ("token", "is_one"),
    [
        (MACHINE, True),
        (PERSON, False),
        ({"sub": "svc", "azp": "svc"}, True),
        ({"sub": "svc", "cid": "svc"}, True),
        ({"sub": "a@clients", "azp": "a", "gty": "client-credentials"}, True),
        ({"sub": "7f", "appid": "9c", "idtyp": "app"}, True),
        ({"sub": "ann", "client_id": "page", "azp": "page", "cid": "page"}, False),
    ],
)
def test_a_program_is_known_by_its_token_and_decides_only_where_programs_may(
    token: dict[str, object], is_one: bool
) -> None:
    assert is_program(token) == is_one
    event = with_claims({"tenant": "t", **token})
    strict = SETTINGS.but(programs_decide=False)
    assert from_event(event, SETTINGS).decides
    assert from_event(event, strict).decides is not is_one


def encoded(token: Mapping[str, object]) -> str:
    payload = base64.urlsafe_b64encode(json.dumps(token).encode()).decode().rstrip("=")
    return f"Bearer e30.{payload}.c2ln"


def handed_over(token: Mapping[str, object]) -> dict[str, Any]:
    """As the gateway passes the claims on: each as text, if it is not null."""

    def text(value: object) -> str:
        if isinstance(value, list):
            return f"[{' '.join(map(text, value))}]"
        return value if isinstance(value, str) else json.dumps(value)

    claims = {name: text(value) for name, value in token.items() if value is not None}
    return {**with_claims(claims), "headers": {"Authorization": encoded(token)}}


NO_TEXTS: tuple[object, ...] = (None, False, True, 0, 5, 1.5, [], ["acme"], ["a", "b"], {}, {"id": "acme"})
GOOD = {"sub": "ann", "tenant": "acme", "roles": ["member"]}


@pytest.mark.parametrize("value", [*NO_TEXTS, "", " "])
@pytest.mark.parametrize(("claim", "refused"), [("sub", Unauthorized), ("tenant", Forbidden)])
def test_a_claim_that_is_no_text_in_the_token_names_nobody(
    value: object, claim: str, refused: type[CallerError]
) -> None:
    with pytest.raises(refused):
        from_event(handed_over({**GOOD, claim: value}), SETTINGS)


@pytest.mark.parametrize("text", ["null", "undefined", "true", "5", "None"])
def test_a_text_is_a_name_whatever_it_reads_like(text: str) -> None:
    found = from_event(handed_over({**GOOD, "tenant": text, "sub": text}), SETTINGS)
    assert (found.tenant, found.user) == (text, text)


@pytest.mark.parametrize(
    "roles", [*(each for each in NO_TEXTS if each not in (["acme"], ["a", "b"])), ["admin", 5]]
)
def test_roles_that_are_no_names_grant_nothing(roles: object) -> None:
    mapped = SETTINGS.but(
        role_map={"true": "admin", "5": "admin", "null": "admin", "admin": "admin"}, roles_have_no_spaces=True
    )
    assert from_event(handed_over({**GOOD, "roles": roles}), mapped).roles == frozenset()
    assert from_event(handed_over({**GOOD, "roles": ["admin", "5"]}), mapped).roles == {"admin"}


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer a.b", "a.b.c", "Bearer a.W10.c"])
def test_a_token_that_cannot_be_read_names_nobody(header: str) -> None:
    event = {**handed_over(GOOD), "headers": {"authorization": header}}
    with pytest.raises(Unauthorized):
        from_event(event, SETTINGS)


def test_the_gateways_claims_count_and_not_the_headers() -> None:
    for claim, refused in (("sub", Unauthorized), ("tenant", Forbidden)):
        event = {**handed_over(GOOD), "headers": {"authorization": encoded({**GOOD, claim: "another"})}}
        with pytest.raises(refused):
            from_event(event, SETTINGS)
    forged = {**handed_over(GOOD), "headers": {"authorization": encoded({**GOOD, "roles": ["admin"]})}}
    assert from_event(forged, SETTINGS).roles == {"member"}


def caller(**named: object) -> Caller:
    event = {"requestContext": {"authorizer": {"jwt": {"claims": claims(**named)}}}}
    return from_event(event, SETTINGS)


@pytest.mark.parametrize(
    "claim", ["administrator", "ADMIN", "not-admin", "admin:read", "[Billing admin]", "Billing admin"]
)
def test_a_role_is_its_whole_name(claim: str) -> None:
    with pytest.raises(Forbidden):
        caller(roles=claim).require("admin")


def test_an_admin_is_a_member_and_a_member_no_admin() -> None:
    caller(roles="[admin]").require("member")
    with pytest.raises(Forbidden):
        caller(roles="[member]").require("admin")


def test_claim_names_are_configurable() -> None:
    event = {
        "requestContext": {
            "authorizer": {"jwt": {"claims": {"sub": "u", "custom:tenant": "t", "groups": "[x]"}}}
        }
    }
    assert from_event(event, SETTINGS.but(tenant_claim="custom:tenant", roles_claim="groups")) == Caller(
        "t", "u", frozenset({"x"})
    )


@pytest.mark.parametrize("user", [None, "", "  ", "u" * 129, "u\n1", 7, ["u"]])
def test_a_token_without_a_usable_subject_identifies_nobody(user: object) -> None:
    with pytest.raises(Unauthorized):
        caller(user=user)


@pytest.mark.parametrize(
    "tenant",
    [None, "", " ", "t" * 129, "a/b", "a#b", "../b", "a b", "a\0b", "a%2fb", "-a", ".", "ä", 7, ["a"]],
)
def test_a_token_without_a_usable_tenant_reaches_nothing(tenant: object) -> None:
    with pytest.raises(Forbidden):
        caller(tenant=tenant)


@pytest.mark.parametrize(
    "tenant", ["a", "t" * 128, "org_1", "acme.example", "1f0c3a52-7d0e-4b1c-9a54-1f0d5f2f8b11"]
)
def test_usual_tenant_names_are_accepted(tenant: str) -> None:
    assert caller(tenant=tenant).tenant == tenant


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"requestContext": {}},
        {"requestContext": {"authorizer": None}},
        {"requestContext": {"authorizer": {"jwt": {"claims": {}}}}},
        {"requestContext": {"authorizer": {"lambda": {"sub": "u", "tenant": "t"}}}},
        {"headers": {"authorization": "Bearer x", "tenant": "t", "sub": "u"}},
    ],
)
def test_without_verified_claims_nobody_is_identified(event: dict[str, object]) -> None:
    with pytest.raises(Unauthorized):
        from_event(event, SETTINGS)


def test_the_tenant_comes_from_the_token_and_from_nowhere_else() -> None:
    named = {"tenant": "theirs", "x-tenant": "theirs"}
    mine = Gateway(start_api().handler, token=claims(tenant="mine"))
    answer = mine.request("POST", "/v1/sessions", json_body={}, headers=named)
    assert answer.data["tenant"] == "mine"
    refused = mine.request("POST", "/v1/sessions", json_body={}, headers=named, query="tenant=theirs")
    assert (refused.status, list(refused.error["details"])) == (400, ["tenant"])


def test_a_missing_role_is_refused_before_the_body_is_looked_at() -> None:
    answer = Gateway(start_api().handler, token=claims(roles="[guest]")).request(
        "POST", "/v1/sessions", body="{"
    )
    assert (answer.status, answer.error["code"]) == (403, "FORBIDDEN")
    assert answer.error["details"] == {"role": ["member"]}


@pytest.mark.parametrize("named", [{"tenant": "a/secret"}, {"user": "secret\n"}, {"roles": "[secret]"}])
def test_a_refusal_never_quotes_a_claim(named: dict[str, object]) -> None:
    with pytest.raises(CallerError) as refused:
        caller(**named).require("member")
    assert "secret" not in str(refused.value)
