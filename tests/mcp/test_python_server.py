"""A server of the official Python package, called by sessions of the deployed stack: it speaks 2026-07-28, and asks a
person in the middle of a call.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from acta.infra.toolchain import ROOT, make_side_environment
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Json, Person
from tests.mcp.servers import begun

pytestmark = pytest.mark.thorough

PROGRAM = Path(__file__).with_name("till.py")


@pytest.fixture(scope="module")
def till() -> Iterator[str]:
    """Its address."""
    make_side_environment("mcp", "Python environment of an MCP server")
    python = str(ROOT / ".venv-mcp" / "bin" / "python")
    with begun(
        lambda port: [python, str(PROGRAM), str(port)], lambda port: {"PATH": os.environ["PATH"]}
    ) as at:
        yield at


@pytest.fixture
def boss(behind: Behind, till: str, admit: Admit) -> Iterator[Person]:
    """Their agents have both tools, and nobody approves a call of them."""
    with behind.configured("tool", "admin", ACTA_HTTP_TOOL_ALLOW=till):
        boss = admit(role="admin")
        made = boss.http.put("/v1/mcp-servers/till", json={"url": f"http://{till}/mcp"})
        assert made.status_code == 201, made.text
        listed = boss.post("/v1/mcp-servers/till/refresh").json()["data"]["items"]
        tools = {
            one["tool"]: {"pin": one["pin"], "confirmed_read": one["tool"] == "add", "high_stakes": False}
            for one in listed
        }
        confirmed = boss.post("/v1/mcp-servers/till/confirm", {"tools": tools})
        assert confirmed.status_code == 200, confirmed.text
        yield boss


def answer(session: Json) -> str:
    assert session["state"] == "completed", session
    return str(session["result"]["answer"])


def test_a_session_calls_a_tool_of_the_official_package(boss: Person) -> None:
    session = boss.start('use till__add with {"a": 19, "b": 23}')
    assert "42" in answer(boss.finished(session).session)


def test_what_a_server_asks_is_answered_by_a_person_and_goes_back_in_the_same_call(boss: Person) -> None:
    session = boss.start('use till__pay with {"order": "7"}')
    (one,) = boss.asked(session).session["interventions"]
    assert (one["type"], one["tool_call"]["name"]) == ("clarification_needed", "till__pay")
    assert "Which account pays order 7?" in one["context"]["question"]
    refused = boss.resolve(session, one["intervention_id"], "answer", input={"account": "b"})
    assert refused.status_code == 400, "the form wants two characters"
    assert (
        boss.resolve(session, one["intervention_id"], "answer", input={"account": "blue"}).status_code == 200
    )
    assert "Order 7 was paid from blue." in answer(boss.finished(session).session)


def test_who_skips_the_question_declines_and_the_call_has_failed(boss: Person) -> None:
    session = boss.start('use till__pay with {"order": "8"}')
    (one,) = boss.asked(session).session["interventions"]
    assert boss.resolve(session, one["intervention_id"], "skip").status_code == 200
    assert "was paid" not in str(boss.finished(session).session["result"])
