"""What goes with the stacks and what stays follows from the deployed templates, in every environment."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from acta.cli.exit_codes import CliError
from acta.cli.operations.deploy import as_lines, require_unprotected
from acta.cli.operations.target import OperatorTarget
from acta.infra.deployed.account import CallerIdentity
from acta.infra.deployed.stacks import (
    HOLDS_DATA,
    IS_PROTECTED,
    KEEPS,
    CloudFormation,
    Fate,
    Thing,
    empty_bucket,
    fate_of,
    secrets_in,
)
from acta.infra.environments import PROD, STAGING, Webhook
from acta.infra.options import CustomerKey
from tests.infra.conftest import Synthesised, synthesised

KINDS = set(HOLDS_DATA.values()) - {"key"}


class Account:
    """A CloudFormation client of an account with these stacks. What AWS calls a resource is its logical id in `<>`, and
    the resources are listed in pages.
    """

    def __init__(
        self, templates: Mapping[str, Any], protected: bool = False, status: str = "UPDATE_COMPLETE"
    ) -> None:
        self._templates = templates
        self._protected = protected
        self._status = status

    def describe_stacks(self, StackName: str) -> Any:  # noqa: N803
        stack = {"StackStatus": self._status, "EnableTerminationProtection": self._protected}
        return {"Stacks": [stack]}

    def _state(self, resource: Mapping[str, Any]) -> str:
        if self._status != "ROLLBACK_COMPLETE":
            return "CREATE_COMPLETE"
        return "DELETE_SKIPPED" if resource.get("DeletionPolicy") == "Retain" else "DELETE_COMPLETE"

    def get_template(self, StackName: str, TemplateStage: str) -> Any:  # noqa: N803
        return {"TemplateBody": self._templates[StackName]}

    def list_stack_resources(self, StackName: str, NextToken: str = "0") -> Any:  # noqa: N803
        names, at = [*self._templates[StackName]["Resources"]], int(NextToken)
        page = [
            {
                "LogicalResourceId": name,
                "PhysicalResourceId": f"<{name}>",
                "ResourceStatus": self._state(self._templates[StackName]["Resources"][name]),
            }
            for name in names[at : at + 20]
        ]
        more = {"NextToken": str(at + 20)} if at + 20 < len(names) else {}
        return {"StackResourceSummaries": page, **more}


def fate(made: Synthesised, protected: bool = False, status: str = "UPDATE_COMPLETE") -> Fate:
    name = f"Acta-{made.environment.name}"
    templates = {
        f"{name}-Stateful": made.stateful.body,
        f"{name}-Sessions": made.sessions.body,
        f"{name}-Stateless": made.stateless.body,
    }
    cloudformation = CloudFormation("eu-west-1", Account(templates, protected, status))
    return fate_of(cloudformation.deployed(made.environment, failed=True), cloudformation)


def test_what_holds_data_stays_as_a_whole_or_goes_as_a_whole(each: Synthesised) -> None:
    found = fate(each)
    has = {kind for kind in KINDS if kind not in ("secret", "user pool") or not each.environment.is_local}
    stays, goes = (has, set()) if each.environment.retain else (set(), has)
    assert {thing.what for thing in found.kept} == stays
    assert {thing.what for thing in found.gone} == goes
    assert found.others > 50


def test_every_log_outlives_its_stack_where_the_data_does(each: Synthesised) -> None:
    logs = each.stateless.resources("AWS::Logs::LogGroup").values()
    kept = "RetainExceptOnCreate" if each.environment.retain else "Delete"
    assert {log["DeletionPolicy"] for log in logs} == {kept}


def retained(made: Synthesised) -> list[tuple[str, str, Any]]:
    """Stack, logical id and resource of everything that outlives its stack."""
    stacks = {"Stateful": made.stateful, "Sessions": made.sessions, "Stateless": made.stateless}
    return [
        (stack, name, resource)
        for stack, template in stacks.items()
        for name, resource in template.body["Resources"].items()
        if resource.get("DeletionPolicy") in KEEPS
    ]


@pytest.fixture
def strict(tmp_path: Path) -> Synthesised:
    """A strict environment with the options that add retained resources."""
    return synthesised(replace(PROD, key=CustomerKey(), notifications=Webhook("https://a.example")), tmp_path)


def test_a_creation_that_is_rolled_back_leaves_nothing_but_what_aws_refuses_to_delete(
    each: Synthesised, strict: Synthesised
) -> None:
    for made in (each, strict):
        for _, name, resource in retained(made):
            option, value = IS_PROTECTED.get(resource["Type"], ("", None))
            is_protected = bool(option) and resource["Properties"].get(option) == value
            assert resource["DeletionPolicy"] == ("Retain" if is_protected else "RetainExceptOnCreate"), name


UNIQUE_NAME = {
    "AWS::DynamoDB::Table": "TableName",
    "AWS::S3::Bucket": "BucketName",
    "AWS::SecretsManager::Secret": "Name",
    "AWS::Logs::LogGroup": "LogGroupName",
    "AWS::Cognito::UserPool": None,  # its name need not be unique
    "AWS::KMS::Key": None,
    "AWS::Lambda::Version": None,
}
"""Type of what is retained -> the property with which it has a name that nothing else in the account may have."""
TAKEN_OVER = {"AWS::Logs::LogGroup"}
"""Their identifier is the name in the template, so `--import-existing-resources` finds them. Source: primaryIdentifier
and readOnlyProperties of the CloudFormation registry's schemas."""


