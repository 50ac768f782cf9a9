"""Which spellings name a file (design §7)."""

import pytest

from shared.domain.untrusted.path import PathRefused, check_folder, check_path


@pytest.mark.parametrize(
    "path", ["a.txt", "reports/may.md", "Ärger und Öl.txt", ".hidden", "a..b", "x" * 1_024]
)
def test_a_plain_relative_path_is_itself(path: str) -> None:
    assert check_path(path) == path


@pytest.mark.parametrize(
    "path",
    [
        "", "/etc/passwd", "..", "../a", "a/../b", "./a", "a/./b", "a//b", "a/", "a\\b", "a%2fb", "%2e%2e/a", "a\0b",
        "a\nb", "a\x7fb", "a\x85b", " a", "a /b", "\ud800", "x" * 1_025, "ä" * 513,
    ],
)  # fmt: skip
def test_any_other_spelling_is_refused(path: str) -> None:
    with pytest.raises(PathRefused):
        check_path(path)


@pytest.mark.parametrize(
    ("folder", "prefix"), [("", ""), (".", ""), ("/", ""), ("a", "a/"), ("a/b/", "a/b/")]
)
def test_a_folder_is_a_prefix(folder: str, prefix: str) -> None:
    assert check_folder(folder) == prefix
