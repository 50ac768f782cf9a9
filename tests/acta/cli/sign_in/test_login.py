"""`acta login`, and later commands that need nothing but --env."""

import json
import stat
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from acta.cli.commands.grammar import parse
from acta.cli.connection import Invocation
from acta.cli.exit_codes import CliError
from acta.cli.main import ACTA, main
from acta.cli.sign_in import login, logout
from acta.client.errors import SignInError
from acta.local_aws.loopback import free_port
from tests.acta.fake_deployment import FakeDeployment, success
from tests.acta.openid_provider import CLIENT, SUBJECT, Browser, OpenIdProvider

SESSIONS = success({"items": [], "next_cursor": None})


@pytest.fixture
def provider() -> Iterator[OpenIdProvider]:
    with OpenIdProvider() as running:
        yield running


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where sign-ins are kept."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("ACTA_API_URL", raising=False)
    monkeypatch.delenv("ACTA_TOKEN", raising=False)
    return tmp_path / "acta" / "environments"


@pytest.fixture
def outputs(deployment: FakeDeployment, provider: OpenIdProvider) -> dict[str, str]:
    return {
        "ApiUrl": f"{deployment.url}/",
        "Issuer": provider.url,
        "SignInClient": CLIENT,
        "SignInScopes": "openid email profile",
        "SignInTakes": "id_token",
    }


def parsed(*words: str) -> Namespace:
    found = parse(ACTA, words)
    assert isinstance(found, Namespace)
    return found


def no_outputs(environment: str) -> Mapping[str, str]:
    raise CliError("no AWS credentials")


def log_in(*words: str, outputs: Mapping[str, str] | None = None, browser: Browser | None = None) -> int:
    browser = browser or Browser()
    code = login(
        parsed("login", "--env", "prod", *words),
        opens=browser,
        read_outputs=no_outputs if outputs is None else lambda _: outputs,
        ports=(free_port(),),
    )
    browser.wait()
    return code


