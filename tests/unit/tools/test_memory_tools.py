"""`remember` and `recall`."""

from collections.abc import Mapping
from typing import Any

import pytest

from shared.adapters.tools.builtin.memory import MemoryTools
from shared.domain.definitions.builtins import builtins
from shared.domain.definitions.memory import Memory
from shared.domain.definitions.tool import ToolSpec
from shared.domain.errors import ToolFailed
from shared.domain.untrusted.quoting import OutsideText
from shared.ports.tools import CallContext
from tests.doubles.clock import FakeClock
from tests.doubles.memories import MemoryMemories
from tests.doubles.table import MemoryTable

SPECS = builtins()
MOST = 2


class Others:
    def run(self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext) -> str | OutsideText:
        return f"{spec.name} of others"


class Desk:
    """One tenant's agent."""

    def __init__(self) -> None:
        clock = FakeClock()
        self.memories = MemoryMemories(MemoryTable(), clock, MOST)
        self.tools = MemoryTools(Others(), self.memories, clock)

    def run(
        self, name: str, effect: str = "1", session: str = "ses_1", agent: str = "a", **arguments: object
    ) -> Any:
        context = CallContext("acme", session, agent, f"eff_{effect}", 30.0)
        return self.tools.run(SPECS[name], arguments, context)

    def kept(self, agent: str = "a") -> list[Memory]:
        return list(self.memories.list("acme", agent_id=agent, kind=None, limit=10, cursor=None).memories)


def test_what_is_remembered_is_recalled_in_another_session_of_the_agent() -> None:
    desk = Desk()
    said = desk.run("remember", text="Reports live in finance/ ", scope="agent", kind="lesson")
    assert said == "Remembered as a lesson for later sessions."
    recalled = desk.run("recall", session="ses_2", query="where are the reports")
    assert recalled == OutsideText(
        "memory", "where are the reports", "2026-01-01 [lesson] Reports live in finance/"
    )
    assert (
        desk.run("recall", agent="b", query="reports") == "Nothing that fits was kept from earlier sessions."
    )


def test_a_memory_names_its_session_and_is_a_fact_unless_it_says_otherwise() -> None:
    desk = Desk()
    desk.run("remember", text="The door is red", scope="agent")
    (memory,) = desk.kept()
    assert (memory.kind, memory.source.session_id, memory.source.user) == ("fact", "ses_1", None)


def test_a_call_that_runs_again_remembers_once() -> None:
    desk = Desk()
    for _ in range(2):
        desk.run("remember", text="The door is red", scope="agent")
    desk.run("remember", effect="2", text="the  door is RED", scope="agent")
    assert len(desk.kept()) == 1
    assert (
        desk.run("remember", effect="2", text="The door is red", scope="agent")
        == "That is remembered already."
    )


def test_a_call_that_died_after_its_write_is_no_second_memory() -> None:
    desk = Desk()
    desk.run("remember", text="The door is red", scope="agent")
    desk.run("remember", text="Another text under the same effect", scope="agent")
    assert [memory.text for memory in desk.kept()] == ["The door is red"]


def test_a_full_memory_is_the_model_s_to_know() -> None:
    desk = Desk()
    for number in range(MOST):
        desk.run("remember", effect=str(number), text=f"number {number}", scope="agent")
    with pytest.raises(ToolFailed, match="full"):
        desk.run("remember", effect="9", text="one more", scope="agent")


def test_blank_notes_and_notes_of_the_session_are_not_kept_for_later_ones() -> None:
    desk = Desk()
    for arguments in ({"text": " ", "scope": "agent"}, {"text": "x", "scope": "session"}):
        with pytest.raises(ToolFailed):
            desk.run("remember", **arguments)
    assert desk.kept() == []


def test_every_other_tool_is_the_others() -> None:
    assert Desk().run("list_files") == "list_files of others"
