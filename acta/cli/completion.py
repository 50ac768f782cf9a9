"""`acta completion`: a shell's script that asks `acta` itself which words fit."""

from argparse import Namespace

import click
from click.shell_completion import get_completion_class

from acta.cli import exit_codes

VARIABLE = "_ACTA_COMPLETE"
"""click answers a shell's question where this is set."""


def completion(arguments: Namespace) -> int:
    of_shell = get_completion_class(arguments.shell)
    assert of_shell is not None, "the choices are those that click knows"
    print(of_shell(click.Command("acta"), {}, "acta", VARIABLE).source())
    return exit_codes.OK
