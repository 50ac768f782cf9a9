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
from acta.cli.terminal.text import note, one_line, second, show, show_bytes, visible
from acta.client.api import Client
from acta.client.errors import ClientError, InvalidRequestError, PayloadTooLargeError, PreconditionFailedError
from acta_engine.untrusted.own_files import write_own
from acta_engine.untrusted.path import PathRefused, check_new_path

OF_ONE_FILE = (InvalidRequestError, PayloadTooLargeError, PreconditionFailedError)
"""Refusals that are about one file, so that another one may be stored."""
MOST_WORDS = 500
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
        name = arguments.path or os.path.basename(arguments.source)
        try:
            paths = [storage_path(name)]
        except PathRefused as refused:
            raise CliError(f"{visible(name, keep_newlines=False)}: {refused}") from None
        content = sys.stdin.buffer.read() if arguments.source == "-" else content_of(Path(arguments.source))
        connect(arguments).files.write(paths[0], content, new=arguments.new, etag=arguments.if_etag)
    return show(paths, [visible(path, keep_newlines=False) for path in paths], as_json=arguments.json)


def put_directory(client: Client, folder: str, below: str = "", *, new: bool = False) -> list[str]:
    """Uploads a directory, without hidden files, empty folders and what links to folders lead to. Returns the paths in
    the storage, which begin with `below`.

    Raises CliError, before anything is sent, if there are no files, too many, or some that cannot be stored. A file
    that is gone by its turn, or that the deployment refuses, is named in the end; the others are sent all the same.
    """
    sources, failed = sources_of(folder, below), []
    for number, (path, source) in enumerate(sources.items()):
        try:
            client.files.write(path, content_of(source), new=new)
        except (CliError, *OF_ONE_FILE) as error:
            failed.append(f"{visible(str(source), keep_newlines=False)}: {one_line(str(error), MOST_WORDS)}")
        except ClientError:
            note(
                f"of {len(sources)} files, {number - len(failed)} are stored; these and all others can be sent again"
            )
            raise
    if failed:
        said = f"{len(failed)} of {len(sources)} files are not stored; the others are:"
        raise CliError("\n  ".join([said, *failed]))
    return [*sources]


def sources_of(folder: str, below: str) -> dict[str, Path]:
    """The directory's files by their paths in the storage. Raises CliError, which names each file that cannot be
    stored: its sender expects all of them there.
    """
    top, before = Path(folder), f"{below.rstrip('/')}/" if below else ""
    if not top.is_dir():
        raise CliError(f"{visible(folder, keep_newlines=False)}: it is no directory")
    sources: dict[str, Path] = {}
    wrong: list[str] = []
    count = 0
    for at, folders, names in os.walk(
        top, onerror=lambda error: wrong.append(f"{error.filename}: {error.strerror}")
    ):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for source in (Path(at, name) for name in sorted(names) if not name.startswith(".")):
            count += 1
            try:
                if not source.resolve().is_relative_to(top.resolve()):
                    raise PathRefused("it is a link that leads out of the directory")
                if not source.is_file():
                    raise PathRefused("it is no file that can be read")
                path = storage_path(before + source.relative_to(top).as_posix())
                if path in sources:
                    raise PathRefused(f"in the storage it has the same name as {sources[path]}")
                with source.open("rb"):
                    sources[path] = source
            except (PathRefused, OSError) as error:
                wrong.append(f"{source}: {getattr(error, 'strerror', error)}")
        if count > MOST_FILES:
            raise CliError(f"{folder}: it has more than {MOST_FILES} files: put its parts one by one")
    if wrong:
        said = f"{folder}: nothing was sent, because some of its {count} files cannot be stored. Rename or remove them:"
        raise CliError("\n  ".join(visible(line, keep_newlines=False) for line in [said, *wrong]))
    if not sources:
        raise CliError(f"{visible(folder, keep_newlines=False)}: no files are in it")
    return sources


def storage_path(name: str) -> str:
    """The path under which a file is stored, which is said where it is another one. Raises PathRefused."""
    path = check_new_path(name)
    if path != normalize("NFC", name):
        note(
            f"{visible(name, keep_newlines=False, exact=True)} is stored as {visible(path, keep_newlines=False)}"
        )
    return path


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
