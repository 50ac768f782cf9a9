"""What a strict environment leaves to its operator is asked once and kept, and never guessed."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from acta.cli.commands.grammar import parse
from acta.cli.exit_codes import CliError
from acta.cli.main import ACTA
from acta.cli.operations.posture import decide, show_posture
from acta.cli.operations.target import OperatorTarget
from acta.cli.terminal.prompt import Asks
from acta.infra.api.issuers import OwnPool
from acta.infra.deployed.account import CallerIdentity
from acta.infra.environments import DEV, PROD, Environment, select
from acta.infra.names import DECIDED
from acta.infra.options import Watch
from acta.infra.posture import settled, undecided
from acta.infra.retention import Retention

DAYS = Retention(ended_sessions=30)
FLAGS = (
    "default_visibility=private",
    "retention.ended_sessions=90",
    "watch.emails=a@example.com,b@example.com",
    "tool_network=no",
)


def target(environment: Environment) -> OperatorTarget:
    return OperatorTarget(settled(environment), CallerIdentity("123456789012", "eu-west-1", "arn"))


class Stacks:
    """CloudFormation with the environment's stack, which keeps what was decided. None: nothing is deployed."""

    def __init__(self, decided: dict[str, object] | None = None) -> None:
        self.decided = decided

    def describe_stacks(self, StackName: str) -> dict[str, Any]:  # noqa: N803
        if self.decided is None:
            raise ClientError({"Error": {"Code": "ValidationError", "Message": "no"}}, "DescribeStacks")
        outputs = [{"OutputKey": DECIDED, "OutputValue": json.dumps(self.decided)}]
        return {"Stacks": [{"StackName": StackName, "StackStatus": "CREATE_COMPLETE", "Outputs": outputs}]}


def answering(*answers: str) -> Asks:
    left: Iterator[str] = iter(answers)
    return lambda question: next(left)


def test_nobody_is_asked_about_an_environment_that_decides_itself_or_is_open() -> None:
    told = Watch(emails=("a@example.com",))
    whole = replace(PROD, default_visibility="private", retention=DAYS, watch=told, tool_network=False)
    for environment in (DEV, whole):
        chosen = target(environment)
        assert decide(chosen, (), None) == (chosen, {})


def test_a_command_without_an_answer_gives_none() -> None:
    arguments = parse(ACTA, ["deploy", "--env", "dev", "--yes"])
    assert not isinstance(arguments, int)
    assert decide(target(DEV), arguments.decide, None) == (target(DEV), {})


def test_without_a_terminal_the_error_has_the_lines_to_write_and_the_flags_to_pass() -> None:
    with pytest.raises(CliError) as refused:
        decide(target(PROD), (), None, Stacks())
    for part in (
        'default_visibility="private"',
        "Retention(ended_sessions=90)",
        "Watch(emails=",
        "acta deploy --env prod",
        "--decide default_visibility=…  # private or tenant",
        "--decide retention.ended_sessions=…",
        "--decide watch.emails=…",
    ):
        assert part in str(refused.value)


def test_what_is_given_is_what_the_app_gets() -> None:
    chosen, context = decide(target(PROD), FLAGS, None, Stacks())
    assert undecided(chosen.environment) == ()
    synthesised = settled(select("prod").with_context("decided", context["decided"]))
    for environment in (chosen.environment, synthesised):
        assert environment.default_visibility == "private"
        assert environment.retention.ended_sessions == 90
        assert environment.watch.emails == ("a@example.com", "b@example.com")


def test_a_person_is_asked_until_an_answer_fits(capsys: pytest.CaptureFixture[str]) -> None:
    asks = answering("everybody", "tenant", "ninety", "0", "none", "maybe", "no")
    chosen, _ = decide(target(PROD), (), asks, Stacks())
    assert chosen.environment.default_visibility == "tenant"
    assert chosen.environment.retention.ended_sessions == 0
    assert chosen.environment.watch.emails == ()
    assert "default_visibility is private or tenant, not 'everybody'" in capsys.readouterr().out


def test_the_next_deployment_also_of_a_machine_takes_the_answers_that_are_kept() -> None:
    _, context = decide(target(PROD), FLAGS, None, Stacks())
    kept = Stacks(json.loads(context["decided"]))
    assert decide(target(PROD), (), None, kept)[1] == context
    changed, _ = decide(target(PROD), ("retention.ended_sessions=7",), None, kept)
    assert changed.environment.retention.ended_sessions == 7


def test_a_value_in_the_file_wins_over_a_kept_one_and_cannot_be_answered_away() -> None:
    own = target(replace(PROD, retention=DAYS))
    chosen, _ = decide(own, (), answering("private", "none", "no"), Stacks({"retention.ended_sessions": 90}))
    assert chosen.environment.retention.ended_sessions == 30
    with pytest.raises(CliError, match="decided in the entry of prod"):
        decide(own, ("retention.ended_sessions=90",), None, Stacks())


def test_whoever_has_a_webhook_for_alarms_is_not_asked_for_addresses() -> None:
    told = target(replace(PROD, watch=Watch(webhooks=("https://events.example.com/sns",))))
    assert "watch.emails" not in [each.option for each in undecided(told.environment)]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("default_visibility=everybody", "default_visibility is private or tenant"),
        ("retention.ended_sessions=-1", "number of days"),
        ("watch.emails=nobody", "such as oncall@example.com"),
        ("auth.mfa=optional", "--decide takes OPTION=VALUE, where OPTION is default_visibility or"),
    ],
)
def test_an_answer_that_makes_no_sense_is_refused(given: str, words: str) -> None:
    with pytest.raises(CliError, match=words):
        decide(target(PROD), (given,), answering("private", "1", "none", "no"), Stacks())


def test_what_is_not_as_in_a_strict_environment_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    show_posture(decide(target(replace(PROD, auth=OwnPool(mfa="optional"))), FLAGS, None, Stacks())[0])
    shown = capsys.readouterr()
    (line,) = (each for each in shown.out.splitlines() if "auth.mfa" in each)
    assert line.split() == ["auth.mfa", "optional", "required"]
    assert "decided: retention.ended_sessions is 90" in shown.err


def test_a_strict_environment_is_said_to_be_one(capsys: pytest.CaptureFixture[str]) -> None:
    show_posture(decide(target(PROD), FLAGS, None, Stacks())[0])
    assert capsys.readouterr().out == "The posture of prod is strict, in every point.\n"
