"""AG3, identity and privilege abuse: a group's name that has a role's name in it is not that role."""

import jwt
import pytest

from tests.conftest import Deployed
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person, refused

ROUTES = ("/v1/admin/prompts", "/v1/models")


def with_roles(deployed: Deployed, roles: object) -> Person:
    """Whose token the trusted issuer has signed."""
    issuer = deployed.issuer
    token = issuer.issue_token("tenant-of-mallory", "mallory", "member")
    claims = jwt.decode(token, options={"verify_signature": False}) | {"roles": roles}
    signed = jwt.encode(claims, issuer.key, algorithm="RS256", headers={"kid": issuer.key_id})
    return Person(deployed.url, signed)


@pytest.mark.parametrize(
    "roles",
    [
        ["Billing admin"],
        ["member", "Billing admin"],
        "Billing admin",
        ["admin of nothing"],
        "[Billing admin]",
    ],
)
def test_whoever_belongs_to_a_group_called_like_an_admin_is_none(deployed: Deployed, roles: object) -> None:
    mallory = with_roles(deployed, roles)
    for path in ROUTES:
        refused(mallory.get(path), 403, "FORBIDDEN")
    mallory.http.close()


def test_with_a_map_the_group_is_the_role_that_the_operator_says(deployed: Deployed, behind: Behind) -> None:
    role_map = '{"Billing admin": "member", "Acta admins": "admin", "Everyone": ""}'
    with behind.configured("admin", ACTA_ROLE_MAP=role_map):
        biller = with_roles(deployed, ["Everyone", "Billing admin"])
        refused(biller.get("/v1/admin/prompts"), 403, "FORBIDDEN")
        assert biller.get("/v1/agents").status_code == 200
        refused(with_roles(deployed, ["admin", "member"]).get("/v1/agents"), 403, "FORBIDDEN")
        assert with_roles(deployed, ["Acta admins", "Everyone"]).get("/v1/admin/prompts").status_code == 200
