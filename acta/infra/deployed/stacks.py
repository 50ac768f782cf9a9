"""The stacks of an environment as they stand in the account: their state, outputs and templates, what a deployment
would change of them, and what stays when they are deleted.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from acta.engine.aws.clients import Service
from acta.engine.settings import PREFIX
from acta.infra.deployed.account import (
    AWS_ERRORS,
    AccountUnknown,
    CredentialsMissing,
    WrongAccount,
    caller,
    client_in,
    require_credentials,
    unless,
)
from acta.infra.environments import Environment, UnusableValue, every_environment, select
from acta.infra.names import edge_stack, sessions_stack, stateful_stack, stateless_stack
from acta.infra.options import EDGE_REGION

Template = Mapping[str, Any]
NO_SUCH_STACK = "ValidationError"
"""The error code that CloudFormation gives for a stack that does not exist."""
CREATION_FAILED = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED")
"""States of a stack that was never created completely. cdk deletes what is left of it before the next attempt."""
NEVER_CREATED = ("REVIEW_IN_PROGRESS", *CREATION_FAILED, "DELETE_COMPLETE")
"""States of a stack that has nothing that was ever in use. Source: CloudFormation user guide, "Stack status codes"."""
UNDER_WAY = "_IN_PROGRESS"
"""How the status of a stack that is being changed ends. Source: the same page."""
GONE = "DELETE_COMPLETE"
"""State of a resource that is no more. One in DELETE_SKIPPED is no longer the stack's, but it is there. Source:
CloudFormation user guide, "Resource status codes"."""
EXPORTED = "Exports"
"""Outputs whose names begin with this are the CDK's own, for other stacks."""


class StacksUnknown(RuntimeError):
    """The stacks could not be read. The message names AWS's error."""


class StillProtected(RuntimeError):
    """A stack that was never created is protected from deletion. The message has the command that lifts it."""


@dataclass(frozen=True)
class DeployedStack:
    """`status`: CloudFormation's. `outputs`: those for people. `protected`: CloudFormation does not delete it."""

    name: str
    region: str
    status: str
    protected: bool = False
    outputs: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)


def described(stack: str, client: Any, *, failed: bool = False) -> Mapping[str, Any] | None:
    """The stack as CloudFormation describes it. None: it does not exist, or was never created completely. `client`: a
    botocore client. `failed`: one whose creation failed is described, too. Raises what `Service.call` raises.
    """
    answer = unless_absent(client, "describe_stacks", StackName=stack)
    if answer is None:
        return None
    (found,) = answer["Stacks"]
    status = found["StackStatus"]
    return None if status in NEVER_CREATED and not (failed and status in CREATION_FAILED) else found


def unless_absent(client: Any, operation: str, **parameters: Any) -> Any:
    """CloudFormation's answer; None: there is no such stack. Raises what `Service.call` raises."""
    return unless(NO_SUCH_STACK, Service("cloudformation", client), operation, **parameters)


def names_of(environment: Environment) -> tuple[str, ...]:
    """The names of the environment's stacks, in the order in which they are created."""
    name = environment.name
    names = (stateful_stack(name), sessions_stack(name), stateless_stack(name))
    return (*names, edge_stack(name)) if environment.edge is not None else names


