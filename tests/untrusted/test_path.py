"""Which spellings name a file (docs/design/files.md 1)."""

import sys
import unicodedata
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acta.engine.untrusted.path import (
    PathRefused,
    check_folder,
    check_new_path,
    check_path,
    check_shown_path,
    check_stored_path,
    private_folder,
    spelled,
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
        ("a\\b", "backslash"), ("a%2fb", "percent"), ("%2e%2e/a", "percent"), ("%2e%2e", "percent"),
        ("a\0b", "control"), ("a\nb", "control"), ("a\x7fb", "control"), ("a\x85b", "control"),
        ("\ud800", "half a character"), ("caf\udce9.txt", "half a character"), (" ", "is empty"),
        ("a/ /b", "empty part"),
        (" ../a", "or .. part"), ("a/.. /b", "or .. part"), ("a/\u200f..", "or .. part"), (" /a", "absolute"),
        ("x" * 1_025, "longer"), ("ä" * 513, "longer"),
    ],
)  # fmt: skip
def test_any_other_spelling_is_refused_for_the_rule_it_breaks(path: str, why: str) -> None:
    with pytest.raises(PathRefused) as refused:
        check_path(path)
    assert why in str(refused.value)


HIDDEN = {
    "turned round": "a\u202etxt.exe", "isolated": "a\u2066b", "no width": "pay\u200broll.csv", "joined": "a\u200db",
    "byte order": "\ufeffa", "soft hyphen": "a\u00adb", "blank letter": "a\u3164b",
    "tag": "a\U000e0041b", "variation": "a\ufe0fb", "private": "a\ue000b",
}  # fmt: skip


@pytest.mark.parametrize("name", HIDDEN)
def test_hidden_characters_are_in_no_path_that_a_person_decides_on_or_that_is_new(name: str) -> None:
    assert check_path(HIDDEN[name]) == HIDDEN[name], "what is stored can be read and deleted over the API"
    for check in (check_shown_path, check_new_path):
        with pytest.raises(PathRefused, match=r"hidden character \\[xuU]"):
            check(HIDDEN[name])


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("A\u0308rger.txt", "Ärger.txt"),
        ("\u1112\u1161\u11ab.txt", "한.txt"),
        ("Screenshot 2026-11-27 at 4.42.48\u202fPM.png", "Screenshot 2026-11-27 at 4.42.48 PM.png"),
        ("prix\u00a0: 5\u2009€.txt", "prix : 5 €.txt"),
        ("\u3000日\u3000本\u3000", "日 本"),
        ("\u200eWhatsApp chat.zip", "WhatsApp chat.zip"),
        (" a /b. ", "a/b."),
        ("~$report.docx", "_$report.docx"),
        ("\u00a0~/diary.md", "~/diary.md"),
        ("~ /diary.md", "~/diary.md"),
    ],
)
def test_spellings_that_nobody_can_tell_apart_are_one_name(path: str, name: str) -> None:
    for check in (check_path, check_shown_path, check_new_path):
        assert check(path) == check(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "100% sure.txt",
        "50%.txt",
        "5 %2.txt",
        "a/~$b.docx",
        "#1?.md",
        "a+b&c=d;e.txt",
        "'\"`<>|*:.txt",
        "CON",
        "a.",
        "...",
        "می\u200cخواهم.txt",
        "ره\u200dـ.md",
        "क्\u200dष.txt",
        "ශ්\u200dරී.md",
        "ഉല്\u200dപ്പ.txt",
        "র\u200d্যাব.txt",
        "heart ❤\ufe0f.txt",
        "1\ufe0f\u20e3.md",
        "👩\u200d👩\u200d👧.png",
        "👩🏽\u200d💻.md",
        "🏳\ufe0f\u200d🌈",
        "🇩🇪.txt",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f.txt",
        "葛\U000e0100城.txt",
        "ไทย.txt",
        "עברית.txt",
        "ភាសា\u200bខ្មែរ.txt",
        "q\u0323\u0307.txt",
        "Ä.TXT",
    ],
)
def test_a_name_that_people_give_a_file_stays_as_it_is(name: str) -> None:
    assert check_new_path(name) == check_shown_path(name) == check_path(name) == name


@pytest.mark.parametrize(
    "name",
    ["re\u200dport", "pay\u200croll", "a\ufe0f.txt", "1\ufe0f.txt", "❤\ufe0f\ufe0f", "می\u200c\u200cخ"],
)
def test_a_character_that_an_emoji_or_a_language_needs_is_hidden_anywhere_else(name: str) -> None:
    with pytest.raises(PathRefused, match="hidden character"):
        check_new_path(name)


@given(st.text(st.characters() | st.sampled_from("/ ~$%.\u202f\u200f\u0308\u200d"), max_size=30))
def test_a_spelling_is_spelled_as_itself_and_leads_nowhere_else(path: str) -> None:
    assert spelled(spelled(path)) == spelled(path)
    try:
        name = check_new_path(path)
    except PathRefused:
        return
    assert check_new_path(name) == name == unicodedata.normalize("NFC", name)
    assert not {"", ".", ".."} & set(unquote(unquote(name)).split("/"))
    assert unquote(name) == name, "one decoding more gives the same file"


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
