"""From API Gateway's events to routes."""

import inspect
import re

import pytest

from acta.engine.api.app import Api
from acta.engine.api.envelope import Response
from acta.engine.api.operation import Operation
from acta.engine.api.operations import OPERATIONS, MethodNotAllowed, find
from acta.engine.errors import NotFound
from tests.api.gateway import Gateway, routed
from tests.api.samples import start_api, status_api


@pytest.mark.parametrize("route", OPERATIONS, ids=str)
def test_every_route_is_found_by_the_gateway_s_name_for_it(route: Operation) -> None:
    path = route.path.replace("{path+}", "a/b.md").replace("{session_id}", "ses_01")
    path = path.replace("{intervention_id}", "int_01").replace("{name}", "read_file")
    path = path.replace("{agent_id}", "default").replace("{memory_id}", "mem_01").replace("{version}", "2")
    assert find(routed(route.method, path)[0], route.method, path) == route


@pytest.mark.parametrize(
    "path",
    ["", "/", "/v1", "/v1/sessions/", "/v1/sessions//plan", "/V1/sessions", "/v1/files/", "/v1/tools/a/b"],
)
def test_what_the_table_does_not_have_is_not_found(path: str) -> None:
    with pytest.raises(NotFound):
        find("$default", "GET", path)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PATCH", "/v1/files/a/b", ("DELETE", "GET", "POST", "PUT")),
        ("POST", "/healthz", ("GET",)),
        ("HEAD", "/v1/sessions", ("GET", "POST")),
        ("OPTIONS", "/v1/sessions/x", ("DELETE", "GET", "PATCH")),
        ("GET", "/v1/models/check", ("POST",)),
    ],
)
def test_a_path_with_other_methods_says_which(method: str, path: str, allowed: tuple[str, ...]) -> None:
    with pytest.raises(MethodNotAllowed) as refused:
        find("$default", method, path)
    assert refused.value.allowed == allowed


@pytest.mark.parametrize("path", ["//v1/sessions", "///v1/sessions"])
def test_a_path_with_more_slashes_in_front_is_another_path_though_the_gateway_finds_a_route(
    path: str,
) -> None:
    assert routed("GET", path)[0] == "GET /v1/sessions"
    assert Gateway(start_api().handler).request("POST", path, json_body={}).status == 404


def test_a_route_that_the_gateway_knows_and_this_release_does_not_is_not_found() -> None:
    with pytest.raises(NotFound):
        find("GET /v1/robots", "GET", "/v1/robots")


def test_what_the_gateway_did_not_route_is_not_answered_as_if_it_had() -> None:
    with pytest.raises(NotFound):
        find("$default", "GET", "/v1/sessions/ses_01")


def test_a_function_answers_no_route_that_is_not_its_own() -> None:
    assert Gateway(status_api().handler).request("POST", "/v1/sessions", json_body={}).status == 404


@pytest.mark.parametrize("route", OPERATIONS, ids=str)
def test_every_row_names_a_handler_that_takes_the_api_and_answers(route: Operation) -> None:
    handle = route.load()
    assert handle.__module__ == route.module, "it is where the row says"
    first, *others = inspect.signature(handle).parameters.values()
    assert (first.name, first.annotation, inspect.signature(handle).return_annotation) == (
        "api",
        Api,
        Response,
    )
    assert set(re.findall(r"{(\w+)\+?}", route.path)) - {"path", "place"} <= {one.name for one in others}


def test_no_handler_answers_two_routes() -> None:
    assert len({route.handler for route in OPERATIONS}) == len(OPERATIONS)
