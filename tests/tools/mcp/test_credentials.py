"""What calls of MCP servers prove who they are with, and where that may go."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

from acta.engine.errors import ToolFailed
from acta.engine.tools.mcp.exchange import McpFailed
from acta.engine.tools.mcp.server import ClientCredentials, McpConnection, McpServerAuth
from acta.engine.tools.operations import OperationRequest, list_mcp_tools
from tests.doubles.authorization_server import Authorization
from tests.doubles.http_sink import Reply, Sink
from tests.doubles.mcp_server import PAY, SEARCH, McpSink, text
from tests.doubles.tool_secrets import known_for
from tests.tools.mcp.calls import Worker, confirmed

BEARER = McpServerAuth(secret="desk_key")
KEY = "Bearer sk-live-0123456789"
CLIENT_SECRET = "s3cret-of-the-client"


@pytest.fixture
def issuer() -> Iterator[Authorization]:
    with Authorization() as made:
        yield made


@pytest.fixture
def server(issuer: Authorization) -> Iterator[McpSink]:
    """It wants the first token that the authorization server gives."""
    with McpSink(token="Bearer token-1", ttl_ms=60_000) as made:
        metadata = {"resource": made.url("/mcp"), "authorization_servers": [issuer.url("/tenant")]}
        made.replies["/metadata"] = Reply(body=json.dumps(metadata).encode())
        yield made


def by_client(issuer: Authorization, **more: Any) -> McpServerAuth:
    client = {"client_id": "acta:1", "secret": "client", "token_url": issuer.url("/token"), **more}
    return McpServerAuth(client_credentials=ClientCredentials.model_validate(client))


def worker_of(*allowed: Sink, **more: Any) -> Worker:
    return Worker(*allowed, values={"client": CLIENT_SECRET}, **more)


def asked_where(server: McpSink, auth: McpServerAuth | None, *others: Sink) -> str:
    """What an admin reads of where tokens come from, after the server has refused."""
    connection = McpConnection(server="desk", url=server.url("/mcp"), auth=auth)
    given = connection.model_dump(mode="json")
    told = list_mcp_tools(
        OperationRequest("acme", "ann", {**given, "name": "desk"}, 10), worker_of(server, *others).servers
    )
    return str(told["tokens_from"])


def test_a_secret_is_the_whole_header_and_is_taken_out_of_what_the_server_says() -> None:
    with McpSink(token=KEY) as server:
        server.called = lambda params: text("you are sk-live-0123456789")
        said = Worker(server, values={"desk_key": KEY}).call(
            confirmed(SEARCH, server.url("/mcp"), auth=BEARER, read=True)
        )
        assert said.text == "you are [secret desk_key]"
        assert {heard.headers["authorization"] for heard in server.heard} == {KEY}


@pytest.mark.parametrize("kind", ["BearerToken", " bearer", None])
def test_a_token_is_used_whatever_its_server_calls_a_bearers(
    server: McpSink, issuer: Authorization, kind: str | None
) -> None:
    token = {"access_token": "token-1", "token_type": kind, "expires_in": 60}
    issuer.refuses = Reply(201, json.dumps(token).encode())
    worker = worker_of(server, issuer)
    said = worker.call(confirmed(SEARCH, server.url("/mcp"), auth=by_client(issuer), read=True))
    assert said.text == "found"


def test_an_authorization_server_that_does_not_answer_hides_no_other(
    server: McpSink, issuer: Authorization
) -> None:
    dead = "http://127.0.0.1:1"
    named = [dead, server.url("/odd"), issuer.url("/tenant")]
    metadata = {"resource": server.url("/mcp"), "authorization_servers": named}
    server.replies["/metadata"] = Reply(body=json.dumps(metadata).encode())
    server.replies["/.well-known/oauth-authorization-server/odd"] = Reply(body=b'{"a": NaN}')
    assert issuer.url("/token") in asked_where(server, None, issuer)
    openid = {"issuer": server.url("/odd"), "token_endpoint": server.url("/odd/token")}
    server.replies["/.well-known/openid-configuration/odd"] = Reply(body=json.dumps(openid).encode())
    found = asked_where(server, None, issuer)
    assert server.url("/odd/token") in found
    assert issuer.url("/token") in found


def test_a_secret_that_is_not_set_or_for_other_hosts_is_not_sent() -> None:
    with McpSink() as server:
        tool = confirmed(PAY, server.url("/mcp"), auth=BEARER)
        with pytest.raises(ToolFailed, match="its secret desk_key is not set"):
            Worker(server).call(tool)
        for hosts, why in ((["a.example"], "is for other hosts"), ([], "names no hosts that may get it")):
            with pytest.raises(ToolFailed, match=f"its secret desk_key {why}"):
                Worker(server, values={"desk_key": KEY}, known=known_for(hosts, "desk_key")).call(tool)
        assert server.heard == []


def test_a_refused_secret_is_an_admin_s_to_mend() -> None:
    with McpSink(token="Bearer another") as server:
        with pytest.raises(ToolFailed, match="answered with status 401"):
            Worker(server, values={"desk_key": KEY}).call(confirmed(PAY, server.url("/mcp"), auth=BEARER))
        assert len(server.heard) == 1


def test_a_client_s_token_is_bought_at_the_endpoint_of_the_definition_alone_and_kept(
    server: McpSink, issuer: Authorization
) -> None:
    worker = worker_of(server, issuer)
    tool = confirmed(SEARCH, server.url("/mcp"), auth=by_client(issuer, scope="read"), read=True)
    assert worker.call(tool).text == "found"
    worker.call(tool)
    (asked,) = issuer.heard
    assert asked.body == {"grant_type": "client_credentials", "resource": server.url("/mcp"), "scope": "read"}
    assert (
        base64.b64decode(asked.headers["authorization"].removeprefix("Basic "))
        == b"acta%3A1:s3cret-of-the-client"
    )
    assert all("s3cret" not in json.dumps([heard.headers, heard.body]) for heard in server.heard)


def test_a_server_that_names_itself_as_its_authorization_server_gets_no_secret(issuer: Authorization) -> None:
    """It was taken over, and is among the hosts that get the secret: a path of the same host is another endpoint."""
    with McpSink(token="Bearer nobody-s") as server:
        server.name_itself(server.url("/steal"))
        auth = by_client(issuer)
        with pytest.raises(ToolFailed, match="status 401"):
            worker_of(server, issuer).call(confirmed(SEARCH, server.url("/mcp"), auth=auth, read=True))
        told = asked_where(server, auth, issuer)
        assert told.startswith(f"The definition has {issuer.url('/token')}, which alone gets the secret.")
        assert server.url("/steal") in told
        assert "/steal" not in [heard.path for heard in server.heard]
        assert "s3cret" not in json.dumps([[heard.headers, heard.body] for heard in server.heard])
        for asked in issuer.asked:
            assert (
                "s3cret" in base64.b64decode(asked.headers["authorization"].removeprefix("Basic ")).decode()
            )


def test_a_secret_goes_into_the_body_where_the_definition_says_so(server: McpSink) -> None:
    with Authorization("client_secret_post") as issuer:
        auth = by_client(issuer, auth_method="client_secret_post")
        worker_of(server, issuer).list_tools(server.url("/mcp"), auth)
        (asked,) = issuer.asked
        assert (asked.body["client_id"], asked.body["client_secret"]) == ("acta:1", CLIENT_SECRET)
        assert "authorization" not in asked.headers


def test_a_token_that_is_refused_is_replaced_once(server: McpSink, issuer: Authorization) -> None:
    worker, url, auth = worker_of(server, issuer), server.url("/mcp"), by_client(issuer)
    worker.list_tools(url, auth)
    server.token = "Bearer token-2"
    worker.list_tools(url, auth)
    assert len(issuer.asked) == 2
    server.token = "Bearer nobody-s"
    with pytest.raises(McpFailed, match="status 401"):
        worker.list_tools(url, auth)
    assert len(issuer.asked) == 3


def test_a_token_is_used_no_longer_than_the_secret_and_the_definition_that_bought_it(
    server: McpSink, issuer: Authorization
) -> None:
    hosts = known_for([server.at, issuer.at], "client")
    known = [hosts]
    server.token = ""  # the server takes each token, also an old one
    worker = worker_of(server, issuer, known=lambda tenant: known[0](tenant))
    url, auth, other = server.url("/mcp"), by_client(issuer), by_client(issuer, scope="write")
    worker.list_tools(url, auth)
    worker.secrets.put("acme", "client", "another-secret-of-the-client")
    worker.list_tools(url, auth)
    basic = issuer.asked[-1].headers["authorization"].removeprefix("Basic ")
    assert b"another-secret" in base64.b64decode(basic)
    worker.list_tools(url, other)
    assert [heard.headers["authorization"] for heard in server.heard] == [
        "Bearer token-1", "Bearer token-2", "Bearer token-3",
    ]  # fmt: skip
    for gone in (known_for([], "client"), lambda tenant: ()):
        known[0] = gone
        with pytest.raises(ToolFailed, match="its secret client"):
            worker.list_tools(url, other)
    known[0] = hosts
    worker.secrets.delete("acme", "client")
    with pytest.raises(ToolFailed, match="its secret client is not set"):
        worker.list_tools(url, other)
    assert len(server.heard) == len(issuer.asked) == 3
    assert worker.servers._tokens._kept._kept == {}, "nothing that it bought is left in memory"


def test_a_token_of_one_tenant_is_not_another_s(server: McpSink, issuer: Authorization) -> None:
    worker, auth = worker_of(server, issuer), by_client(issuer)
    worker.secrets.put("globex", "client", "another-secret-of-the-client")
    worker.list_tools(server.url("/mcp"), auth)
    server.token = "Bearer token-2"
    worker.servers.list_tools("globex", McpConnection(server="desk", url=server.url("/mcp"), auth=auth), 10)
    assert len(issuer.asked) == 2


@pytest.mark.parametrize("status", [302, 400, 500])
def test_a_token_endpoint_that_refuses_or_leads_elsewhere_ends_the_attempt(
    server: McpSink, issuer: Authorization, status: int
) -> None:
    issuer.refuses = Reply(status, b"{}", {"Location": server.url("/steal")})
    tool = confirmed(PAY, server.url("/mcp"), auth=by_client(issuer))
    with pytest.raises(
        ToolFailed, match=f"its server has a token endpoint that answered with status {status}"
    ):
        worker_of(server, issuer).call(tool)
    assert server.heard == []


def test_an_admin_is_told_which_endpoint_a_server_that_refuses_names_and_it_is_sent_nothing(
    server: McpSink, issuer: Authorization
) -> None:
    told = asked_where(server, None, issuer)
    assert f"{issuer.url('/token')} of the issuer {issuer.issuer} (client_secret_basic)" in told
    assert told.endswith("auth.client_credentials.token_url.")
    assert issuer.asked == []
    assert all("authorization" not in heard.headers for heard in (*server.heard, *issuer.heard))
    server.token = "Bearer nobody-s"
    assert asked_where(server, by_client(issuer), issuer) == "", "the definition has the endpoint already"


@pytest.mark.parametrize(
    "metadata",
    [
        {"resource": "https://other.example/mcp"},
        {"authorization_servers": []},
        {"authorization_servers": ["https://not.listed"]},
        {"authorization_servers": [7]},
        {"resource": "https://["},
        {"authorization_servers": ["https://["]},
    ],
)
def test_metadata_that_lead_elsewhere_are_not_shown(
    server: McpSink, issuer: Authorization, metadata: dict[str, Any]
) -> None:
    good = json.loads(server.replies["/metadata"].body)
    server.replies["/metadata"] = Reply(body=json.dumps({**good, **metadata}).encode())
    assert asked_where(server, None, issuer) == ""


def test_an_issuer_that_speaks_for_another_one_or_redirects_is_not_shown(
    server: McpSink, issuer: Authorization
) -> None:
    issuer.issuer = "https://somebody.else"
    assert asked_where(server, None, issuer) == ""
    server.replies["/metadata"] = Reply(302, headers={"Location": server.url("/more")})
    server.replies["/more"] = Reply(body=b'{"resource": "x"}')
    assert asked_where(server, None, issuer) == ""
    assert "/more" not in [heard.path for heard in server.heard]


def test_a_client_s_secret_goes_to_its_own_hosts_alone(server: McpSink, issuer: Authorization) -> None:
    worker = worker_of(server, issuer, known=known_for(["login.example"], "client"))
    with pytest.raises(ToolFailed, match="its secret client is for other hosts"):
        worker.list_tools(server.url("/mcp"), by_client(issuer))
    assert issuer.asked == []


def test_metadata_on_a_host_that_is_not_listed_are_not_read(server: McpSink) -> None:
    with Authorization() as hidden:
        named = {"resource": server.url("/mcp"), "authorization_servers": [hidden.issuer]}
        server.replies["/metadata"] = Reply(body=json.dumps(named).encode())
        assert asked_where(server, None) == ""
        assert hidden.heard == []
