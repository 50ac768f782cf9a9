"""`acta tools secrets`: values of headers of tools. A value is never an argument, which other programs can see."""

import getpass
import sys
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from acta.cli import exit_codes
from acta.cli.connection import connect
from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import show, visible

MOST_CHARS = 16_384
"""More than the API takes: what is longer is refused and not cut."""


def set_secret(arguments: Namespace) -> int:
    client = connect(arguments, role="admin")
    client.tool_secrets.write(arguments.name, secret_value(arguments.name), arguments.host)
    return exit_codes.OK


def list_secrets(arguments: Namespace) -> int:
    found = list(connect(arguments, role="admin").tool_secrets.list())

    def line(secret: Mapping[str, Any]) -> str:
        at = str(secret["updated_at"])[:19].replace("T", " ")
        by = visible(str(secret["updated_by"]), keep_newlines=False)
        return f"{secret['name']:<32}  {at}  {by}  {' '.join(secret.get('hosts', ()))}".rstrip()

    return show(found, map(line, found), as_json=arguments.json)


def remove_secret(arguments: Namespace) -> int:
    connect(arguments, role="admin").tool_secrets.delete(arguments.name)
    return exit_codes.OK


def secret_value(name: str) -> str:
    """Without the line break at its end. Raises CliError where there is none."""
    if sys.stdin.isatty():
        value = getpass.getpass(f"Value of {name} (not shown): ")
    else:
        value = sys.stdin.read(MOST_CHARS).removesuffix("\n").removesuffix("\r")
    if not value:
        raise CliError("a value is needed: type it, or send it to standard input")
    return value
