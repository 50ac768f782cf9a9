"""What a command of `acta` is made of: click's commands, options and arguments, and the name of its function.

They are written as help shows them: `get PATH`, `ls [PREFIX]`, `-o, --output FILE`. A command's function is imported
when it is called: `acta --help` must not wait for what `acta demo` needs. The function gets the values as a `Namespace`
and returns the exit code.
"""

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import click

from acta.cli.exit_codes import WRONG_USE

Given = dict[str, Any]
NARROW = 100
"""The most columns that help takes."""
NAMES = {"SESSION": "id", "SESSION|INTERVENTION": "id", "ID": "name", "FILE": "source"}
"""Arguments whose value has another name than the word that help shows."""


class Instant(click.ParamType[str]):
    """Keeps the text as it is: the API reads it as RFC 3339."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> str:
        try:
            at = datetime.fromisoformat(value)
            has_zone = at.tzinfo is not None and bool(at.astimezone(UTC))
        except (ValueError, OverflowError):  # 9999-12-31T23:59:59-01:00 is in no year of UTC
            has_zone = False
        if not has_zone:
            self.fail(f"a time is given such as 2026-11-22T09:00:00Z, not {value!r}", param, context)
        return str(value)


TYPES: Mapping[str, Any] = {
    "N": int,
    "SEQ": int,
    "USD": float,
    "TIME": Instant(),
    "N TEXT": (int, str),
    "N M": (int, int),
}
"""The type of an option's value, by the word that stands for the value in help."""


class Command(click.Command):
    """`usage`: the command's name and its plain arguments. `function`: the module below `acta.cli` and its function, as
    in `files:put`. `prepare`: changes the values before the function gets them. `more`: values of no option.
    """

    def __init__(
        self,
        usage: str,
        function: str,
        help: str,
        *parameters: click.Parameter,
        prepare: Callable[[Given], Given] | None = None,
        epilog: str | None = None,
        **more: Any,
    ) -> None:
        def callback(**given: Any) -> Namespace:
            # A repeatable option that was not given is None, as other options are then.
            given = {name: None if value == () else value for name, value in given.items()}
            given = prepare(given) if prepare else given
            return Namespace(command=self.function, **more, **given)

        name, *words = usage.split(" ")
        self.function = f"acta.cli.{function}"
        params = [*map(argument, words), *parameters]
        super().__init__(name, params=params, callback=callback, help=help, epilog=epilog)


class Group(click.Group):
    """Lists its commands in the order in which they are written here, not by the alphabet."""

    def __init__(self, name: str, help: str, *commands: click.Command) -> None:
        named = {str(each.name): each for each in commands}
        super().__init__(name, named, help=help, no_args_is_help=False)

    def list_commands(self, context: click.Context) -> list[str]:
        return [*self.commands]


def argument(shown: str, name: str | None = None, **more: Any) -> click.Argument:
    """`[PREFIX]` may be left out; `TOOL...` may be several. `name`: the value's name, if it is not the word itself."""
    bare = shown.strip("[].")
    more = {"nargs": -1 if "..." in shown else 1, "required": not shown.startswith("["), **more}
    return click.Argument([name or NAMES.get(bare) or bare.lower()], metavar=shown, **more)


def text_argument(shown: str) -> click.Argument:
    """Takes all words that are left as one text, which need not be quoted."""
    return argument(shown, callback=lambda context, parameter, words: " ".join(words))


def option(shown: str, help: str | None = None, name: str | None = None, **more: Any) -> click.Option:
    """An option that no value follows is a flag. A value's type is looked up in `TYPES`; for `yes|no` it is one of
    these words. `name`: the value's name, if it is not the option's.
    """
    *names, value = [*shown.split(" "), ""]
    while names and not names[-1].startswith("-"):
        value = f"{names.pop()} {value}".rstrip()
    if "|" in value:
        more = {"type": click.Choice(value.split("|")), **more}
    elif value:
        more = {"type": TYPES.get(value), "metavar": value, **more}
    else:
        more = {"is_flag": True, **more}
    return click.Option([*(each.rstrip(",") for each in names), *([name] if name else [])], help=help, **more)


ENVIRONMENT = option("--env NAME", "in AWS (default: the local stack)")
STATE = option("--state DIR", "the local stack's state directory (default: .acta)")
YES = option("--yes", "do not ask")
CONNECTION: Sequence[click.Parameter] = (
    option("--env NAME", "the environment that `acta login` signed in to"),
    option("--api-url URL", "the deployment's URL (default: ACTA_API_URL, else the local stack)"),
    option("--token TEXT", "a token for the deployment (default: ACTA_TOKEN, without --state)"),
    option("--insecure", "allow http to another machine, although others can then read the token"),
    STATE,
)
"""The options that name a deployment."""
JSON = option("--json", "print JSON, for scripts")


def api_command(
    usage: str, function: str, help: str, *parameters: click.Parameter, json: bool = True, **more: Any
) -> Command:
    """A command that calls the API of a deployment. `json`: whether it takes `--json`."""
    return Command(usage, function, help, *parameters, *([JSON] if json else []), *CONNECTION, **more)


def parse(command: click.Command, argv: Sequence[str] | None) -> Namespace | int:
    """The values of a command line, or an exit code if it only asked for help or the like. Raises click.UsageError."""
    parsed = command.main(
        None if argv is None else [*argv], prog_name="acta", standalone_mode=False, max_content_width=NARROW
    )
    return parsed if isinstance(parsed, Namespace) else int(parsed or 0)


def wrong_use(error: click.ClickException) -> tuple[str, int]:
    """The error as one line, and the exit code."""
    context = getattr(error, "ctx", None)
    program = context.command_path if context is not None else "acta"
    message = " ".join(error.format_message().split()).rstrip(".")
    return f"{program}: {message} (see {program} --help)", WRONG_USE
