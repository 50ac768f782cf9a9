"""AG8, cascading failures: runs that never end, many at once, stop where their tenant's hour is used up. What a server
of a tool answers with ends neither its session nor other sessions of the tenant.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.bench.stand.script import Call, Reply
from tests.doubles import http_sink
from tests.doubles.mcp_server import PAY, SEARCH, Forgetful, McpSink
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.conversing import ConversingProvider, anthropic_at, confirm_search, planned
from tests.e2e.support.person import refused
from tests.e2e.support.script import Call as Calls
from tests.e2e.support.script import do, end, plan
from tests.e2e.support.stage import Stage

pytestmark = pytest.mark.thorough

AN_HOUR = 60_000
LOOKS = [Reply("On and on.", (Call("list_files", {"path": f"folder-{n}"}),)) for n in range(900)]


@pytest.fixture(scope="module")
def endless(behind: Behind) -> Iterator[None]:
    model = ConversingProvider()
    model.play(planned(*LOOKS))
    with behind.configured("step", **anthropic_at(model.url), ACTA_TENANT_TOKENS_PER_HOUR=str(AN_HOUR)):
        yield
    model.stop()


def test_sessions_that_would_go_on_for_ever_wait_for_the_hour_together_and_nobody_raises_it(
    endless: None, admit: Admit
) -> None:
    mallory = admit()
    sessions = [mallory.start("Go on", max_steps=1_000, token_budget=5_000_000) for _ in range(3)]
    used = 0
    for session_id in sessions:
        seen = mallory.asked(session_id)
        (asked,) = seen.session["interventions"]
        assert (asked["type"], asked["context"]["scope"]) == ("budget_exceeded", "tenant")
        assert "raise" not in asked["options"]
        raising = mallory.resolve(
            session_id, asked["intervention_id"], "raise", input={"token_budget": 5_000_000}
        )
        refused(raising, 400, "VALIDATION_ERROR")
        used += seen.session["budget"]["tokens_used"]
        assert mallory.post(f"/v1/sessions/{session_id}/cancel").status_code == 202
    assert 0 < used <= 2 * AN_HOUR, "an hour may end meanwhile, but not two"


def too_deep() -> Any:
    """Pydantic writes so many levels, and does not read them again."""
    value: Any = 1
    for _ in range(200):
        value = [value]
    return {"type": "string", "default": value}


def test_a_server_s_question_or_tool_that_nobody_could_read_again_ends_nothing_else(
    behind: Behind, llmock: Any, llmock_server: Any, admit: Admit
) -> None:
    boss, path = admit(role="admin"), "/v1/mcp-servers/desk"
    deep = {"type": "object", "properties": {"a": too_deep()}}
    request = {"method": "elicitation/create", "params": {"message": "Which?", "requestedSchema": deep}}
    with (
        McpSink([SEARCH]) as server,
        behind.configured("step", **anthropic_at(llmock_server.base_url("anthropic"))),
        behind.configured("tool", "admin", ACTA_HTTP_TOOL_ALLOW=server.at),
    ):
        server.called = lambda params: {"resultType": "input_required", "inputRequests": {"a": request}}
        assert len(confirm_search(boss, "desk", server.url("/mcp"))) == 1
        server.tools = [SEARCH, {**PAY, "inputSchema": deep}]
        listed = boss.post(f"{path}/refresh").json()["data"]["items"]
        assert {each["tool"]: each["state"] for each in listed} == {"search": "confirmed", "pay": "unusable"}
        server.tools = [SEARCH]

        stage = Stage(boss, llmock.tool_mode("off"))
        stage.prepare(
            do(plan("Search")), do(Calls("desk__search", {"q": "x"}), text="I search."), end("No.", 1)
        )
        seen = boss.finished(boss.start("Search"))
        assert "JSON that Acta does not take" in "".join(stage.results(seen))
        assert server.methods.count("tools/call") == 1
        assert boss.http.get("/v1/tools").status_code == 200
        assert boss.http.delete(f"{path}?force=true").status_code == 204


def test_an_old_server_that_forgets_its_session_and_lists_odd_tools_serves_a_session_all_the_same(
    behind: Behind, llmock: Any, llmock_server: Any, admit: Admit
) -> None:
    boss = admit(role="admin")
    lost = b'{"jsonrpc": "2.0", "error": {"code": -32001, "message": "Session not found"}, "id": null}'
    many = [{**PAY, "name": f"pay-{number}"} for number in range(220)]
    odd = [
        {**PAY, "description": "x" * 3_000_000},
        {"name": 5},
        {**PAY, "name": "deep", "inputSchema": too_deep()},
    ]
    with (
        Forgetful(
            "tools/call", http_sink.Reply(404, lost), 2, [*odd, *many, SEARCH], revision="2024-11-05"
        ) as server,
        behind.configured("step", **anthropic_at(llmock_server.base_url("anthropic"))),
        behind.configured("tool", "admin", ACTA_HTTP_TOOL_ALLOW=server.at),
    ):
        listed = confirm_search(boss, "old", server.url("/mcp"))
        states = [each["state"] for each in listed]
        assert (states.count("new"), states.count("unusable")) == (221, 3)

        stage = Stage(boss, llmock.tool_mode("off"))
        stage.prepare(
            do(plan("Search")), do(Calls("old__search", {"q": "x"}), text="I search."), end("Yes.", 1)
        )
        seen = boss.finished(boss.start("Search"))
        assert seen.session["state"] == "completed"
        assert "found" in "".join(stage.results(seen))
        assert server.methods.count("tools/call") == 3
        assert boss.http.delete("/v1/mcp-servers/old?force=true").status_code == 204
