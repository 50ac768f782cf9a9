"""Whatever goes wrong with a command is one line on standard error and exit code 2."""

import argparse
from collections.abc import Iterator, Sequence
from importlib import import_module

import pytest

from acta.cli.main import main
from acta.cli.parser import build_parser
from tests.unit.acta.conftest import Acta
from tests.unit.acta.fake_deployment import SESSION_ID, FakeDeployment, Reply, failure


def exit_code(arguments: Sequence[str]) -> int:
    """Of a command argparse itself may end."""
    try:
        return main(arguments)
    except SystemExit as ended:
        return int(ended.code or 0)


def test_an_unknown_session_is_one_clear_line(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    reply = failure(404, "SESSION_NOT_FOUND", "There is no such session.")
    deployment.on("GET", f"/v1/sessions/{SESSION_ID}", reply)
    assert acta("watch", SESSION_ID) == 2
    assert capsys.readouterr().err == "acta: There is no such session. (SESSION_NOT_FOUND)\n"


def test_an_expired_token_is_one_clear_line(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("GET", "/v1/sessions", Reply(401, {"message": "Unauthorized"}))
    assert acta("sessions") == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["run"],
        ["fly"],
        ["up", "--port", "0"],
        ["up", "--port", "x"],
        ["token", "--tenant", "t"],
        ["deploy", "--env", "local"],
        ["files"],
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1


def commands(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The function of every subcommand, as `module:function`."""
    if command := parser.get_default("command"):
        yield command
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from commands(below)


@pytest.mark.parametrize("command", sorted(set(commands(build_parser()))))
def test_every_command_has_its_function(command: str) -> None:
    module, _, function = command.partition(":")
    assert callable(getattr(import_module(module), function))
