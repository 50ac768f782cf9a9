"""Text that hides or poses as other text is shown as what it is (docs/design/people.md 6)."""

import pytest

from acta_engine.untrusted.visible import is_blank, visible, visible_throughout


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Delete a.txt?", "Delete a.txt?"),
        ("Über Größe, 日本語, 🪶, é\u0301", "Über Größe, 日本語, 🪶, é\u0301"),
        ("two\nlines", "two\nlines"),
        ("\x1b[2K\rapproved", "\\x1b[2K\\rapproved"),
        ("gpj.\u202etxt", "gpj.\\u202etxt"),
        ("a\u200bb\u2060c\ufeffd", "a\\u200bb\\u2060c\\ufeffd"),
        ("\u2066x\u2069", "\\u2066x\\u2069"),
        ("blank\u3164\u2800\u00a0", "blank\\u3164\\u2800\\xa0"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("selector\ufe0f\U000e0100", "selector\\ufe0f\\U000e0100"),
        ("line\u2028para\u2029", "line\\u2028para\\u2029"),
        ("\0\t\x7f\x9b", "\\x00\\t\\x7f\\x9b"),
        ("[red]bold[/red] <b>x</b> **y**", "[red]bold[/red] <b>x</b> **y**"),
    ],
)
def test_what_would_not_show_as_itself_becomes_its_escape(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(shown) == shown


def test_newlines_are_escaped_where_a_line_is_one_thing() -> None:
    assert visible("a\nb", keep_newlines=False) == "a\\nb"


def test_every_text_of_a_value_is_made_visible_and_nothing_else_changes() -> None:
    value = {"a\u202e": ["x\x1b", {"y": "z\u200b"}], "n": 1, "f": 0.5, "no": None, "yes": True}
    shown = {"a\\u202e": ["x\\x1b", {"y": "z\\u200b"}], "n": 1, "f": 0.5, "no": None, "yes": True}
    assert visible_throughout(value) == shown


BLANKS = ["", " \n\t", "\u200b", "\u202e", "\u0007", "\u2800\u3164", "\U000e0041", "\ufe0f\u00a0"]


@pytest.mark.parametrize("text", BLANKS)
def test_a_text_without_anything_to_see_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", [".", "\u200ba", "日本語", "🪶", "\U0001fae8", "\u202e!\u202c"])
def test_a_text_with_one_visible_character_is_not_blank_nor_is_a_new_emoji(text: str) -> None:
    assert not is_blank(text)
