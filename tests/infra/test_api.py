import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from acta.engine.api.operations import CATCH_ALL, OPEN_KEYS, OPERATIONS
from acta.infra.api.http_api import local_api_id
from acta.infra.api.issuers import ExternalIssuer
from acta.infra.environments import PROD, Environment
from tests.infra.conftest import Synthesised, Template, synthesised


def routes(stateless: Template) -> dict[str, Mapping[str, Any]]:
    return {route["RouteKey"]: route for route in stateless.properties("AWS::ApiGatewayV2::Route")}


def function_of(stateless: Template, route: Mapping[str, Any]) -> str:
    integration = stateless.body["Resources"][route["Target"]["Fn::Join"][1][1]["Ref"]]["Properties"]
    assert integration["PayloadFormatVersion"] == "2.0"
    return stateless.aliases[integration["IntegrationUri"]["Ref"]]


def test_every_route_reaches_its_function_through_the_authorizer_its_role_asks_for(each: Synthesised) -> None:
    deployed = routes(each.stateless)
    assert set(deployed) == {f"{route.method} {route.path}" for route in OPERATIONS} | {"$default"}
    for route in OPERATIONS:
        made = deployed[f"{route.method} {route.path}"]
        assert function_of(each.stateless, made) == route.function
        assert made.get("AuthorizationType", "NONE") == ("NONE" if route.role is None else "JWT")
        assert ("AuthorizerId" in made) == (route.role is not None)


def test_a_request_that_matches_no_route_reaches_the_catch_all_function_without_a_token(
    each: Synthesised,
) -> None:
    default = routes(each.stateless)["$default"]
    assert function_of(each.stateless, default) == CATCH_ALL
    assert default.get("AuthorizationType", "NONE") == "NONE"


def test_what_needs_no_token_has_a_function_and_a_small_rate_of_its_own(each: Synthesised) -> None:
    """Strangers cannot use up what people with a token come with: neither a rate nor a function."""
    deployed = routes(each.stateless)
    opened = {key for key, route in deployed.items() if "AuthorizerId" not in route}
    described = {"GET /v1/openapi.json", "GET /v1/docs", "GET /v1/docs/{file}"}
    page = {"GET /console", "GET /console/sign-in.json", "GET /console/{place+}"}
    metadata = {f"GET /.well-known/oauth-protected-resource{path}" for path in ("", "/mcp")}
    programs = {"POST /v1/hooks/{token}", "POST /v1/callbacks/{token}"}
    assert opened == {"$default", "GET /healthz"} | metadata | described | page | programs == set(OPEN_KEYS)
    strangers = {"fallback", "console", "wake"}
    assert {function_of(each.stateless, deployed[key]) for key in opened} == strangers
    assert strangers.isdisjoint(function_of(each.stateless, deployed[key]) for key in set(deployed) - opened)

    (stage,) = each.stateless.resources("AWS::ApiGatewayV2::Stage").values()
    default, own = stage["Properties"]["DefaultRouteSettings"], stage["Properties"]["RouteSettings"]
    assert set(own) == opened
    for limits in own.values():
        assert limits["ThrottlingRateLimit"] <= default["ThrottlingRateLimit"] / 10
        assert limits["ThrottlingBurstLimit"] <= default["ThrottlingBurstLimit"] / 5
        assert limits["DetailedMetricsEnabled"] == default.get("DetailedMetricsEnabled", False)
    every_route = set(each.stateless.resources("AWS::ApiGatewayV2::Route"))
    assert set(stage["DependsOn"]) >= every_route, (
        "the gateway refuses settings of a route that is not there yet"
    )


def test_locally_issuer_and_audience_are_given_when_it_is_deployed(local: Synthesised) -> None:
    assert {"IssuerUrl", "Audience"} <= set(local.stateless.body["Parameters"])
    (authorizer,) = local.stateless.properties("AWS::ApiGatewayV2::Authorizer")
    assert authorizer["JwtConfiguration"] == {
        "Audience": [{"Ref": "Audience"}],
        "Issuer": {"Ref": "IssuerUrl"},
    }


def test_an_external_issuer_takes_the_place_of_the_own_pool(tmp_path: Any) -> None:
    auth = ExternalIssuer("https://login.example.com/", "acta")
    made = synthesised(Environment(name="dev", auth=auth), tmp_path)
    assert not made.stateful.resources("AWS::Cognito::UserPool")
    (authorizer,) = made.stateless.properties("AWS::ApiGatewayV2::Authorizer")
    assert authorizer["JwtConfiguration"] == {"Audience": ["acta"], "Issuer": "https://login.example.com/"}


def cors(made: Synthesised) -> Mapping[str, Any]:
    (api,) = made.stateless.properties("AWS::ApiGatewayV2::Api")
    configured: Mapping[str, Any] = api.get("CorsConfiguration", {})
    return configured


@pytest.mark.parametrize("name", ["dev", "staging", "prod"])
def test_no_page_reads_answers_in_aws_unless_its_origin_is_configured(
    name: str, synthesise: Callable[[str], Synthesised]
) -> None:
    assert cors(synthesise(name)) == {}


def test_a_page_of_a_configured_origin_may_call_every_route_and_read_what_it_needs(tmp_path: Path) -> None:
    origin = "https://app.example.com"
    allowed = cors(synthesised(replace(PROD, cors_origins=(origin,)), tmp_path))
    assert allowed["AllowOrigins"] == [origin]
    assert set(allowed["AllowMethods"]) == {"DELETE", "GET", "PATCH", "POST", "PUT"}
    assert {"authorization", "content-type", "idempotency-key", "if-match"} <= set(allowed["AllowHeaders"])
    protocol = {"mcp-protocol-version", "mcp-method", "mcp-name"}
    assert protocol <= set(allowed["AllowHeaders"]), "a client of /mcp has to send them"
    assert {"allow", "etag", "location", "ratelimit", "ratelimit-policy", "retry-after"} == set(
        allowed["ExposeHeaders"]
    )
    assert "AllowCredentials" not in allowed, "the token is a header, never a cookie"


def test_the_stage_is_throttled_and_its_log_holds_no_path_and_no_body(each: Synthesised) -> None:
    (stage,) = each.stateless.properties("AWS::ApiGatewayV2::Stage")
    assert stage["DefaultRouteSettings"]["ThrottlingRateLimit"] == each.environment.rate_limit
    assert ("AccessLogSettings" in stage) == (not each.environment.is_local)
    if not each.environment.is_local:
        written = stage["AccessLogSettings"]["Format"]
        assert all(secret not in written for secret in ("$context.path", "querystring", "body", "header"))
        assert written.count("claims") == 1, "the subject, and nothing else of the token"


def test_the_stack_s_outputs_say_where_the_deployment_is(each: Synthesised) -> None:
    outputs = {"ApiUrl", "ApiId", "StateMachineArn", "TableName", "BucketName", "SessionBucketName"}
    assert outputs <= set(each.stateless.body["Outputs"])


def test_environments_of_the_local_kind_stand_beside_each_other_in_one_local_aws() -> None:
    assert local_api_id("local") == "ac7a0000", "its address is known to what was made before"
    ids = [local_api_id(name) for name in ("local", "trial", "trial-2")]
    assert len({*ids}) == 3
    assert all(re.fullmatch(r"[0-9a-f]{8}", each) for each in ids)
