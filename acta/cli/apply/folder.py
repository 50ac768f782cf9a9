"""A folder of definitions: `KIND/NAME.yaml`, one definition a file, and `acta.yaml` with the name of the set.

All mistakes in all files are reported at once.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from acta.cli.apply.kinds import KINDS, DefinitionKind, as_file, broken_rules, credentials
from acta.cli.apply.schema import Json, nearest, problems
from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import one_line
from acta.engine.untrusted.validation_messages import similar
from acta.repository import MARK as ABOUT_SET
from acta.repository import is_repository
from acta.yaml_text import NoYaml, Read, read

SUFFIX = ".yaml"
YAML = (SUFFIX, ".yml")
"""Files that may have been meant as definitions."""
MOST_BYTES = 1_000_000
"""The most that a file may have, which is more than any definition needs."""
NOT_RIGHT = "nothing was sent, for the files are not right:"
PATTERNS = {each.folder: each.pattern for each in KINDS.values()}
"""Of names of files without their suffix, by folder."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""The name of a set, and of what is exported."""


class Key(NamedTuple):
    """Names a definition. On screen it is written `agents/desk`."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{one_line(self.name)}"


class DefinitionSet(NamedTuple):
    """`definitions`: what the files say, by key. `root`: their folder."""

    set_name: str
    definitions: dict[Key, Json]
    root: Path


class Wrong(NamedTuple):
    """Something that is wrong in a file. `line`: counted from 1; 0 means the whole file."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{one_line(place, 300)}: {one_line(self.message, 500)}"


def read_folder(folder: Path, set_name: str | None) -> DefinitionSet:
    """Without `set_name`, the set has the name in `acta.yaml`, or else that of the folder. Raises CliError."""
    if not folder.is_dir():
        raise CliError(f"{one_line(str(folder))} is no directory")
    wrong: list[Wrong] = []
    definitions = dict(_definitions(folder, wrong))
    named = set_name or _named_set(folder, wrong) or folder.resolve().name
    if not NAME.fullmatch(named):
        wrong.append(
            Wrong(ABOUT_SET, 0, f"a set is called by letters, digits, '.', '_' and '-', not {named!r}")
        )
    if wrong:
        raise CliError("\n".join([NOT_RIGHT, *map(str, wrong)]))
    return DefinitionSet(named, definitions, folder)


def _named_set(folder: Path, wrong: list[Wrong]) -> str | None:
    path = folder / ABOUT_SET
    if not path.exists():
        return None
    found = _yaml(path, ABOUT_SET, wrong)
    if found is None:
        return None
    value = found.value if isinstance(found.value, dict) else {}
    for key in value:
        if key != "set":
            wrong.append(Wrong(ABOUT_SET, found.lines[(key,)], f"there is no key {key!r}. There are: set."))
    named = value.get("set")
    if not isinstance(named, str):
        wrong.append(Wrong(ABOUT_SET, found.lines.get(("set",), 0), "it names the set: `set: NAME`"))
        return None
    return named


def _definitions(folder: Path, wrong: list[Wrong]) -> Iterator[tuple[Key, Json]]:
    has_other_things = is_repository(
        folder
    )  # such as the YAML of other programs, and Python tools in `tools/`
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir() and path.name not in KINDS:
            is_near = similar(path.name, KINDS, most=1, at_least=0.7)
            if is_near if has_other_things else any(path.rglob(f"*{SUFFIX}")):
                wrong.append(Wrong(path.name, 0, f"there is no such kind. {nearest(path.name, list(KINDS))}"))
        elif path.suffix in YAML and path.name != ABOUT_SET and not has_other_things:
            kinds = ", ".join(f"{each}/" for each in KINDS)
            wrong.append(Wrong(path.name, 0, f"a definition is in the folder of its kind: {kinds}"))
    for kind in KINDS.values():
        with_python = has_other_things and kind.folder == "tools"
        for path in sorted((folder / kind.folder).glob("*")):
            if not path.name.startswith(".") and (path.suffix in YAML or not with_python):
                yield from _definition(path, kind, wrong)


def _definition(path: Path, kind: DefinitionKind, wrong: list[Wrong]) -> Iterator[tuple[Key, Json]]:
    """Yields the definition, or nothing if something is wrong with it, which is added to `wrong`."""
    shown = f"{kind.folder}/{path.name}"
    if path.suffix != SUFFIX or not re.fullmatch(PATTERNS[kind.folder], path.stem):
        said = f"a definition is a file NAME{SUFFIX}; the NAME of a {kind.one} fits {kind.pattern}"
        wrong.append(Wrong(shown, 0, said))
        return
    found = _yaml(path, shown, wrong)
    if found is None:
        return
    unfit = [*problems(kind.one, found.value), *credentials(found.value)]
    bad = [
        Wrong(shown, _line(found, each.at), _said(each.at, each.message))
        for each in unfit or broken_rules(kind, found.value)
    ]
    wrong += sorted(bad, key=lambda each: each.line)
    if not bad:
        # a default that is said here is no absence
        beside = {name: found.value[name] for name in kind.beside if name in found.value}
        yield Key(kind.folder, path.stem), as_file(kind, path.stem, found.value) | beside


def read_definition(path: Path, kind: DefinitionKind) -> Json | None:
    """The definition that `acta apply` would read from the file; None if it would refuse the file."""
    return dict(_definition(path, kind, [])).get(Key(kind.folder, path.stem))


def _said(at: tuple[str | int, ...], message: str) -> str:
    """The message, after the key that it is about unless it is about the whole file."""
    return f"{'.'.join(str(part) for part in at)}: {message}" if at else message


def _line(found: Read, at: tuple[str | int, ...]) -> int:
    """The line of the value, or else of the nearest value around it."""
    while at and at not in found.lines:
        at = at[:-1]
    return found.lines.get(at, 1)


def _yaml(path: Path, shown: str, wrong: list[Wrong]) -> Read | None:
    """None if the file cannot be read; the reason is added to `wrong`."""
    try:
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except OSError as error:
        wrong.append(Wrong(shown, 0, f"it cannot be read: {error.strerror}"))
        return None
    if len(content) > MOST_BYTES:
        wrong.append(Wrong(shown, 0, f"it has more than {MOST_BYTES:,} bytes"))
        return None
    try:
        return read(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        wrong.append(Wrong(shown, 0, "it is no UTF-8 text"))
    except NoYaml as error:
        wrong.append(Wrong(shown, error.line, str(error)))
    return None
