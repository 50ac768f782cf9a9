"""Whatever goes wrong with a command is one line on standard error and exit code 2."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest

from acta.cli.commands.grammar import Command
from acta.cli.exit_codes import CliError
from acta.cli.main import ACTA, main
from acta.cli.operations.target import SIGN_IN, aws_errors
from acta.engine.aws.errors import AwsRefused
from acta.engine.errors import AwsDenied, SchemaUnknown, StoreThrottled
from acta.infra.deployed.tenants.stores import NotDeployed
from tests.acta.conftest import Acta
from tests.acta.fake_deployment import SESSION_ID, FakeDeployment, Reply, failure


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
        ["sessions", "--state", "completed"],
        ["resolve", "ses_1", "int_1", "skip", "more"],
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1


def commands(group: click.Group, *names: str) -> Iterator[tuple[tuple[str, ...], Command]]:
    """Every command, and the words that call it."""
    for name, one in group.commands.items():
        if isinstance(one, click.Group):
            yield from commands(one, *names, name)
        else:
            assert isinstance(one, Command)
            yield (*names, name), one


COMMANDS = dict(commands(ACTA))


@pytest.mark.parametrize("function", sorted({one.function for one in COMMANDS.values()}))
def test_every_command_has_its_function(function: str) -> None:
    module, _, name = function.partition(":")
    assert callable(getattr(import_module(module), name))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_helps_and_explains_its_options(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--help"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith(f"Usage: acta {' '.join(words)} ")
    assert shown.err == ""


BARE = {
    "token",
    "bootstrap",
    "setup",
    "completion",
    "schema",
    "deploy",
    "destroy",
    "demo",
    "up",
    "doctor",
    "get",
    "lock",
    "rm",
    "set",
}
"""What prints a text or nothing, a stack's own line of JSON, or what is no one's data."""


def test_whatever_shows_data_shows_it_as_json_too() -> None:
    lacks = {words for words, one in COMMANDS.items() if "json" not in {each.name for each in one.params}}
    assert {words[-1] for words in lacks} <= BARE


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert re.fullmatch(r"acta [0-9]+\.[0-9]+\.[0-9]+\n", capsys.readouterr().out)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_learns_to_complete_the_words(shell: str) -> None:
    acta = Path(sys.executable).with_name("acta")
    script = subprocess.run([acta, "completion", shell], capture_output=True, text=True, check=True).stdout
    assert "_ACTA_COMPLETE" in script
    word = "inter" if shell == "fish" else "1"
    asked = {"COMP_WORDS": "acta inter", "COMP_CWORD": word, "_ACTA_COMPLETE": f"{shell}_complete"}
    told = subprocess.run([acta], env={**os.environ, **asked}, capture_output=True, text=True).stdout
    assert "interventions" in told


def test_help_waits_for_nothing_that_it_does_not_need() -> None:
    code = (
        "import sys\nfrom acta.cli.main import main\nmain(['--help'])\n"
        "print([name for name in ('httpx2', 'rich', 'pydantic', 'acta.infra', 'jwt') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


RUNS_LOGIN = """
from acta.cli import run
sys.argv = ["acta", "login", "--env", "dev"]
sys.exit(run())
"""


@pytest.mark.parametrize(
    ("library", "code", "said"),
    [
        ("yaml", "import acta.testing", "acta.testing needs pip install 'acta-agents[testing]'"),
        ("botocore", RUNS_LOGIN, "with --url, --issuer and --client-id"),
    ],
)
def test_what_a_missing_library_stops_says_what_to_do(
    library: str, code: str, said: str, tmp_path: Path
) -> None:
    absent = f"import sys\nsys.modules[{library!r}] = None\n{code}"
    environ = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", absent], capture_output=True, text=True, env=environ)
    assert done.returncode != 0
    assert said in done.stderr.splitlines()[-1]


def told_as_json(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    shown = capsys.readouterr()
    assert shown.out == ""
    told = json.loads(shown.err.splitlines()[-1])
    assert told.pop("success") is False
    found: dict[str, Any] = told.pop("error")
    assert told == {}
    return found


def test_with_json_an_error_of_the_api_is_json_on_standard_error(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    reply = failure(404, "SESSION_NOT_FOUND", "There is no such \x1b session.")
    deployment.on("GET", f"/v1/sessions/{SESSION_ID}/plan", reply)
    deployment.on("GET", f"/v1/sessions/{SESSION_ID}", reply)
    assert acta("plan", SESSION_ID, "--json") == 2
    told = told_as_json(capsys)
    assert told["code"] == "SESSION_NOT_FOUND"
    assert told["message"].startswith("There is no such \x1b session.")


def test_with_json_an_answer_of_the_gateway_has_its_status_as_code(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("GET", "/v1/sessions", Reply(401, {"message": "Unauthorized"}))
    assert acta("sessions", "--json") == 2
    assert told_as_json(capsys)["code"] == "HTTP_401"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("sessions", "--json", "--nonsense"), "WRONG_USE"),
        (("outputs", "--env", "nowhere", "--json"), "REFUSED"),
        (("sessions", "--json", "--api-url", "ftp://x", "--token", "t"), "INVALID_DEPLOYMENT"),
        (("logs", "ses_no", "--json", "--state", "/nowhere"), "REFUSED"),
        (("backup", "--tenant", "t", "--to", "x", "--json", "--state", "/nowhere"), "REFUSED"),
    ],
)
def test_with_json_every_failure_is_json_with_a_code(
    words: tuple[str, ...], code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert told_as_json(capsys)["code"] == code


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (AwsDenied("get_item: AccessDenied"), "AWS_DENIED"),
        (StoreThrottled("get_item: Throttling"), "AWS_UNAVAILABLE"),
        (AwsRefused("get_item", "Nonsense"), "AWS_REFUSED"),
        (NotDeployed("there is no stack"), "NOT_DEPLOYED"),
        (SchemaUnknown("of a later release"), "UNREADABLE"),
    ],
    ids=str,
)
def test_what_aws_says_has_a_code_and_names_the_page(raised: Exception, code: str) -> None:
    with pytest.raises(CliError) as told, aws_errors(SIGN_IN):
        raise raised
    assert told.value.code == code
    assert ("docs/sign-in.md" in str(told.value)) == (code == "AWS_DENIED")
