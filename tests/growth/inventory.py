"""Finds in the sources every pattern, and every use of a schema validator."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.growth.backtracking import Use

ROOT = Path(__file__).resolve().parents[2]
NOT_LOOKED_AT = ("acta/infra", "acta/local_aws")
"""They meet nothing from outside. Everything else of the package runs at a user's or in a Lambda."""
ANYWHERE = {"search", "findall", "finditer", "split", "sub", "subn"}
SLOW = ("difflib", "fnmatch", "glob", "regex")
"""Libraries whose work grows faster than the text."""
VALIDATORS = ("jsonschema", "referencing", "re2")


class Used(NamedTuple):
    """`name`: of the constant that holds the pattern, else of the function around it. `pattern`: None where it is known
    only when the program runs.
    """

    path: str
    name: str
    pattern: str | None
    flags: int
    use: Use

    @property
    def key(self) -> str:
        return f"{self.path} {self.name}"


def texts() -> Iterator[tuple[str, str]]:
    """The path and the text of each source."""
    for path in sorted((ROOT / "acta").rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        if not place.startswith(NOT_LOOKED_AT):
            yield place, path.read_text()


def sources() -> Iterator[tuple[str, ast.Module]]:
    for path, text in texts():
        yield path, ast.parse(text)


def patterns() -> list[Used]:
    """Every pattern that Python's `re` compiles, each once."""
    found = {}
    for path, text in texts():
        if not re.search(
            r"\bre\.", text
        ):  # most of them, and walking through those took seconds in each process
            continue
        tree = ast.parse(text)
        for name, call in _calls(tree, ""):
            if _library(call) == "re" and call.args:
                used = _evaluated(path, name, call, tree)
                found[used.key] = used
    return list(found.values())


def validated_by_rust() -> list[str]:
    """Patterns of pydantic's fields, which its regex crate matches in linear time."""
    keywords = (
        (path, keyword)
        for path, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _called(node) in ("Field", "StringConstraints")
        for keyword in node.keywords
    )
    return [path for path, keyword in keywords if keyword.arg == "pattern"]


def importers(libraries: tuple[str, ...]) -> dict[str, list[str]]:
    """By library, the sources that import it."""
    found: dict[str, list[str]] = {}
    for path, tree in sources():
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            for library in {name.split(".")[0] for name in names} & set(libraries):
                found.setdefault(library, []).append(path)
    return {library: sorted(set(paths)) for library, paths in found.items()}


def _calls(node: ast.AST, name: str) -> Iterator[tuple[str, ast.Call]]:
    """Calls and the name of what they stand in: of the module's constant, else of the function."""
    for child in ast.iter_child_nodes(node):
        inside = name
        match child:
            case ast.Assign(targets=[ast.Name(id=constant)]) | ast.AnnAssign(target=ast.Name(id=constant)):
                inside = name or constant
            case ast.FunctionDef(name=function):
                inside = name or function
        if isinstance(child, ast.Call):
            yield inside, child
        yield from _calls(child, inside)


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _library(call: ast.Call) -> str:
    match call.func:
        case ast.Attribute(value=ast.Name(id=library)):
            return library
    return ""


def _evaluated(path: str, name: str, call: ast.Call, tree: ast.Module) -> Used:
    first = call.args[0]
    name = first.id if isinstance(first, ast.Name) and first.id.isupper() else name
    module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
    held: Any = getattr(module, name, None)
    for node in ast.walk(tree):  # a function may import the pattern itself
        if held is None and isinstance(node, ast.ImportFrom) and name in {each.name for each in node.names}:
            held = getattr(importlib.import_module(str(node.module)), name)
    if isinstance(held, re.Pattern):
        return Used(path, name, held.pattern, held.flags & ~re.UNICODE, _use(name, call, tree))
    try:
        return Used(path, name, str(ast.literal_eval(first)), 0, _use(name, call, tree))
    except ValueError:
        return Used(path, name, held if isinstance(held, str) else None, 0, _use(name, call, tree))


def _use(name: str, call: ast.Call, tree: ast.Module) -> Use:
    """How the pattern is used: by the call itself, or by calls of the compiled pattern's methods."""
    methods = {_called(call)} | {
        _called(node) for node in ast.walk(tree) if isinstance(node, ast.Call) and _library(node) == name
    }
    return "anywhere" if methods & ANYWHERE else "at one place"
