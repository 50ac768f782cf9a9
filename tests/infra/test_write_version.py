"""Which schema version a deployment writes follows from what the deployed functions read."""

from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from acta.cli.exit_codes import CliError
from acta.cli.operations.deploy import choose_write_version
from acta.engine.store.schema import CURRENT, OLDEST_WRITTEN
from acta.infra.deployed.releases import (
    NOT_ASKED,
    LiveRelease,
    ReleaseTooFar,
    WriteVersion,
    choose,
    look,
    look_before,
    move,
    version_to_write,
)
from acta.infra.environments import DEV, ENVIRONMENTS, LOCAL, PROD, STAGING, UnusableValue
from tests.doubles.lambda_versions import Lambdas
from tests.infra.conftest import Synthesised


class Stacks:
    """CloudFormation's answer about a stack. `reads`: its output; None: it has none."""

    def __init__(self, reads: int | None = None, status: str = "UPDATE_COMPLETE", refuses: str = "") -> None:
        self.reads, self.status, self.refuses = reads, status, refuses
        self.asked: list[str] = []

    def describe_stacks(self, StackName: str) -> dict[str, Any]:  # noqa: N803
        self.asked.append(StackName)
        if self.refuses:
            raise ClientError({"Error": {"Code": self.refuses, "Message": "no"}}, "DescribeStacks")
        outputs = [{"OutputKey": "ApiUrl", "OutputValue": "https://api.example"}]
        if self.reads is not None:
            outputs.append({"OutputKey": "ReadsVersion", "OutputValue": str(self.reads)})
        return {"Stacks": [{"StackStatus": self.status, "Outputs": outputs}]}


PREVIOUS, OURS, NEXT = 4, 5, 6
"""A release whose version is 5, the one before it, and the one after."""


def chosen(stacks: Stacks, live: LiveRelease = NOT_ASKED) -> WriteVersion:
    return version_to_write(PROD, stacks, live, current=OURS)


@pytest.mark.parametrize(
    "stacks",
    [Stacks(refuses="ValidationError"), Stacks(status="ROLLBACK_COMPLETE"), Stacks(OURS), Stacks(NEXT)],
)
def test_where_everything_deployed_reads_it_this_release_s_version_is_written(stacks: Stacks) -> None:
    choice = chosen(stacks)
    assert (choice.version, choice.next_step) == (OURS, "")
    assert stacks.asked == ["Acta-prod-Stateless"]


@pytest.mark.parametrize("stacks", [Stacks(PREVIOUS), Stacks(PREVIOUS, "UPDATE_ROLLBACK_COMPLETE")])
def test_over_the_release_before_its_version_is_written_and_the_next_step_is_told(stacks: Stacks) -> None:
    choice = chosen(stacks)
    assert choice.version == PREVIOUS
    assert "acta deploy --env prod" in choice.next_step


def test_after_a_rollback_the_version_is_written_that_the_live_functions_know() -> None:
    """The stack is the newer release's and says what that one reads."""
    lambdas = Lambdas()
    lambdas.release("one", "step", "status", writes=PREVIOUS, reads=PREVIOUS)
    lambdas.release("two", "step", "status", writes=PREVIOUS, reads=OURS)
    assert chosen(Stacks(OURS), look_before("prod", lambdas)).version == OURS
    found = look("prod", lambdas)
    list(move(found, choose(found, None), lambdas))
    assert chosen(Stacks(OURS), look_before("prod", lambdas)).version == PREVIOUS
    assert chosen(Stacks(OURS), look_before("prod", Lambdas())).version == OURS, "nothing has an alias yet"


def test_where_the_stack_cannot_be_looked_at_the_version_that_everyone_reads_is_written() -> None:
    choice = chosen(Stacks(refuses="AccessDenied"))
    assert choice.version == PREVIOUS
    assert "AccessDenied" in choice.reason


@pytest.mark.parametrize("reads", [PREVIOUS - 1, NEXT + 1])
def test_releases_that_do_not_read_each_other_are_not_deployed_over_each_other(reads: int) -> None:
    with pytest.raises(ReleaseTooFar):
        chosen(Stacks(reads))


def test_a_release_that_is_too_far_is_refused_before_anything_is_deployed() -> None:
    with pytest.raises(CliError):
        choose_write_version(PROD, Stacks(CURRENT + 2))


def test_who_deploys_is_told_the_version_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert choose_write_version(PROD, Stacks(CURRENT)).version == CURRENT
    said = capsys.readouterr().err
    assert f"schema version {CURRENT}" in said


def test_without_a_choice_everything_is_on() -> None:
    assert {each.write_version for each in (DEV, STAGING, PROD, LOCAL)} == {CURRENT}


def test_a_version_can_be_chosen_for_a_deployment_and_no_other_than_these_two() -> None:
    assert PROD.with_context("write_version", str(CURRENT)) == replace(PROD, write_version=CURRENT)
    for wrong in (str(OLDEST_WRITTEN - 1), str(CURRENT + 1), "two", "", "-1"):
        with pytest.raises(UnusableValue):
            PROD.with_context("write_version", wrong)


def test_the_stack_says_what_it_reads_and_its_functions_are_told_what_to_write(each: Synthesised) -> None:
    environment = ENVIRONMENTS[each.environment.name]
    outputs = each.stateless.body["Outputs"]
    assert outputs["ReadsVersion"]["Value"] == str(CURRENT)
    for function in each.stateless.properties("AWS::Lambda::Function"):
        variables = function.get("Environment", {}).get("Variables", {})
        if "ACTA_TABLE" in variables:
            assert variables["ACTA_WRITE_VERSION"] == str(environment.write_version)
