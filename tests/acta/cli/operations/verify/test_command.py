"""Before anything is started, the command says what it costs and changes, and asks."""

import json
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from acta.cli.commands.grammar import parse
from acta.cli.exit_codes import CliError
from acta.cli.main import ACTA
from acta.cli.operations.verify.checks import EVERY_NEED, Check, Figures, Needs, Verified
from acta.cli.operations.verify.command import answered, ask
from acta.cli.operations.verify.report import JSON_FILE
from acta.cli.operations.verify.table import CHECKS
from acta.client.api import Client
from acta.client.deployment import Deployment
from acta.infra.environments import DEV
from tests.acta.cli.operations.verify.test_reading_checks import OUTPUTS, environment
from tests.acta.fake_deployment import FakeDeployment, success
from tests.doubles.aws_answers import account_with

PRICE = {"input": 3.0, "cached_input": 0.3, "cache_write": 3.75, "output": 15.0}
READ, SESSIONS = frozenset[Needs]({"read-only"}), frozenset[Needs]({"read-only", "a session"})


def models(price: dict[str, float] | None) -> dict[str, Any]:
    named = {"provider": "anthropic", "model": "claude"}
    return {"default": named, "models": [{**named, "usd_per_million_tokens": price}]}


def verified(url: str = "http://127.0.0.1:1", **different: Any) -> Verified:
    client = Client(Deployment(url, "a.b.c"), pause=lambda seconds: None)
    return replace(Verified(environment(), account_with({}), OUTPUTS, client), **different)


def words(*more: str) -> Namespace:
    parsed = parse(ACTA, ["verify", "--env", "prod", *more])
    assert isinstance(parsed, Namespace)
    return parsed


@pytest.mark.parametrize(
    ("price", "version", "said"),
    [
        (PRICE, 0, "the model costs $1.800000 at the very most"),
        (None, 0, "is not known"),
        (PRICE, 3, "is not known, because the agent `default` is your tenant's own"),
    ],
)
def test_it_says_what_sessions_cost_at_most(
    price: dict[str, float] | None,
    version: int,
    said: str,
    deployment: FakeDeployment,
    capsys: pytest.CaptureFixture[str],
) -> None:
    deployment.on("GET", "/v1/models", success(models(price)))
    deployment.on("GET", "/v1/agents/default", success({"version": version}))
    ask(verified(deployment.url), CHECKS, SESSIONS, words("--yes"))
    shown = capsys.readouterr().err
    assert "This starts 2 sessions of at most 60,000 tokens each" in shown
    assert said in shown


def test_reading_is_not_asked_about(capsys: pytest.CaptureFixture[str]) -> None:
    ask(verified(), CHECKS, READ, words("--no-sessions"))
    assert capsys.readouterr().err == ""


def test_without_a_terminal_sessions_need_a_yes() -> None:
    with pytest.raises(CliError, match="add --yes"):
        ask(verified(), CHECKS, SESSIONS, words())


def test_changes_of_a_strict_environment_need_its_name() -> None:
    with pytest.raises(CliError, match="--confirm prod"):
        ask(verified(), CHECKS, EVERY_NEED, words("--changes", "--yes"))
    with pytest.raises(CliError, match="another name"):
        ask(verified(), CHECKS, EVERY_NEED, words("--changes", "--confirm", "dev"))
    ask(verified(), CHECKS, EVERY_NEED, words("--changes", "--confirm", "prod"))


def test_changes_of_an_open_environment_are_told_and_need_a_yes(capsys: pytest.CaptureFixture[str]) -> None:
    ask(verified(environment=DEV), CHECKS, EVERY_NEED, words("--changes", "--yes"))
    assert "give step too little memory" in capsys.readouterr().err
    with pytest.raises(CliError):
        ask(verified(environment=DEV), CHECKS, EVERY_NEED, words("--changes"))


def test_a_change_without_a_session_is_asked_about_too(capsys: pytest.CaptureFixture[str]) -> None:
    alarm = [each for each in CHECKS if each.name == "alarm_rings"]
    with pytest.raises(CliError):
        ask(verified(environment=DEV), alarm, EVERY_NEED, words("--changes"))
    assert "This starts" not in capsys.readouterr().err


def test_an_interruption_leaves_a_report_of_what_was_answered(tmp_path: Path) -> None:
    def interrupted(_: Verified) -> Figures:
        raise KeyboardInterrupt

    rows = [
        Check("one", lambda _: {"events": 3}, "It works.", ""),
        Check("two", interrupted, "It works.", ""),
    ]
    with pytest.raises(KeyboardInterrupt):
        answered(replace(verified(), client=None), rows, READ, tmp_path)
    told = json.loads((tmp_path / JSON_FILE).read_text())
    assert [(each["check"], each["state"]) for each in told["checks"]] == [("one", "passed")]
