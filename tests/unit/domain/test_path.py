"""Which spellings name a file (design §7)."""

import pytest

from shared.domain.untrusted.path import PathRefused, check_folder, check_path


@pytest.mark.parametrize(
    "path", ["a.txt", "reports/may.md", "Ärger und Öl.txt", ".hidden", "a..b", "x" * 1_024]
)
def test_a_plain_relative_path_is_itself(path: str) -> None:
    assert check_path(path) == path


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("", "is empty"), ("/etc/passwd", "absolute"),
        ("..", "or .. part"), ("../a", "or .. part"), ("a/../b", "or .. part"), ("a/..", "or .. part"),
        (".", "or .. part"), ("./a", "or .. part"), ("a/./b", "or .. part"),
        ("a//b", "empty part"), ("a/", "empty part"),
        ("a\\b", "backslash"), ("a%2fb", "percent"), ("%2e%2e/a", "percent"), ("a%", "percent"),
        ("a\0b", "control"), ("a\nb", "control"), ("a\x7fb", "control"), ("a\x85b", "control"),
        ("\ud800", "control"), (" a", "space"), ("a ", "space"), ("a /b", "space"), ("a/ b", "space"),
        ("x" * 1_025, "longer"), ("ä" * 513, "longer"),
    ],
)  # fmt: skip
def test_any_other_spelling_is_refused_for_the_rule_it_breaks(path: str, why: str) -> None:
    with pytest.raises(PathRefused) as refused:
        check_path(path)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("folder", "prefix"), [("", ""), (".", ""), ("/", ""), ("a", "a/"), ("a/b/", "a/b/")]
)
def test_a_folder_is_a_prefix(folder: str, prefix: str) -> None:
    assert check_folder(folder) == prefix
