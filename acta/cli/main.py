"""The `acta` command: finds the subcommand, and turns whatever ends it into one line and an exit code."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from acta.cli import exits
from acta.cli.errors import CliError
from acta.cli.parser import build_parser
from acta.cli.text import encodable


def main(argv: Sequence[str] | None = None) -> int:
    arguments = build_parser().parse_args(argv)
    module, _, function = arguments.command.partition(":")
    try:
        # imported only now: `acta token` must not wait for what `acta demo` needs
        return int(getattr(import_module(module), function)(arguments))
    except CliError as error:
        return complain(str(error))
    except BrokenPipeError:  # `acta sessions | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.OK
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return exits.INTERRUPTED


def complain(message: str) -> int:
    print(encodable(f"acta: {message}", sys.stderr.encoding), file=sys.stderr)
    return exits.WRONG_USE


if __name__ == "__main__":
    sys.exit(main())
