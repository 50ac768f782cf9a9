"""Finds the modules of Acta and the libraries that a function reaches, by the import statements.

A zip contains only these: it stays small, and a change of another module does not redeploy the function. Imports
inside functions and under `if TYPE_CHECKING` count. An import by a string would be missed, so Acta has none.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

OURS = ("functions", "shared")


@dataclass(frozen=True)
class Reach:
    """`files`: Acta's own, sorted, with the `__init__.py` and the data files of their packages. `libraries`: the
    top-level names of all other imports."""

    files: tuple[Path, ...]
    libraries: frozenset[str]


def reach(root: Path, package: str, without: tuple[str, ...] = ()) -> Reach:
    """What the modules of `package` in the tree at `root` import, directly or through others.

    `without`: packages that are left out although an import names them. The importing code checks first whether they
    exist. Raises ValueError, with file and line, for a relative import.
    """
    left_out = {root / name.replace(".", "/") for name in without}
    files: set[Path] = set()
    libraries: set[str] = set()
    names: set[str] = set()
    waiting = sorted((root / package.replace(".", "/")).rglob("*.py"))
    while waiting:
        path = waiting.pop()
        if path in files:
            continue
        files.add(path)
        waiting += [init for init in _inits(root, path) if init not in files]
        for name in _imported(path, path.read_bytes()) - names:
            names.add(name)
            if name.split(".")[0] in OURS:
                waiting += [path for path in _module(root, name) if left_out.isdisjoint(path.parents)]
            else:
                libraries.add(name.split(".")[0])
    data = {
        path
        for folder in {path.parent for path in files}
        for path in folder.iterdir()
        if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    return Reach(tuple(sorted(files | data)), frozenset(libraries))


@cache
def _imported(path: Path, text: bytes) -> frozenset[str]:
    """The names after `import`. For `from x import y` both `x` and `x.y`, which may be a module.

    Kept for the process: functions share most of their modules, and parsing them is most of what a synthesis takes.
    """
    return frozenset(_names(path, text))


def _names(path: Path, text: bytes) -> Iterator[str]:
    for node in ast.walk(ast.parse(text, filename=str(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level or node.module is None:
                raise ValueError(f"{path}:{node.lineno}: imports are absolute here")
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _module(root: Path, name: str) -> list[Path]:
    place = root / name.replace(".", "/")
    return [path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()]


def _inits(root: Path, path: Path) -> list[Path]:
    """The `__init__.py` of the packages around a module, which are imported with it."""
    packages = [
        folder / "__init__.py" for folder in path.parents if folder.is_relative_to(root) and folder != root
    ]
    return [init for init in packages if init.is_file()]
