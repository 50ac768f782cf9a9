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
from acta_infra.deployed.account import CallerIdentity
from acta_infra.deployed.stacks import HOLDS_DATA, CloudFormation, Fate, Thing, empty_bucket, fate_of
from acta_infra.environments import STAGING
from acta_infra.options import CustomerKey
from tests.infra.conftest import Synthesised, synthesised

KINDS = set(HOLDS_DATA.values()) - {"key"}


class Account:
    """A CloudFormation client of an account with these stacks. What AWS calls a resource is its logical id in `<>`, and
    the resources are listed in pages.
    """

    def __init__(self, templates: Mapping[str, Any], protected: bool = False) -> None:
        self._templates = templates
        self._protected = protected

    def describe_stacks(self, StackName: str) -> Any:  # noqa: N803
        stack = {"StackStatus": "UPDATE_COMPLETE", "EnableTerminationProtection": self._protected}
        return {"Stacks": [stack]}

    def get_template(self, StackName: str, TemplateStage: str) -> Any:  # noqa: N803
        return {"TemplateBody": self._templates[StackName]}

    def list_stack_resources(self, StackName: str, NextToken: str = "0") -> Any:  # noqa: N803
        names, at = [*self._templates[StackName]["Resources"]], int(NextToken)
        page = [
            {
                "LogicalResourceId": name,
                "PhysicalResourceId": f"<{name}>",
                "ResourceStatus": "CREATE_COMPLETE",
            }
            for name in names[at : at + 20]
        ]
        more = {"NextToken": str(at + 20)} if at + 20 < len(names) else {}
        return {"StackResourceSummaries": page, **more}


def fate(made: Synthesised, protected: bool = False) -> Fate:
    name = f"Acta-{made.environment.name}"
    templates = {
        f"{name}-Stateful": made.stateful.body,
        f"{name}-Sessions": made.sessions.body,
        f"{name}-Stateless": made.stateless.body,
    }
    cloudformation = CloudFormation("eu-west-1", Account(templates, protected))
    return fate_of(cloudformation.deployed(made.environment), cloudformation)


def test_what_holds_data_stays_as_a_whole_or_goes_as_a_whole(each: Synthesised) -> None:
    found = fate(each)
    has = {kind for kind in KINDS if kind not in ("secret", "user pool") or not each.environment.is_local}
    stays, goes = (has, set()) if each.environment.retain else (set(), has)
    assert {thing.what for thing in found.kept} == stays
    assert {thing.what for thing in found.gone} == goes
    assert found.others > 50


def test_every_log_outlives_its_stack_where_the_data_does(each: Synthesised) -> None:
    logs = each.stateless.resources("AWS::Logs::LogGroup").values()
    assert {log["DeletionPolicy"] for log in logs} == {"Retain" if each.environment.retain else "Delete"}


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
