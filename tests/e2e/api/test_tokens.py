"""Who may come in: only a token that the issuer signed, for this audience, now, for a tenant."""

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Callable
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from acta.engine.api.operation import Operation
from acta.engine.api.operations import OPERATIONS
from tests.conftest import Deployed
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.document import checked
from tests.e2e.support.person import Json, refused

GATEWAY_REFUSAL = {"message": "Unauthorized"}

Mint = Callable[..., str]


@pytest.fixture
def mint(deployed: Deployed) -> Mint:
    """A token as the issuer makes them, but for what is given: claims by name (None: left out), `key`, `kid`."""

    def make(key: Any = None, algorithm: str = "RS256", kid: str | None = None, **claims: Any) -> str:
        issuer = deployed.issuer
        good: Json = {"iss": issuer.url, "aud": "acta", "sub": "ann", "tenant": "t", "roles": '["member"]',
                      "iat": int(time.time()), "exp": int(time.time()) + 600}  # fmt: skip
        told = {name: value for name, value in (good | claims).items() if value is not None}
        return jwt.encode(told, key or issuer.key, algorithm=algorithm, headers={"kid": kid or issuer.key_id})

    return make


@pytest.fixture
def knock(deployed: Deployed) -> Callable[[str | None], httpx.Response]:
    def get(authorization: str | None) -> httpx.Response:
        headers = {} if authorization is None else {"Authorization": authorization}
        url = f"{deployed.url}/v1/sessions"
        return checked(httpx.get(url, headers=headers, timeout=60, trust_env=False))

    return get


Knock = Callable[[str | None], httpx.Response]


def turned_away(answer: httpx.Response) -> None:
    """By the gateway, in its own words."""
    assert answer.status_code == 401
    assert answer.json() == GATEWAY_REFUSAL


def encoded(part: Json) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


def test_a_token_of_the_issuer_opens_the_door(knock: Knock, mint: Mint) -> None:
    assert knock(f"Bearer {mint()}").status_code == 200


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer x",
        "Bearer a.b.c",
        "Bearer ..",
        "Basic YW5uOmFubg==",
        "Bearer " + "A" * 5_000,
    ],
)
def test_no_token_or_garbage_is_turned_away_by_the_gateway(knock: Knock, authorization: str | None) -> None:
    turned_away(knock(authorization))


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": -60},
        {"exp": None},
        {"exp": "tomorrow"},
        {"nbf": 600},
        {"aud": "another"},
        {"aud": None},
        {"iss": "https://issuer.example"},
        {"iss": None},
    ],
    ids=["expired", "no expiry", "expiry is a word", "not yet valid", "other audience", "no audience", "other issuer",
         "no issuer"],
)  # fmt: skip
def test_a_token_for_another_time_audience_or_issuer_is_turned_away(
    knock: Knock, mint: Mint, claims: Json
) -> None:
    """Numbers are seconds from when the test runs, which may be long after it was collected."""
    told = {
        name: int(time.time()) + value if isinstance(value, int) else value for name, value in claims.items()
    }
    turned_away(knock(f"Bearer {mint(**told)}"))


def test_a_token_signed_by_somebody_else_is_turned_away(knock: Knock, mint: Mint) -> None:
    other = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    turned_away(knock(f"Bearer {mint(key=other)}"))
    turned_away(knock(f"Bearer {mint(kid='another')}"))


def test_a_token_that_was_changed_after_signing_is_turned_away(knock: Knock, mint: Mint) -> None:
    header, payload, signature = mint().split(".")
    claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
    turned_away(knock(f"Bearer {header}.{encoded(claims | {'tenant': 'other'})}.{signature}"))
    turned_away(knock(f"Bearer {header}.{payload}.{signature[:-8]}"))


def test_a_token_without_a_signature_is_turned_away(deployed: Deployed, knock: Knock, mint: Mint) -> None:
    payload = mint().split(".")[1]
    for algorithm in ("none", "None", "NONE", ""):
        header = encoded({"alg": algorithm, "typ": "JWT", "kid": deployed.issuer.key_id})
        turned_away(knock(f"Bearer {header}.{payload}."))


def test_a_token_signed_with_the_public_key_as_a_shared_secret_is_turned_away(
    deployed: Deployed, knock: Knock, mint: Mint
) -> None:
    """The HS256 confusion: whoever knows the issuer's published key could sign with it."""
    public = deployed.issuer.key.public_key()
    forms = (serialization.PublicFormat.SubjectPublicKeyInfo, serialization.PublicFormat.PKCS1)
    header = encoded({"alg": "HS256", "typ": "JWT", "kid": deployed.issuer.key_id})
    signed = f"{header}.{mint().split('.')[1]}"
    for form in forms:
        secret = public.public_bytes(serialization.Encoding.PEM, form)
        mac = hmac.new(secret, signed.encode(), hashlib.sha256).digest()
        turned_away(knock(f"Bearer {signed}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"))


