"""The sources as a reader meets them: no circle of imports, and no folder in which one has to search."""

from pathlib import Path

import pytest

from tests.structure.modules import PRODUCT, circle, closure, graph, imports, modules, rooms

ROOT = Path(__file__).parents[2]
MOST_MODULES = 40
"""Side by side in one folder."""


@pytest.fixture(params=[PRODUCT, ("local_aws",)], ids=["acta", "local_aws"])
def known(request: pytest.FixtureRequest) -> dict[str, Path]:
    return modules(packages=request.param)


def test_no_module_imports_itself_by_way_of_others(known: dict[str, Path]) -> None:
    assert circle(graph(known)) == ()


def test_no_folder_has_more_modules_than_one_takes_in_at_a_glance(known: dict[str, Path]) -> None:
    assert [room for room, count in rooms(known).items() if count > MOST_MODULES] == []


def test_what_is_pinned_names_no_address() -> None:
    """A registry is what the machine is set up with; npm adds pages of sponsors, too."""
    pinned = [
        *ROOT.glob("requirements/*"),
        *ROOT.glob("local_aws/requirements.*"),
        ROOT / "package-lock.json",
        ROOT / "tests/e2e/browser/package-lock.json",
        ROOT / "tests/mcp/package-lock.json",
    ]
    assert [str(path.relative_to(ROOT)) for path in pinned if "://" in path.read_text(encoding="utf-8")] == []


def test_imports_inside_functions_and_for_types_alone_are_not_counted(tmp_path: Path) -> None:
    source = tmp_path / "a.py"
    source.write_text(
        "from typing import TYPE_CHECKING\n"
        "from pkg import b\n"
        "if TYPE_CHECKING:\n    import pkg.c\n"
        "def later():\n    import pkg.d\n"
    )
    known = dict.fromkeys(("pkg.b", "pkg.c", "pkg.d"), source)

    assert imports(source, known) == {"pkg.b"}


def test_a_circle_is_named_and_a_closure_has_everything_on_the_way() -> None:
    edges = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": set[str]()}

    assert set(circle(edges)) == {"a", "b", "c"}
    assert closure(edges, "b") == {"a", "b", "c"}
    assert closure(edges, "d") == {"d"}
