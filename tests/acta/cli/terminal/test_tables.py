"""A table for scripts is rows alone; a page to be read has its headings wherever it is sent."""

import pytest

from acta.cli.main import main
from acta.cli.terminal.session_lines import usage_line
from acta.cli.terminal.text import dollars, show_table


def test_off_a_terminal_a_list_has_no_headings_and_a_page_has(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(("NAME", "SIZE"), [("a", 1)])
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [["a", "1"]]
    show_table(("NAME", "SIZE"), [("a", 1)], always_named=True)
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [["NAME", "SIZE"], ["a", "1"]]


def test_what_a_month_costs_says_what_its_columns_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["costs", "--sessions", "10", "--turns", "5"]) == 0
    headings, *parts, together, _, _ = capsys.readouterr().out.splitlines()[1:]
    assert headings.split() == ["PART", "A", "SESSION", "A", "MONTH"]
    for line in (*parts, together):
        assert all(sum.startswith("$") and sum[-7] == "." for sum in line.split()[-2:])


def test_a_run_s_last_line_says_what_its_cost_is_of() -> None:
    usage = {"total_tokens": 5293, "llm_calls": 3, "tool_calls": 1, "cost_usd": 0.00029}
    assert usage_line({"usage": usage}) == "5,293 tokens in 3 LLM calls for $0.000290, 1 tool call"
    assert (
        usage_line({"usage": {**usage, "cost_usd": None}})
        == "5,293 tokens in 3 LLM calls, price unknown, 1 tool call"
    )


def test_a_small_sum_is_not_nothing() -> None:
    assert (dollars(0.00029), dollars(1234.5), dollars(None)) == ("$0.000290", "$1,234.500000", "unknown")
