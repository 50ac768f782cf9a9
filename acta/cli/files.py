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
from acta.cli.terminal.text import second, show, show_bytes, visible
from acta.client.api import Client
from acta_engine.untrusted.own_files import write_own

MOST_FILES = 1_000
"""The most files of a directory in one upload: somebody who names the wrong directory must not upload a whole disk."""


def list_files(arguments: Namespace) -> int:
    files, prefix = connect(arguments).files, arguments.prefix or None
    found: list[Mapping[str, Any]] = [*(files.deleted(prefix) if arguments.deleted else files.list(prefix))]

    def line(item: Mapping[str, Any]) -> str:
        size = second(item["deleted_at"]) if arguments.deleted else item.get("bytes", 0)
        return f"{size:>10}  {visible(str(item['path']), keep_newlines=False)}"

    return show(found, map(line, found), as_json=arguments.json)


def get(arguments: Namespace) -> int:
    client = connect(arguments)
    content = client.files.read(arguments.path)
    if arguments.output:
        try:
            save(Path(arguments.output), content)
        except OSError as error:
            raise CliError(f"{arguments.output}: {error.strerror}") from None
    else:
        show_bytes(content, sys.stdout)
    return exit_codes.OK


def save(path: Path, content: bytes) -> None:
    """Readable by its owner alone, if it is a file: it may be a device or a pipe, too. Raises OSError."""
    if path.exists() and not path.is_file():
        path.write_bytes(content)
    else:
        write_own(path.resolve(), content)


def put(arguments: Namespace) -> int:
    if arguments.source == "-" and not arguments.path:
        raise CliError("a path in the storage is needed for standard input")
    if arguments.source != "-" and os.path.isdir(arguments.source):
        if arguments.if_etag:
            raise CliError("--if-etag is of one file, not of a directory")
        paths = put_directory(connect(arguments), arguments.source, arguments.path or "", new=arguments.new)
    else:
        paths = [arguments.path or os.path.basename(arguments.source)]
        content = sys.stdin.buffer.read() if arguments.source == "-" else content_of(Path(arguments.source))
        connect(arguments).files.write(paths[0], content, new=arguments.new, etag=arguments.if_etag)
    return show(paths, [visible(path, keep_newlines=False) for path in paths], as_json=arguments.json)


def put_directory(client: Client, folder: str, below: str = "", *, new: bool = False) -> list[str]:
    """Uploads a directory, without hidden files. Returns the paths in the storage, which begin with `below`.

    Raises CliError, before anything is sent, if there are no files or too many.
    """
    top = Path(folder)
    found = sorted(path for path in top.rglob("*") if path.is_file() and not is_hidden(path.relative_to(top)))
    if not found:
        raise CliError(f"{folder}: no files are in it" if top.is_dir() else f"{folder}: it is no directory")
    if len(found) > MOST_FILES:
        raise CliError(f"{folder}: it has more than {MOST_FILES} files: put its parts one by one")
    before = f"{below.rstrip('/')}/" if below else ""
    paths = []
    for path in found:
        paths.append(before + path.relative_to(top).as_posix())
        client.files.write(paths[-1], content_of(path), new=new)
    return paths


def is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def content_of(path: Path) -> bytes:
    """Raises CliError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CliError(f"{path}: {error.strerror}") from None


def versions(arguments: Namespace) -> int:
    found = list(connect(arguments).files.versions(arguments.path))
    return show(found, map(version_line, found), as_json=arguments.json)


def version_line(item: Mapping[str, Any]) -> str:
    """The time of the version, its size or that it is a deletion, its id, and whether it is the present one."""
    at = second(item["modified_at"])
    size = "deleted" if item["deletion"] else item["bytes"]
    now = "  now" if item["current"] else ""
    return f"{at}  {size:>10}  {visible(str(item['version_id']), keep_newlines=False)}{now}"


def restore(arguments: Namespace) -> int:
    written = connect(arguments).files.restore(arguments.path, arguments.version)
    said = visible(f"{written['path']} is as it was then, {written['bytes']} bytes", keep_newlines=False)
    return show(written, [said], as_json=arguments.json)
