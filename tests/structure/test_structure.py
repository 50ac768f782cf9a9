"""The sources as a reader meets them: no circle of imports, and no folder in which one has to search."""

from pathlib import Path

import pytest

from tests.structure.house import worse
from tests.structure.modules import LOCAL_AWS, PRODUCT, circle, closure, graph, imports, modules
from tests.structure.request_path import Leg
from tests.structure.rules import forbidden

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=[PRODUCT, LOCAL_AWS])
def known(request: pytest.FixtureRequest) -> dict[str, Path]:
    return modules(request.param)


def test_no_module_imports_itself_by_way_of_others(known: dict[str, Path]) -> None:
    assert circle(graph(known)) == ()


def test_rules_and_use_cases_import_neither_http_nor_services(known: dict[str, Path]) -> None:
    assert forbidden(graph(known)) == []


def test_a_use_case_that_reaches_for_a_table_or_a_route_is_named() -> None:
    edges = {
        "acta.engine.people.resolve": {
            "acta.engine.log.head",
            "acta.engine.log.dynamodb",
            "acta.engine.people.shapes",
        },
        "acta.engine.log.dynamodb": {"acta.engine.aws.clients"},
        "acta.engine.people.routes": {"acta.engine.people.resolve", "acta.engine.log.dynamodb"},
        "acta.engine.app": {"acta.engine.log.dynamodb"},
    }

    assert forbidden(edges) == [
        "acta.engine.people.resolve -> acta.engine.log.dynamodb",
        "acta.engine.people.resolve -> acta.engine.people.shapes",
        "acta.engine.people.routes -> acta.engine.log.dynamodb",
    ]


def test_a_figure_is_worse_when_it_is_more_than_what_is_stored() -> None:
    assert worse({"lines": 10, "files": 3, "new": 1}, {"lines": 9, "files": 3}) == [
        "lines: 10, stored 9", "new: 1, stored 0",
    ]  # fmt: skip


def test_a_leg_counts_its_files_once_and_each_change_of_folder() -> None:
    leg = Leg([Path("a/x.py"), Path("a/y.py"), Path("b/z.py"), Path("a/x.py")])

    assert (len(leg.files), leg.file_changes, leg.folder_changes) == (3, 3, 2)


def test_what_is_pinned_names_no_address() -> None:
    """A registry is what the machine is set up with; npm adds pages of sponsors, too."""
    pinned = [
        *ROOT.glob("requirements/*"),
        *ROOT.glob("acta/infra/packaging/locks/*"),
        ROOT / "acta/infra/packaging/cdk/package-lock.json",
        *ROOT.glob("acta/local_aws/requirements.*"),
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
