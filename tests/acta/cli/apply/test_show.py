"""What `acta apply` and `acta schema` put on the screen."""

import io
import json

import pytest
from jsonschema import Draft202012Validator

from acta.cli.apply.apply import is_coloured, plan_lines
from acta.cli.apply.folder import Key
from acta.cli.apply.kinds import KINDS
from acta.cli.apply.plan import ApplyPlan, ApplyStep, Found
from acta.cli.commands.definitions import FILE_KINDS
from acta.cli.main import main


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_every_kind_of_file_has_a_schema_that_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(FILE_KINDS) == {kind.one for kind in KINDS.values()}
    for kind in FILE_KINDS:
        assert main(["schema", kind]) == 0
        Draft202012Validator.check_schema(json.loads(capsys.readouterr().out))


def test_there_are_colours_on_a_terminal_whose_owner_wants_them() -> None:
    assert is_coloured(Terminal(), {"TERM": "xterm"})
    assert not is_coloured(Terminal(), {"TERM": "xterm", "NO_COLOR": "1"})
    assert not is_coloured(Terminal(), {"TERM": "dumb"})
    assert not is_coloured(io.StringIO(), {"TERM": "xterm"})


def test_what_goes_is_red_what_comes_is_green_and_what_lies_between_is_left_out() -> None:
    before = {
        "name": "Desk",
        "goal": "a",
        "model": "m",
        "tools": ["a", "b", "c", "d", "e", "f"],
        "protocol": "react",
    }
    step = ApplyStep(
        "change", Key("agents", "desk"), Found(before, 1), {**before, "name": "Help", "protocol": "native"}
    )
    lines = list(plan_lines(ApplyPlan("support", [step]), coloured=True))
    assert lines[:3] == [
        "\x1b[33m~ agents/desk is changed\x1b[0m",
        "    \x1b[31m-name: Desk\x1b[0m",
        "    \x1b[32m+name: Help\x1b[0m",
    ]
    assert "     …" in lines
    assert lines[-1] == "set support: 1 to change"
