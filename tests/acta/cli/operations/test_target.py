"""A command with `--env` names the account it works on, and never works on another one than the environment's."""

import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from acta.cli.exit_codes import CliError
from acta.cli.main import main
from acta.cli.operations.target import environment_named, target, warn_unpinned
from acta.infra.deployed.account import AccountUnknown, CallerIdentity, WrongAccount, caller, client_in
from acta.infra.environments import DEV

ACCOUNT, REGION = "123456789012", "eu-west-1"
ANN = f"arn:aws:sts::{ACCOUNT}:assumed-role/Deployer/ann"


@pytest.fixture
def without_aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A shell in which nobody has signed in to anything."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", str(tmp_path))


class Sts:
    """An STS client of a shell whose region is `region`."""

    def __init__(self, account: str = ACCOUNT, region: str = REGION, refuses: str = "") -> None:
        self.meta = SimpleNamespace(region_name=region)
        self._account, self._refuses = account, refuses

    def get_caller_identity(self) -> Any:
        if self._refuses:
            raise ClientError({"Error": {"Code": self._refuses, "Message": "no"}}, "GetCallerIdentity")
        return {"Account": self._account, "Arn": ANN}


def test_account_region_and_person_are_named_before_anything_else(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = target("dev", Sts())
    assert chosen.caller == CallerIdentity(ACCOUNT, REGION, ANN)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == f"environment dev: account {ACCOUNT}, region {REGION}, as {ANN}\n"
    assert chosen.environ["AWS_REGION"] == chosen.environ["AWS_DEFAULT_REGION"] == REGION


def test_a_pinned_environment_is_refused_in_another_account_and_says_what_to_do() -> None:
    pinned = replace(DEV, account=ACCOUNT, region=REGION)
    assert caller(pinned, Sts()).account == ACCOUNT
    with pytest.raises(WrongAccount) as refused:
        caller(pinned, Sts("999999999999"))
    for part in ("'dev'", ACCOUNT, "999999999999", "AWS_PROFILE"):
        assert part in str(refused.value)


def test_a_pinned_region_counts_more_than_the_shell_s() -> None:
    pinned = replace(DEV, account=ACCOUNT, region=REGION)
    assert caller(pinned, Sts(region="us-east-1")).region == REGION
    assert caller(DEV, Sts(region="us-east-1")).region == "us-east-1"


def test_the_shell_s_region_is_found_in_the_order_of_cdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-2")
    monkeypatch.setenv("AWS_REGION", "eu-west-3")
    assert client_in(None, "sts").meta.region_name == "eu-west-3"
    assert client_in(REGION, "sts").meta.region_name == REGION
    monkeypatch.delenv("AWS_REGION")
    assert client_in(None, "sts").meta.region_name == "us-east-2"


@pytest.mark.parametrize(
    "words",
    [
        ("outputs",),
        ("users", "list"),
        ("login",),
        ("releases",),
        ("rollback",),
        ("logs", "ses_01KB0000000000000000000000"),
        ("backup", "--tenant", "acme", "--to", "backups"),
    ],
    ids=" ".join,
)
def test_every_command_with_an_environment_says_that_there_are_no_credentials(
    words: tuple[str, ...], without_aws: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--env", "dev"]) == 2
    shown = capsys.readouterr()
    assert "no AWS credentials were found: sign in" in shown.err
    assert len(shown.err.splitlines()) == 1
    assert shown.out == ""


@pytest.mark.parametrize(
    "words",
    [
        ("bootstrap",),
        ("deploy",),
        ("deploy", "--policies", "made"),
        ("diff",),
        ("destroy",),
        ("destroy", "--yes", "other"),
        ("outputs",),
        ("posture",),
        ("verify",),
        ("releases",),
        ("rollback",),
        ("logs", "ses_01KB0000000000000000000000"),
        ("backup", "--tenant", "acme", "--to", "backups"),
        ("erase", "--tenant", "acme"),
        ("doctor", "--repair"),
    ],
    ids=" ".join,
)
def test_a_wrong_name_is_said_before_anything_else_is_asked_for(
    words: tuple[str, ...], without_aws: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--env", "nope"]) == 2
    assert "no environment is called nope: there are dev" in capsys.readouterr().err


def test_who_deploys_an_unpinned_environment_reads_how_to_pin_it(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = target("dev", Sts())
    warn_unpinned(chosen)
    assert f'account="{ACCOUNT}", region="{REGION}"' in capsys.readouterr().out
    pinned = replace(chosen.environment, account=ACCOUNT, region=REGION)
    warn_unpinned(chosen._replace(environment=pinned))
    assert capsys.readouterr().out == ""


def test_credentials_that_are_no_longer_good_are_one_line() -> None:
    with pytest.raises(AccountUnknown):
        caller(DEV, Sts(refuses="ExpiredToken"))
    with pytest.raises(CliError, match=r"ExpiredToken.*sign in again"):
        target("dev", Sts(refuses="ExpiredToken"))


def test_an_environment_that_there_is_not_is_refused_with_those_that_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with pytest.raises(CliError, match="there are dev, staging, prod; a new one"):
        environment_named("production")
    with pytest.raises(CliError, match="no environment is called local"):
        environment_named("local")


def test_the_local_kind_goes_to_a_local_aws_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566")
    assert environment_named("local").is_local
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://aws.example.com")
    with pytest.raises(CliError):
        environment_named("local")
