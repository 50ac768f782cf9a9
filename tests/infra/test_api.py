from collections.abc import Mapping
from typing import Any

from infra.environments import Environment, ExternalIssuer
from shared.api.routes import CATCH_ALL, ROUTES
from tests.infra.conftest import Synthesised, Template, synthesised


def routes(stateless: Template) -> dict[str, Mapping[str, Any]]:
    return {route["RouteKey"]: route for route in stateless.properties("AWS::ApiGatewayV2::Route")}


def function_of(stateless: Template, route: Mapping[str, Any]) -> str:
    integration = stateless.body["Resources"][route["Target"]["Fn::Join"][1][1]["Ref"]]["Properties"]
    assert integration["PayloadFormatVersion"] == "2.0"
    function: str = integration["IntegrationUri"]["Fn::GetAtt"][0]
    return function.split("Function")[0].lower()


def test_every_route_reaches_its_function_through_the_authorizer_its_role_asks_for(each: Synthesised) -> None:
    deployed = routes(each.stateless)
    assert set(deployed) == {f"{route.method} {route.path}" for route in ROUTES} | {"$default"}
    for route in ROUTES:
        made = deployed[f"{route.method} {route.path}"]
        assert function_of(each.stateless, made) == route.function
        assert made.get("AuthorizationType", "NONE") == ("NONE" if route.role is None else "JWT")
        assert ("AuthorizerId" in made) == (route.role is not None)


def test_what_no_route_names_reaches_the_envelope_without_a_token(each: Synthesised) -> None:
    default = routes(each.stateless)["$default"]
    assert function_of(each.stateless, default) == CATCH_ALL
    assert default.get("AuthorizationType", "NONE") == "NONE"


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


def test_browsers_are_let_in_only_from_configured_origins(each: Synthesised) -> None:
    (api,) = each.stateless.properties("AWS::ApiGatewayV2::Api")
    allowed = api.get("CorsConfiguration", {}).get("AllowOrigins", [])
    assert allowed == list(each.environment.cors_origins)


def test_the_stage_is_throttled_and_its_log_holds_no_path_and_no_body(each: Synthesised) -> None:
    (stage,) = each.stateless.properties("AWS::ApiGatewayV2::Stage")
    assert stage["DefaultRouteSettings"]["ThrottlingRateLimit"] == each.environment.rate_limit
    assert ("AccessLogSettings" in stage) == (not each.environment.is_local)
    if not each.environment.is_local:
        written = stage["AccessLogSettings"]["Format"]
        assert all(secret not in written for secret in ("$context.path", "claims", "body", "sourceIp"))


def test_the_deployment_tells_where_it_is(each: Synthesised) -> None:
    told = {"ApiUrl", "ApiId", "StateMachineArn", "TableName", "BucketName"}
    assert told <= set(each.stateless.body["Outputs"])
