"""What of a deployed environment goes when its stacks are deleted, and what stays. The deployed templates say so."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from acta_infra.deployed.account import client_in
from acta_infra.deployed.stacks import CloudFormation, DeployedStack, Template

KEEPS = ("Retain", "RetainExceptOnCreate")
"""Source: CloudFormation template reference, "DeletionPolicy attribute"."""
BUCKET = "AWS::S3::Bucket"
HOLDS_DATA = {
    "AWS::DynamoDB::Table": "table",
    BUCKET: "bucket",
    "AWS::SecretsManager::Secret": "secret",
    "AWS::Cognito::UserPool": "user pool",
    "AWS::Logs::LogGroup": "log",
    "AWS::KMS::Key": "key",
}
IS_PROTECTED: Mapping[str, tuple[str, Any]] = {
    "AWS::DynamoDB::Table": ("DeletionProtectionEnabled", True),
    "AWS::Cognito::UserPool": ("DeletionProtection", "ACTIVE"),
}
"""The property of what AWS does not delete, and its value."""


class Thing(NamedTuple):
    """`what`: a word for a person. `name`: as AWS knows it."""

    what: str
    name: str


@dataclass(frozen=True)
class Fate:
    """`kept`, `gone`: what holds data. `others`: how many more resources go. `protected`: what AWS refuses to delete;
    nothing is deleted where there is some, because a half of an environment is of no use.
    """

    kept: tuple[Thing, ...]
    gone: tuple[Thing, ...]
    others: int
    protected: tuple[Thing, ...]

    @property
    def buckets(self) -> tuple[str, ...]:
        """Those that go. AWS deletes empty ones only."""
        return tuple(each.name for each in self.gone if each.what == HOLDS_DATA[BUCKET])


def fate_of(stacks: Iterable[DeployedStack], cloudformation: CloudFormation) -> Fate:
    """Raises StacksUnknown."""
    kept: list[Thing] = []
    gone: list[Thing] = []
    protected: list[Thing] = []
    others = 0
    for stack in stacks:
        if stack.protected:
            protected.append(Thing("stack", stack.name))
        for thing, resource in _things(cloudformation.template(stack), cloudformation.physical_ids(stack)):
            if resource.get("DeletionPolicy") in KEEPS:
                kept += [thing] if thing.what else []
                continue
            if thing.what:
                gone.append(thing)
            else:
                others += 1
            name, value = IS_PROTECTED.get(resource["Type"], ("", None))
            if name and resource.get("Properties", {}).get(name) == value:
                protected.append(thing)
    return Fate(tuple(kept), tuple(gone), others, tuple(protected))


def _things(template: Template, ids: Mapping[str, str]) -> Iterator[tuple[Thing, Mapping[str, Any]]]:
    """`what` is empty for what holds no data."""
    for logical_id, resource in template["Resources"].items():
        if logical_id in ids:
            yield Thing(HOLDS_DATA.get(resource["Type"], ""), ids[logical_id]), resource


def empty_bucket(bucket: str, region: str, client: Any = None) -> int:
    """Deletes all objects and their versions; how many. `client`: a botocore S3 client; None: of the caller's account.

    Raises what botocore raises.
    """
    s3 = client or client_in(region, "s3")
    deleted = 0
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
        found = [
            {"Key": each["Key"], "VersionId": each["VersionId"]}
            for each in (*page.get("Versions", ()), *page.get("DeleteMarkers", ()))
        ]
        if found:
            s3.delete_objects(Bucket=bucket, Delete={"Objects": found, "Quiet": True})
            deleted += len(found)
    return deleted
