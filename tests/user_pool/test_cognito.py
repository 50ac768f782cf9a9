"""Acta's own user pool, as it is synthesised, in the local AWS's Cognito: people are added, sign in and are let in.

The provider is ministack's, which nobody here wrote: its page, its codes, its check of PKCE, its tokens.
"""

from __future__ import annotations

import json
import os
import re
import threading
from argparse import Namespace
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest
from botocore.exceptions import ClientError

os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20")

from acta.cli.sign_in import login
from acta.client.errors import SignInEndedError, SignInError
from acta.client.sign_in.machine import MachineTokens
from acta.client.sign_in.oidc import Application, AuthorizationRequest, IssuerClient, claims_of
from acta.client.sign_in.store import Store, folder
from acta.client.sign_in.stored_tokens import StoredTokens
from acta.engine.api.identity import Caller, from_event
from acta.engine.errors import Forbidden
from acta.engine.settings import Settings
from acta.infra.api.issuers import Machine, OwnPool
from acta.infra.api.machine_claims import ROLES_CLAIM, TENANT_CLAIM
from acta.infra.deployed.users import NoSuchUser, OtherTenant, Users
from acta.infra.environments import DEV, LOCAL
from acta.local_aws.testing import Cloud

pytestmark = pytest.mark.thorough

PASSWORD = "A-long-Passw0rd-of-ann"
A_DAY = 86_400


class Pool(NamedTuple):
    pool_id: str
    client_id: str
    machine_id: str

    @property
    def application(self) -> Application:
        region = self.pool_id.partition("_")[0]
        return Application(f"https://cognito-idp.{region}.amazonaws.com/{self.pool_id}", self.client_id)


class WithFirstPassword:
    """A client of Cognito. ministack makes up first passwords that its own check of the policy refuses."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def admin_create_user(self, **given: Any) -> Any:
        return self._client.admin_create_user(TemporaryPassword=PASSWORD, **given)


def as_fields(authorization: str) -> bytes:
    """A client's id and secret as fields of a form, for the header is the operator's signature here."""
    client_id, _, secret = b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
    return f"&client_id={client_id}&client_secret={secret}".encode()


class LocalCognito(httpx2.BaseTransport):
    """Sends what is for Cognito to the local AWS, signed by its operator: it answers nobody else."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._through = httpx2.HTTPTransport()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        kept = {name: request.headers[name] for name in ("content-type",) if name in request.headers}
        body = request.read()
        if request.headers.get("authorization", "").startswith("Basic "):
            body += as_fields(request.headers["authorization"])
        path = request.url.raw_path.decode().replace("+", "%20")
        headers = self._cloud.signed(request.method, path, body, service="cognito-idp", headers=kept)
        sent = httpx2.Request(request.method, self._cloud.url + path, headers=headers, content=body)
        return self._through.handle_request(sent)


@pytest.fixture(scope="module")
def pool(cloud: Cloud, tmp_path_factory: pytest.TempPathFactory) -> Pool:
    """The pool of `dev`, made by CloudFormation from what CDK synthesises."""
    from aws_cdk import App, Stack  # imported only here: it takes seconds

    from acta.infra.api.user_pool import UserPool

    app = App(outdir=str(tmp_path_factory.mktemp("assembly")))
    here = replace(DEV, python=LOCAL.python)
    machines = {"nightly": Machine("acme", ("member", "finance"))}
    UserPool(Stack(app, "Users"), here, OwnPool(machines=machines))
    template = app.synth().get_stack_by_name("Users").template
    made = {"Resources": {k: v for k, v in template["Resources"].items() if "CDK" not in v["Type"]}}
    cloudformation = cloud.client("cloudformation")
    cloudformation.create_stack(
        StackName="Users", TemplateBody=json.dumps(made), Capabilities=["CAPABILITY_IAM"]
    )
    cloudformation.get_waiter("stack_create_complete").wait(StackName="Users", WaiterConfig={"Delay": 1})
    resources = cloudformation.describe_stack_resources(StackName="Users")["StackResources"]
    clients = {
        each["LogicalResourceId"]: each["PhysicalResourceId"]
        for each in resources
        if each["ResourceType"] == "AWS::Cognito::UserPoolClient"
    }
    ids = {each["ResourceType"]: each["PhysicalResourceId"] for each in resources}
    assert re.fullmatch(r"acta-[0-9a-f-]{36}", ids["AWS::Cognito::UserPoolDomain"])
    (machine,) = (value for name, value in clients.items() if "nightly" in name.lower())
    (people,) = (value for name, value in clients.items() if value != machine)
    return Pool(ids["AWS::Cognito::UserPool"], people, machine)


@pytest.fixture
def http(cloud: Cloud) -> Iterator[httpx2.Client]:
    with httpx2.Client(transport=LocalCognito(cloud)) as made:
        yield made


@pytest.fixture
def cognito(cloud: Cloud) -> Any:
    return cloud.client("cognito-idp")


@pytest.fixture
def users(pool: Pool, cognito: Any) -> Iterator[Users]:
    """With nobody in it, before and after."""
    made = Users(pool.pool_id, WithFirstPassword(cognito))
    yield made
    for user in list(made.list()):
        made.remove(user.email)


