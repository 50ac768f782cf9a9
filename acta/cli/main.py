"""The `acta` command: finds the subcommand and runs it. Every error becomes one line and an exit code."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from acta.cli import exit_codes
from acta.cli.commands.grammar import parse, wrong_use
from acta.cli.commands.tree import ACTA
from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import encodable, visible
from acta.client.errors import ClientError


def main(argv: Sequence[str] | None = None) -> int:
    """`argv`: the words after `acta` (default: of this process). The exit code."""
    try:
        arguments = parse(ACTA, argv)
    except click.ClickException as error:
        line, code = wrong_use(error)
        print(encodable(line, sys.stderr.encoding), file=sys.stderr)
        return code
    if isinstance(arguments, int):
        return arguments
    module, _, function = arguments.command.partition(":")
    try:
        # imported only now: `acta token` must not wait for what `acta demo` needs
        return int(getattr(import_module(module), function)(arguments))
    except CliError as error:
        return complain(str(error))
    except ClientError as error:
        return complain(visible(str(error), keep_newlines=False))
    except BrokenPipeError:  # `acta sessions | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exit_codes.OK
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return exit_codes.INTERRUPTED


def complain(message: str) -> int:
    print(encodable(f"acta: {message}", sys.stderr.encoding), file=sys.stderr)
    return exit_codes.WRONG_USE


if __name__ == "__main__":
    sys.exit(main())
