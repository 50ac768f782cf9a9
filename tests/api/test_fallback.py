"""What the function `fallback` says to those who bring no token, or a path that nobody has."""

import pytest

from acta_engine.api.app import Api
from acta_engine.app import App
from acta_engine.settings import Settings
from tests.api.gateway import Gateway

STRANGER = Gateway(
    Api("fallback", App(Settings(env="test", table="table", bucket="bucket"))).handler, token=None
)


def test_health_needs_no_token() -> None:
    answer = STRANGER.request("GET", "/healthz")
    assert (answer.status, answer.json) == (200, {"success": True, "data": {"status": "ok"}})


WELL_KNOWN = "/.well-known/oauth-protected-resource"


@pytest.mark.parametrize("path", ["", "/mcp"])
def test_who_issues_tokens_is_told_to_anybody_of_the_very_resource(path: str) -> None:
    chosen = Settings(
        env="test", table="t", bucket="b", token_issuer="https://id.example", public_url="https://api.example"
    )
    answer = Gateway(Api("fallback", App(chosen)).handler, token=None).request("GET", f"{WELL_KNOWN}{path}")
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    assert answer.json["resource"] == f"https://api.example{path}"
    assert answer.json["authorization_servers"] == ["https://id.example"]
    assert STRANGER.request("GET", f"{WELL_KNOWN}{path}").status == 404, "where nobody has said who"


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/nothing", "/v1/files/", "/favicon.ico"])
def test_a_path_nobody_has_gets_the_envelope(path: str) -> None:
    answer = STRANGER.request("GET", path)
    assert (answer.status, answer.error["code"]) == (404, "NOT_FOUND")


def test_a_method_nobody_answers_gets_the_envelope() -> None:
    answer = STRANGER.request("PATCH", "/v1/files/a", body=b"")
    assert (answer.status, answer.headers["Allow"]) == (405, "DELETE, GET, POST, PUT")
