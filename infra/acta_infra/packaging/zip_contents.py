"""Finds the modules of Acta and the libraries that a function reaches, by the import statements.

A zip contains only these: it stays small, and a change of another module does not redeploy the function. Imports
inside functions and under `if TYPE_CHECKING` count. An import by a string would be missed, so Acta has none.
"""

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

OURS = {"functions": "functions", "acta_engine": "shared/acta_engine"}
"""Package -> its folder in the tree."""


@dataclass(frozen=True)
class Reach:
    """`files`: Acta's own, sorted, with the `__init__.py` and the data files of their packages. `libraries`: the
    top-level names of all other imports."""

    files: tuple[Path, ...]
    libraries: frozenset[str]


def reach(root: Path, package: str, without: tuple[str, ...] = ()) -> Reach:
    """What the modules of `package` in the tree at `root` import, directly or through others.

    `without`: modules and packages that are left out although an import names them. The importing code checks first
    whether they exist. Raises ValueError, with file and line, for a relative import.
    """
    there = frozenset(_there(root))
    left_out = tuple(f"{_place(name)}{end}" for name in without for end in ("/", ".py"))
    files: set[str] = set()
    libraries: set[str] = set()
    names: set[str] = set()
    waiting = sorted(
        each for each in there if each.startswith(f"{_place(package)}/") and each.endswith(".py")
    )
    while waiting:
        file = waiting.pop()
        if file in files:
            continue
        files.add(file)
        waiting += [init for init in _inits(file) if init in there and init not in files]
        path = root / file
        for name in _imported(str(path), path.read_bytes()) - names:
            names.add(name)
            if name.partition(".")[0] in OURS:
                modules = (f"{_place(name)}.py", f"{_place(name)}/__init__.py")
                waiting += [each for each in modules if each in there and not each.startswith(left_out)]
            else:
                libraries.add(name.partition(".")[0])
    folders = {os.path.dirname(file) for file in files}
    data = {each for each in there if os.path.dirname(each) in folders and not each.endswith((".py", ".pyc"))}
    return Reach(tuple(sorted(root / file for file in files | data)), frozenset(libraries))


def _there(root: Path) -> Iterator[str]:
    """Every file of Acta's own, from `root` on. Looked up once: to ask for each import whether there is such a file
    was half of what a synthesis takes in Python.
    """
    for top in OURS.values():
        for folder, below, names in os.walk(root / top):
            below[:] = [name for name in below if name != "__pycache__"]  # os.walk looks into these
            place = Path(folder).relative_to(root).as_posix()
            yield from (f"{place}/{name}" for name in names)


@cache
def _imported(path: str, text: bytes) -> frozenset[str]:
    """The names after `import`. For `from x import y` both `x` and `x.y`, which may be a module.

    Kept for the process: functions share most of their modules, and parsing them is most of what a synthesis takes.
    """
    return frozenset(_names(path, text))


def _names(path: str, text: bytes) -> Iterator[str]:
    for node in ast.walk(ast.parse(text, filename=path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level or node.module is None:
                raise ValueError(f"{path}:{node.lineno}: imports are absolute here")
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _place(name: str) -> str:
    """Where a module or package of Acta stands in the tree, without `.py`."""
    package, _, below = name.partition(".")
    return "/".join((OURS[package], *below.split("."))) if below else OURS[package]


def place_in_zip(path: Path) -> Path:
    """Where a file of the tree stands in the zip, whose top is on Python's path. `path`: relative to the tree."""
    return path.relative_to("shared") if path.parts[0] == "shared" else path


def _inits(file: str) -> list[str]:
    """The `__init__.py` of the packages around a module, which are imported with it."""
    folders = file.split("/")[:-1]
    return ["/".join((*folders[:depth], "__init__.py")) for depth in range(1, len(folders) + 1)]
