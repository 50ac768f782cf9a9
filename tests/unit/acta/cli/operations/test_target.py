"""A command with `--env` names the account it works on, and never works on another one than the environment's."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from acta.cli.exit_codes import CliError
from acta.cli.operations.target import environment_named, target, warn_unpinned
from infra.deployed.account import AccountUnknown, Caller, WrongAccount, caller
from infra.environments import DEV

ACCOUNT, REGION = "123456789012", "eu-west-1"
ANN = f"arn:aws:sts::{ACCOUNT}:assumed-role/Deployer/ann"


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
    assert chosen.caller == Caller(ACCOUNT, REGION, ANN)
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
