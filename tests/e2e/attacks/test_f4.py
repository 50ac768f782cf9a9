"""F4, what a process keeps: one tenant's call of a Python tool leaves something behind, another tenant's looks for it.

The tool is in the attacker's hands (`tests/e2e/support/tools/keeping`).
"""

import json
from typing import Any

import pytest
from llmock.scenarios import ToolCall

from tests.e2e.conftest import Admit
from tests.e2e.models.test_tools_of_tenants import run
from tests.e2e.support.person import Person

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
