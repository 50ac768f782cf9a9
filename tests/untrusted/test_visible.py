"""Text that hides or poses as other text is shown as what it is (docs/design/people.md 6)."""

import pytest

from acta.engine.untrusted.visible import hidden_in, is_blank, visible, visible_throughout


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


@pytest.mark.parametrize(
    "text",
    [
        "⚠\ufe0f می\u200cخواهم 👩\u200d👩\u200d👧",
        "✔\ufe0f ❤\ufe0f 1\ufe0f\u20e3 #\ufe0f\u20e3 ☎\ufe0e",
        "👩🏽\u200d💻 🧑\u200d🤝\u200d🧑 🏳\ufe0f\u200d🌈",
        "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f and 🇩🇪",
        "API\u200cها",
        "ئه\u200cم",
        "ه\u200d.ق",
        "क्\u200dष, श्री, ක්\u200dෂ, অবন\u200d্য",
        "ភាសា\u200bខ្មែរ",
        "葛\U000e0100城市",
        "ᠮᠣᠩ\u180bᠭᠣᠯ\u180eᠠ",
        "آية\u06dd١",
    ],
)
def test_what_a_language_or_an_emoji_needs_is_shown_as_it_is(text: str) -> None:
    assert visible(text) == visible(text, exact=True) == visible(text, keep_newlines=False) == text
    assert hidden_in(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Voilà\u202f! « 10\u00a0000\u00a0€ »",
        "次\u3000へ\n\u3000私は",
        "end.\u00a0 Next",
        "שלום\u200f!",
        "\u200eسلام",
    ],
)
def test_what_a_sentence_needs_is_no_part_of_exact_data(text: str) -> None:
    assert visible(text) == text
    assert visible(text, exact=True) != text
    assert hidden_in(text) is not None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pay\u200croll re\u200dport", "pay\\u200croll re\\u200dport"),
        ("می\u200c\u200cخ", "می\\u200c\\u200cخ"),
        ("1\ufe0f a\ufe0f ❤\ufe0f\ufe0f", "1\\ufe0f a\\ufe0f ❤\ufe0f\\ufe0f"),
        ("👩\u200d x\u200d👧", "👩\\u200d x\\u200d👧"),
        ("🏴\U000e0067\U000e0062\U000e007f", "🏴\\U000e0067\\U000e0062\\U000e007f"),
        ("🪶\U000e0041", "🪶\\U000e0041"),
        ("葛\U000e0100\U000e0101 a\U000e0100", "葛\U000e0100\\U000e0101 a\\U000e0100"),
        ("ab\u200bcd ไ\u200ba", "ab\\u200bcd ไ\\u200ba"),
        ("a\u200fb \u200e1", "a\\u200fb \\u200e1"),
        ("שלום\u202e!", "שלום\\u202e!"),
        ("\u00a0x \u3000", "\\xa0x \\u3000"),
        ("so\u00adft \u2060", "so\\xadft \\u2060"),
    ],
)
def test_the_same_character_is_hidden_where_nothing_needs_it(text: str, shown: str) -> None:
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
