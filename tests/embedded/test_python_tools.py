"""Python tools of `acta dev`, called without the rest of it: what one call does to the next."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from acta.embedded.python_tools import ToolFolders, ToolProcess
from acta.embedded.services import FunctionFailed
from acta.engine.errors import StoreUnavailable
from acta.infra.names import own_tool_function
from acta.local_aws.testing import eventually
from tests.local.served import is_alive

TOOLS = '''
import os
import subprocess
import sys
from acta import Call, tool


@tool(effect="read", files="read")
def read(path: str, call: Call) -> str:
    """Reads."""
    return call.files.read_text(path)


@tool(effect="read")
def of_itself() -> list[str]:
    """Tells."""
    child = subprocess.Popen(["sleep", "1000"])
    return [sys.stdin.read(), str(os.getpid()), str(os.getpgid(0)), str(child.pid)]
'''


class NoStore:
    """The disk is full."""

    def read(self, tenant: str, path: str) -> bytes:
        raise StoreUnavailable("sqlite: database or disk is full")


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[ToolFolders]:
    folder = tmp_path / "tools of Jörg" / "desk"
    folder.mkdir(parents=True)
    (folder / "tools.py").write_text(TOOLS)
    (folder / "tool.toml").write_text('tenants = ["*"]\n')
    made = ToolFolders(folder.parent, {}, {}, 600, print, lambda name, line: None)
    made.reach_files = lambda person: NoStore()  # type: ignore[assignment, return-value]
    made.begin()
    yield made
    made.stop()


def call(folders: ToolFolders, tool: str, **arguments: str) -> Any:
    event = {
        "tool": tool, "arguments": arguments, "effect_id": "e", "session_id": "s", "tenant": "demo", "user": "you",
        "private": False, "rerun": False, "deadline": (datetime.now(UTC) + timedelta(seconds=30)).isoformat(),
        "files": {"person": None, "access": "read", "max_bytes": 1_000},
    }  # fmt: skip
    return folders.call(own_tool_function("local", "desk"), "demo", event)


def test_a_call_whose_files_cannot_be_read_leaves_no_answer_for_the_next(folders: ToolFolders) -> None:
    with pytest.raises(FunctionFailed) as failed:
        call(folders, "read", path="a.txt")
    assert failed.value.kind == "StoreUnavailable"
    assert call(folders, "of_itself")["result"][0] == ""


def test_a_tool_has_neither_the_terminal_nor_the_pipe_and_ends_with_what_it_began(
    folders: ToolFolders,
) -> None:
    """Ctrl-C goes to all of a terminal's process group: a tool that it ended would have failed."""
    _, process, group, child = call(folders, "of_itself")["result"]
    assert group == process != str(os.getpgid(0))
    folders.stop()
    eventually(lambda: None if is_alive(int(child)) else True)


def test_a_process_that_is_about_to_be_used_while_a_change_is_taken_is_not_used_again(
    folders: ToolFolders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = call(folders, "of_itself")["result"][1]
    monkeypatch.setattr(ToolProcess, "is_there", property(lambda of: taken(of)))

    def taken(process: ToolProcess) -> bool:
        monkeypatch.undo()
        folders.begin()
        return process.is_there

    assert call(folders, "of_itself")["result"][1] == before
    assert call(folders, "of_itself")["result"][1] != before
