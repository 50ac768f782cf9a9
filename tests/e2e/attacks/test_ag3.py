"""AG3, identity and privilege abuse: a group's name that has a role's name in it is not that role."""

import jwt

from tests.conftest import Deployed
from tests.e2e.conftest import Admit
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


LIKE_AN_ADMIN = (
    ["Billing admin"], ["member", "Billing admin"], "Billing admin", ["admin of nothing"], "[Billing admin]",
    ['"admin"'], ['"admin"', "member"], ['["admin"]'], ['"admin",', '"member"'], ["Admin"], ["adm\u0456n"], ["admin "],
)  # fmt: skip
OF_ANOTHER_ISSUER = {"ACTA_ROLES_ARE_JSON": "false"}
"""As where an issuer of the operator's sends a list, and not JSON as the local one."""


def test_whoever_belongs_to_a_group_called_like_an_admin_is_none(deployed: Deployed, behind: Behind) -> None:
    with behind.configured("admin", "step", **OF_ANOTHER_ISSUER):
        for roles in LIKE_AN_ADMIN:
            mallory = with_roles(deployed, roles)
            for path in ROUTES:
                refused(mallory.get(path), 403, "FORBIDDEN")
            mallory.http.close()
        assert with_roles(deployed, ["admin"]).get(ROUTES[0]).status_code == 200


def test_where_the_issuer_sends_json_a_list_is_none(deployed: Deployed) -> None:
    for roles in (["admin"], "admin", "[admin]", ["admin", "member"], '"admin"', '[["admin"]]'):
        refused(with_roles(deployed, roles).get(ROUTES[0]), 403, "FORBIDDEN")
    assert with_roles(deployed, '["admin"]').get(ROUTES[0]).status_code == 200


def test_with_a_map_the_group_is_the_role_that_the_operator_says(deployed: Deployed, behind: Behind) -> None:
    role_map = '{"Billing admin": "member", "Acta admins": "admin", "Everyone": ""}'
    with behind.configured("admin", ACTA_ROLE_MAP=role_map, **OF_ANOTHER_ISSUER):
        biller = with_roles(deployed, ["Everyone", "Billing admin"])
        refused(biller.get("/v1/admin/prompts"), 403, "FORBIDDEN")
        assert biller.get("/v1/agents").status_code == 200
        refused(with_roles(deployed, ["admin", "member"]).get("/v1/agents"), 403, "FORBIDDEN")
        assert with_roles(deployed, ["Acta admins", "Everyone"]).get("/v1/admin/prompts").status_code == 200


def test_a_program_that_is_an_admin_decides_nothing_where_people_alone_decide(
    deployed: Deployed, behind: Behind, admit: Admit
) -> None:
    ann = admit()
    issued = deployed.issuer.issue_token(ann.tenant, "nightly", "admin")
    claims = jwt.decode(issued, options={"verify_signature": False})
    claims["client_id"] = claims["sub"]
    key = {"kid": deployed.issuer.key_id}
    program = Person(deployed.url, jwt.encode(claims, deployed.issuer.key, algorithm="RS256", headers=key))
    with behind.configured("start", "status", "intervene", ACTA_PROGRAMS_DECIDE="false"):
        assert (program.data("/v1/me")["decides"], ann.data("/v1/me")["decides"]) == (False, True)
        session_id = program.start("Create the file made.txt")
        path = f"/v1/sessions/{session_id}"
        (one,) = ann.asked(session_id).session["interventions"]
        answer = {"input": {"text": "mine"}}
        for tried in (
            program.resolve(session_id, one["intervention_id"], "answer", **answer),
            program.resolve(session_id, one["intervention_id"], "cancel"),
            program.post(f"{path}/messages", {"content": "mine"}),
            program.post(f"{path}/resume"),
            program.patch(path, {"token_budget": 900_000}),
        ):
            error = refused(tried, 403, "FORBIDDEN")
            assert error["message"].startswith("A person has to decide this")
        assert ann.snapshot(session_id)["interventions"] == [one]
        assert ann.resolve(session_id, one["intervention_id"], "answer", **answer).status_code == 200
        ann.finished(session_id)
    assert ann.file("made.txt") == "mine"
    program.http.close()
