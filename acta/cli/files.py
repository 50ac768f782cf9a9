"""`acta files`: the tenant's storage, as the file tools see it."""

import os
import sys
from argparse import Namespace
from pathlib import Path

from acta.cli import exits
from acta.cli.client import Client, file_path
from acta.cli.errors import CliError
from acta.cli.target import Target
from acta.cli.text import visible
from acta.cli.watching import say


def list_files(arguments: Namespace) -> int:
    client = Client(Target.from_arguments(arguments))
    for item in client.items("/v1/files"):
        if str(item["path"]).startswith(arguments.prefix or ""):
            say(f"{item.get('bytes', 0):>10}  {visible(str(item['path']), keep_newlines=False)}")
    return exits.OK


def get(arguments: Namespace) -> int:
    client = Client(Target.from_arguments(arguments))
    content = client.get_bytes(file_path(arguments.path))
    if arguments.output:
        try:
            Path(arguments.output).write_bytes(content)
        except OSError as error:
            raise CliError(f"{arguments.output}: {error.strerror}") from None
    else:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    return exits.OK


def put(arguments: Namespace) -> int:
    if arguments.source == "-" and not arguments.path:
        raise CliError("a path in the storage is needed for standard input")
    try:
        content = sys.stdin.buffer.read() if arguments.source == "-" else Path(arguments.source).read_bytes()
    except OSError as error:
        raise CliError(f"{arguments.source}: {error.strerror}") from None
    path = arguments.path or os.path.basename(arguments.source)
    Client(Target.from_arguments(arguments)).put_bytes(file_path(path), content)
    say(path)
    return exits.OK


def remove(arguments: Namespace) -> int:
    Client(Target.from_arguments(arguments)).delete(file_path(arguments.path))
    return exits.OK
