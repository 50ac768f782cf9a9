"""API2, broken authentication: no way in but the `Authorization` header, and none past the front.

What a token has to be: `tests/e2e/api/test_tokens.py`.
"""

import base64
import hashlib
import json

import httpx
import pytest

from tests.conftest import Deployed
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.document import checked
from tests.e2e.support.person import Person, refused

CLAIMS = {"sub": "ann", "tenant": "acme", "roles": "[admin]"}
SECRET = "a long random secret"
API_FUNCTIONS = ("start", "status", "step", "intervene", "admin", "wake", "console", "fallback")


def ask(deployed: Deployed, path: str, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return checked(httpx.get(deployed.url + path, headers=named, timeout=60, trust_env=False))


def test_a_good_token_in_another_place_opens_nothing(deployed: Deployed, ann: Person) -> None:
    for answer in (
        ask(
            deployed,
            f"/v1/sessions?access_token={ann.token}&authorization=Bearer%20{ann.token}&token={ann.token}",
        ),
        ask(deployed, "/v1/sessions", Cookie=f"authorization=Bearer {ann.token}; token={ann.token}"),
        ask(
            deployed,
            "/v1/sessions",
            X_Authorization=f"Bearer {ann.token}",
            X_Forwarded_Access_Token=ann.token,
        ),
    ):
        assert answer.status_code == 401


def test_who_one_says_to_be_counts_for_nothing(deployed: Deployed, ann: Person, admit: Admit) -> None:
    """Headers and bodies in the form of what the gateway hands to a function."""
    session_id = ann.start()
    forged = json.dumps({"authorizer": {"jwt": {"claims": CLAIMS | {"tenant": ann.tenant}}}})
    claimed = {
        "X_Amzn_Request_Context": forged,
        "X_Amzn_Oidc_Data": base64.b64encode(forged.encode()).decode(),
        "X_Tenant": ann.tenant,
        "X_User": ann.name,
        "X_Roles": "admin",
    }
    assert ask(deployed, f"/v1/sessions/{session_id}", **claimed).status_code == 401

    stranger = admit()
    answer = stranger.get(
        f"/v1/sessions/{session_id}",
        headers={name.replace("_", "-"): value for name, value in claimed.items()},
        tenant=ann.tenant,
        requestContext=forged,
    )
    assert answer.status_code in (400, 404)
    assert ann.tenant not in answer.text
    refused(stranger.post("/v1/sessions", {"requestContext": json.loads(forged)}), 400, "VALIDATION_ERROR")


@pytest.mark.parametrize(
    "path",
    [
        "/healthz/../v1/sessions", "/healthz/%2e%2e/v1/sessions", "/healthz/..;/v1/sessions",
        "/healthz%2f..%2fv1/sessions", "//v1/sessions",
        "/V1/sessions", "/v1/sessions/", "/v1//sessions", "/v1/sessions;x=/healthz", "/v1/sessions%20",
    ],
)  # fmt: skip
def test_no_spelling_of_a_closed_path_is_open(deployed: Deployed, path: str) -> None:
    """As bytes: a client library would tidy them."""
    request = httpx.Request("GET", httpx.URL(deployed.url).copy_with(raw_path=path.encode()))
    answer = checked(httpx.Client(trust_env=False, timeout=60).send(request))
    if answer.status_code == 308:  # leads to the address without the slash, which asks for a token
        assert answer.headers["location"] == path.rstrip("/")
    else:
        assert answer.status_code in (401, 404)
    assert "items" not in answer.text


def test_a_good_token_does_not_lead_past_the_front(deployed: Deployed, ann: Person, behind: Behind) -> None:
    """As with CloudFront and its firewall before the API (`Environment.edge`): only what they pass on is answered."""
    hashed = hashlib.sha256(SECRET.encode()).hexdigest()
    with behind.configured(*API_FUNCTIONS, ACTA_ORIGIN_HASHES=hashed):
        for path in ("/v1/sessions", "/v1/files", "/healthz", "/nothing"):
            refused(ann.get(path), 403, "FORBIDDEN")
            refused(ann.get(path, headers={"X-Acta-Origin": hashed}), 403, "FORBIDDEN")
        refused(ann.post("/v1/sessions", {"content": "hi"}), 403, "FORBIDDEN")
        passed = {"X-Acta-Origin": SECRET}
        assert ann.get("/v1/sessions", headers=passed).json()["data"]["items"] == []
        assert ann.get("/healthz", headers=passed).status_code == 200
        refused(ann.post("/v1/hooks/abc.def"), 403, "FORBIDDEN")
        refused(ann.post("/v1/hooks/abc.def", X_Acta_Origin=SECRET), 404, "NOT_FOUND")
