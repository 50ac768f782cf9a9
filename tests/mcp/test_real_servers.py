"""A server of the registry that is not ours, called by a session of the deployed stack: it speaks 2025-11-25, with
sessions and event streams.
"""

import os
import socket
import subprocess
import time
from collections.abc import Iterator

import pytest

from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Json, Person
from tests.mcp.environment import Environment

pytestmark = pytest.mark.thorough

EVERYTHING = ("@modelcontextprotocol", "server-everything", "dist", "index.js")
MOST_SECONDS = 30


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + MOST_SECONDS
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the server did not begin")


@pytest.fixture(scope="module")
def everything(pinned: Environment) -> Iterator[str]:
    """Its address."""
    port = free_port()
    program = pinned.folder.joinpath("node_modules", *EVERYTHING)
    process = subprocess.Popen(
        [str(pinned.node), str(program), "streamableHttp"],
        env={"PATH": os.environ["PATH"], "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(port, process)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(MOST_SECONDS)


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
