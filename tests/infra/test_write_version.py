"""Which schema version a deployment writes follows from what the deployed functions read."""

from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from acta.cli.exit_codes import CliError
from acta.cli.operations.deployed.deploy import choose_write_version
from infra.deployed.releases import choose as choose_release
from infra.deployed.releases import look, look_before, move
from infra.deployed.write_version import Choice, ReleaseTooFar, choose
from infra.environments import DEV, ENVIRONMENTS, LOCAL, PROD, STAGING, UnusableValue
from shared.domain.schema.versions import CURRENT, NEXT, PREVIOUS
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


def chosen(stacks: Stacks) -> Choice:
    return choose(PROD, stacks)


@pytest.mark.parametrize(
    "stacks",
    [Stacks(refuses="ValidationError"), Stacks(status="ROLLBACK_COMPLETE"), Stacks(CURRENT), Stacks(NEXT)],
)
def test_where_everything_deployed_reads_it_this_release_s_version_is_written(stacks: Stacks) -> None:
    choice = chosen(stacks)
    assert (choice.version, choice.next_step) == (CURRENT, "")
    assert stacks.asked == ["Acta-prod-Stateless"]


@pytest.mark.parametrize("stacks", [Stacks(PREVIOUS), Stacks(), Stacks(PREVIOUS, "UPDATE_ROLLBACK_COMPLETE")])
def test_over_the_release_before_its_version_is_written_and_the_next_step_is_told(stacks: Stacks) -> None:
    choice = chosen(stacks)
    assert choice.version == PREVIOUS
    assert "acta deploy --env prod" in choice.next_step


def test_after_a_rollback_the_version_is_written_that_the_live_functions_know() -> None:
    """The stack is the newer release's and says what that one reads."""
    lambdas = Lambdas()
    lambdas.release("one", "step", "status", writes=PREVIOUS, reads=PREVIOUS)
    lambdas.release("two", "step", "status", writes=PREVIOUS, reads=CURRENT)
    assert choose(PROD, Stacks(CURRENT), look_before("prod", lambdas)).version == CURRENT
    found = look("prod", lambdas)
    list(move(found, choose_release(found, None), lambdas))
    assert choose(PROD, Stacks(CURRENT), look_before("prod", lambdas)).version == PREVIOUS
    assert choose(PROD, Stacks(CURRENT), look_before("prod", Lambdas())).version == CURRENT, (
        "nothing has an alias yet"
    )


def test_where_the_stack_cannot_be_looked_at_the_version_that_everyone_reads_is_written() -> None:
    choice = chosen(Stacks(refuses="AccessDenied"))
    assert choice.version == PREVIOUS
    assert "AccessDenied" in choice.reason


@pytest.mark.parametrize("reads", [PREVIOUS - 1, NEXT + 1])
def test_releases_that_do_not_read_each_other_are_not_deployed_over_each_other(reads: int) -> None:
    with pytest.raises(ReleaseTooFar):
        chosen(Stacks(reads))
    with pytest.raises(CliError):
        choose_write_version(PROD, Stacks(reads))


def test_who_deploys_is_told_the_version_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert choose_write_version(PROD, Stacks(PREVIOUS)).version == PREVIOUS
    said = capsys.readouterr().err
    assert f"schema version {PREVIOUS}" in said


def test_without_a_choice_an_environment_in_aws_writes_what_the_release_before_reads() -> None:
    assert {each.write_version for each in (DEV, STAGING, PROD)} == {PREVIOUS}
    assert LOCAL.write_version == CURRENT


def test_a_version_can_be_chosen_for_a_deployment_and_no_other_than_these_two() -> None:
    assert PROD.with_write_version(str(CURRENT)) == replace(PROD, write_version=CURRENT)
    for wrong in (str(PREVIOUS - 1), str(NEXT), "two", "", "-1"):
        with pytest.raises(UnusableValue):
            PROD.with_write_version(wrong)


def test_the_stack_says_what_it_reads_and_its_functions_are_told_what_to_write(each: Synthesised) -> None:
    environment = ENVIRONMENTS[each.environment.name]
    outputs = each.stateless.body["Outputs"]
    assert outputs["ReadsVersion"]["Value"] == str(CURRENT)
    for function in each.stateless.properties("AWS::Lambda::Function"):
        variables = function.get("Environment", {}).get("Variables", {})
        if "ACTA_TABLE" in variables:
            assert variables["ACTA_WRITE_VERSION"] == str(environment.write_version)