def test_whatever_a_second_creation_would_meet_is_taken_over_or_looked_for_before(
    each: Synthesised, strict: Synthesised
) -> None:
    for made in (each, strict):
        named = [
            (stack, name)
            for stack, name, resource in retained(made)
            if (option := UNIQUE_NAME[resource["Type"]])
            and option in resource["Properties"]
            and resource["Type"] not in TAKEN_OVER
        ]
        stacks = {"Stateful": made.stateful, "Sessions": made.sessions, "Stateless": made.stateless}
        for stack, name in named:
            assert secrets_in({name: stacks[stack].body["Resources"][name]}), f"nobody looks for {name}"
        assert bool(named) == (made.environment.retain and not made.environment.is_local)


def test_what_is_taken_over_is_identified_by_the_name_in_the_template() -> None:
    """CloudFormation user guide, "Import AWS resources into a CloudFormation stack automatically"."""
    from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

    def identifier(kind: str) -> list[str]:
        found: list[str] = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", kind).schema[
            "primaryIdentifier"
        ]
        return found

    for kind in TAKEN_OVER:
        assert identifier(kind) == [f"/properties/{UNIQUE_NAME[kind]}"]
    assert identifier("AWS::SecretsManager::Secret") == ["/properties/Id"], "AWS chooses it"


def test_a_key_of_acta_s_stays_with_what_it_encrypts(tmp_path: Path) -> None:
    found = fate(synthesised(replace(STAGING, key=CustomerKey()), tmp_path))
    assert "key" in {thing.what for thing in found.kept}


def test_a_protected_stack_is_left_whole_and_who_asked_reads_what_to_do(prod: Synthesised) -> None:
    found = fate(prod, protected=True)
    assert [thing.name for thing in found.protected if thing.what == "stack"] == [
        "Acta-prod-Stateful",
        "Acta-prod-Sessions",
        "Acta-prod-Stateless",
    ]
    with pytest.raises(CliError, match="deletion_protection=False of prod"):
        require_unprotected(of(prod), found)
    require_unprotected(of(prod), fate(prod))


def test_of_a_creation_that_failed_nothing_is_protected_and_what_was_left_behind_is_said_to_stay(
    prod: Synthesised,
) -> None:
    """CloudFormation left out what AWS refuses to delete; the rest of the stack is gone, and the stack itself goes."""
    found = fate(prod, protected=True, status="ROLLBACK_COMPLETE")
    require_unprotected(of(prod), found)
    assert {thing.what for thing in found.kept} == {"table", "user pool"}
    assert (found.gone, found.others) == ((), 0)


def test_what_aws_would_refuse_to_delete_is_found_beforehand(tmp_path: Path) -> None:
    made = synthesised(replace(STAGING, retain=False, deletion_protection=True), tmp_path)
    assert {thing.what for thing in fate(made).protected} == {"table", "user pool"}


def test_who_deletes_reads_first_what_stays_and_what_goes(prod: Synthesised, local: Synthesised) -> None:
    kept = "\n".join(as_lines(of(prod), fate(prod)))
    assert kept.startswith(
        "Environment prod in account 123456789012, eu-west-1.\nWhat stays:\n  table <Table"
    )
    assert "  log <" in kept.partition("What goes")[0]
    assert "What goes: " in kept
    gone = "\n".join(as_lines(of(local), fate(local)))
    assert "Nothing stays." in gone
    assert "  bucket <Files" in gone.partition("What goes, for good")[2]


def of(made: Synthesised) -> OperatorTarget:
    return OperatorTarget(made.environment, CallerIdentity("123456789012", "eu-west-1", "arn"))


class Bucket:
    """An S3 client for one bucket, with versions and markers in two pages."""

    def __init__(self) -> None:
        self.objects = {("a", "1"), ("a", "2"), ("b", "1")}
        self.markers = {("c", "9")}

    def get_paginator(self, operation: str) -> Any:
        assert operation == "list_object_versions"
        pages = [
            {"Versions": [{"Key": key, "VersionId": version} for key, version in sorted(self.objects)]},
            {"DeleteMarkers": [{"Key": key, "VersionId": version} for key, version in sorted(self.markers)]},
            {},
        ]
        return SimpleNamespace(paginate=lambda **_: pages)

    def delete_objects(self, Bucket: str, Delete: Any) -> None:  # noqa: N803
        gone = {(each["Key"], each["VersionId"]) for each in Delete["Objects"]}
        assert gone
        self.objects -= gone
        self.markers -= gone


def test_a_bucket_is_emptied_of_every_version() -> None:
    bucket = Bucket()
    assert empty_bucket("files", "eu-west-1", bucket) == 4
    assert not bucket.objects | bucket.markers


def test_a_thing_is_named_as_aws_knows_it(local: Synthesised) -> None:
    assert Thing("bucket", fate(local).buckets[0]) in fate(local).gone
