"""A server of the registry that is not ours, called by a session of the deployed stack: it speaks 2025-11-25, with
sessions and event streams.
"""

import os
from collections.abc import Iterator

import pytest

from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Json, Person
from tests.mcp.environment import Environment
from tests.mcp.servers import begun

pytestmark = pytest.mark.thorough

EVERYTHING = ("@modelcontextprotocol", "server-everything", "dist", "index.js")


@pytest.fixture(scope="module")
def everything(pinned: Environment) -> Iterator[str]:
    """Its address."""
    program = pinned.folder.joinpath("node_modules", *EVERYTHING)
    with begun(
        lambda port: [str(pinned.node), str(program), "streamableHttp"],
        lambda port: {"PATH": os.environ["PATH"], "PORT": str(port)},
    ) as at:
        yield at


@pytest.fixture
def boss(behind: Behind, everything: str, admit: Admit) -> Iterator[Person]:
    with behind.configured("tool", "admin", ACTA_HTTP_TOOL_ALLOW=everything):
        yield admit(role="admin")


def named(boss: Person, at: str) -> dict[str, Json]:
    """What the server lists, by the tools' names."""
    made = boss.http.put("/v1/mcp-servers/every", json={"url": f"http://{at}/mcp"})
    assert made.status_code == 201, made.text
    listed = boss.post("/v1/mcp-servers/every/refresh")
    assert listed.status_code == 200, listed.text
    return {one["tool"]: one for one in listed.json()["data"]["items"]}


def test_a_session_calls_a_tool_of_a_server_of_the_registry(boss: Person, everything: str) -> None:
    tools = named(boss, everything)
    assert tools["echo"]["state"] == "new"
    confirm = {"tools": {"echo": {"pin": tools["echo"]["pin"], "high_stakes": False}}}
    confirmed = boss.post("/v1/mcp-servers/every/confirm", confirm)
    assert confirmed.status_code == 200, confirmed.text

    session = boss.start('use every__echo with {"message": "hello from far away"}')
    seen = boss.finished(session)
    assert seen.session["result"]["goal_met"] is True
    assert "hello from far away" in seen.session["result"]["answer"]


def test_a_tool_that_nobody_confirmed_is_no_agent_s(boss: Person, everything: str) -> None:
    named(boss, everything)
    assert not any(tool["name"].startswith("every__") for tool in boss.items("/v1/tools"))


def test_a_call_of_a_tool_that_acts_waits_for_a_person(boss: Person, everything: str) -> None:
    tools = named(boss, everything)
    boss.post("/v1/mcp-servers/every/confirm", {"tools": {"echo": {"pin": tools["echo"]["pin"]}}})
    session = boss.start('use every__echo with {"message": "hello"}')
    (one,) = boss.asked(session).session["interventions"]
    assert (one["type"], one["tool_call"]["name"]) == ("approval_required", "every__echo")
    assert boss.resolve(session, one["intervention_id"], "approve").status_code == 200
    assert boss.finished(session).session["result"]["goal_met"] is True
