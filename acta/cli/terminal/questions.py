"""Questions of a command to the person at the terminal, before it changes something."""

import sys
from collections.abc import Callable

from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import one_line

Asks = Callable[[str], str]


def at_terminal() -> Asks | None:
    """None: there is no person at a terminal."""
    return input if sys.stdin.isatty() and sys.stdout.isatty() else None


def says_yes(question: str) -> bool:
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:
        print()
        return False


def asks_at_terminal() -> Callable[[str], bool] | None:
    """`says_yes`; None: there is no person at a terminal."""
    return None if at_terminal() is None else says_yes


def is_agreed(question: str, nobody: str, *, as_json: bool) -> bool:
    """Raises CliError with the text `nobody` where nobody can be asked: a script reads the output, or gives input."""
    if as_json or not sys.stdin.isatty():
        raise CliError(nobody)
    return says_yes(question)


def confirm(what: str, name: str, given: str | None, asks: Asks | None = None) -> None:
    """Before what cannot be undone: who asks for it types the name of what it is done to.

    `what`: a sentence about what will happen. `given`: the value of --confirm. `asks`: puts a question; None: at the
    terminal, where there is one. Raises CliError unless the name was given once more.
    """
    asks = asks or at_terminal()
    if given is None and asks is not None:
        try:
            given = asks(f"{what} Type {one_line(name)} to go on: ")
        except EOFError:
            given = ""
    if given is None:
        raise CliError(f"{what} Without a terminal --confirm {one_line(name)} says yes")
    if given != name:
        raise CliError("that is another name; nothing was done")
