"""Every group of attacks is played on the deployed stack, and the threat model says which door each one tries."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ATTACKS = ROOT / "tests" / "e2e" / "attacks"
GROUPS = {*(f"{kind}{number}" for kind in ("API", "AG") for number in range(1, 11)), "F1", "F2", "F3", "F4"}
GROUP = re.compile(r"\b(?:API|AG|F)\d+\b")


def test_each_group_has_a_file_and_each_file_says_which_group_it_plays() -> None:
    told = {}
    for path in ATTACKS.glob("test_*.py"):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        found = re.match(rf"({GROUP.pattern})[,:] \w", docstring)
        told[path.stem] = found[1] if found else None
    assert {name: told.get(name) for name in map(file_of, GROUPS)} == {file_of(each): each for each in GROUPS}
    assert set(told.values()) == GROUPS


def file_of(group: str) -> str:
    return f"test_{group.lower()}"


def test_each_group_is_named_at_a_door_of_the_threat_model() -> None:
    _, _, model = (ROOT / "SECURITY.md").read_text(encoding="utf-8").partition("## Threat model")
    named = set(re.findall(r"`tests/e2e/attacks/(\w+)\.py`", model))
    assert set(map(file_of, GROUPS)) - named == set()
