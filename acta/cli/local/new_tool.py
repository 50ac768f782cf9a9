"""`acta new tool NAME`: makes a folder with a tool, its tests and its settings, which work as they are."""

import json
import os
import re
import shlex
from argparse import Namespace
from pathlib import Path

from acta.cli import exit_codes
from acta.cli.connection import Invocation
from acta.cli.exit_codes import CliError
from acta.cli.local.init import TEMPLATE, print_commands
from acta.cli.terminal.text import cli_error, one_line, visible
from acta.infra.tool_folders import FOLDER_PATTERN, MAX_FOLDER_CHARS, tools_directory

EXAMPLE = TEMPLATE / "tools" / "orders"


def new_tool(arguments: Namespace) -> int:
    """Raises CliError if no folder of tools may have the name, or if something is there already."""
    if not re.fullmatch(FOLDER_PATTERN, arguments.name) or len(arguments.name) > MAX_FOLDER_CHARS:
        raise CliError(
            f"{one_line(arguments.name)} cannot be the name: take a-z, 0-9 and single hyphens, at most "
            f"{MAX_FOLDER_CHARS} characters, such as orders"
        )
    folder = Path(arguments.dir or os.path.relpath(tools_directory(os.environ))) / arguments.name
    in_python = arguments.name.replace("-", "_")
    files = {}
    for path in sorted(EXAMPLE.glob("*.*")):
        parts = path.read_text(encoding="utf-8").split("_orders")
        text = f"_{in_python}".join(part.replace("orders", arguments.name) for part in parts)
        files[path.name.replace("orders", in_python)] = text
    shown = one_line(str(folder))
    is_there = cli_error(FileExistsError, words=f"{shown} is there already: take another name")
    with cli_error(OSError, words=f"{shown}: {{}}"), is_there:
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    here = Invocation.from_arguments(Namespace())
    use = f'use lookup_{in_python} with {{"number": "7"}}'
    following = {
        shlex.join(["pytest", str(folder)]): "its tests",
        here.line("dev"): "serves Acta with the tool in it",
        here.line("run", use): "in another terminal, an agent that uses it",
    }
    if arguments.json:
        print(json.dumps({"folder": str(folder), "files": [*files], "next": [*following]}))
        return exit_codes.OK
    print(visible(f"Made {folder} with {', '.join(files)}."))
    print("Next:")
    print_commands(following)
    return exit_codes.OK
