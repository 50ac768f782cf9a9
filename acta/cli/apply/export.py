"""`acta export DIR`: writes a tenant's definitions as files, the inverse of `acta apply`."""

import json
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from acta.cli import exit_codes
from acta.cli.apply.folder import SUFFIX, Key, read_definition
from acta.cli.apply.kinds import KINDS, Digest
from acta.cli.apply.plan import Deployed
from acta.cli.apply.schema import Json
from acta.cli.connection import connect
from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import echo, note, one_line
from acta.yaml_text import write

HIDDEN = "has values of headers that nobody is shown: write them in place of ***, or refer to secrets"


class Written(NamedTuple):
    """`new`: there is no such file. `same`: one is there and says the same, whatever its comments. `differing`: one is
    there and says something else.
    """

    new: dict[Key, Json]
    same: dict[Key, Json]
    differing: dict[Key, Json]


def export(arguments: Namespace) -> int:
    """Raises CliError; also where files are there that differ, and nothing was written."""
    folder = Path(arguments.folder)
    found = compared(folder, definitions(Deployed(connect(arguments, role="admin")), arguments.set_name))
    refused = {} if arguments.overwrite else found.differing
    to_write = {} if refused else {**found.new, **found.differing}
    for key, definition in to_write.items():
        write_file(path_of(folder, key), write(definition), replace=key in found.differing)
    tell(arguments, found, to_write, refused)
    if refused:
        raise CliError(
            "nothing was written: there are files that say something else; --overwrite replaces them"
        )
    return exit_codes.OK


def definitions(deployed: Deployed, set_name: str | None) -> dict[Key, Json]:
    """What the tenant's admins have written, of one set or of all. What is built in is none of it."""
    found = deployed.read()
    own = {
        key: each for key, each in found.items() if not each.is_built_in and set_name in (None, each.owner)
    }
    return {key: each.definition for key, each in own.items() if not deployed.is_of_the_release(key, each)}


def compared(folder: Path, wanted: Mapping[Key, Json]) -> Written:
    made = Written({}, {}, {})
    for key, definition in wanted.items():
        path, kind = path_of(folder, key), KINDS[key.kind]
        if not path.exists():
            made.new[key] = definition
            continue
        there = read_definition(path, kind)
        says_it = there is not None and Digest.of(kind, there).shown == Digest.of(kind, definition).shown
        (made.same if says_it else made.differing)[key] = definition
    return made


def path_of(folder: Path, key: Key) -> Path:
    return folder / key.kind / f"{key.name}{SUFFIX}"


def write_file(path: Path, text: str, *, replace: bool) -> None:
    """Raises CliError; also where the file system takes two names for one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb" if replace else "xb") as stream:
            stream.write(text.encode())
    except OSError as error:
        raise CliError(f"{one_line(str(path), 300)} cannot be written: {error.strerror}") from None


def tell(
    arguments: Namespace, found: Written, written: Mapping[Key, Json], refused: Mapping[Key, Json]
) -> None:
    if arguments.json:
        parts = {"written": written, "unchanged": found.same, "refused": refused}
        echo(json.dumps({name: [str(key) for key in keys] for name, keys in parts.items()}))
    else:
        for key in written:
            echo(f"+ {key}{SUFFIX}")
        for key in refused:
            echo(f"! {key}{SUFFIX} says something else")
        echo(f"{len(written)} files written, {len(found.same)} said the same already")
    for key, definition in written.items():
        if "***" in str(definition.get("config", {}).get("headers")):
            note(f"acta: {key}{SUFFIX} {HIDDEN}")
