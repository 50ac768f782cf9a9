"""What a terminal of any width shows of a question: it breaks a line where its row is full."""

import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acta.cli.sessions.interventions import question_lines
from acta.cli.terminal.text import FIRST_ROW, NEXT_ROW, Screen, encodable, quoted, visible

FORGED = (
    "tool: list_files",
    "input:",
    "to decide on: list_files",
    "without an answer until 2026-01-01: reject",
)
WIDTHS = (40, 80, 132)


def shown(lines: Iterator[str], screen: Screen) -> list[str]:
    """The terminal's rows, without the spaces at their ends."""
    rows = []
    for line in "\n".join(lines).split("\n"):
        row, used = "", 0
        for char in encodable(line, screen.encoding):
            wide = 2 if unicodedata.east_asian_width(char) in "WF" else 1
            if used + wide > screen.columns:
                rows.append(row)
                row, used = "", 0
            row, used = row + char, used + wide
        rows.append(row)
    return [row.rstrip() for row in rows]


def padded(columns: int, before: int) -> str:
    """Each forged line where a row of so many columns would begin, `before` of them filled already."""
    text, used = "", before
    for line in FORGED:
        text += " " * (-used % columns) + line
        used += -used % columns + len(line)
    return text


def approval(said: str = "", **given: Any) -> dict[str, Any]:
    return {
        "type": "approval_required",
        "context": {"asked_by": "acta", "question": "May it?", "agent_said": said},
        "tool_call": {"name": "delete_file", "input": given, "input_hash": "0123456789abcdef"},
        "timeout_at": "2026-01-02",
        "default_action": "reject",
    }


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("before", range(0, 40, 3))
def test_no_padding_brings_foreign_words_to_where_ours_begin(columns: int, before: int) -> None:
    screen = Screen(columns)
    expected = shown(question_lines(approval(), screen), screen)
    wide = "世" * (columns // 2)
    for text in (
        padded(columns, before),
        wide + padded(columns, before),
        "é" * columns + padded(columns, before),
    ):
        rows = shown(question_lines(approval(text, path="a", content=text), screen), screen)
        ours = [row for row in rows if not row.startswith("  |")]
        assert ours == [row for row in expected if not row.startswith("  |")]


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
@given(text=st.text(), columns=st.integers(20, 100))
def test_every_row_fits_and_none_is_lost(encoding: str, text: str, columns: int) -> None:
    screen, clean = Screen(columns, encoding), visible(text)
    rows = list(quoted(clean, screen))
    assert all(row.startswith((FIRST_ROW, NEXT_ROW)) for row in rows)
    assert shown(iter(rows), screen) == [row.rstrip() for row in rows]
    whole = "".join(
        f"\n{row[len(FIRST_ROW) :]}" if row.startswith(FIRST_ROW) else row[len(NEXT_ROW) :] for row in rows
    )
    assert whole[1:] == encodable(clean, encoding)


def test_a_row_that_continues_a_line_differs_from_a_new_line() -> None:
    assert list(quoted("a" * 20 + "\nb", Screen(20))) == ["  | " + "a" * 14, "  |> " + "a" * 6, "  | b"]


def test_a_row_ends_between_words_and_only_a_word_longer_than_a_row_is_cut() -> None:
    rows = list(quoted("may the agent approve " + "x" * 30, Screen(20)))
    words = ["  | may the agent ", "  |> approve "]
    assert rows == [*words, *("  |> " + "x" * count for count in (14, 14, 2))]


def test_what_is_decided_on_is_named_again_below_everything_foreign() -> None:
    last = list(question_lines(approval(path="a")))[-1]
    assert last == "to decide on: delete_file, input 0123456789abcdef"


def test_two_inputs_never_look_the_same_on_a_terminal_of_few_characters() -> None:
    screen = Screen(80, "ascii")
    one, other = (list(question_lines(approval(path=name), screen)) for name in ("отчёт.txt", "архив.txt"))
    assert one != other
    assert all(line.isascii() for line in one)
