"""`acta files`: the tenant's storage, which the agents' file tools read and write."""

import os
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unicodedata import normalize

from acta.cli import exit_codes
from acta.cli.connection import connect
from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import cli_error, note, one_line, second, show, show_bytes, visible
from acta.client.api import Client
from acta.client.errors import ClientError, InvalidRequestError, PayloadTooLargeError, PreconditionFailedError
from acta.engine.untrusted.own_files import write_own
from acta.engine.untrusted.path import PathRefused, check_new_path

OF_ONE_FILE = (InvalidRequestError, PayloadTooLargeError, PreconditionFailedError)
"""Refusals of one file, after which the others are sent all the same."""
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
        with cli_error(OSError, words=f"{arguments.output}: {{}}"):
            save(Path(arguments.output), content)
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
        name = arguments.path or os.path.basename(arguments.source)
        with cli_error(PathRefused, words=f"{visible(name, keep_newlines=False)}: {{}}"):
            paths = [check_new_path(name)]
        content = sys.stdin.buffer.read() if arguments.source == "-" else content_of(Path(arguments.source))
        etag = arguments.if_etag
        if etag and etag != "*" and not etag.endswith('"'):  # a shell has taken its quotation marks away
            etag = f'"{etag}"'
        connect(arguments).files.write(paths[0], content, new=arguments.new, etag=etag)
        say_name(name, paths[0])
    return show(paths, [visible(path, keep_newlines=False) for path in paths], as_json=arguments.json)


def put_directory(client: Client, folder: str, below: str = "", *, new: bool = False) -> list[str]:
    """Uploads a directory, without hidden files, empty folders and what links to folders lead to. Returns the paths in
    the storage, which begin with `below`.

    Raises CliError, before anything is sent, if there are no files, too many, or some that cannot be stored. A file
    that is gone by its turn, or that the deployment refuses, is named in the end; the others are sent all the same.
    """
    before = f"{below.rstrip('/')}/" if below else ""
    sources, failed = sources_of(Path(folder), before), []
    for number, (path, source) in enumerate(sources.items()):
        try:
            client.files.write(path, source.read_bytes(), new=new)
            say_name(before + source.relative_to(folder).as_posix(), path)
        except (OSError, *OF_ONE_FILE) as error:
            why = one_line(str(getattr(error, "strerror", error)), 500)
            failed.append(f"{visible(str(source), keep_newlines=False)}: {why}")
        except ClientError:
            note(f"{number - len(failed)} of {len(sources)} files are stored; all can be sent again")
            raise
    if failed:
        raise CliError("\n  ".join([f"{len(failed)} of {len(sources)} files are not stored:", *failed]))
    return [*sources]


def sources_of(top: Path, before: str) -> dict[str, Path]:
    """The directory's files by their paths in the storage. Raises CliError, which names every file that cannot be
    stored: whoever uploads a directory expects all of it there.
    """
    if not top.is_dir():
        raise CliError(f"{top}: it is no directory")
    sources: dict[str, Path] = {}
    wrong: list[str] = []
    for at, folders, names in os.walk(
        top, onerror=lambda error: wrong.append(f"{error.filename}: {error.strerror}")
    ):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for source in (Path(at, name) for name in sorted(names) if not name.startswith(".")):
            try:
                if not Path(os.path.realpath(source)).is_relative_to(top.resolve()):
                    raise PathRefused("it is a link that leads out of the directory")
                if not source.is_file():
                    raise PathRefused("it is no file that can be read")
                path = check_new_path(before + source.relative_to(top).as_posix())
                if path in sources:
                    raise PathRefused(f"in the storage it has the same name as {sources[path]}")
                with source.open("rb"):
                    sources[path] = source
            except (PathRefused, OSError) as error:
                wrong.append(f"{source}: {getattr(error, 'strerror', error)}")
        if len(sources) + len(wrong) > MOST_FILES:
            raise CliError(f"{top}: it has more than {MOST_FILES} files: put its parts one by one")
    if wrong:
        said = f"{top}: nothing was sent, because {len(wrong)} of its files cannot be stored. Rename or remove them:"
        raise CliError("\n  ".join(visible(line, keep_newlines=False) for line in [said, *wrong]))
    if not sources:
        raise CliError(f"{top}: no files are in it")
    return sources


def say_name(name: str, path: str) -> None:
    """Says under which path a file is stored, if that is more than another spelling of its accents."""
    if path != normalize("NFC", name):
        given = visible(name, keep_newlines=False, exact=True)
        note(f"{given} is stored as {visible(path, keep_newlines=False)}")


def content_of(path: Path) -> bytes:
    """Raises CliError."""
    with cli_error(OSError, words=f"{path}: {{}}"):
        return path.read_bytes()


def versions(arguments: Namespace) -> int:
    found = list(connect(arguments).files.versions(arguments.path))

    def line(item: Mapping[str, Any]) -> str:
        size = "deleted" if item["deletion"] else item["bytes"]
        version_id = visible(str(item["version_id"]), keep_newlines=False)
        return f"{second(item['modified_at'])}  {size:>10}  {version_id}{'  now' if item['current'] else ''}"

    return show(found, map(line, found), as_json=arguments.json)


def restore(arguments: Namespace) -> int:
    written = connect(arguments).files.restore(arguments.path, arguments.version)
    said = visible(f"{written['path']} is as it was then, {written['bytes']} bytes", keep_newlines=False)
    return show(written, [said], as_json=arguments.json)
