import json

from hypothesis import given
from hypothesis import strategies as st

from acta.cli.terminal.text import encodable, exact_json, one_line, visible


def test_control_and_invisible_characters_are_shown_as_escapes() -> None:
    assert visible("a\x1b[2Jb\rc\x00\x9b") == "a\\x1b[2Jb\\rc\\x00\\x9b"
    assert visible("pay \u202etxt.exe\u200b") == "pay \\u202etxt.exe\\u200b"
    assert visible("\U000e0041") == "\\U000e0041"


def test_ordinary_text_of_any_script_stays_as_it_is() -> None:
    assert visible("Grüße, 日本語, ελληνικά ✔\n") == "Grüße, 日本語, ελληνικά ✔\n"


def test_one_line_never_breaks_and_never_exceeds_its_limit() -> None:
    assert one_line("a\n\n  b\u2028c") == "a b c"
    assert one_line("x" * 50, 10) == "x" * 9 + "…"


@given(st.text())
def test_nothing_that_moves_the_cursor_gets_through(text: str) -> None:
    assert all(char.isprintable() for char in one_line(text, 10_000))


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=20), max_size=3))
def test_exact_json_loses_nothing(value: dict[str, str]) -> None:
    shown = exact_json(value)
    assert all(char.isprintable() or char == "\n" for char in shown)
    if all(char.isprintable() for text in (*value, *value.values()) for char in text):
        assert json.loads(shown) == value


def test_what_a_terminal_cannot_show_is_escaped_and_no_two_texts_look_the_same() -> None:
    assert encodable("✔ fine", "ascii") == "\\u2714 fine"
    assert encodable("отчёт.txt", "latin-1") != encodable("архив.txt", "latin-1")
    assert encodable("✔ fine", "utf-8") == "✔ fine"
