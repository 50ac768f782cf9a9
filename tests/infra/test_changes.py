"""What a deployment would change follows from the templates alone."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from acta.cli.exit_codes import CliError
from acta.cli.operations.deploy import unprotect_failed
from acta.cli.operations.target import OperatorTarget
from acta.infra.deployed.account import CallerIdentity
from acta.infra.deployed.stacks import (
    RELEASE,
    Changes,
    CloudFormation,
    NewRelease,
    StacksUnknown,
    changes,
    without_release,
)
from acta.infra.environments import DEV
from acta.infra.release import release_of
from tests.infra.conftest import Synthesised
from tests.infra.test_options import EDGE, ORIGIN

OLD = {"Resources": {"Kept": {"Type": "A"}, "Changed": {"Type": "A"}, "Gone": {"Type": "A"}}}


def refusal(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}}, "DescribeStacks")


class Account:
    """A CloudFormation client. `stacks`: by name, as `describe_stacks` has them, with `Template` beside."""

    def __init__(self, stacks: Mapping[str, dict[str, Any]], refuses: str = "") -> None:
        self._stacks = stacks
        self._refuses = refuses

    def describe_stacks(self, StackName: str) -> Any:  # noqa: N803
        if self._refuses:
            raise refusal(self._refuses)
        if StackName not in self._stacks:
            raise refusal("ValidationError")
        return {"Stacks": [self._stacks[StackName]]}

    def get_template(self, StackName: str, TemplateStage: str) -> Any:  # noqa: N803
        assert TemplateStage == "Original"
        return {"TemplateBody": self._stacks[StackName]["Template"]}

    def update_termination_protection(self, StackName: str, EnableTerminationProtection: bool) -> None:  # noqa: N803
        if self._stacks[StackName].get("Denies"):
            raise refusal("AccessDenied")
        self._stacks[StackName]["EnableTerminationProtection"] = EnableTerminationProtection


def stack(status: str = "UPDATE_COMPLETE", template: Any = None, **outputs: str) -> dict[str, Any]:
    given = [{"OutputKey": name, "OutputValue": value} for name, value in outputs.items()]
    return {"StackStatus": status, "Outputs": given, "Template": template or OLD}


def test_a_stack_that_is_not_there_is_new_with_all_it_has() -> None:
    assert changes(OLD, None) == Changes("new", added=("Kept", "Changed", "Gone"))


def test_the_same_template_is_no_change() -> None:
    assert changes(OLD, {**OLD}) == Changes("same")


def test_what_is_added_removed_and_changed_is_named() -> None:
    new = {"Resources": {"Kept": {"Type": "A"}, "Changed": {"Type": "B"}, "Added": {"Type": "A"}}}
    assert changes(new, OLD) == Changes("changed", ("Added",), ("Gone",), ("Changed",))


def test_a_changed_output_alone_is_a_change() -> None:
    assert changes({**OLD, "Outputs": {"Url": {}}}, OLD) == Changes("changed")


def test_deployed_are_the_stacks_that_came_about_with_their_outputs_for_people() -> None:
    account = Account(
        {
            "Acta-dev-Stateful": stack(ExportsOutputRefTable="t"),
            "Acta-dev-Sessions": stack("ROLLBACK_COMPLETE"),
            "Acta-dev-Stateless": stack(ApiUrl="https://api"),
            "Acta-prod-Stateless": stack(),
        }
    )
    found = CloudFormation("eu-west-1", account).deployed(DEV)
    assert [(each.name, dict(each.outputs)) for each in found] == [
        ("Acta-dev-Stateful", {}),
        ("Acta-dev-Stateless", {"ApiUrl": "https://api"}),
    ]


PROTECTED = OperatorTarget(
    replace(DEV, domain=ORIGIN, edge=EDGE),
    CallerIdentity("123456789012", "eu-west-1", "arn"),
)


def test_only_a_stack_whose_creation_failed_loses_its_protection(capsys: pytest.CaptureFixture[str]) -> None:
    on = {"EnableTerminationProtection": True}
    stacks = {
        "Acta-dev-Stateful": {**stack("UPDATE_ROLLBACK_COMPLETE"), **on},
        "Acta-dev-Sessions": {**stack("ROLLBACK_COMPLETE"), **on},
        "Acta-prod-Stateful": {**stack("ROLLBACK_COMPLETE"), **on},
    }
    account = Account(stacks)
    unprotect_failed(PROTECTED, account)
    protected = {name for name, each in stacks.items() if each["EnableTerminationProtection"]}
    assert protected == {"Acta-dev-Stateful", "Acta-prod-Stateful"}
    assert capsys.readouterr().out.startswith("Acta-dev-Sessions: its creation failed earlier.")
    unprotect_failed(PROTECTED, account)
    assert capsys.readouterr().out == ""


def test_who_may_not_lift_the_protection_gets_the_command_with_the_stack_s_own_region() -> None:
    failed = {**stack("ROLLBACK_COMPLETE"), "EnableTerminationProtection": True, "Denies": True}
    lifts = "aws cloudformation update-termination-protection --region {} --stack-name {} "
    for name, region in (("Acta-dev-Stateful", "eu-west-1"), ("Acta-dev-Edge", "us-east-1")):
        with pytest.raises(CliError, match=lifts.format(region, name) + "--no-enable-termination-protection"):
            unprotect_failed(PROTECTED, Account({name: failed}))


@pytest.mark.parametrize("body", [OLD, '{"Resources": {}}'])
def test_a_template_is_read_as_it_was_sent(body: Any) -> None:
    cloudformation = CloudFormation("eu-west-1", Account({"Acta-dev-Stateful": stack(template=body)}))
    (found,) = cloudformation.deployed(DEV)
    assert "Resources" in cloudformation.template(found)


def test_a_template_of_somebody_else_s_is_not_compared() -> None:
    cloudformation = CloudFormation("eu-west-1", Account({"Acta-dev-Stateful": stack(template="a: b")}))
    (found,) = cloudformation.deployed(DEV)
    with pytest.raises(StacksUnknown, match="not JSON"):
        cloudformation.template(found)


def test_who_may_not_read_the_stacks_is_told_so() -> None:
    with pytest.raises(StacksUnknown, match="AccessDenied"):
        CloudFormation("eu-west-1", Account({}, refuses="AccessDenied")).deployed(DEV)


def released(release: str, **variables: str) -> Any:
    """A template of two functions with a version each, as the CDK names them."""
    resources: dict[str, Any] = {}
    for name in ("Step", "Tool"):
        version = f"{name}CurrentVersion{release}"
        resources[name] = {
            "Type": "AWS::Lambda::Function",
            "Properties": {"Environment": {"Variables": {RELEASE: release, **variables}}},
        }
        resources[version] = {"Type": "AWS::Lambda::Version", "Properties": {"FunctionName": {"Ref": name}}}
        resources[f"{name}Live"] = {
            "Type": "AWS::Lambda::Alias",
            "Properties": {"FunctionVersion": {"Fn::GetAtt": [version, "Version"]}},
        }
    return {"Resources": resources}


def test_a_release_alone_leaves_nothing_else_to_show() -> None:
    template, release = without_release(released("two"), released("one"))
    assert release == NewRelease("one", "two", functions=2)
    assert template == released("one")


def test_other_code_is_counted_and_not_shown() -> None:
    wanted, deployed = released("two"), released("one")
    for template, code in ((wanted, "b"), (deployed, "a")):
        template["Resources"]["Step"]["Properties"]["Code"] = {"S3Key": f"{code}.zip"}
    template, release = without_release(wanted, deployed)
    assert release == NewRelease("one", "two", functions=2, with_new_code=1)
    assert template == deployed


def test_what_changes_beside_the_release_is_shown() -> None:
    template, _ = without_release(released("two", ACTA_RATE="7"), released("one"))
    assert template == released("one", ACTA_RATE="7")


def test_the_same_release_is_none() -> None:
    assert without_release(released("one"), released("one")) == (released("one"), None)
    assert without_release(OLD, OLD) == (OLD, None)


def test_every_function_that_is_synthesised_has_the_release_and_its_version_is_found(
    each: Synthesised,
) -> None:
    body = each.stateless.body
    later = json.loads(json.dumps(body).replace(release_of(each.environment), "later"))
    template, release = without_release(later, body)
    assert release is not None
    assert (release.after, release.functions) == ("later", len(each.environment.functions))
    assert template == body
