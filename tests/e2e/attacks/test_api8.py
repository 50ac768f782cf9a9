"""API8, security misconfiguration: what is deployed tells strangers nothing and is open to nobody else."""

import json

import httpx
import pytest

from tests.conftest import Deployed
from tests.e2e.support.behind import FUNCTIONS, Behind
from tests.e2e.support.document import checked
from tests.e2e.support.person import Person, carries_the_headers

TOLD_BY_NOBODY = ("traceback", "ministack", "hypercorn", "python/", "arn:aws", "acta_", ".py")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/sessions/x"), ("GET", "/nothing"), ("PATCH", "/v1/sessions"), ("POST", "/v1/sessions"),
        ("PUT", "/v1/files/%2e%2e/x"), ("GET", "/v1/agents"), ("DELETE", "/v1/agents/default"), ("GET", "/healthz"),
    ],
)  # fmt: skip
def test_every_answer_is_hardened_and_names_nothing_behind_it(ann: Person, method: str, path: str) -> None:
    answer = ann.http.request(method, path, content=b"{" if method in ("POST", "PUT") else None)
    assert answer.status_code < 500
    carries_the_headers(answer)
    told = (answer.text + json.dumps(dict(answer.headers))).lower()
    assert [word for word in TOLD_BY_NOBODY if word in told] == []


def test_no_page_is_trusted_with_a_cookie(ann: Person) -> None:
    """The local API lets every page ask, with a token that the page has to bring. In AWS none may, unless configured:
    `tests/infra/test_api.py`.
    """
    answer = ann.get("/v1/sessions", headers={"Origin": "https://evil.example"})
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize("method", ["TRACE", "TRACK", "CONNECT", "PROPFIND"])
def test_a_method_of_another_age_is_not_answered(deployed: Deployed, method: str) -> None:
    sent = {"Authorization": "Bearer secret-token"}
    url = deployed.url + "/v1/sessions"
    answer = checked(httpx.request(method, url, headers=sent, timeout=60, trust_env=False))
    assert answer.status_code >= 400
    assert "secret-token" not in answer.text


def test_another_host_s_name_is_not_answered(deployed: Deployed) -> None:
    """A page whose name resolves to this machine would be of the API's own origin."""
    strange = {"Host": "evil.example"}
    answer = checked(httpx.get(f"{deployed.url}/healthz", headers=strange, timeout=60, trust_env=False))
    assert answer.status_code == 403


def test_no_function_s_configuration_holds_a_secret(behind: Behind) -> None:
    """Names of secrets stand there, and never one of their values. Whoever may read configurations is no reader of
    keys.
    """
    lambdas = behind.client("lambda")
    for name in FUNCTIONS:
        found = lambdas.get_function_configuration(FunctionName=f"acta-local-{name}")["Environment"][
            "Variables"
        ]
        assert not [each for each in found if each.endswith(("_API_KEY", "_TOKEN", "_PASSWORD"))], name
        assert not [value for value in found.values() if value.startswith(("sk-", "Bearer ", "eyJ"))], name


def test_no_stored_thing_is_public(behind: Behind) -> None:
    s3 = behind.client("s3")
    for bucket in behind.buckets:
        blocked = s3.get_public_access_block(Bucket=bucket)["PublicAccessBlockConfiguration"]
        assert set(blocked.values()) == {True}
