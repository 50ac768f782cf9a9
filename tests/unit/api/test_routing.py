"""From paths to routes."""

import pytest

from shared.api.app import Api
from shared.api.routes import ROUTES, Route, match
from tests.unit.api.samples import SETTINGS, start_api


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_every_route_matches_a_path_of_its_own(route: Route) -> None:
    path = route.path.replace("{path+}", "a/b.md").replace("{session_id}", "ses_01")
    path = path.replace("{intervention_id}", "int_01").replace("{name}", "read_file")
    path = path.replace("{agent_id}", "default").replace("{memory_id}", "mem_01").replace("{version}", "2")
    assert match(route.method, path).route == route


@pytest.mark.parametrize(
    "path",
    ["", "/", "/v1", "/v1/sessions/", "/v1/sessions//plan", "/V1/sessions", "/v1/files/", "/v1/tools/a/b"],
)
def test_what_the_table_does_not_have_matches_nothing(path: str) -> None:
    assert match("GET", path) == (None, ())


def test_a_path_with_other_methods_says_which() -> None:
    assert match("PATCH", "/v1/files/a/b") == (None, ("DELETE", "GET", "PUT"))
    assert match("POST", "/healthz") == (None, ("GET",))


def test_a_function_cannot_answer_a_route_that_is_not_its_own() -> None:
    with pytest.raises(LookupError):
        Api("status", SETTINGS).post("/v1/sessions")


def test_routes_without_a_handler_are_known() -> None:
    assert start_api().missing == set()
    assert {route.path for route in Api("start", SETTINGS).missing} == {
        "/v1/sessions",
        "/v1/sessions/{session_id}/messages",
    }
