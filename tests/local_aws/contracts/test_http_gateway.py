"""The HTTP API in front of a function: its authorizer and what it says when the function fails."""

from __future__ import annotations

import base64
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from acta.local_aws.testing import Cloud


@dataclass(frozen=True)
class Issuer:
    """Signs tokens, and serves its public key where OpenID Connect says."""

    url: str
    key: rsa.RSAPrivateKey

    def token(self, **claims: object) -> str:
        everyone = {"iss": self.url, "aud": "application", "sub": "user"}
        return jwt.encode({**everyone, **claims}, self.key, algorithm="RS256", headers={"kid": "k"})


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    numbers = key.public_key().public_numbers()

    def encoded(number: int) -> str:
        return (
            base64.urlsafe_b64encode(number.to_bytes((number.bit_length() + 7) // 8, "big"))
            .decode()
            .rstrip("=")
        )

    jwk = {
        "kty": "RSA",
        "kid": "k",
        "alg": "RS256",
        "use": "sig",
        "n": encoded(numbers.n),
        "e": encoded(numbers.e),
    }

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found: dict[str, Any] = {"keys": [jwk]}
            if self.path.endswith("openid-configuration"):
                found = {"issuer": url, "jwks_uri": f"{url}/keys"}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(found).encode())

        def log_message(self, format: str, *args: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Issuer(url, key)
    server.shutdown()
    server.server_close()


@dataclass(frozen=True)
class Api:
    url: str

    def get(self, path: str, token: str | None = None) -> tuple[int, Any]:
        return self.ask(urllib.request.Request(self.url + path), token)

    def ask(self, request: urllib.request.Request, token: str | None = None) -> tuple[int, Any]:
        if token is not None:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())


@pytest.fixture(scope="module")
def api(cloud: Cloud, issuer: Issuer) -> Api:
    """All routes lead to one function, which answers with what it got, and raises for `?raise=1`."""
    source = """
def handler(event, context):
    if (event.get("queryStringParameters") or {}).get("raise"):
        raise ValueError("a secret detail")
    return {
        "claims": event["requestContext"].get("authorizer", {}).get("jwt", {}).get("claims"),
        "route": event["routeKey"],
        "variables": event.get("pathParameters") or {},
        "path": event["rawPath"],
        "query": event["rawQueryString"],
        "body": event.get("body"),
        "is_base64": event["isBase64Encoded"],
        "length": event["headers"].get("content-length"),
    }
"""
    gateway = cloud.client("apigatewayv2")
    api_id = gateway.create_api(Name="contract", ProtocolType="HTTP")["ApiId"]
    function = cloud.deploy(source)
    arn = cloud.functions.get_function(FunctionName=function)["Configuration"]["FunctionArn"]
    integration = gateway.create_integration(
        ApiId=api_id, IntegrationType="AWS_PROXY", IntegrationUri=arn, PayloadFormatVersion="2.0"
    )["IntegrationId"]
    authorizer = gateway.create_authorizer(
        ApiId=api_id,
        Name="jwt",
        AuthorizerType="JWT",
        IdentitySource=["$request.header.Authorization"],
        JwtConfiguration={"Issuer": issuer.url, "Audience": ["application"]},
    )["AuthorizerId"]
    target = f"integrations/{integration}"
    for route_key in (
        "GET /open",
        "GET /things/{id}",
        "GET /files/{path+}",
        "GET /rare",
        "GET /often",
        "$default",
    ):
        gateway.create_route(ApiId=api_id, RouteKey=route_key, Target=target)
    for route_key in ("GET /closed", "GET /rare-and-closed"):
        gateway.create_route(
            ApiId=api_id, RouteKey=route_key, Target=target, AuthorizationType="JWT", AuthorizerId=authorizer
        )
    rarely = {"ThrottlingRateLimit": 0.001, "ThrottlingBurstLimit": 3}
    gateway.create_stage(
        ApiId=api_id,
        StageName="$default",
        AutoDeploy=True,
        DefaultRouteSettings={"ThrottlingRateLimit": 0.001, "ThrottlingBurstLimit": 40},
        RouteSettings={"GET /rare": rarely, "GET /rare-and-closed": rarely},
    )
    return Api(f"{cloud.url}/_aws/execute-api/{api_id}/$default")


def test_the_address_that_a_template_tells_answers(cloud: Cloud) -> None:
    made = {"Type": "AWS::ApiGatewayV2::Api", "Properties": {"Name": "told", "ProtocolType": "HTTP"}}
    stage = {"ApiId": {"Ref": "Api"}, "StageName": "$default", "AutoDeploy": True}
    template = {
        "Resources": {"Api": made, "Stage": {"Type": "AWS::ApiGatewayV2::Stage", "Properties": stage}},
        "Outputs": {"Url": {"Value": {"Fn::GetAtt": ["Api", "ApiEndpoint"]}}},
    }
    formation = cloud.client("cloudformation")
    formation.create_stack(StackName="told", TemplateBody=json.dumps(template))
    once = {"Delay": 1, "MaxAttempts": 30}
    formation.get_waiter("stack_create_complete").wait(StackName="told", WaiterConfig=once)
    (told,) = formation.describe_stacks(StackName="told")["Stacks"][0]["Outputs"]

    assert Api(told["OutputValue"]).get("/nothing") == (404, {"message": "Not Found"})


@pytest.mark.parametrize(
    ("asked", "route", "variables", "path"),
    [
        ("/things/a%20b", "GET /things/{id}", {"id": "a b"}, "/things/a b"),
        ("//things/x", "GET /things/{id}", {"id": "x"}, "//things/x"),
        ("/files/a/b%2Fc", "GET /files/{path+}", {"path": "a/b/c"}, "/files/a/b/c"),
        ("/files/a%252Fb", "GET /files/{path+}", {"path": "a%252Fb"}, "/files/a%252Fb"),
        ("/things/a/b", "$default", {}, "/things/a/b"),
        ("/open", "GET /open", {}, "/open"),
    ],
)
def test_an_event_names_the_route_and_the_variables_of_its_path(
    api: Api, asked: str, route: str, variables: dict[str, str], path: str
) -> None:
    _, body = api.get(f"{asked}?a=1&a=2&b=%2C")
    assert (body["route"], body["variables"], body["path"]) == (route, variables, path)
    assert body["query"] == "a=1&a=2&b=%2C"


def test_a_valid_token_passes_with_its_claims(api: Api, issuer: Issuer) -> None:
    status, body = api.get("/closed", issuer.token(exp=int(time.time()) + 600))
    assert (status, body["claims"]["sub"]) == (200, "user")


def test_a_claim_that_is_null_is_not_handed_over(api: Api, issuer: Issuer) -> None:
    token = issuer.token(exp=int(time.time()) + 600, tenant=None, admin=True, groups=["a", "b"])
    _, body = api.get("/closed", token)
    assert "tenant" not in body["claims"]
    assert (body["claims"]["admin"], body["claims"]["groups"]) == ("true", "[a b]")


@pytest.mark.parametrize(
    ("kind", "is_text"),
    [
        ("text/csv", True),
        ("text/plain; charset=utf-8", True),
        ("TEXT/PLAIN; CHARSET=UTF-8", True),
        ("application/json", True),
        ("application/xml", True),
        ("application/graphql", True),
        ("text/plain; charset=iso-8859-1", False),
        ("application/octet-stream", False),
        ("application/x-www-form-urlencoded", False),
        ("multipart/form-data; boundary=x", False),
        ("image/png", False),
    ],
)
def test_a_body_is_passed_as_text_or_in_base64_by_its_type(api: Api, kind: str, is_text: bool) -> None:
    sent = "Gr\xf6\xdfe".encode("latin-1")
    request = urllib.request.Request(f"{api.url}/things", sent, {"Content-Type": kind}, method="PUT")
    _, told = api.ask(request)
    assert (told["is_base64"], told["length"]) == (not is_text, "5")
    assert told["body"] == ("Gr\ufffd\ufffde" if is_text else base64.b64encode(sent).decode())


@pytest.mark.parametrize(
    "claims",
    [{}, {"exp": 1}, {"exp": float("inf")}, {"exp": int(time.time()) + 600, "aud": "other"}],
    ids=["without exp", "expired", "without end", "for another audience"],
)
def test_a_token_that_is_not_good_is_refused_with_the_gateways_body(
    api: Api, issuer: Issuer, claims: dict[str, object]
) -> None:
    assert api.get("/closed", issuer.token(**claims)) == (401, {"message": "Unauthorized"})


def test_no_token_is_refused(api: Api) -> None:
    assert api.get("/closed") == (401, {"message": "Unauthorized"})


def test_a_function_that_fails_gives_500_and_no_detail(api: Api) -> None:
    assert api.get("/open?raise=1") == (500, {"message": "Internal Server Error"})
    assert api.get("/open")[0] == 200


TOO_MANY = (429, {"message": "Too Many Requests"})


def test_a_route_is_asked_no_more_often_than_its_stage_says(api: Api) -> None:
    assert [api.get("/rare")[0] for _ in range(4)] == [200, 200, 200, 429]
    assert api.get("/rare") == TOO_MANY
    assert api.get("/open")[0] == 200, "each route has a rate of its own"


def test_a_route_without_a_rate_of_its_own_has_the_stages(api: Api) -> None:
    assert {api.get("/often")[0] for _ in range(40)} == {200}
    assert api.get("/often") == TOO_MANY


def test_requests_with_no_good_token_count_too(api: Api) -> None:
    assert [api.get("/rare-and-closed", "no token")[0] for _ in range(4)] == [401, 401, 401, 429]
