"""The page docs/reference/command-line.md, made from the commands of `acta` themselves.

`make generate` writes it, and `make check` fails where it is not what the commands say (`--check`).
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from acta.cli.main import ACTA
from acta.infra.document.committed import write_or_check

PAGE = Path(__file__).resolve().parent / "reference" / "command-line.md"
OF_EVERY_CALL = {"--env", "--api-url", "--token", "--insecure", "--state"}
"""Options of every command that calls the API; they are explained once."""


def lines() -> Iterator[str]:
    yield from ("# The command line", "", "Made by `make generate` from the commands themselves.", "")
    yield (
        "[Using Acta](../using.md) shows the commands at work, with their exit codes. Every command that calls the API "
        "also takes:"
    )
    yield from ("", "| option | meaning |", "|---|---|")
    every = {option: each for _, command in _commands(ACTA, "acta") for option, each in _options(command)}
    for option in sorted(OF_EVERY_CALL):
        yield f"| `{option}` | {_cell(every[option].help or '')} |"
    for name, command in _commands(ACTA, "acta"):
        arguments = [
            each.make_metavar(click.Context(command))
            for each in command.params
            if isinstance(each, click.Argument)
        ]
        yield from ("", f"## `{' '.join([name, *arguments])}`", "", _line(command.help or ""))
        own = [(option, each) for option, each in _options(command) if option not in OF_EVERY_CALL]
        if own:
            yield from ("", "| option | meaning |", "|---|---|")
            for option, each in own:
                value = f" {each.metavar}" if each.metavar and not each.is_flag else ""
                yield f"| `{option}{value}` | {_cell(each.help or '')} |"
    yield ""


def _commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield name, command
        return
    for word, each in command.commands.items():
        yield from _commands(each, f"{name} {word}")


def _options(command: click.Command) -> Iterator[tuple[str, click.Option]]:
    for each in command.params:
        if isinstance(each, click.Option) and not each.hidden:
            yield each.opts[0], each


def _line(text: str) -> str:
    """Each paragraph in one line."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(write_or_check({PAGE: "\n".join(lines())}))
