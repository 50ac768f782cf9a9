"""Each answer of each end-to-end test is compared with the API's document, whoever asked (ADR 64)."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ASK = (
    "get",
    "post",
    "put",
    "patch",
    "delete",
    "head",
    "options",
    "request",
    "stream",
    "Client",
    "AsyncClient",
)
NOT_THE_API = {"tests/e2e/support/behind.py": "it asks the local AWS for a function's code"}


def unchecked(source: str) -> Iterator[int]:
    """Lines where httpx asks, and nothing around it compares: neither `checked(…)` nor a client's own `event_hooks`."""

    def walk(node: ast.AST, is_checked: bool) -> Iterator[int]:
        if isinstance(node, ast.Call):
            called = node.func
            is_checked |= isinstance(called, ast.Name) and called.id == "checked"
            is_checked |= any(keyword.arg == "event_hooks" for keyword in node.keywords)
            if (
                isinstance(called, ast.Attribute)
                and isinstance(called.value, ast.Name)
                and (called.value.id, called.attr) in {("httpx", name) for name in ASK}
                and not is_checked
            ):
                yield node.lineno
        for child in ast.iter_child_nodes(node):
            yield from walk(child, is_checked)

    return walk(ast.parse(source), False)


def test_no_end_to_end_test_asks_the_api_without_comparing_the_answer() -> None:
    found = [
        f"{name}:{line}"
        for path in sorted((ROOT / "tests" / "e2e").rglob("*.py"))
        if (name := path.relative_to(ROOT).as_posix()) not in NOT_THE_API
        for line in unchecked(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_what_is_not_compared_is_found() -> None:
    assert list(unchecked("a = httpx.get(url)\nb = checked(httpx.get(url))\n")) == [1]
    assert list(unchecked("a = httpx.Client(event_hooks=hooks)\nb = refused(httpx.Client().get(url))")) == [2]