class CloudFormation:
    """`client`: a botocore client that is used for every region; None: those that `clients` makes for a region."""

    def __init__(
        self, region: str, client: Any = None, clients: Callable[[str, str], Any] = client_in
    ) -> None:
        self._region = region
        self._client = client
        self._clients = clients

    def deployed(self, environment: Environment, *, failed: bool = False) -> tuple[DeployedStack, ...]:
        """The environment's stacks that exist. `failed`: those whose creation failed, too. Raises StacksUnknown."""
        found = (self.stack(name, region, failed=failed) for name, region in self._places(environment))
        return tuple(each for each in found if each is not None)

    def _places(self, environment: Environment) -> Iterator[tuple[str, str]]:
        """Name and region of each stack."""
        edge = edge_stack(environment.name)
        return ((name, EDGE_REGION if name == edge else self._region) for name in names_of(environment))

    def unprotect_failed(self, environment: Environment) -> Iterator[str]:
        """Lifts the termination protection of each stack whose creation failed, and yields the stack's name. cdk
        protects a stack before it creates its resources, and before the next attempt deletes what is left of it, which
        the protection would forbid. Nothing of such a stack was ever in use. Raises StacksUnknown and StillProtected.
        """
        for name, region in self._places(environment):
            found = (self._call(region, "describe_stacks", StackName=name) or {"Stacks": [{}]})["Stacks"][0]
            if found.get("StackStatus") not in CREATION_FAILED or not found.get(
                "EnableTerminationProtection"
            ):
                continue
            lifted = {"StackName": name, "EnableTerminationProtection": False}
            try:
                self._call(region, "update_termination_protection", **lifted)
            except StacksUnknown as error:
                raise StillProtected(
                    f"the creation of {name} failed earlier, and what is left of the stack is protected from deletion, "
                    "so it cannot be created again. Let somebody who may run once: aws cloudformation "
                    f"update-termination-protection --region {region} --stack-name {name} "
                    f"--no-enable-termination-protection ({error})"
                ) from None
            yield name

    def stack(self, name: str, region: str, *, failed: bool = False) -> DeployedStack | None:
        """None: it does not exist, or was never created completely. `failed` as in `deployed`. Raises StacksUnknown."""
        with self._readable(region) as client:
            stack = described(name, client, failed=failed)
        if stack is None:
            return None
        outputs = {
            each["OutputKey"]: each["OutputValue"]
            for each in stack.get("Outputs", ())
            if not each["OutputKey"].startswith(EXPORTED)
        }
        return DeployedStack(
            name=name,
            region=region,
            status=stack["StackStatus"],
            protected=bool(stack.get("EnableTerminationProtection")),
            outputs=outputs,
            tags={each["Key"]: each["Value"] for each in stack.get("Tags", ())},
        )

    def template(self, stack: DeployedStack) -> Template:
        """The stack's template as it was deployed. Raises StacksUnknown."""
        answer = self._call(stack.region, "get_template", StackName=stack.name, TemplateStage="Original")
        body = answer["TemplateBody"] if answer is not None else {}
        if isinstance(body, str):
            try:
                body = json.loads(body)
            except ValueError:
                raise StacksUnknown(
                    f"{stack.name}: its template is not JSON; somebody else wrote it"
                ) from None
        found: Template = body
        return found

    def physical_ids(self, stack: DeployedStack) -> dict[str, str]:
        """Logical id -> AWS's id, for each resource that exists. Raises StacksUnknown."""
        found: dict[str, str] = {}
        more: dict[str, str] = {}
        while True:
            answer = self._call(stack.region, "list_stack_resources", StackName=stack.name, **more) or {}
            found |= {
                each["LogicalResourceId"]: each["PhysicalResourceId"]
                for each in answer.get("StackResourceSummaries", ())
                if each.get("PhysicalResourceId") and each["ResourceStatus"] != GONE
            }
            if not answer.get("NextToken"):
                return found
            more = {"NextToken": answer["NextToken"]}

    def _call(self, region: str, operation: str, **parameters: Any) -> Any:
        """None: there is no such stack."""
        with self._readable(region) as client:
            return unless_absent(client, operation, **parameters)

    @contextmanager
    def _readable(self, region: str) -> Iterator[Any]:
        """A client. Raises StacksUnknown."""
        from botocore.exceptions import BotoCoreError

        try:
            yield self._client or self._clients(region, "cloudformation")
        except (*AWS_ERRORS, BotoCoreError) as error:
            raise StacksUnknown(str(error)) from None


class OutputsUnknown(Exception):
    """The message is a sentence for a person: why, and what to do."""


