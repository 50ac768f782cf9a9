"""Finds, by the import statements, the modules of Acta and the libraries that a function reaches.

A zip contains only these: it stays small, and a change of another module does not redeploy the function. Imports inside
functions and under `if TYPE_CHECKING` count. A package that imports `importlib` may import any of its own modules, so
all of them are included. A function with an API imports the handlers that the rows of its operations name. No other
module is imported by a string.

`App` puts everything together (`acta/engine/app.py`), and each of its parts imports what it is made from. Only
those imports count that belong to a part which some module of the zip uses. Using a part means reading an attribute of
a variable with one of the names in `CALLED`, so an `App` must have one of these names.
"""

import ast
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple, cast

from acta.engine.api.operation import Function
from acta.engine.api.operations import operations_in

OURS = ("acta/engine", "acta/functions")
"""The packages whose modules are followed. Of `acta` itself a zip has `__init__.py` alone, with the version."""
TOP = "acta/__init__.py"
OF_TOP = ("acta", "acta.__version__")
"""What a module may import of `TOP`, which is in every zip."""
APP = "acta/engine/app.py"
API = "acta/engine/api/app.py"
CALLED = ("app", "_app", "deps")


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
    parts: set[str] = set()
    of_app: set[str] = set()
    waiting = sorted(
        each for each in there if each.startswith(f"{_place(package)}/") and each.endswith(".py")
    )
    while waiting:
        file = waiting.pop()
        if file not in files:
            files.add(file)
            waiting += [init for init in _inits(file) if init in there and init not in files]
            if file == API:
                waiting += {
                    f"{_place(row.module)}.py"
                    for row in operations_in(cast("Function", package.rpartition(".")[2]))
                } & there
        if file == TOP:  # what it offers to a program is imported when it is asked for
            continue
        path = root / file
        if file == APP:
            used = _of_app(str(path), path.read_bytes(), frozenset(parts))
        else:
            used = _used(str(path), path.read_bytes())
        parts |= used.parts
        folder, name = os.path.split(file)
        if "importlib" in used.imports and name == "__init__.py":
            beside = (each for each in there if os.path.dirname(each) == folder and each.endswith(".py"))
            waiting += [each for each in beside if each not in files]
        for name in used.imports - names:
            names.add(name)
            if _place(name).startswith(OURS):
                modules = (f"{_place(name)}.py", f"{_place(name)}/__init__.py")
                found = [each for each in modules if each in there and not each.startswith(left_out)]
                waiting += [each for each in found if each not in files]
            elif name not in OF_TOP:
                libraries.add(name.partition(".")[0])
        if not waiting and APP in files and of_app != parts:
            of_app = set(parts)
            waiting.append(APP)  # once more, with the parts that are used
    folders = {os.path.dirname(file) for file in files}
    data = {each for each in there if os.path.dirname(each) in folders and not each.endswith((".py", ".pyc"))}
    return Reach(tuple(sorted(root / file for file in files | data)), frozenset(libraries))


def _there(root: Path) -> Iterator[str]:
    """Every file of Acta's own, from `root` on. They are listed once: asking the disk for each import took half of a
    synthesis's time in Python.
    """
    yield TOP
    for top in OURS:
        for folder, below, names in os.walk(root / top):
            below[:] = [name for name in below if name != "__pycache__"]  # os.walk looks into these
            place = Path(folder).relative_to(root).as_posix()
            yield from (f"{place}/{name}" for name in names)


class Used(NamedTuple):
    """`imports`: the names after `import`; for `from x import y` both `x` and `x.y`, which may be a module. `parts`:
    the parts of `App` that are used.
    """

    imports: frozenset[str]
    parts: frozenset[str]


@cache
def _used(path: str, text: bytes) -> Used:
    """Cached, because functions share most of their modules, and parsing them takes most of a synthesis."""
    return _uses(path, ast.parse(text, filename=path))


def _of_app(path: str, text: bytes, parts: frozenset[str]) -> Used:
    """What `App` needs for these parts, with the parts that they are made from."""
    imports: frozenset[str] = frozenset()
    for name, part in _parts(path, text).items():
        if not name or name in parts:
            imports, parts = imports | part.imports, parts | part.parts
    return Used(imports, parts)


@cache
def _parts(path: str, text: bytes) -> Mapping[str, Used]:
    """Part -> what it uses; empty name -> what the rest of the module uses. Imports for types do not count."""
    rest: list[ast.stmt] = []
    parts: dict[str, Used] = {}
    for node in ast.parse(text, filename=path).body:
        match node:
            case ast.ClassDef(name="App", body=body):
                made = [
                    each for each in body if isinstance(each, ast.FunctionDef) and each.name != "__init__"
                ]
                parts |= {each.name: _uses(path, each, ("self",)) for each in made}
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                pass
            case _:
                rest.append(node)
    return {"": _uses(path, ast.Module(rest, [])), **parts}


def _uses(path: str, tree: ast.AST, called: tuple[str, ...] = CALLED) -> Used:
    """Raises ValueError for a relative import, and for an `App` of another name."""
    imports: set[str] = set()
    parts: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name) | ast.Attribute(attr=name), attr=part) if (
                name in called
            ):
                parts.add(part)
            case ast.Attribute(value=ast.Call(func=ast.Name(id="App")), attr=part):
                parts.add(part)
            case ast.arg(arg=name, annotation=ast.Name(id="App")) if name not in CALLED:
                raise ValueError(f"{path}:{node.lineno}: an App is called app")
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="App"))) if (
                name not in CALLED
            ):
                raise ValueError(f"{path}:{node.lineno}: an App is called app")
            case ast.Import(names=found):
                imports |= {alias.name for alias in found}
            case ast.ImportFrom(module=module, names=found, level=level):
                if level or module is None:
                    raise ValueError(f"{path}:{node.lineno}: imports are absolute here")
                imports |= {module, *(f"{module}.{alias.name}" for alias in found)}
    return Used(frozenset(imports), frozenset(parts))


def _place(name: str) -> str:
    """Where a module or package of Acta stands in the tree, without `.py`."""
    return name.replace(".", "/")


def _inits(file: str) -> list[str]:
    """The `__init__.py` of the packages around a module, which are imported with it."""
    folders = file.split("/")[:-1]
    return ["/".join((*folders[:depth], "__init__.py")) for depth in range(1, len(folders) + 1)]
