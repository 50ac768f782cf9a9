"""`acta deploy` and `acta destroy` ask a person, and refuse where there is none."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from acta.cli.main import main
from acta.cli.operations.costs import what_to_do
from acta.cli.operations.deploy import as_json, differs, next_commands, warn_gone_back
from acta.cli.operations.target import OperatorTarget
from acta.infra.api.issuers import ExternalIssuer
from acta.infra.deployed.account import CallerIdentity
from acta.infra.deployed.permissions import AccountRegion
from acta.infra.deployed.releases import choose, look, move
from acta.infra.deployed.stacks import Changes
from acta.infra.environments import DEV, LOCAL
from tests.doubles.lambda_versions import Lambdas

CHOSEN = OperatorTarget(DEV, CallerIdentity("123456789012", "eu-west-1", "arn"))


@pytest.fixture(autouse=True)
def nobody_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (("deploy", "--env", "dev"), "add --yes"),
        (("destroy", "--env", "dev"), "add --yes and the environment's name"),
        (("destroy", "--env", "dev", "--yes", "prod"), "--yes dev"),
    ],
    ids=str,
)
def test_where_nobody_can_be_asked_nothing_is_done(
    words: tuple[str, ...],
    remedy: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "of nobody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of nobody")
    assert main(words) == 2
    shown = capsys.readouterr()
    assert remedy in shown.err
    assert shown.out == ""


def test_a_script_reads_what_would_change_by_stack() -> None:
    found = {"Acta-dev-Stateful": Changes("same"), "Acta-dev-Stateless": Changes("changed", added=("New",))}
    told = json.loads(json.dumps(as_json(CHOSEN, found)))
    assert (told["environment"], told["account"], told["region"]) == ("dev", "123456789012", "eu-west-1")
    assert told["differs"] is True
    assert told["stacks"]["Acta-dev-Stateless"] == {
        "state": "changed",
        "added": ["New"],
        "removed": [],
        "changed": [],
    }


def test_the_next_commands_are_commands_with_their_options() -> None:
    lines = [line.strip() for line in next_commands(CHOSEN, is_first=True)]
    told = [line.split() for line in lines if line.startswith("acta ")]
    assert [words[1] for words in told] == ["users", "login", "run"]
    for words in told:
        assert main([*words[1 : 3 if words[1] == "users" else 2], "--help"]) == 0
        assert words[words.index("--env") + 1] == "dev"
    assert "acta/dev/anthropic" in "".join(lines)
    assert "anthropic" not in "".join(next_commands(CHOSEN, is_first=False))


def test_in_the_local_aws_nobody_is_told_to_store_a_key_or_to_add_people() -> None:
    issuer = ExternalIssuer("http://127.0.0.1:2282", "acta", sign_in_client="acta")
    lines = next_commands(
        CHOSEN._replace(environment=replace(LOCAL, name="trial", auth=issuer)), is_first=True
    )
    assert [line.split()[:4] for line in lines][1:] == [
        ["acta", "login", "--env", "trial"],
        ["acta", "run", "--env", "trial"],
    ]


def test_an_administrator_gets_commands_for_every_policy_and_for_bootstrap(tmp_path: Path) -> None:
    """The app needs `-c env`, and cdk runs it for a bootstrap, too."""
    place = AccountRegion("123456789012", "eu-west-1")
    said = "\n".join(
        what_to_do(
            DEV, place, tmp_path, ["deployer.json", "planner.json", "execution-1.json", "execution-2.json"]
        )
    )
    assert said.count("aws iam create-policy") == 4
    assert "acta bootstrap --env dev \\\n" in said
    for number in (1, 2):
        assert f"arn:aws:iam::123456789012:policy/acta-dev-execution-{number}" in said
    assert said.count("arn:aws:iam::123456789012:policy/") == 2


def test_a_release_that_was_gone_back_from_and_is_deployed_again_is_said_not_to_be_live(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lambdas = Lambdas("dev")
    for name in ("one", "two"):
        lambdas.release(name, "step", "status")
    warn_gone_back(look("dev", lambdas))
    assert capsys.readouterr().out == ""
    found = look("dev", lambdas)
    list(move(found, choose(found, None), lambdas))
    warn_gone_back(look("dev", lambdas))
    assert "acta rollback --env dev --to two" in capsys.readouterr().out


def test_stacks_that_are_all_the_same_do_not_differ() -> None:
    assert not differs({"a": Changes("same"), "b": Changes("same")})
    assert differs({"a": Changes("same"), "b": Changes("new")})
