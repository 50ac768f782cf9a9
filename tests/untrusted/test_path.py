"""Which spellings name a file (docs/design/files.md 1)."""

import sys

import pytest

from acta_engine.untrusted.path import (
    PathRefused,
    check_folder,
    check_new_path,
    check_path,
    check_shown_path,
    check_stored_path,
    private_folder,
)


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


HIDDEN = {
    "turned round": "a\u202etxt.exe", "isolated": "a\u2066b", "no width": "pay\u200broll.csv", "joined": "a\u200db",
    "byte order": "\ufeffa", "soft hyphen": "a\u00adb", "wide space": "a\u2003b", "blank letter": "a\u3164b",
    "tag": "a\U000e0041b", "variation": "a\ufe0fb", "private": "a\ue000b",
}  # fmt: skip


@pytest.mark.parametrize("name", HIDDEN)
def test_hidden_characters_are_in_no_path_that_a_person_decides_on_or_that_is_new(name: str) -> None:
    assert check_path(HIDDEN[name]) == HIDDEN[name], "what is stored can be read and deleted over the API"
    for check in (check_shown_path, check_new_path):
        with pytest.raises(PathRefused, match=r"hidden character \\[xuU]"):
            check(HIDDEN[name])


def test_a_new_path_is_spelled_in_one_way() -> None:
    composed, apart = "Ärger.txt", "A\u0308rger.txt"
    assert check_new_path(composed) == composed
    assert check_shown_path(apart) == apart
    with pytest.raises(PathRefused, match="NFC"):
        check_new_path(apart)


@pytest.mark.parametrize(
    ("folder", "prefix"), [("", ""), (".", ""), ("/", ""), ("a", "a/"), ("a/b/", "a/b/")]
)
def test_a_folder_is_a_prefix(folder: str, prefix: str) -> None:
    assert check_folder(folder) == prefix


def test_of_a_plain_path_no_character_is_looked_at_by_itself() -> None:
    def calls(path: str) -> int:
        made: list[str] = []
        sys.setprofile(lambda frame, event, _: made.append(event) if event in ("call", "c_call") else None)
        try:
            check_shown_path(path)
        finally:
            sys.setprofile(None)
        return len(made)

    assert calls("a" * 1_000) == calls("a")


@pytest.mark.parametrize("stored", ["a/b.md", f"{private_folder('ann')}/b.md", "caf\u00e9.md"])
def test_a_place_that_a_new_file_has_is_a_place_for_a_stored_one(stored: str) -> None:
    check_stored_path(stored)


@pytest.mark.parametrize(
    "stored",
    [
        "a\u200b.md",
        "cafe\u0301.md",
        f"{private_folder('ann')}/a\u202e.md",
        f"{private_folder('ann')}/../a.md",
        private_folder("ann"),
        "~%/a.md",
        "~/a.md",
        "../a.md",
    ],
)
def test_a_place_that_no_new_file_has_is_none_for_a_stored_one(stored: str) -> None:
    with pytest.raises(PathRefused):
        check_stored_path(stored)
