"""AG7, insecure communication between agent and tool: the credential that a tool calls its server with is to be found
in what is stored, logged or told, or used by another tenant (M10 of the review: it stood in the table in clear).
"""

import gzip
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from acta.engine.errors import ActaError
from acta.engine.store.table_layout import unpack
from tests.doubles.authorization_server import Authorization
from tests.doubles.http_sink import Heard, Reply, Sink
from tests.doubles.mcp_server import McpSink
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind, as_text
from tests.e2e.support.conversing import anthropic_at, http_tool
from tests.e2e.support.person import Json, Person, Seen, refused
from tests.e2e.support.script import Call, do, end, plan
from tests.e2e.support.stage import Stage

pytestmark = pytest.mark.thorough

KEY = "sk-live-4f9a1c7e2b"
VALUE, THEIRS, NEWER = f"Bearer {KEY}", "Bearer sk-theirs-88d1f0", "Bearer sk-newer-0a5b77"
PATH = "/v1/tool-secrets/desk"


class Echo(Sink):
    """Says again what it was told, as careless servers do."""

    def reply_to(self, heard: Heard) -> Reply:
        return Reply(body=json.dumps({"you_sent": dict(heard.headers)}).encode())

    @property
    def told(self) -> list[str | None]:
        return [heard.headers.get("authorization") for heard in self.heard]


@pytest.fixture
def sink() -> Iterator[Echo]:
    with Echo() as made:
        yield made


@pytest.fixture
def configured(behind: Behind, sink: Echo, llmock_server: Any) -> Iterator[None]:
    with (
        behind.configured("step", **anthropic_at(llmock_server.base_url("anthropic"))),
        behind.configured("tool", "admin", ACTA_HTTP_TOOL_ALLOW=sink.at),
    ):
        yield


def set_secret(boss: Person, value: str, *hosts: str) -> None:
    """`hosts`: those that may get it; none: those that it has."""
    answer = boss.http.put(PATH, json={"value": value} | ({"hosts": list(hosts)} if hosts else {}))
    assert answer.status_code in (200, 201), answer.text
    assert value not in answer.text


def desk_tool(url: str, header: Any) -> Json:
    tool = http_tool("desk", url, effect="read")
    tool["config"]["headers"] = {"Authorization": header}
    return tool


def ask_the_desk(boss: Person, llmock: Any) -> tuple[Stage, Seen]:
    stage = Stage(boss, llmock.tool_mode("off"))
    stage.prepare(do(plan("Ask")), do(Call("desk", {"n": 1}), text="I ask."), end("Asked.", 1))
    return stage, boss.finished(boss.start("Ask the desk"))


def in_the_clear(value: Any) -> str:
    """An item with its bodies, which are compressed."""
    found = [str(value)]
    for attribute in value.values():
        if "B" in attribute:
            with suppress(ActaError):
                found.append(unpack(bytes(attribute["B"])).decode("utf-8", "replace"))
    return "\n".join(found)


def everything_stored(behind: Behind) -> str:
    dynamodb, s3 = behind.client("dynamodb"), behind.client("s3")
    tables = (behind.settings["ACTA_TABLE"], behind.settings["ACTA_AUDIT_TABLE"])
    found = [
        in_the_clear(item)
        for table in tables
        for page in dynamodb.get_paginator("scan").paginate(TableName=table)
        for item in page["Items"]
    ]
    for bucket in behind.buckets:
        for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket):
            for one in page.get("Contents", ()):
                data = s3.get_object(Bucket=bucket, Key=one["Key"])["Body"].read()
                with suppress(OSError):
                    data = gzip.decompress(data)
                found.append(data.decode("utf-8", "replace"))
    return "\n".join(found)


def test_a_credential_reaches_its_server_and_stands_nowhere_else(
    configured: None, admit: Admit, behind: Behind, sink: Echo, llmock: Any
) -> None:
    boss = admit(role="admin", user="boss")
    refused(boss.post("/v1/tools", desk_tool(sink.url("/a"), VALUE)), 400, "VALIDATION_ERROR")
    refused(boss.http.put(PATH, json={"value": VALUE}), 400, "VALIDATION_ERROR")
    set_secret(boss, VALUE, sink.at)
    made = boss.post("/v1/tools", desk_tool(sink.url("/a"), {"secret": "desk"}))
    assert made.status_code == 201, made.text
    stage, seen = ask_the_desk(boss, llmock)
    assert sink.told == [VALUE]
    (result,) = [text for text in stage.results(seen) if "you_sent" in text]
    assert '"authorization": "[secret desk]"' in result

    session_id = seen.session["session_id"]
    told = [
        boss.get(f"/v1/sessions/{session_id}{rest}").text for rest in ("", "/messages", "/steps", "/trace")
    ]
    told += [boss.get(path).text for path in ("/v1/tools/desk", "/v1/tool-secrets", "/v1/audit")]
    runs = [as_text(behind.history(run["executionArn"])) for run in behind.executions(session_id)]
    kept = everything_stored(behind)
    assert "[secret desk]" in kept, "what is stored was looked at"
    for text in (*told, *runs, *behind.log_lines(), json.dumps(stage.requests), kept):
        assert KEY not in text
    (secret,) = boss.items("/v1/tool-secrets")
    assert set(secret) == {"name", "hosts", "created_at", "updated_at", "updated_by"}


