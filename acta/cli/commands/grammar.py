"""What a command of `acta` is made of: click's commands, options and arguments, with the function that runs it named.

A command's function is imported when it is called: `acta --help` must not wait for what `acta demo` needs. It gets the
values as a `Namespace` and returns the exit code.
"""

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import click

from acta.cli.exit_codes import WRONG_USE

Given = dict[str, Any]
NARROW = 100
"""Columns of help at most."""


class Command(click.Command):
    """`function`: the module below `acta.cli` and its function, as in `files:put`. `prepare`: changes the values before
    the function gets them; `more`: values that no option has.
    """

    def __init__(
        self,
        name: str,
        function: str,
        help: str,
        *parameters: click.Parameter,
        prepare: Callable[[Given], Given] | None = None,
        epilog: str | None = None,
        **more: Any,
    ) -> None:
        def callback(**given: Any) -> Namespace:
            given = {name: none_if_empty(value) for name, value in given.items()}
            given = prepare(given) if prepare else given
            return Namespace(command=self.function, **more, **given)

        self.function = f"acta.cli.{function}"
        super().__init__(name, params=[*parameters], callback=callback, help=help, epilog=epilog)


class Group(click.Group):
    """Lists its commands as they stand here, not by the alphabet."""

    def __init__(self, name: str, help: str, *commands: click.Command, **more: Any) -> None:
        named: Mapping[str, click.Command] = {str(each.name): each for each in commands}
        super().__init__(name, dict(named), help=help, no_args_is_help=False, **more)

    def list_commands(self, context: click.Context) -> list[str]:
        return [*self.commands]


def argument(name: str, metavar: str | None = None, **more: Any) -> click.Argument:
    return click.Argument([name], metavar=metavar or name.upper(), **more)


def option(*names: str, help: str | None = None, **more: Any) -> click.Option:
    return click.Option([*names], help=help, **more)


def flag(*names: str, help: str | None = None) -> click.Option:
    return click.Option([*names], is_flag=True, help=help)


def words(name: str, metavar: str) -> click.Argument:
    """All that is left: a text need not be quoted. `joined` makes one text of them."""
    return click.Argument([name], metavar=metavar, nargs=-1, required=True)


def joined(name: str) -> Callable[[Given], Given]:
    return lambda given: {**given, name: " ".join(given[name] or ())}


STATE = option("--state", metavar="DIR", help="the local stack's state directory (default: .acta)")
CONNECTION: Sequence[click.Parameter] = (
    option("--env", metavar="NAME", help="the environment that `acta login` signed in to"),
    option(
        "--api-url", metavar="URL", help="the deployment's URL (default: ACTA_API_URL, else the local stack)"
    ),
    option("--token", help="a token for it (default: ACTA_TOKEN)"),
    flag("--insecure", help="send the token over http to another machine, readable on the way"),
    STATE,
)
"""The options that name a deployment."""
JSON = flag("--json", help="print JSON, for scripts")


def api_command(
    name: str, function: str, help: str, *parameters: click.Parameter, json: bool = True, **more: Any
) -> Command:
    """A command that calls the API of a deployment. `json`: it takes `--json`."""
    return Command(name, function, help, *parameters, *([JSON] if json else []), *CONNECTION, **more)


def none_if_empty(value: Any) -> Any:
    """An option that may be repeated and was not given is None, as any other is."""
    return None if value == () else value


class Instant(click.ParamType[str]):
    """The text itself, which the API reads as RFC 3339."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> str:
        try:
            has_zone = datetime.fromisoformat(value).tzinfo is not None
        except ValueError:
            has_zone = False
        if not has_zone:
            self.fail(f"a time is given such as 2026-11-22T09:00:00Z, not {value!r}", param, context)
        return str(value)


def parse(command: click.Command, argv: Sequence[str] | None) -> Namespace | int:
    """The values of a command line, or the exit code where it was only a question (--help). Raises click.UsageError."""
    parsed = command.main(
        None if argv is None else [*argv], prog_name="acta", standalone_mode=False, max_content_width=NARROW
    )
    return parsed if isinstance(parsed, Namespace) else int(parsed or 0)


def wrong_use(error: click.ClickException) -> tuple[str, int]:
    """One line, and the exit code."""
    context = getattr(error, "ctx", None)
    program = context.command_path if context is not None else "acta"
    message = " ".join(error.format_message().split()).rstrip(".")
    return f"{program}: {message} (see {program} --help)", WRONG_USE
