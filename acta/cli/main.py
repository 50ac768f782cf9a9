"""The `acta` command: all its commands, and how one of them runs. Every error becomes one line and an exit code."""

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from importlib import import_module

import click
from click.shell_completion import get_completion_class

from acta.cli import exit_codes
from acta.cli.commands import definitions, deployment, sessions
from acta.cli.commands.grammar import Group, parse, wrong_use
from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import note, visible
from acta.client.errors import ApiError, ClientError

ACTA = Group(
    "acta",
    "Runs autonomous LLM agents on your own AWS account. SESSION is an id, its beginning, or `last` (your own).",
    *deployment.LOCAL,
    *sessions.COMMANDS,
    *definitions.COMMANDS,
    *deployment.SIGN_IN,
    *deployment.OPERATIONS,
)
click.version_option(package_name="acta-agents", message="acta %(version)s", help="Show the version.")(ACTA)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns the exit code. `argv`: the words after `acta` (default: of this process)."""
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
    except (CliError, ClientError) as error:
        note(line_of(error, as_json=getattr(arguments, "json", False)))
        return exit_codes.WRONG_USE
    except BrokenPipeError:  # `acta sessions | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exit_codes.OK
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return exit_codes.INTERRUPTED


def line_of(error: CliError | ClientError, *, as_json: bool) -> str:
    if not as_json:  # the message of a CliError is escaped already
        return f"acta: {error if isinstance(error, CliError) else visible(str(error), keep_newlines=False)}"
    if isinstance(error, ApiError):
        return exit_codes.as_json(error.code or f"HTTP_{error.status}", str(error), error.details)
    return exit_codes.as_json(error.code, str(error), {})


COMPLETE = "_ACTA_COMPLETE"
"""If this variable is set, click answers a shell's question about completion."""


def completion(arguments: Namespace) -> int:
    """`acta completion`: prints a script with which a shell asks `acta` itself for the words that fit."""
    of_shell = get_completion_class(arguments.shell)
    assert of_shell is not None, "the choices are those that click knows"
    print(of_shell(click.Command("acta"), {}, "acta", COMPLETE).source())
    return exit_codes.OK


if __name__ == "__main__":
    sys.exit(main())
