"""API9, improper inventory: what answers is what the table of routes has, in one version, at one place."""

import httpx
import pytest

from acta.engine.api.operations import DEFAULT_KEY, OPERATIONS
from tests.conftest import Deployed
from tests.e2e.support.behind import FUNCTIONS, Behind
from tests.e2e.support.document import checked
from tests.e2e.support.person import Person, refused


def test_the_gateway_has_the_routes_of_the_table_and_no_other(behind: Behind) -> None:
    gateway = behind.client("apigatewayv2")
    (api,) = gateway.get_apis()["Items"]
    deployed = {route["RouteKey"]: route for route in gateway.get_routes(ApiId=api["ApiId"])["Items"]}
    assert set(deployed) == {str(route) for route in OPERATIONS} | {DEFAULT_KEY}
    opened = {key for key, route in deployed.items() if route.get("AuthorizationType", "NONE") == "NONE"}
    assert opened == {*(str(route) for route in OPERATIONS if route.role is None), DEFAULT_KEY}
    (stage,) = gateway.get_stages(ApiId=api["ApiId"])["Items"]
    assert stage["StageName"] == "$default"


def test_no_function_is_there_that_nobody_knows_of(behind: Behind) -> None:
    pages = behind.client("lambda").get_paginator("list_functions").paginate()
    deployed = {each["FunctionName"] for page in pages for each in page["Functions"]}
    assert {name for name in deployed if not name.startswith("acta-local-tool-")} == {
        f"acta-local-{name}" for name in FUNCTIONS
    }


@pytest.mark.parametrize(
    "path",
    [
        "/v0/sessions", "/v2/sessions", "/beta/v1/sessions", "/sessions", "/internal/v1/sessions", "/v1/internal",
        "/v1/debug", "/v1/metrics", "/.env", "/.git/config", "/actuator/health", "/server-status", "/swagger.json",
        "/graphql", "/2015-03-31/functions", "/_ministack/health", "/_aws/execute-api/ac7a0000/$default/healthz",
        "/prod/v1/sessions", "/$default/v1/sessions",
    ],
)  # fmt: skip
def test_nothing_answers_beside_the_table(deployed: Deployed, ann: Person, path: str) -> None:
    """With a token and without: neither another version nor what the API stands on."""
    refused(ann.get(path), 404, "NOT_FOUND")
    refused(checked(httpx.get(deployed.url + path, timeout=60, trust_env=False)), 404, "NOT_FOUND")