def add_ann(users: Users, pool: Pool, cognito: Any, *roles: str) -> None:
    users.add("ann@example.com", "acme", roles or ("member",), invite=False)
    cognito.admin_set_user_password(
        UserPoolId=pool.pool_id, Username="ann@example.com", Password=PASSWORD, Permanent=True
    )


def sign_in_on_the_page(http: httpx2.Client, address: str) -> str:
    """Where the browser is sent once ann has typed her password."""
    page = http.get(address)
    assert page.status_code == 200
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page.text))
    form = {name: unescape(value) for name, value in fields.items()}
    answer = http.post(
        str(httpx2.URL(address).join("/login")),
        data={**form, "username": "ann@example.com", "password": PASSWORD},
    )
    assert answer.status_code == 302, answer.text
    return answer.headers["Location"]


def logged_in(pool: Pool, http: httpx2.Client, home: Path) -> Store:
    """After `acta login`, with ann at the browser."""

    def visit(address: str) -> None:
        with httpx2.Client(trust_env=False) as browser:
            browser.get(sign_in_on_the_page(http, address))

    threads: list[threading.Thread] = []

    def opens(address: str) -> bool:
        threads.append(threading.Thread(target=visit, args=(address,), daemon=True))
        threads[-1].start()
        return True

    outputs = {
        "ApiUrl": "https://api.example",
        "Issuer": pool.application.issuer,
        "SignInClient": pool.client_id,
    }
    arguments = Namespace(
        env="dev",
        url=None,
        issuer=None,
        client_id=None,
        look_up=False,
        state=None,
        no_browser=False,
        json=True,
    )
    store = Store(folder({"XDG_CONFIG_HOME": str(home)}))
    code = login(
        arguments,
        opens=opens,
        read_outputs=lambda _: outputs,
        http=http,
        ports=LOOPBACK,
        store=store,
        wait_seconds=20,
    )
    threads[0].join(10)
    assert code == 0
    return store


LOOPBACK = (22820, 22821, 22822)
"""The registered ones: Cognito takes no other."""


SETTINGS = Settings(
    env="dev",
    table="table",
    bucket="bucket",
    tenant_claim=DEV.tenant_claim,
    roles_claim=DEV.roles_claim,
    machine_tenant_claim=TENANT_CLAIM,
    machine_roles_claim=ROLES_CLAIM,
    roles_have_no_spaces=True,
)


def as_in_aws(claims: dict[str, Any]) -> dict[str, Any]:
    """The local AWS puts every claim of the trigger into a machine's token. Cognito leaves out those that are a user's.

    Source: Amazon Cognito developer guide, "Claims and scopes reference".
    """
    if claims["sub"] != claims.get("client_id"):
        return claims
    return {name: value for name, value in claims.items() if not name.startswith(("cognito:", "custom:"))}


