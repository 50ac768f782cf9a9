"""The `acta` command: finds the subcommand and runs it. Every error becomes one line and an exit code."""

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from importlib import import_module

import click

from acta.cli import exit_codes
from acta.cli.commands.grammar import parse, wrong_use
from acta.cli.commands.tree import ACTA
from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import note, visible
from acta.client.errors import ApiError, ClientError


def main(argv: Sequence[str] | None = None) -> int:
    """`argv`: the words after `acta` (default: of this process). The exit code."""
    words = sys.argv[1:] if argv is None else argv
    try:
        arguments = parse(ACTA, argv)
    except click.ClickException as error:
        line, code = wrong_use(error)
        note(exit_codes.as_json("WRONG_USE", line, {}) if "--json" in words else line)
        return code
    if isinstance(arguments, int):
        return arguments
    module, _, function = arguments.command.partition(":")
    try:
        # imported only now: `acta token` must not wait for what `acta demo` needs
        return int(getattr(import_module(module), function)(arguments))
    except CliError as error:
        note(line_of(error, str(error), arguments))
        return exit_codes.WRONG_USE
    except ClientError as error:
        note(line_of(error, visible(str(error), keep_newlines=False), arguments))
        return exit_codes.WRONG_USE
    except BrokenPipeError:  # `acta sessions | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exit_codes.OK
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return exit_codes.INTERRUPTED


def line_of(error: CliError | ClientError, shown: str, arguments: Namespace) -> str:
    """`shown`: the message, escaped for a terminal."""
    if not getattr(arguments, "json", False):
        return f"acta: {shown}"
    if isinstance(error, ApiError):
        return exit_codes.as_json(error.code or f"HTTP_{error.status}", str(error), error.details)
    return exit_codes.as_json(error.code, str(error), {})


if __name__ == "__main__":
    sys.exit(main())