@pytest.mark.parametrize(
    "tenant",
    [
        None,
        "",
        " ",
        "a/b",
        "a#b",
        "../a",
        "a b",
        "ä",
        "x" * 129,
        ".a",
        ["a", "b"],
        ["a"],
        True,
        False,
        5,
        {"id": "a"},
    ],
)
def test_a_token_that_names_no_usable_tenant_is_forbidden(knock: Knock, mint: Mint, tenant: object) -> None:
    refused(knock(f"Bearer {mint(tenant=tenant)}"), 403, "FORBIDDEN")


@pytest.mark.parametrize("user", [None, "", " ", "x" * 129, True, 5, ["ann"], {"id": "ann"}])
def test_a_token_that_names_nobody_is_unauthorized(
    deployed: Deployed, knock: Knock, mint: Mint, user: object
) -> None:
    claims = jwt.decode(mint(), options={"verify_signature": False}) | {"sub": user}
    if user is None:
        del claims["sub"]
    # PyJWT signs no claims with a subject that is no text.
    content = json.dumps(claims).encode()
    token = jwt.api_jws.encode(
        content, deployed.issuer.key, algorithm="RS256", headers={"kid": deployed.issuer.key_id}
    )
    refused(knock(f"Bearer {token}"), 401, "UNAUTHORIZED")


@pytest.mark.parametrize(
    ("claim", "status", "code"), [("sub", 401, "UNAUTHORIZED"), ("tenant", 403, "FORBIDDEN")]
)
def test_a_claim_that_is_null_names_nobody(
    deployed: Deployed, knock: Knock, mint: Mint, claim: str, status: int, code: str
) -> None:
    claims = jwt.decode(mint(), options={"verify_signature": False}) | {claim: None}
    issuer = deployed.issuer
    token = jwt.api_jws.encode(
        json.dumps(claims).encode(), issuer.key, algorithm="RS256", headers={"kid": issuer.key_id}
    )
    refused(knock(f"Bearer {token}"), status, code)


@pytest.mark.parametrize(
    "roles",
    [
        None,
        [],
        "[]",
        '["guest"]',
        "guest",
        '["administrator"]',
        '["Member"]',
        '["x member"]',
        ["member"],
        ["admin"],
        "[admin]",
        True,
        5,
        {"member": True},
    ],
)
def test_a_token_without_the_role_is_forbidden(knock: Knock, mint: Mint, roles: object) -> None:
    refused(knock(f"Bearer {mint(roles=roles)}"), 403, "FORBIDDEN")


@pytest.mark.parametrize("roles", ['["member"]', '["admin"]', '["x", "member"]', '["admin", "member"]'])
def test_roles_of_the_local_issuer_are_a_list_as_json(knock: Knock, mint: Mint, roles: object) -> None:
    assert knock(f"Bearer {mint(roles=roles)}").status_code == 200


@pytest.mark.parametrize("roles", [["member"], ["admin"], "member", "[admin]", ["x"]])
def test_roles_of_another_issuer_are_read_in_the_gateway_s_form(
    knock: Knock, mint: Mint, behind: Behind, roles: object
) -> None:
    with behind.configured("status", ACTA_ROLES_ARE_JSON="false"):
        status = knock(f"Bearer {mint(roles=roles)}").status_code
    assert status == (403 if roles == ["x"] else 200)


def test_an_admin_may_do_what_a_member_may(admit: Admit) -> None:
    admin = admit(role="admin")
    session_id = admin.start()
    assert admin.snapshot(session_id)["state"] == "idle"


@pytest.mark.parametrize(
    "route", [r for r in OPERATIONS if r.role == "admin"], ids=lambda r: f"{r.method} {r.path}"
)
def test_a_member_is_forbidden_what_is_an_admin_s(admit: Admit, route: Operation) -> None:
    answer = admit().http.request(route.method, re.sub(r"\{\w+\+?\}", "x", route.path), json={})
    refused(answer, 403, "FORBIDDEN")


@pytest.mark.parametrize(
    "route", [r for r in OPERATIONS if r.role is not None], ids=lambda r: f"{r.method} {r.path}"
)
def test_a_route_is_closed_to_whoever_has_no_token(deployed: Deployed, route: Operation) -> None:
    url = deployed.url + re.sub(r"\{\w+\+?\}", "x", route.path)
    turned_away(checked(httpx.request(route.method, url, timeout=60, trust_env=False)))


def test_health_needs_no_token(deployed: Deployed) -> None:
    health = checked(httpx.get(f"{deployed.url}/healthz", timeout=60, trust_env=False))
    assert (health.status_code, health.json()["success"]) == (200, True)
