"""A change is stored when the loop goes on: a use case that leaves the loop after `change.commit()` would lose it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOOPS = ("attempts", "attempts_in_time", "patient_attempts")


def loops(tree: ast.AST) -> Iterator[tuple[str, ast.For]]:
    """Each loop over attempts at a commit, with the name of its change."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.For)
            and isinstance(node.iter, ast.Call)
            and isinstance(node.target, ast.Name)
        ):
            called = node.iter.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in LOOPS:
                yield node.target.id, node


def lost_commits(body: list[ast.stmt], change: str, followed: bool = False) -> Iterator[int]:
    """The lines of commits that something follows, other than the loop's next round. `followed`: something follows
    the whole of `body`."""
    for at, statement in enumerate(body):
        following = body[at + 1 :]
        goes_on = isinstance(following[0], ast.Continue) if following else not followed
        blocks = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
        blocks += [each.body for each in getattr(statement, "cases", [])]
        if isinstance(statement, ast.Expr) and commits(statement.value, change) and not goes_on:
            yield statement.lineno
        for block in blocks:
            yield from lost_commits(block, change, followed=not goes_on)


def commits(value: ast.expr, change: str) -> bool:
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "commit"
        and isinstance(value.func.value, ast.Name)
        and value.func.value.id == change
    )


def product() -> Iterator[tuple[Path, ast.Module]]:
    for folder in ("acta/engine", "acta/functions"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path, ast.parse(path.read_text())


def test_a_commit_is_the_last_thing_that_the_body_of_its_loop_does() -> None:
    found = [(path, change, loop) for path, tree in product() for change, loop in loops(tree)]
    assert len(found) > 20
    lost = [
        f"{path.relative_to(ROOT)}:{line}"
        for path, change, loop in found
        for line in lost_commits(loop.body, change)
    ]
    assert not lost


@pytest.mark.parametrize(
    ("body", "lost"),
    [
        ("change.commit()\nreturn 1", True),
        ("if done:\n    change.commit()\nreturn 1", True),
        ("if done:\n    change.commit()\n    break", True),
        ("if done:\n    change.commit()\n    continue\nreturn 1", False),
        ("if done:\n    change.commit()\nelse:\n    return 1", False),
        ("change.set(a=1)\nchange.commit()", False),
    ],
)
def test_a_loop_that_is_left_after_its_commit_is_found(body: str, lost: bool) -> None:
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    tree = ast.parse(f"def f():\n    for change in repository.attempts(session, key):\n{lines}\n")
    ((change, loop),) = loops(tree)
    assert bool(list(lost_commits(loop.body, change))) is lost