def stack_outputs(environment: str, client: Any) -> Mapping[str, str]:
    """Name -> value. `client`: a botocore CloudFormation client.

    Raises OutputsUnknown where nothing is deployed, or where the caller may not ask.
    """
    name = stateless_stack(environment)
    try:
        stack = described(name, client)
    except AWS_ERRORS as error:
        raise OutputsUnknown(f"the stack {name} cannot be read: {error}") from None
    if stack is None:
        raise OutputsUnknown(
            f"there is no stack {name} in this account and region: is AWS_PROFILE or AWS_REGION another one's?"
        )
    return {each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", ())}


def callers_client(environment: str, service: str) -> Any:
    """A client with the shell's credentials, in the environment's region or else the shell's. Raises OutputsUnknown if
    there are no credentials, or if they belong to another account than the environment's.
    """
    try:
        chosen = select(environment, every_environment(os.environ))
        require_credentials()
        return client_in(caller(chosen).region, service)
    except (AccountUnknown, CredentialsMissing, UnusableValue, WrongAccount) as error:
        raise OutputsUnknown(str(error)) from None


RELEASE = f"{PREFIX}RELEASE"
"""The functions' variable with what the release is called."""


class Changes(NamedTuple):
    """The changes of one stack. `added`, `removed`, `changed`: logical ids of resources. All three may be empty in a
    stack that changes, because outputs and parameters can change too.
    """

    state: Literal["new", "changed", "same"]
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


class NewRelease(NamedTuple):
    """`functions`: how many of them get it. `with_new_code`: how many of these have other code than before."""

    before: str
    after: str
    functions: int
    with_new_code: int = 0


def changes(wanted: Template, deployed: Template | None) -> Changes:
    """`deployed` None: the stack is not there."""
    if deployed is None:
        return Changes("new", added=tuple(wanted["Resources"]))
    if wanted == deployed:
        return Changes("same")
    new, old = wanted["Resources"], deployed.get("Resources", {})
    return Changes(
        "changed",
        added=tuple(name for name in new if name not in old),
        removed=tuple(name for name in old if name not in new),
        changed=tuple(name for name in new if name in old and new[name] != old[name]),
    )


def secrets_in(resources: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the secrets among these resources of a template.

    A stack cannot take over a secret that exists already: CloudFormation takes over, by itself, only resources whose
    identifier the template can state, and AWS chooses a secret's. Source: CloudFormation User Guide, "Import AWS
    resources into a CloudFormation stack automatically", and coverage roadmap, issue 2375.
    """
    return tuple(
        each["Properties"]["Name"]
        for each in resources.values()
        if HOLDS_DATA.get(each["Type"]) == "secret" and "Name" in each["Properties"]
    )


def without_release(wanted: Template, deployed: Template) -> tuple[Template, NewRelease | None]:
    """`wanted` with the deployed release's name and code, and its versions of functions under their deployed ids: what
    still differs then is not due to the release. None: the release is the same.
    """
    shown: Any = json.loads(json.dumps(wanted))
    before = after = ""
    functions = with_new_code = 0
    for name, variables in _variables(shown).items():
        there = _variables(deployed).get(name, {}).get(RELEASE)
        if there is not None and variables.get(RELEASE, there) != there:
            before, after = str(there), str(variables[RELEASE])
            variables[RELEASE] = there
            functions += 1
            with_new_code += _takes_code_of(name, deployed, shown)
    if not functions:
        return wanted, None
    text, old = json.dumps(shown), _versions(deployed)
    for function, version in _versions(wanted).items():
        text = text.replace(json.dumps(version), json.dumps(old.get(function, version)))
    return json.loads(text), NewRelease(before, after, functions, with_new_code)


def _takes_code_of(function: str, deployed: Template, shown: Any) -> bool:
    """Gives `shown` the deployed code, since a digest tells a reader nothing. Returns whether it had other code."""
    code = deployed["Resources"][function]["Properties"].get("Code")
    properties = shown["Resources"][function]["Properties"]
    if code is None or properties.get("Code") == code:
        return False
    properties["Code"] = code
    return True


def _variables(template: Template) -> dict[str, dict[str, Any]]:
    """Function -> its environment variables."""
    return {
        name: resource.get("Properties", {}).get("Environment", {}).get("Variables", {})
        for name, resource in template.get("Resources", {}).items()
        if resource["Type"] == "AWS::Lambda::Function"
    }


def _versions(template: Template) -> dict[str, str]:
    """Function -> the id of its version. A release has a version of its own, so the id changes with each."""
    return {
        resource["Properties"]["FunctionName"]["Ref"]: name
        for name, resource in template.get("Resources", {}).items()
        if resource["Type"] == "AWS::Lambda::Version"
    }


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
"""Type of resource -> the property, and its value, with which AWS refuses to delete it."""


class Thing(NamedTuple):
    """`what`: a word for a person. `name`: as AWS knows it."""

    what: str
    name: str


@dataclass(frozen=True)
class Fate:
    """`kept`, `gone`: things with data that stay or are deleted. `others`: how many more are deleted. `protected`: what
    AWS refuses to delete; then nothing is deleted, because half an environment is of no use.
    """

    kept: tuple[Thing, ...]
    gone: tuple[Thing, ...]
    others: int
    protected: tuple[Thing, ...]

    @property
    def buckets(self) -> tuple[str, ...]:
        """The buckets that are deleted. AWS deletes only empty ones, so they are emptied first."""
        return tuple(each.name for each in self.gone if each.what == HOLDS_DATA[BUCKET])


def fate_of(stacks: Iterable[DeployedStack], cloudformation: CloudFormation) -> Fate:
    """Raises StacksUnknown."""
    kept: list[Thing] = []
    gone: list[Thing] = []
    protected: list[Thing] = []
    others = 0
    for stack in stacks:
        was_created = stack.status not in CREATION_FAILED
        if stack.protected and was_created:
            protected.append(Thing("stack", stack.name))
        ids = cloudformation.physical_ids(stack)
        for logical_id, resource in cloudformation.template(stack)["Resources"].items():
            if logical_id not in ids:
                continue
            thing = Thing(HOLDS_DATA.get(resource["Type"], ""), ids[logical_id])  # empty: it holds no data
            if resource.get("DeletionPolicy") in KEEPS:
                kept += [thing] if thing.what else []
                continue
            if thing.what:
                gone.append(thing)
            else:
                others += 1
            name, value = IS_PROTECTED.get(resource["Type"], ("", None))
            if name and resource.get("Properties", {}).get(name) == value and was_created:
                protected.append(thing)
    return Fate(tuple(kept), tuple(gone), others, tuple(protected))


def empty_bucket(bucket: str, region: str, client: Any = None) -> int:
    """Deletes all objects and their versions, and returns how many. `client`: a botocore S3 client; None: the caller's.

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
