"""What cannot be undone is done once its name was given, and never by mistake."""

import pytest

from acta.cli.exit_codes import CliError
from acta.cli.terminal.prompt import confirm


def test_without_a_terminal_the_option_has_to_say_it() -> None:
    with pytest.raises(CliError, match=r"All of acme is erased\. .*--confirm acme"):
        confirm("All of acme is erased.", "acme", None)
    confirm("All of acme is erased.", "acme", "acme")


def test_another_name_is_refused() -> None:
    with pytest.raises(CliError, match="nothing was done"):
        confirm("All of acme is erased.", "acme", "acme-2")


@pytest.mark.parametrize(("typed", "is_done"), [("acme", True), ("yes", False), ("", False)])
def test_at_a_terminal_the_name_is_typed(typed: str, is_done: bool) -> None:
    asked: list[str] = []

    def person(question: str) -> str:
        asked.append(question)
        return typed

    if is_done:
        confirm("All of acme is erased.", "acme", None, person)
    else:
        with pytest.raises(CliError, match="nothing was done"):
            confirm("All of acme is erased.", "acme", None, person)
    assert asked == ["All of acme is erased. Type acme to go on: "]


def test_a_terminal_that_is_closed_says_no() -> None:
    def gone(question: str) -> str:
        raise EOFError

    with pytest.raises(CliError, match="nothing was done"):
        confirm("All of acme is erased.", "acme", None, gone)
