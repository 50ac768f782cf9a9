"""The policies for a deployment cover every type of resource in every template, and no more than they have to."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from acta.cli.operations.deploy import choose_write_version, look_after, require_concurrency, roll_out
from acta_engine.store.schema import CURRENT, OLDEST_WRITTEN
from acta_infra.deployed.permissions import (
    LONGEST,
    PUBLISHED,
    WITHOUT_NAMES,
    AccountRegion,
    UnknownResource,
    actions_of,
    deployer_policy,
    execution_policies,
    size,
)
from acta_infra.deployed.releases import KEPT, look_before
from acta_infra.environments import DEV, PROD, Environment
from acta_infra.options import MonthlyBudget, SlackChannel, Watch
from tests.doubles.lambda_versions import Lambdas, refuse
from tests.infra.conftest import Synthesised, listed, synthesised
from tests.infra.test_hardening import EVERYTHING
from tests.infra.test_options import BOUNDARY
from tests.infra.test_reserved_concurrency import Account
from tests.infra.test_write_version import Stacks

TOLD = replace(
    PROD,
    watch=Watch(
        emails=("oncall@example.com",),
        slack=SlackChannel("T0123ABCD", "C0123ABCD"),
        budget=MonthlyBudget(100),
    ),
)
HERE = AccountRegion("123456789012", "eu-west-1")
MOST_POLICIES = 10
"""Of one role. Source: IAM user guide, "IAM and AWS STS quotas"."""


def types(made: Synthesised) -> set[str]:
    templates = [made.stateful, made.sessions, made.stateless, *([made.edge] if made.edge else [])]
    return {each["Type"] for template in templates for each in template.body["Resources"].values()}


def statements(environment: Environment, kinds: Iterable[str]) -> Iterator[Any]:
    for each in execution_policies(environment, HERE, kinds):
        yield from each["Statement"]


def allowed(environment: Environment, kinds: Iterable[str]) -> set[str]:
    return {action for each in statements(environment, kinds) for action in each["Action"]}


def test_every_type_in_the_templates_of_every_environment_is_covered(each: Synthesised) -> None:
    kinds = types(each)
    may = allowed(each.environment, kinds)
    for kind in kinds:
        assert actions_of(kind)
        assert actions_of(kind) <= may, kind


def test_every_type_that_an_option_brings_is_covered(tmp_path: Path) -> None:
    kinds = types(synthesised(EVERYTHING, tmp_path))
    never = {"iam:DeleteRolePermissionsBoundary"}
    assert {action for kind in kinds for action in actions_of(kind)} - never <= allowed(EVERYTHING, kinds)


def test_whoever_is_told_of_alarms_is_covered(tmp_path: Path) -> None:
    kinds = types(synthesised(TOLD, tmp_path))
    assert {
        "AWS::Budgets::Budget",
        "AWS::Chatbot::SlackChannelConfiguration",
        "AWS::SNS::Subscription",
    } <= kinds
    assert {action for kind in kinds for action in actions_of(kind)} <= allowed(TOLD, kinds)


def test_a_type_that_nobody_thought_of_is_named() -> None:
    with pytest.raises(UnknownResource, match="AWS::EC2::Instance"):
        execution_policies(PROD, HERE, ["AWS::EC2::Instance"])


def test_no_action_is_a_pattern_and_nothing_is_changed_wherever_it_is() -> None:
    for each in statements(PROD, PUBLISHED):
        assert not [action for action in each["Action"] if "*" in action]
        if "*" in each["Resource"]:
            changes = {
                a for a in each["Action"] if not a.split(":")[1].startswith(("List", "Describe", "list"))
            }
            assert changes <= WITHOUT_NAMES


def test_no_item_object_user_or_group_is_reached() -> None:
    may = allowed(PROD, PUBLISHED)
    for action in ("dynamodb:GetItem", "dynamodb:Query", "s3:DeleteObject", "iam:PutUserPolicy"):
        assert action not in may
    (code,) = (each for each in statements(PROD, PUBLISHED) if "s3:GetObject" in each["Action"])
    assert code["Resource"] == ["arn:aws:s3:::cdk-hnb659fds-assets-123456789012-*/*"]


def test_one_environment_s_policies_name_no_other_one() -> None:
    for each in statements(replace(DEV, name="dev-a"), PUBLISHED):
        for resource in each["Resource"]:
            assert "acta-dev-b" not in resource
            assert "dev-*" not in resource


def test_roles_are_passed_to_the_services_that_need_them_and_made_within_the_boundary() -> None:
    bounded = replace(PROD, permissions_boundary=BOUNDARY)
    by_action = {action: each for each in statements(bounded, PUBLISHED) for action in each["Action"]}
    assert set(by_action["iam:PassRole"]["Condition"]["StringEquals"]) == {"iam:PassedToService"}
    for action in ("iam:CreateRole", "iam:PutRolePolicy", "iam:PutRolePermissionsBoundary"):
        assert by_action[action]["Condition"] == {"StringEquals": {"iam:PermissionsBoundary": BOUNDARY}}
    assert "iam:DeleteRolePermissionsBoundary" not in by_action
    assert by_action["iam:CreateRole"]["Resource"] == ["arn:aws:iam::123456789012:role/Acta-prod-*"]


def test_each_document_fits_into_a_policy_and_all_of_them_onto_a_role() -> None:
    documents = execution_policies(
        replace(PROD, name="a" * 32, permissions_boundary=BOUNDARY), HERE, PUBLISHED
    )
    assert max(map(size, documents)) <= LONGEST
    assert len(documents) <= MOST_POLICIES


def test_a_name_that_cloudformation_shortens_is_still_within_the_policy() -> None:
    made = statements(replace(PROD, name="a" * 32), ["AWS::IAM::Role"])
    (own,) = {resource for each in made if each["Sid"] == "MakeRoles" for resource in each["Resource"]}
    assert own.endswith(f"role/Acta-{'a' * 19}*")


def test_who_deploys_takes_the_roles_of_cdk_bootstrap_and_reads(each: Synthesised) -> None:
    found = deployer_policy(each.environment, HERE)["Statement"]
    may = {action for one in found for action in listed(one["Action"])}
    empties = {"s3:ListBucketVersions", "s3:DeleteObject", "s3:DeleteObjectVersion"}
    assert may == {
        "sts:AssumeRole",
        "cloudformation:DescribeStacks",
        "cloudformation:GetTemplate",
        "cloudformation:ListStackResources",
        "lambda:DeleteFunction",
        "lambda:GetAccountSettings",
        "lambda:GetAlias",
        "lambda:GetFunctionConcurrency",
        "lambda:ListVersionsByFunction",
        "ssm:GetParameter",
        *(() if each.environment.retain else empties),
    }


class Noted:
    """A botocore client whose calls are noted as IAM names them, with the function that each is for."""

    def __init__(self, service: str, *clients: Any) -> None:
        self._service, self._clients = service, clients
        self.calls: set[tuple[str, str]] = set()

    def __getattr__(self, operation: str) -> Any:
        def call(**parameters: Any) -> Any:
            action = "".join(word.capitalize() for word in operation.split("_"))
            self.calls.add((f"{self._service}:{action}", parameters.get("FunctionName", "")))
            answering = next(each for each in self._clients if hasattr(each, operation))
            return getattr(answering, operation)(**parameters)

        return call


def test_every_call_of_lambda_that_a_deployment_makes_is_granted_on_its_functions() -> None:
    reserving = replace(PROD, reserved_concurrency=dict.fromkeys(PROD.sizes, 1))
    lambdas = Lambdas()
    for number in range(KEPT + 1):
        lambdas.release(f"r{number}", "step", "status")
    noted = Noted("lambda", lambdas, Account(1_000, {"acta-prod-step": 1}))
    require_concurrency(reserving, noted)
    live = look_before("prod", noted)
    assert choose_write_version(reserving, Stacks(CURRENT), live).version == CURRENT
    assert roll_out(live) == {}
    look_after("prod", noted)
    assert ("lambda:DeleteFunction", "acta-prod-step") in noted.calls
    granted = deployer_policy(reserving, HERE)["Statement"]
    for action, function in noted.calls:
        arn = f"arn:aws:lambda:{HERE.region}:{HERE.account}:function:{function}"
        assert any(
            action in listed(one["Action"]) and any(fnmatch(arn, each) for each in listed(one["Resource"]))
            for one in granted
        ), action


def test_who_may_not_see_what_is_live_deploys_at_once_the_older_version_and_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Denied:
        def list_versions_by_function(self, **_: Any) -> Any:
            refuse("AccessDeniedException", "ListVersionsByFunction")

    live = look_before("prod", Denied())
    assert roll_out(live) == {"roll_out": "at_once"}
    choice = choose_write_version(PROD, Stacks(CURRENT), live)
    assert choice.version == OLDEST_WRITTEN
    assert "acta deploy --env prod" in choice.next_step
    look_after("prod", Denied())
    at_once, version, old = capsys.readouterr().err.splitlines()
    assert "at once" in at_once
    assert f"schema version {OLDEST_WRITTEN}" in version
    assert "not deleted" in old
    assert all("AccessDenied" in line for line in (at_once, version, old))
