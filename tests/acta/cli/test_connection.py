"""Which deployment a command calls, and how it is named in the commands that are shown."""

from argparse import Namespace
from pathlib import Path

import pytest

from acta import __version__
from acta.cli.commands.grammar import parse
from acta.cli.connection import Invocation, connect, deployment_of
from acta.cli.exit_codes import CliError
from acta.cli.main import ACTA, main
from acta.client.deployment import Deployment
from acta.client.errors import InvalidDeploymentError
from acta.client.sign_in.machine import MachineTokens
from acta.local_aws.loopback import free_port
from tests.acta.fake_deployment import FakeDeployment, success


def test_a_malformed_token_is_refused_before_it_is_sent(
    deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sessions", "--api-url", deployment.url, "--token", "two words\r\nX: y"]) == 2
    assert deployment.requests == []
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_without_a_stack_the_command_says_how_to_start_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sessions", "--state", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert "acta up" in error
    assert len(error.splitlines()) == 1


def test_a_deployment_that_is_not_there_is_one_clear_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sessions", "--api-url", f"http://127.0.0.1:{free_port()}", "--token", "a.b.c"]) == 2
    assert "connection was refused" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (
            "99.0.0",
            f"acta: the deployment is newer than this command (99.0.0, {__version__}): pip install -U acta-agents\n",
        ),
        (
            "0.0.9",
            f"acta: the deployment is older than this command (0.0.9, {__version__}): acta deploy --env NAME\n",
        ),
        (__version__, ""),
        ("", ""),
        ("\x1b[2J.9", ""),
    ],
)
def test_a_deployment_of_another_version_is_told_once(
    version: str, said: str, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("GET", "/v1/me", success({})._replace(headers=(("Acta-Version", version),)))
    with connect(options(api_url=deployment.url, token="a.b.c")) as client:
        client.me()
        client.me()
    assert capsys.readouterr().err == said


def parsed_of(words: list[str]) -> Namespace:
    parsed = parse(ACTA, words)
    assert isinstance(parsed, Namespace)
    return parsed


def options(**given: str) -> Namespace:
    return Namespace(**{"api_url": None, "token": None, "state": None, **given})


def test_what_is_not_given_comes_from_the_environment() -> None:
    environ = {"ACTA_API_URL": "https://a", "ACTA_TOKEN": "from.the.environment"}
    assert deployment_of(options(), environ) == Deployment("https://a", "from.the.environment")
    assert deployment_of(options(api_url="https://b"), environ).api_url == "https://b"
    assert deployment_of(options(token="a.b.c"), environ) == Deployment("https://a", "a.b.c")


def test_a_program_s_credentials_in_the_environment_make_its_token_where_none_is_given() -> None:
    program = {"ACTA_ISSUER": "https://i", "ACTA_CLIENT_ID": "ci", "ACTA_CLIENT_SECRET": "s"}
    environ = {"ACTA_API_URL": "https://a", **program}
    assert isinstance(deployment_of(options(), environ).token, MachineTokens)
    assert isinstance(Deployment.from_environ(environ).token, MachineTokens)
    assert deployment_of(options(token="a.b.c"), environ).token == "a.b.c"
    assert Deployment.from_environ({**environ, "ACTA_TOKEN": "a.b.c"}).token == "a.b.c"
    del environ["ACTA_ISSUER"]
    with pytest.raises(InvalidDeploymentError, match="ACTA_CLIENT_SECRET without ACTA_ISSUER"):
        deployment_of(options(), environ)


def test_a_state_directory_means_its_local_stack_whatever_the_environment_names(tmp_path: Path) -> None:
    environ = {"ACTA_API_URL": "https://a", "ACTA_TOKEN": "a.b.c"}
    with pytest.raises(
        CliError, match=r"no local stack serves .*: start one with `acta dev` \(or `acta up`\)"
    ):
        deployment_of(options(state=str(tmp_path)), environ)


def test_a_url_without_a_token_is_one_clear_line() -> None:
    with pytest.raises(CliError, match=r"^a token is missing for https://b: give --token or set ACTA_TOKEN$"):
        deployment_of(options(api_url="https://b"), {})


def test_hints_repeat_how_acta_was_called_but_never_the_token(tmp_path: Path) -> None:
    parsed = parsed_of(["watch", "s", "--state", "my state", "--token", "secret"])
    called = tmp_path / "acta"
    called.touch()
    line = Invocation.from_arguments(parsed, str(called)).line("cancel", "s")
    assert line == f"{called} cancel s --state 'my state' --token TOKEN"
    assert Invocation.from_arguments(parsed, "/x/main.py").program == "acta"


def test_a_token_is_not_sent_unencrypted_to_another_machine_unless_that_is_meant(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["sessions", "--api-url", "http://acta.invalid", "--token", "a.b.c"]) == 2
    said = capsys.readouterr().err
    assert "--insecure" in said
    assert "a.b.c" not in said
    meant = parsed_of(["watch", "s", "--api-url", "http://acta.invalid", "--token", "a", "--insecure"])
    assert deployment_of(meant, {}).insecure
    assert Invocation.from_arguments(meant, "acta").options[-1] == "--insecure"
