"""Before something that cannot be undone: who asks for it types the name of what it is done to."""

import sys

from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import one_line


def confirm(what: str, name: str, given: str | None) -> None:
    """`what`: a sentence about what will happen. `given`: the value of --confirm. Raises CliError unless the name was
    given once more, there or at the terminal.
    """
    if given is None and sys.stdin.isatty() and sys.stdout.isatty():
        try:
            given = input(f"{what} Type {one_line(name)} to go on: ")
        except EOFError:
            given = ""
    if given is None:
        raise CliError(f"{what} Without a terminal --confirm {one_line(name)} says yes")
    if given != name:
        raise CliError("that is another name; nothing was done")
