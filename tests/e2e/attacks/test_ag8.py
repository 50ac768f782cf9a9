"""AG8, cascading failures: runs that never end, many at once, stop where their tenant's hour is used up. What a server
of a tool answers with ends neither its session nor other sessions of the tenant.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.bench.stand.script import Call, Reply
from tests.doubles.mcp_server import PAY, SEARCH, McpSink
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
        refused(boss.post(f"{path}/refresh"), 409, "CONFLICT")
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
