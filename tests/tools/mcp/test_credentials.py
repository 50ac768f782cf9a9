"""What calls of MCP servers prove who they are with, and where that may go."""

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs

import pytest

from acta_engine.errors import ToolFailed
from acta_engine.tools.mcp.exchange import McpFailed
from acta_engine.tools.mcp.server import ClientCredentials, McpServerAuth
from acta_engine.tools.tool import ToolSecret
from tests.doubles.http_sink import Heard, Reply, Sink, SinkHandler
from tests.doubles.mcp_server import PAY, SEARCH, McpSink, text
from tests.tools.mcp.calls import Worker, confirmed

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BEARER = McpServerAuth(secret="desk_key")
KEY = "Bearer sk-live-0123456789"
CLIENT_SECRET = "s3cret-of-the-client"


class FormHandler(SinkHandler):
    def answer(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        form = {name: values[0] for name, values in parse_qs(data.decode()).items()}
        heard = Heard(self.command, self.path, headers, form)
        self.server.heard.append(heard)
        reply = self.server.reply_to(heard)
        self.send_response(reply.status)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    do_GET = do_POST = answer  # noqa: N815


class Authorization(Sink):
    """An authorization server. `methods`: how clients may prove who they are; `lives`: its tokens' seconds."""

    def __init__(self, *methods: str) -> None:
        super().__init__()
        self.RequestHandlerClass = FormHandler
        self.methods = methods
        self.lives = 3_600
        self.issuer = self.url("/tenant")

    def reply_to(self, heard: Heard) -> Reply:
        if heard.path == "/.well-known/oauth-authorization-server/tenant":
            metadata: dict[str, Any] = {"issuer": self.issuer, "token_endpoint": self.url("/token")}
            if self.methods:
                metadata["token_endpoint_auth_methods_supported"] = list(self.methods)
            return Reply(body=json.dumps(metadata).encode())
        if heard.path == "/token":
            token = {
                "access_token": f"token-{len(self.asked)}",
                "token_type": "Bearer",
                "expires_in": self.lives,
            }
            return Reply(body=json.dumps(token).encode())
        return Reply(404)

    @property
    def asked(self) -> list[Heard]:
        """For tokens."""
        return [heard for heard in self.heard if heard.path == "/token"]


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


def by_client(**more: Any) -> McpServerAuth:
    return McpServerAuth(client_credentials=ClientCredentials(client_id="acta:1", secret="client", **more))


def worker_of(*allowed: Sink, hosts: tuple[str, ...] = ()) -> Worker:
    known = ToolSecret(name="client", created_at=NOW, updated_at=NOW, updated_by="ann", hosts=hosts)
    return Worker(*allowed, values={"client": CLIENT_SECRET}, known=lambda tenant: (known,) if hosts else ())


def test_a_secret_is_the_whole_header_and_is_taken_out_of_what_the_server_says() -> None:
    with McpSink(token=KEY) as server:
        server.called = lambda params: text("you are sk-live-0123456789")
        said = Worker(server, values={"desk_key": KEY}).call(
            confirmed(SEARCH, server.url("/mcp"), auth=BEARER, read=True)
        )
        assert said.text == "you are [secret desk_key]"
        assert {heard.headers["authorization"] for heard in server.heard} == {KEY}


def test_a_secret_that_is_not_set_or_for_other_hosts_is_not_sent() -> None:
    with McpSink() as server:
        tool = confirmed(PAY, server.url("/mcp"), auth=BEARER)
        with pytest.raises(ToolFailed, match="its secret desk_key is not set"):
            Worker(server).call(tool)
        known = ToolSecret(
            name="desk_key", created_at=NOW, updated_at=NOW, updated_by="ann", hosts=("a.example",)
        )
        with pytest.raises(ToolFailed, match="its secret desk_key is for other hosts"):
            Worker(server, values={"desk_key": KEY}, known=lambda tenant: (known,)).call(tool)
        assert server.heard == []


def test_a_refused_secret_is_an_admin_s_to_mend() -> None:
    with McpSink(token="Bearer another") as server:
        with pytest.raises(ToolFailed, match="answered with status 401"):
            Worker(server, values={"desk_key": KEY}).call(confirmed(PAY, server.url("/mcp"), auth=BEARER))
        assert len(server.heard) == 1


def test_a_client_s_token_comes_from_where_the_server_s_metadata_say_and_is_kept(
    server: McpSink, issuer: Authorization
) -> None:
    worker, tool = (
        worker_of(server, issuer),
        confirmed(SEARCH, server.url("/mcp"), auth=by_client(scope="read"), read=True),
    )
    assert worker.call(tool).text == "found"
    worker.call(tool)
    (asked,) = issuer.asked
    assert asked.body == {"grant_type": "client_credentials", "resource": server.url("/mcp"), "scope": "read"}
    assert (
        base64.b64decode(asked.headers["authorization"].removeprefix("Basic "))
        == b"acta%3A1:s3cret-of-the-client"
    )
    assert all("s3cret" not in json.dumps([heard.headers, heard.body]) for heard in server.heard)


def test_a_secret_goes_into_the_body_where_the_authorization_server_wants_it_there(server: McpSink) -> None:
    with Authorization("client_secret_post") as issuer:
        metadata = {"resource": server.url("/"), "authorization_servers": [issuer.issuer]}
        server.replies["/metadata"] = Reply(body=json.dumps(metadata).encode())
        worker_of(server, issuer).list_tools(server.url("/mcp"), by_client())
        (asked,) = issuer.asked
        assert (asked.body["client_id"], asked.body["client_secret"]) == ("acta:1", CLIENT_SECRET)
        assert "authorization" not in asked.headers


def test_a_token_that_is_refused_is_replaced_once(server: McpSink, issuer: Authorization) -> None:
    worker, url = worker_of(server, issuer), server.url("/mcp")
    worker.list_tools(url, by_client())
    server.token = "Bearer token-2"
    worker.list_tools(url, by_client())
    assert len(issuer.asked) == 2
    server.token = "Bearer nobody-s"
    with pytest.raises(McpFailed, match="status 401"):
        worker.list_tools(url, by_client())
    assert len(issuer.asked) == 3


def test_a_token_endpoint_that_an_admin_names_needs_no_metadata(
    server: McpSink, issuer: Authorization
) -> None:
    worker_of(server, issuer).list_tools(server.url("/mcp"), by_client(token_url=issuer.url("/token")))
    assert [heard.path for heard in issuer.heard] == ["/token"]


@pytest.mark.parametrize(
    ("metadata", "why"),
    [
        ({"resource": "https://other.example/mcp"}, "about another server"),
        ({"authorization_servers": []}, "does not name an authorization server"),
        ({"authorization_servers": ["https://not.listed"]}, "may not be called"),
    ],
)
def test_metadata_that_lead_elsewhere_get_no_secret(
    server: McpSink, issuer: Authorization, metadata: dict[str, Any], why: str
) -> None:
    good = json.loads(server.replies["/metadata"].body)
    server.replies["/metadata"] = Reply(body=json.dumps({**good, **metadata}).encode())
    with pytest.raises(McpFailed, match=why):
        worker_of(server, issuer).list_tools(server.url("/mcp"), by_client())
    assert issuer.asked == []


def test_an_issuer_that_is_not_the_named_one_or_speaks_for_another_gets_no_secret(
    server: McpSink, issuer: Authorization
) -> None:
    worker, url = worker_of(server, issuer), server.url("/mcp")
    with pytest.raises(McpFailed, match="another authorization server than its definition"):
        worker.list_tools(url, by_client(issuer=issuer.url("/somebody-else")))
    issuer.issuer = "https://somebody.else"
    with pytest.raises(McpFailed, match="metadata are another one's"):
        worker.list_tools(url, by_client())
    assert issuer.asked == []


def test_a_client_s_secret_goes_to_its_own_hosts_alone(server: McpSink, issuer: Authorization) -> None:
    with pytest.raises(ToolFailed, match="its secret client is for other hosts"):
        worker_of(server, issuer, hosts=("login.example",)).list_tools(server.url("/mcp"), by_client())
    assert issuer.asked == []


def test_metadata_on_a_host_that_is_not_listed_are_not_read(server: McpSink) -> None:
    with Authorization() as hidden:
        server.replies["/metadata"] = Reply(
            body=json.dumps(
                {"resource": server.url("/mcp"), "authorization_servers": [hidden.issuer]}
            ).encode()
        )
        with pytest.raises(McpFailed, match="may not be called"):
            worker_of(server).list_tools(server.url("/mcp"), by_client())
        assert hidden.heard == []
