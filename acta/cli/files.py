"""`acta files`: the tenant's storage, which the agents' file tools read and write."""

import os
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from acta.cli import exit_codes
from acta.cli.connection import connect
from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import echo, show_bytes, visible


def list_files(arguments: Namespace) -> int:
    client = connect(arguments)
    for item in client.files.list(arguments.prefix or None):
        echo(f"{item.get('bytes', 0):>10}  {visible(str(item['path']), keep_newlines=False)}")
    return exit_codes.OK


def get(arguments: Namespace) -> int:
    client = connect(arguments)
    content = client.files.read(arguments.path)
    if arguments.output:
        try:
            Path(arguments.output).write_bytes(content)
        except OSError as error:
            raise CliError(f"{arguments.output}: {error.strerror}") from None
    else:
        show_bytes(content, sys.stdout)
    return exit_codes.OK


def put(arguments: Namespace) -> int:
    if arguments.source == "-" and not arguments.path:
        raise CliError("a path in the storage is needed for standard input")
    try:
        content = sys.stdin.buffer.read() if arguments.source == "-" else Path(arguments.source).read_bytes()
    except OSError as error:
        raise CliError(f"{arguments.source}: {error.strerror}") from None
    path = arguments.path or os.path.basename(arguments.source)
    connect(arguments).files.write(path, content)
    echo(path)
    return exit_codes.OK


def versions(arguments: Namespace) -> int:
    for item in connect(arguments).files.versions(arguments.path):
        echo(version_line(item))
    return exit_codes.OK


def version_line(item: Mapping[str, Any]) -> str:
    """When, how large or that it was deleted then, its id, and whether it is the one that is there now."""
    at = str(item["modified_at"])[:19].replace("T", " ")
    size = "deleted" if item["deletion"] else item["bytes"]
    now = "  now" if item["current"] else ""
    return f"{at}  {size:>10}  {visible(str(item['version_id']), keep_newlines=False)}{now}"


def restore(arguments: Namespace) -> int:
    written = connect(arguments).files.restore(arguments.path, arguments.version)
    echo(visible(f"{written['path']} is as it was then, {written['bytes']} bytes", keep_newlines=False))
    return exit_codes.OK


def remove(arguments: Namespace) -> int:
    connect(arguments).files.delete(arguments.path)
    return exit_codes.OK