def test_after_a_login_every_command_takes_the_environment_and_needs_no_aws_credentials(
    outputs: dict[str, str],
    deployment: FakeDeployment,
    home: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    browser = Browser()
    assert log_in(outputs=outputs, browser=browser) == 0
    (page,) = browser.pages
    assert "You can close this page" in page.text
    assert stat.S_IMODE((home / "prod.json").stat().st_mode) == 0o600
    deployment.on("GET", "/v1/sessions", SESSIONS)
    assert main(["sessions", "--env", "prod"]) == 0
    (request,) = deployment.requests
    stored = json.loads((home / "prod.json").read_text())
    assert request.headers["Authorization"] == f"Bearer {stored['tokens']['token']}"


def test_no_token_and_no_code_is_printed(
    outputs: dict[str, str], home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log_in(outputs=outputs)
    shown = capsys.readouterr()
    stored = json.loads((home / "prod.json").read_text())["tokens"]
    for secret in (stored["token"], stored["refresh_token"], "code="):
        assert secret not in shown.out + shown.err


def test_somebody_without_aws_credentials_signs_in_with_what_the_first_one_was_told(
    outputs: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    log_in(outputs=outputs)
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "without AWS" in line]
    words = line.partition(" login ")[2].split()
    assert words[:2] == ["--env", "prod"]
    assert log_in(*words[2:]) == 0


def test_the_next_login_finds_the_address_where_the_last_one_left_it(outputs: dict[str, str]) -> None:
    log_in(outputs=outputs)
    assert log_in() == 0
    assert logout(parsed("logout", "--env", "prod")) == 0
    assert log_in() == 0
    with pytest.raises(CliError, match="no AWS credentials"):
        log_in("--look-up")


def test_a_local_stack_is_named_by_its_state_directory_and_an_environment_is_not(tmp_path: Path) -> None:
    with pytest.raises(CliError, match=f"no local stack serves {tmp_path}"):
        login(parsed("login", "--env", "local", "--state", str(tmp_path)))
    with pytest.raises(CliError, match="--state is for the stack that `acta up` serves"):
        log_in("--state", str(tmp_path))


def test_without_a_browser_the_address_is_printed_to_be_opened_by_hand(
    outputs: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    browser = Browser()
    with pytest.raises(SignInError, match="nobody signed in"):
        login(
            parsed("login", "--env", "prod", "--no-browser"),
            opens=browser,
            read_outputs=lambda _: outputs,
            ports=(free_port(),),
            wait_seconds=0,
        )
    assert browser.opened == []
    assert f"{outputs['Issuer']}/authorize" in capsys.readouterr().err


def test_json_tells_a_script_who_signed_in_where(
    outputs: dict[str, str], deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    log_in("--json", outputs=outputs)
    told = json.loads(capsys.readouterr().out)
    assert (told["env"], told["api_url"], told["subject"]) == ("prod", deployment.url, SUBJECT)
    assert told["renews_itself"] is True


def test_a_sign_in_that_cannot_be_renewed_says_when_it_ends(
    outputs: dict[str, str], provider: OpenIdProvider, capsys: pytest.CaptureFixture[str]
) -> None:
    provider.answer = {"refresh_token": None}
    log_in(outputs=outputs)
    assert "this sign-in ends at" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("missing", "says"),
    [("Issuer", "knows no sign-in"), ("SignInClient", "no client for a command line is registered")],
)
def test_a_deployment_that_nobody_can_sign_in_to_says_what_to_do(
    outputs: dict[str, str], missing: str, says: str
) -> None:
    del outputs[missing]
    with pytest.raises(CliError, match=says):
        log_in(outputs=outputs)


def test_half_an_address_is_refused(outputs: dict[str, str]) -> None:
    with pytest.raises(CliError, match="go together"):
        log_in("--url", "https://api.example", outputs=outputs)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--env", "../prod"], "an environment's name"),
        (["--env", "prod", "--url", "http://api.example"], "not encrypted"),
        (["--env", "prod", "--url", "api.example"], "must be an http or https URL"),
    ],
)
def test_what_could_not_be_kept_or_used_is_refused_before_anybody_signs_in(
    provider: OpenIdProvider, words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = ["--url", "https://api.example", "--issuer", provider.url, "--client-id", CLIENT]
    assert main(["login", *usual, *words]) == 2
    assert says in capsys.readouterr().err
    assert provider.requests == []


def test_a_failed_login_keeps_the_sign_in_of_before(
    outputs: dict[str, str], provider: OpenIdProvider, home: Path
) -> None:
    log_in(outputs=outputs)
    before = (home / "prod.json").read_text()
    provider.claims = {"nonce": "another"}
    with pytest.raises(SignInError):
        log_in(outputs=outputs)
    assert (home / "prod.json").read_text() == before


def test_logout_forgets_here_and_at_the_issuer(
    outputs: dict[str, str],
    provider: OpenIdProvider,
    deployment: FakeDeployment,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log_in(outputs=outputs)
    assert main(["logout", "--env", "prod"]) == 0
    assert provider.refresh_tokens == set()
    capsys.readouterr()
    assert main(["sessions", "--env", "prod"]) == 2
    assert "`acta login --env prod`" in capsys.readouterr().err
    assert deployment.requests == []


def test_logout_of_everything_and_of_nothing(
    outputs: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["logout"]) == 0
    assert "nobody is signed in" in capsys.readouterr().out
    assert main(["logout", "--env", "prod"]) == 2
    capsys.readouterr()
    log_in(outputs=outputs)
    capsys.readouterr()
    assert main(["logout", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"env": "prod", "revoked": True}]


def test_an_issuer_that_is_away_keeps_nobody_signed_in_here(
    outputs: dict[str, str], provider: OpenIdProvider, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log_in(outputs=outputs)
    provider.changes = {"issuer": "https://other.example"}
    assert main(["logout", "--env", "prod"]) == 0
    assert "the issuer was not told" in capsys.readouterr().out
    assert json.loads((home / "prod.json").read_text())["tokens"] is None


def test_a_token_of_ones_own_goes_to_the_environments_address(
    outputs: dict[str, str], deployment: FakeDeployment
) -> None:
    log_in(outputs=outputs)
    deployment.on("GET", "/v1/sessions", SESSIONS)
    assert main(["sessions", "--env", "prod", "--token", "t.o.k"]) == 0
    assert deployment.requests[-1].headers["Authorization"] == "Bearer t.o.k"


def test_the_environment_goes_before_what_the_shell_names(
    outputs: dict[str, str], deployment: FakeDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_in(outputs=outputs)
    deployment.on("GET", "/v1/sessions", SESSIONS)
    monkeypatch.setenv("ACTA_API_URL", "https://other.example")
    monkeypatch.setenv("ACTA_TOKEN", "t.o.k")
    assert main(["sessions", "--env", "prod"]) == 0
    assert deployment.requests[-1].headers["Authorization"] != "Bearer t.o.k"


@pytest.mark.parametrize("other", [["--api-url", "https://x"], ["--state", "x"]])
def test_two_deployments_at_once_are_refused(other: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sessions", "--env", "prod", *other]) == 2
    assert "--env names the deployment" in capsys.readouterr().err


def test_hints_name_the_environment_again() -> None:
    invocation = Invocation.from_arguments(parsed("watch", "s", "--env", "prod"), "acta")
    assert invocation.line("cancel", "s").endswith("cancel s --env prod")
