"""What stands where and who imports whom, read from the sources: rooms, circles, and what a module brings along."""

import ast
from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRODUCT, LOCAL_AWS = "acta", "acta/local_aws"
"""The local AWS stands in the package, and is a product of its own."""


def modules(package: str = PRODUCT) -> dict[str, Path]:
    """Dotted name -> file, of the modules of `package`. Empty `__init__.py` files are none."""
    found = {}
    for path in sorted((ROOT / package).rglob("*.py")):
        place = path.relative_to(ROOT)
        is_counted = package == LOCAL_AWS or not place.is_relative_to(LOCAL_AWS)
        if is_counted and (path.name != "__init__.py" or path.stat().st_size):
            found[".".join(place.with_suffix("").parts).removesuffix(".__init__")] = path
    return found


def imports(path: Path, known: dict[str, Path]) -> set[str]:
    """The product's modules that the file imports when it is imported itself: not inside functions, not for types."""
    return {name for named in _named(ast.parse(path.read_bytes())) for name in named if name in known}


def _named(tree: ast.Module) -> Iterator[tuple[str, ...]]:
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Import():
                yield tuple(alias.name for alias in node.names)
            case ast.ImportFrom(module=str(module)):
                yield (module, *(f"{module}.{alias.name}" for alias in node.names))
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                waiting += node.orelse
            case ast.If() | ast.Try() | ast.With() | ast.ClassDef():
                waiting += [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.stmt)]


def graph(known: dict[str, Path]) -> dict[str, set[str]]:
    """Module -> modules it imports."""
    return {name: imports(path, known) for name, path in known.items()}


def circle(edges: dict[str, set[str]]) -> Sequence[str]:
    """One circle of imports, its first module named twice; empty: there is none."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return list(error.args[1])
    return ()


def closure(edges: dict[str, set[str]], *starts: str) -> set[str]:
    """Everything that importing the modules imports, themselves included."""
    found: set[str] = set()
    waiting = list(starts)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += edges[name]
    return found


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())