def test_a_tenant_s_secret_is_used_by_no_other_tenant_and_another_value_without_a_deployment(
    configured: None, admit: Admit, behind: Behind, sink: Echo, llmock: Any
) -> None:
    boss, other = admit(role="admin", user="boss"), admit(role="admin", user="boss")
    set_secret(boss, VALUE, sink.at)
    reference = desk_tool(sink.url("/b"), {"secret": "desk"})
    refused(other.post("/v1/tools", reference), 400, "VALIDATION_ERROR")
    refused(other.delete(PATH), 404, "NOT_FOUND")
    assert other.items("/v1/tool-secrets") == []
    set_secret(other, THEIRS, sink.at)
    for person in (boss, other):
        assert person.post("/v1/tools", reference).status_code == 201
    refused(other.delete(PATH), 409, "CONFLICT")
    for person in (boss, other):
        ask_the_desk(person, llmock)
    assert sink.told == [VALUE, THEIRS]

    set_secret(other, NEWER)
    with behind.configured("tool", ACTA_POLL_AFTER_MS="999"):  # workers that have kept nothing
        ask_the_desk(other, llmock)
    assert sink.told == [VALUE, THEIRS, NEWER]


def test_a_secret_that_is_gone_fails_the_call_and_not_the_run(
    configured: None, admit: Admit, behind: Behind, sink: Echo, llmock: Any
) -> None:
    boss = admit(role="admin", user="boss")
    set_secret(boss, VALUE, sink.at)
    assert boss.post("/v1/tools", desk_tool(sink.url("/c"), {"secret": "desk"})).status_code == 201
    behind.client("secretsmanager").delete_secret(
        SecretId=f"acta/local/tools/{boss.tenant}/desk", ForceDeleteWithoutRecovery=True
    )
    stage, seen = ask_the_desk(boss, llmock)
    assert any("its secret desk is not set" in text for text in stage.results(seen))
    assert sink.told == []
    set_secret(boss, NEWER)
    ask_the_desk(boss, llmock)
    assert sink.told == [NEWER]
    assert boss.delete("/v1/tools/desk").status_code == 204
    assert boss.delete(PATH).status_code == 204
    set_secret(boss, VALUE, sink.at)


def test_a_client_secret_goes_to_the_confirmed_endpoint_alone_and_its_tokens_end_with_it(
    admit: Admit, behind: Behind
) -> None:
    """An MCP server that was taken over names itself as the authorization server, by which it got the client's secret.
    A token went on to be used for up to a day after the secret that had bought it was replaced or deleted.
    """
    boss = admit(role="admin", user="boss")
    with McpSink(token="Bearer token-1") as server, Authorization() as login:
        server.name_itself(server.url("/steal"))
        with behind.configured("tool", "admin", ACTA_HTTP_TOOL_ALLOW=f"{server.at},{login.at}"):
            set_secret(boss, "secret-of-the-client", login.at)
            client = {"client_id": "acta", "secret": "desk"}
            path = "/v1/mcp-servers/desk"
            for token_url in (None, server.url("/steal")):  # the latter's host is none of the secret's
                told = client if token_url is None else {**client, "token_url": token_url}
                body = {"url": server.url("/mcp"), "auth": {"client_credentials": told}}
                refused(boss.http.put(path, json=body), 400, "VALIDATION_ERROR")
            auth = {"client_credentials": {**client, "token_url": login.url("/token")}}
            made = boss.http.put(path, json={"url": server.url("/mcp"), "auth": auth})
            assert made.status_code == 201, made.text
            for _ in range(2):
                assert boss.post(f"{path}/refresh").status_code == 200
            assert len(login.heard) == 1, "the token is kept"

            server.token = "Bearer nobody-s"
            error = refused(boss.post(f"{path}/refresh"), 409, "CONFLICT")
            assert server.url("/steal") in error["details"]["token_url"][0]
            assert login.url("/token") in error["details"]["token_url"][0]
            assert "/steal" not in [heard.path for heard in server.heard]
            assert "secret-of" not in str([[one.headers, one.body] for one in server.heard])

            server.token = ""  # it takes each token, also an old one
            set_secret(boss, "newer-secret-of-the-client")
            assert boss.post(f"{path}/refresh").status_code == 200
            assert server.heard[-1].headers["authorization"] == "Bearer token-3"
            before = len(login.heard)
            behind.client("secretsmanager").delete_secret(
                SecretId=f"acta/local/tools/{boss.tenant}/desk", ForceDeleteWithoutRecovery=True
            )
            with behind.configured("tool", ACTA_POLL_AFTER_MS="998"):  # workers that have kept nothing
                error = refused(boss.post(f"{path}/refresh"), 409, "CONFLICT")
            assert "its secret desk is not set" in error["message"]
            assert len(login.heard) == before == 3
