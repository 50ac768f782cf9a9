import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acta.cli.terminal.text import encodable, exact_json, one_line, show_bytes, visible


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


class Output(io.TextIOWrapper):
    """Standard output, of which a test reads the bytes."""

    def __init__(self, encoding: str, *, is_terminal: bool) -> None:
        self.written = io.BytesIO()
        self.is_terminal = is_terminal
        super().__init__(self.written, encoding=encoding, newline="\n")

    def isatty(self) -> bool:
        return self.is_terminal


HOSTILE = b"total 12\r\x1b]0;owned\x07\x1b[2J\xff\xc2\x9b6n\nnext \xe2\x9c\x94"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_files_content_is_shown_on_a_terminal_without_a_control_character(encoding: str) -> None:
    screen = Output(encoding, is_terminal=True)
    show_bytes(HOSTILE, screen)
    shown = screen.written.getvalue().decode(encoding)
    assert all(char.isprintable() or char == "\n" for char in shown)
    assert shown.startswith("total 12\\r\\x1b]0;owned\\x07\\x1b[2J")
    assert "\\x9b6n\nnext" in shown
    assert shown.endswith("\n")


def test_a_files_content_is_shown_on_a_terminal_in_its_encoding_which_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    screen = Output("utf-8", is_terminal=True)
    show_bytes("Größe\x1b[2J\n".encode("cp1252"), screen)
    assert screen.written.getvalue().decode() == "Größe\\x1b[2J\n"
    lines = Output("utf-8", is_terminal=True)
    show_bytes(b"a\r\nb\rc\r\n", lines)
    assert lines.written.getvalue() == b"a\nb\\rc\n"
    show_bytes(b"\x89PNG\r\n\x1a\n\0", screen)
    assert capsys.readouterr().err == (
        "[read as windows-1252, which is a guess]\nIt is a PNG image (9 bytes). `--output FILE` saves it.\n"
    )


def test_a_files_content_goes_into_a_pipe_byte_by_byte() -> None:
    pipe = Output("ascii", is_terminal=False)
    show_bytes(HOSTILE, pipe)
    assert pipe.written.getvalue() == HOSTILE
