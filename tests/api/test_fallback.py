"""What the function `fallback` says to those who bring no token, or a path that nobody has."""

import re
from typing import Any

import pytest

from acta import __version__
from acta.engine.api.app import Api
from acta.engine.api.operation import Operation
from acta.engine.api.operations import OPERATIONS
from acta.engine.app import App
from acta.engine.settings import Settings
from tests.api.gateway import Answer, Gateway

STRANGER = Gateway(
    Api("fallback", App(Settings(env="test", table="table", bucket="bucket"))).handler, token=None
)


def test_health_needs_no_token() -> None:
    answer = STRANGER.request("GET", "/healthz")
    assert (answer.status, answer.json) == (
        200,
        {"success": True, "data": {"status": "ok", "version": __version__}},
    )


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


@pytest.mark.parametrize(
    "path",
    ["/", "//", "/v1", "/v1/", "/v1/nothing", "/v1/nothing/", "/v1/sessions//plan/", "/favicon.ico"],
)
def test_a_path_nobody_has_gets_the_envelope(path: str) -> None:
    answer = STRANGER.request("GET", path)
    assert (answer.status, answer.error["code"]) == (404, "NOT_FOUND")


def test_a_method_nobody_answers_gets_the_envelope() -> None:
    answer = STRANGER.request("PATCH", "/v1/files/a", body=b"")
    assert (answer.status, answer.headers["Allow"]) == (405, "DELETE, GET, POST, PUT")
    for method in ("GET", "HEAD", "DELETE", "PUT"):
        for path in ("/mcp", "/mcp/"):
            answer = STRANGER.request(method, path)
            assert (answer.status, answer.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize("route", OPERATIONS, ids=str)
@pytest.mark.parametrize("slashes", ["/", "//"])
def test_a_request_with_a_slash_at_its_end_is_sent_to_the_same_path_without_it(
    route: Operation, slashes: str
) -> None:
    path = re.sub(r"\{\w+\+?\}", "one", route.path)
    answer = not_routed(route.method, f"{path}{slashes}", "state=idle&q=a%20b")
    assert (answer.status, answer.body) == (308, b"")
    assert answer.headers["Location"] == f"{path}?state=idle&q=a%20b"


@pytest.mark.parametrize(
    ("path", "query", "place"),
    [
        ("/v1/agents/größe x/", "", "/v1/agents/gr%C3%B6%C3%9Fe%20x"),
        ("/v1/agents/a?b\r\nX-Y: 1/", "", "/v1/agents/a%3Fb%0D%0AX-Y%3A%201"),
        ("/v1/agents/100%25/", "", "/v1/agents/100%25"),
        ("/mcp/", "a=1\r\nSet-Cookie: b", "/mcp?a=1%0D%0ASet-Cookie:%20b"),
    ],
)
def test_where_a_request_is_sent_to_is_a_path_of_this_api_and_one_header(
    path: str, query: str, place: str
) -> None:
    assert not_routed("POST" if path == "/mcp/" else "GET", path, query).headers["Location"] == place
    assert not_routed("GET", f"//evil.example{path}", query).status == 404


def not_routed(method: str, path: str, query: str = "") -> Answer:
    """The answer to a request for which the gateway has found no route."""

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        return STRANGER.handler({**event, "routeKey": "$default"}, context)

    return Gateway(handler, token=None).request(method, path, query=query)