class Gateway:
    """An HTTP API whose authorizer takes the pool's tokens; it answers with the claims that a function gets."""

    def __init__(self, cloud: Cloud, pool: Pool) -> None:
        gateway = cloud.client("apigatewayv2")
        api_id = gateway.create_api(Name="pool", ProtocolType="HTTP")["ApiId"]
        function = cloud.deploy("def handler(event, context):\n    return event['requestContext']")
        arn = cloud.functions.get_function(FunctionName=function)["Configuration"]["FunctionArn"]
        integration = gateway.create_integration(
            ApiId=api_id, IntegrationType="AWS_PROXY", IntegrationUri=arn, PayloadFormatVersion="2.0"
        )["IntegrationId"]
        authorizer = gateway.create_authorizer(
            ApiId=api_id,
            Name="jwt",
            AuthorizerType="JWT",
            IdentitySource=["$request.header.Authorization"],
            JwtConfiguration={
                "Issuer": pool.application.issuer,
                "Audience": [pool.client_id, pool.machine_id],
            },
        )["AuthorizerId"]
        gateway.create_route(
            ApiId=api_id,
            RouteKey="GET /",
            Target=f"integrations/{integration}",
            AuthorizationType="JWT",
            AuthorizerId=authorizer,
        )
        gateway.create_stage(ApiId=api_id, StageName="$default", AutoDeploy=True)
        self.url = f"{cloud.url}/_aws/execute-api/{api_id}/$default/"

    def caller(self, token: str) -> Caller:
        """Who Acta's functions take the bearer for. Raises Forbidden."""
        with httpx2.Client(trust_env=False) as http:
            answer = http.get(self.url, headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 200, answer.text
        context = answer.json()
        jwt = context["authorizer"]["jwt"]
        jwt["claims"] = as_in_aws(jwt["claims"])
        return from_event({"requestContext": context}, SETTINGS)


def test_a_person_who_was_added_signs_in_and_is_let_in_with_tenant_and_roles(
    pool: Pool, users: Users, cognito: Any, cloud: Cloud, http: httpx2.Client, tmp_path: Path
) -> None:
    add_ann(users, pool, cognito, "member", "finance")
    store = logged_in(pool, http, tmp_path)
    stored = store.read("dev")
    assert stored is not None
    assert stored.tokens is not None
    gateway = Gateway(cloud, pool)
    caller = gateway.caller(stored.tokens.token)
    assert (caller.tenant, caller.roles) == ("acme", frozenset({"member", "finance"}))
    (ann,) = users.list()
    assert caller.user == ann.subject == stored.tokens.subject

    later = StoredTokens(store, "dev", http, clock=lambda: stored.tokens.expires_at)  # type: ignore[union-attr]
    again = later.token()
    assert again != stored.tokens.token
    assert claims_of(again)["custom:tenant"] == "acme"

    users.sign_out("ann@example.com")
    with pytest.raises(SignInEndedError, match="acta login --env dev"):
        StoredTokens(store, "dev", http, clock=lambda: stored.tokens.expires_at + A_DAY).token()  # type: ignore[union-attr]
    users.remove("ann@example.com")
    with pytest.raises(SignInEndedError, match="acta login --env dev"):
        StoredTokens(store, "dev", http, clock=lambda: stored.tokens.expires_at + A_DAY).token()  # type: ignore[union-attr]


def test_the_pools_access_token_names_no_tenant_so_the_functions_refuse_it(
    pool: Pool, users: Users, cognito: Any, cloud: Cloud, http: httpx2.Client
) -> None:
    """The gateway lets it in: it has no `aud`, and its `client_id` is the client's."""
    add_ann(users, pool, cognito)
    application = Application(pool.application.issuer, pool.client_id, takes="access_token")
    issuer, attempt = IssuerClient(application, http), AuthorizationRequest()
    endpoints = issuer.endpoints()
    redirect = f"http://127.0.0.1:{LOOPBACK[0]}/callback"
    location = sign_in_on_the_page(http, issuer.address_to_open(endpoints, attempt, redirect))
    code = issuer.code(endpoints, attempt, dict(httpx2.URL(location).params))
    with pytest.raises(SignInEndedError):
        issuer.exchange(
            endpoints, AuthorizationRequest(nonce=attempt.nonce), code, redirect
        )  # not without its verifier
    tokens = issuer.exchange(endpoints, attempt, code, redirect)
    with pytest.raises(Forbidden, match="names no tenant"):
        Gateway(cloud, pool).caller(tokens.token)


def test_a_machine_is_let_in_with_its_tenant_and_its_roles(
    pool: Pool, cognito: Any, cloud: Cloud, http: httpx2.Client
) -> None:
    """Its secret is read by an operator. The trigger that names its tenant runs in the local AWS's Lambda."""
    described = cognito.describe_user_pool_client(UserPoolId=pool.pool_id, ClientId=pool.machine_id)
    secret = described["UserPoolClient"]["ClientSecret"]
    tokens = MachineTokens(pool.application.issuer, pool.machine_id, secret, http=http)
    caller = Gateway(cloud, pool).caller(tokens.token())
    assert caller == Caller("acme", pool.machine_id, frozenset({"member", "finance"}))
    wrong = MachineTokens(pool.application.issuer, pool.machine_id, "wrong", http=http)
    with pytest.raises(SignInError, match="invalid_client"):
        wrong.token()


@pytest.mark.parametrize("redirect", ["http://127.0.0.1:1/callback", "https://evil.example/callback"])
def test_a_code_goes_to_the_registered_addresses_alone(
    pool: Pool, http: httpx2.Client, redirect: str
) -> None:
    issuer = IssuerClient(pool.application, http)
    answer = http.get(issuer.address_to_open(issuer.endpoints(), AuthorizationRequest(), redirect))
    assert answer.status_code == 400


def test_nobody_signs_in_past_the_page_or_makes_an_account(pool: Pool, cognito: Any) -> None:
    for flow in ("USER_PASSWORD_AUTH", "USER_SRP_AUTH"):
        given = {"USERNAME": "ann@example.com", "PASSWORD": PASSWORD, "SRP_A": "ab"}
        with pytest.raises(ClientError):
            cognito.initiate_auth(ClientId=pool.client_id, AuthFlow=flow, AuthParameters=given)
    with pytest.raises(ClientError):
        cognito.sign_up(ClientId=pool.client_id, Username="eve@example.com", Password=PASSWORD)


def test_people_are_listed_with_tenant_and_roles_and_a_tenant_never_changes(
    users: Users,
) -> None:
    assert users.add("ann@example.com", "acme", ["member"], invite=False)
    assert not users.add("ann@example.com", "acme", ["admin"], invite=False), "she was there"
    assert users.add("bob@example.com", "other", ["finance"], invite=False)
    with pytest.raises(OtherTenant, match="other"):
        users.add("bob@example.com", "acme", ["admin"], invite=False)
    found = {user.email: user for user in users.list()}
    assert found["ann@example.com"].roles == ("admin", "member")
    assert (found["bob@example.com"].tenant, found["bob@example.com"].roles) == ("other", ("finance",))
    users.remove("bob@example.com")
    assert [user.email for user in users.list()] == ["ann@example.com"]
    with pytest.raises(NoSuchUser):
        users.remove("bob@example.com")
