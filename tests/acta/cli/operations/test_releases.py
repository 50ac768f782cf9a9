"""`acta releases` and `acta rollback` say what there is, ask, and move."""

import json

import pytest

from acta.cli import exit_codes
from acta.cli.exit_codes import CliError
from acta.cli.operations.releases import Clients, list_releases, roll_back
from acta.cli.operations.repair import World
from tests.doubles.lambda_versions import Lambdas, Stack

FUNCTIONS = ("start", "step", "tool", "intervene", "status")
NOBODY = World(None)


def clients(*names: str, status: str = "UPDATE_COMPLETE") -> Clients:
    lambdas = Lambdas()
    for name in names:
        lambdas.release(name, *FUNCTIONS)
    return Clients("prod", lambdas, Stack(status))


def saying(answer: bool, heard: list[str]) -> World:
    def asks(question: str) -> bool:
        heard.append(question)
        return answer

    return World(asks)


def test_releases_are_listed_newest_first_with_the_one_that_is_live(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = clients("one", "two")
    assert list_releases(made, as_json=False) == exit_codes.OK
    assert capsys.readouterr().out.splitlines() == [
        "two  2026-11-23 10:02  writes schema 2, knows 2  live",
        "one  2026-11-23 10:01  writes schema 2, knows 2",
    ]
    list_releases(made, as_json=True)
    newest, oldest = json.loads(capsys.readouterr().out)
    assert (newest["release"], newest["live"], oldest["live"]) == ("two", True, False)
    assert oldest["versions"] == dict.fromkeys(FUNCTIONS, "1")


def test_a_move_that_broke_off_shows(capsys: pytest.CaptureFixture[str]) -> None:
    made = clients("one", "two")
    made.lambdas.update_alias(FunctionName="acta-prod-step", Name="live", FunctionVersion="1")
    list_releases(made, as_json=False)
    assert [line.rpartition("  ")[2] for line in capsys.readouterr().out.splitlines()] == ["partly live"] * 2


def test_functions_of_a_release_without_a_name_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    made = clients("")
    list_releases(made, as_json=False)
    assert "does not say its name" in capsys.readouterr().out


def test_what_a_rollback_does_not_take_back_is_said_before_the_question(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made, heard = clients("one", "two"), list[str]()
    code = roll_back(made, None, yes=False, as_json=False, world=saying(True, heard))
    assert (code, heard) == (exit_codes.OK, ["Move prod to one? [y/N] "])
    said = capsys.readouterr().out
    assert "What stays: the state machine" in said.splitlines()[0]
    assert said.splitlines()[-1] == "one is live; sessions go on with it from their next call on"
    assert set(made.lambdas.live().values()) == {"one"}


def test_folders_of_tools_that_were_taken_out_since_are_named_before_the_question(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = clients("one", "two")
    for folder in ("orders", "bills"):
        made.lambdas.release("one", f"tool-{folder}")
    for each in made.lambdas.functions["acta-prod-tool"]:
        variables = {**each["Environment"]["Variables"], "ACTA_TOOL_VERSIONS": '{"orders":"1","bills":"1"}'}
        each["Environment"] = {"Variables": variables}
    roll_back(made, "one", yes=False, as_json=False, world=NOBODY)
    assert capsys.readouterr().err == ""

    del made.lambdas.functions["acta-prod-tool-orders"]
    roll_back(made, "one", yes=False, as_json=False, world=NOBODY)
    assert "one has Python tools that were taken out since (orders): calls of them fail there" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize("world", [NOBODY, saying(False, [])])
def test_nothing_moves_before_a_yes(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    made = clients("one", "two")
    assert roll_back(made, None, yes=False, as_json=False, world=world) == exit_codes.WAITING
    assert "nothing was moved" in capsys.readouterr().out
    assert made.lambdas.said == []


def test_where_nobody_can_be_asked_it_says_what_a_yes_would_move(capsys: pytest.CaptureFixture[str]) -> None:
    roll_back(clients("one", "two"), None, yes=False, as_json=False, world=NOBODY)
    assert capsys.readouterr().out.splitlines()[-1] == "nothing was moved: --yes moves prod to one"
    assert roll_back(clients("one", "two"), None, yes=False, as_json=True, world=NOBODY) == exit_codes.WAITING
    shown = capsys.readouterr()
    assert json.loads(shown.out) == {"release": "one", "moved": []}
    assert "--yes moves prod to one" in shown.err


def test_for_scripts_it_says_what_it_moved(capsys: pytest.CaptureFixture[str]) -> None:
    made = clients("one", "two")
    assert roll_back(made, "one", yes=True, as_json=True, world=NOBODY) == exit_codes.OK
    answer = json.loads(capsys.readouterr().out)
    assert answer == {"release": "one", "moved": ["start", "intervene", "step", "tool", "status"]}
    assert roll_back(made, "one", yes=True, as_json=True, world=NOBODY) == exit_codes.OK
    assert json.loads(capsys.readouterr().out)["moved"] == []


def refused(made: Clients, to: str | None = None) -> str:
    with pytest.raises(CliError) as told:
        roll_back(made, to, yes=True, as_json=False, world=NOBODY)
    return str(told.value)


def test_what_is_not_possible_is_one_line_that_says_what_to_do() -> None:
    assert "`acta releases` lists those" in refused(clients("one"), "three")
    assert "no earlier release is kept" in refused(clients("one"))
    assert "cancel-update-stack --stack-name Acta-prod-Stateless" in refused(
        clients("one", "two", status="UPDATE_IN_PROGRESS")
    )


@pytest.mark.parametrize(
    ("code", "words"),
    [("PreconditionFailedException", "run the same command again"), ("AccessDenied", "your credentials")],
)
def test_a_move_that_breaks_off_says_so(code: str, words: str) -> None:
    made = clients("one", "two")
    made.lambdas.refuses_at = ("acta-prod-step", code)
    assert words in refused(made)
