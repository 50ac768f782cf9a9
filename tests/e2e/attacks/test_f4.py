"""F4, what a process keeps: one tenant's call of a Python tool leaves something behind, another tenant's looks for it.

The tool is in the attacker's hands (`tests/e2e/support/tools/keeping`). Acta's own functions serve all tenants in the
same processes; which of their caches has what of a tenant: `tests/tenants/test_what_processes_keep.py`.
"""

import json
from typing import Any

import pytest
from llmock.scenarios import ToolCall

from tests.doubles.http_sink import Sink
from tests.doubles.mcp_server import McpSink
from tests.e2e.conftest import Admit
from tests.e2e.models.test_tools_of_tenants import run
from tests.e2e.support.behind import Behind
from tests.e2e.support.conversing import confirm_search, http_tool
from tests.e2e.support.person import Person
from tests.e2e.support.script import Call, do, end, plan, read
from tests.e2e.support.stage import Stage

NOTHING: dict[str, Any] = {"module": [], "file": "", "variable": "", "builtins": "", "files": []}


@pytest.fixture
def alice(configured: None, admit: Admit) -> Person:
    person = admit(tenant="shop", user="alice", role="admin")
    person.put_file("plan.md", "the shop's plan")
    person.put_file("~/diary.md", "alice's diary")
    return person


@pytest.fixture
def eve(configured: None, admit: Admit) -> Person:
    return admit(tenant="rival", user="eve", role="admin")


def tried(person: Person, word: str) -> dict[str, Any]:
    answer = person.post("/v1/tools/keep/call", {"input": {"word": word}})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = json.loads(answer.json()["data"]["result"])
    return found


def in_private_session(person: Person, llmock: Any, word: str) -> dict[str, Any]:
    (said,) = run(person, llmock, ToolCall("keep", {"word": word}), visibility="private")
    found: dict[str, Any] = json.loads(said[said.index("{") : said.rindex("}") + 1])
    return found


def test_what_a_tool_keeps_of_one_tenant_is_not_there_when_it_serves_another(
    alice: Person, eve: Person
) -> None:
    tried(alice, "of the shop")
    again = tried(alice, "of the shop, again")
    assert again["module"][-1:] == ["shop/alice"], "a process is used again, so there is something to find"
    assert (again["file"], again["variable"], again["builtins"]) == ("of the shop",) * 3
    assert "the shop's plan" in again["files"]

    assert tried(eve, "of the rival") == NOTHING
    assert "rival/eve" not in tried(alice, "of the shop")["module"]


def test_what_a_tool_keeps_of_a_private_session_is_there_for_nobody_else(
    alice: Person, eve: Person, admit: Admit, llmock: Any
) -> None:
    assert in_private_session(alice, llmock, "alice's own") == NOTHING
    mine = in_private_session(alice, llmock, "alice's own")
    assert "alice's diary" in mine["files"]
    assert mine["file"] == "alice's own"

    bob = admit(tenant="shop", user="bob")
    for found in (
        in_private_session(bob, llmock, "bob's"),
        tried(alice, "of the shop"),
        tried(eve, "of eve"),
    ):
        assert "alice's own" not in json.dumps(found)
        assert "alice's diary" not in found["files"]


def furnish(person: Person, mark: str, sink: Sink, server: McpSink) -> None:
    """Things of every kind, called the same in each tenant, with the tenant's mark in them."""
    for secret in ("desk", "books"):
        value = {"value": f"Bearer {secret}-of-{mark}", "hosts": [sink.at, server.at]}
        assert person.http.put(f"/v1/tool-secrets/{secret}", json=value).status_code == 201
    tool = http_tool("desk", sink.url(f"/{mark}"), effect="read", high_stakes=False)
    tool["description"] = f"The desk of {mark}"
    tool["config"]["headers"] = {"Authorization": {"secret": "desk"}}
    assert person.post("/v1/tools", tool).status_code == 201
    confirm_search(person, "books", server.url("/mcp"), {"secret": "books"}, high_stakes=False)
    agent = {"agent_id": "clerk", "name": f"Clerk of {mark}", "system_prompt": f"You serve {mark}."}
    assert person.post("/v1/agents", agent).status_code == 201
    person.put_file("notes.md", f"notes of {mark}")
    memory = {"agent_id": "clerk", "kind": "fact", "text": f"The desk is of {mark}"}
    assert person.post("/v1/memories", memory).status_code == 201


def worked(person: Person, llmock: Any, sink: Sink, server: McpSink) -> str:
    """All that a session of the tenant brings before a model, a server or a person."""
    stage = Stage(person, llmock.tool_mode("off"))
    calls = (Call("desk", {"n": 1}), Call("books__search", {"q": "x"}), read("notes.md"))
    stage.prepare(do(plan("Ask the desk")), do(*calls, text="I ask."), end("Asked.", 1))
    before = len(stage.requests), len(sink.heard), len(server.heard)
    seen = person.finished(person.start("Ask the desk", agent_id="clerk"))
    assert seen.session["state"] == "completed", seen.session
    heard = [*sink.heard[before[1] :], *server.heard[before[2] :]]
    told = [person.get(path).text for path in ("/v1/agents", "/v1/tools", "/v1/memories", "/v1/files")]
    said = [stage.requests[before[0] :], [[one.path, dict(one.headers)] for one in heard]]
    return json.dumps([*said, stage.results(seen), told])


def test_what_acta_keeps_of_one_tenant_reaches_no_other_under_the_same_names(
    provider: None, admit: Admit, behind: Behind, llmock: Any, sink: Sink
) -> None:
    tenants = {mark: admit(role="admin", user="boss") for mark in ("Zebra", "Okapi")}
    with (
        McpSink(ttl_ms=600_000) as server,
        behind.configured("tool", "admin", ACTA_HTTP_TOOL_ALLOW=f"{sink.at},{server.at}"),
    ):
        for mark, person in tenants.items():
            furnish(person, mark, sink, server)
        for _ in range(2):  # the second time everything that is kept is there
            for mark, person in tenants.items():
                found = worked(person, llmock, sink, server)
                (other,) = set(tenants) - {mark}
                assert other not in found
                for own in (
                    f"desk-of-{mark}", f"books-of-{mark}", f"/{mark}", f"You serve {mark}.", f"notes of {mark}",
                    f"The desk is of {mark}", f"The desk of {mark}",
                ):  # fmt: skip
                    assert own in found, "so the mark would have been seen"
