"""`acta new tool NAME`: makes a folder with a tool, its tests and its settings, which work as they are."""

import json
import re
import shlex
import shutil
import sys
from argparse import Namespace
from pathlib import Path

from acta.cli import exit_codes
from acta.cli.connection import Invocation
from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import cli_error, one_line, visible
from acta.infra.tool_folders import DEFAULT_DIR, FOLDER_PATTERN, MAX_FOLDER_CHARS

TOOLS = '''\
"""Tools of the folder {folder}: every function with @tool is one."""

from acta import ToolError, tool

STATES = {{"7": "It was sent on Monday.", "8": "It is being packed."}}


@tool(effect="read", timeout_seconds=20)
def {function}(number: str) -> str:
    """Looks up the state of a number, such as 7, in {subject}."""
    if number not in STATES:
        raise ToolError(f"there is no number {{number}}. Ask the user for another one.")
    return STATES[number]
'''
TEST = '''\
"""Tests of the folder {folder}: of each tool, and of an agent that uses it."""

import pytest

from acta import ToolError
from acta.testing import call, completes, load, run, uses

tools = load(__file__)  # tools.py beside this file


def test_a_number_is_looked_up():
    assert call(tools.{function}, {{"number": "7"}}) == "It was sent on Monday."


def test_an_unknown_number_is_refused():
    with pytest.raises(ToolError, match="no number 9"):
        call(tools.{function}, {{"number": "9"}})


def test_an_agent_uses_the_tool():
    session = run(
        "What is the state of number 7?",
        [uses("{function}", number="7"), completes("It was sent on Monday.")],
        tools=tools,
        agent={{"tools": ["{function}"]}},
    )
    assert session.goal_met
    assert session.tool_calls[0].result == "It was sent on Monday."
'''
SETTINGS = """\
tenants = ["*"]  # who has these tools: every tenant, or the names of some
"""
REQUIREMENTS = """\
# Libraries of these tools, one a line, such as httpx==0.28.1; pydantic is there.
# Then write their versions and hashes into requirements.lock: acta lock {folder}
"""


def new_tool(arguments: Namespace) -> int:
    """Raises CliError if no folder of tools may have the name, or if something is there already."""
    if not re.fullmatch(FOLDER_PATTERN, arguments.name) or len(arguments.name) > MAX_FOLDER_CHARS:
        raise CliError(
            f"{one_line(arguments.name)} cannot be the name: take a-z, 0-9 and single hyphens, at most "
            f"{MAX_FOLDER_CHARS} characters, such as orders"
        )
    folder = Path(arguments.dir or DEFAULT_DIR) / arguments.name
    function = f"lookup_{arguments.name.replace('-', '_')}"
    words = {"folder": arguments.name, "function": function, "subject": arguments.name.replace("-", " ")}
    files = {
        "tools.py": TOOLS.format(**words),
        f"test_{arguments.name.replace('-', '_')}.py": TEST.format(**words),
        "tool.toml": SETTINGS,
        "requirements.txt": REQUIREMENTS.format(**words),
    }
    shown = one_line(str(folder))
    is_there = cli_error(FileExistsError, words=f"{shown} is there already: take another name")
    with cli_error(OSError, words=f"{shown}: {{}}"), is_there:
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    here = Invocation.from_arguments(Namespace())
    following = {
        "its tests": shlex.join([_python(), "-m", "pytest", str(folder)]),
        "the local stack with the tool in it": here.line("up"),
        "in another terminal, an agent that uses it": here.line(
            "run", f'use {function} with {{"number": "7"}}'
        ),
    }
    if arguments.json:
        print(json.dumps({"folder": str(folder), "files": [*files], "next": list(following.values())}))
        return exit_codes.OK
    print(visible(f"Made {folder} with {', '.join(files)}."))
    print("Next:")
    for what, command in following.items():
        print(f"  {visible(command)}    # {what}")
    return exit_codes.OK


def _python() -> str:
    """The Python interpreter that has Acta, as one types it from the present directory."""
    path, found = Path(sys.executable), shutil.which("python")
    if found is not None and Path(found) == path:
        return "python"
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
