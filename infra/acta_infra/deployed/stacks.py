"""The stacks of an environment as they stand in the account: their state, outputs and templates."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from acta_engine.aws.clients import Service
from acta_engine.aws.errors import AwsRefused
from acta_engine.errors import AwsDenied, StoreThrottled, StoreUnavailable
from acta_infra.deployed.account import client_in
from acta_infra.environments import Environment
from acta_infra.names import edge_stack, sessions_stack, stateful_stack, stateless_stack
from acta_infra.options import EDGE_REGION

Template = Mapping[str, Any]
NO_SUCH_STACK = "ValidationError"
"""CloudFormation says it of a stack that is not there."""
NEVER_CREATED = ("REVIEW_IN_PROGRESS", "ROLLBACK_COMPLETE", "DELETE_COMPLETE")
"""States of a stack that has no resources. Source: CloudFormation User Guide, "Stack status codes"."""
GONE = ("DELETE_COMPLETE", "DELETE_SKIPPED")
"""States of a resource that is no longer the stack's. Source: CloudFormation User Guide, "Resource status codes"."""
EXPORTED = "Exports"
"""Outputs that begin so are the CDK's, for other stacks."""


class StacksUnknown(RuntimeError):
    """The stacks could not be read. The message names AWS's error."""


@dataclass(frozen=True)
class DeployedStack:
    """`status`: CloudFormation's. `outputs`: those for people. `protected`: CloudFormation does not delete it."""

    name: str
    region: str
    status: str
    protected: bool = False
    outputs: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)


def described(stack: str, client: Any) -> Mapping[str, Any] | None:
    """As CloudFormation describes it. None: it is not there, or never came about. `client`: a botocore client. Raises
    what `Service.call` raises.
    """
    answer = unless_absent(client, "describe_stacks", StackName=stack)
    if answer is None:
        return None
    (found,) = answer["Stacks"]
    return None if found["StackStatus"] in NEVER_CREATED else found


def unless_absent(client: Any, operation: str, **parameters: Any) -> Any:
    """CloudFormation's answer; None: there is no such stack. Raises what `Service.call` raises."""
    try:
        return Service("cloudformation", client).call(operation, **parameters)
    except AwsRefused as refused:
        if refused.code == NO_SUCH_STACK:
            return None
        raise


def names_of(environment: Environment) -> tuple[str, ...]:
    """In the order in which they are made."""
    name = environment.name
    names = (stateful_stack(name), sessions_stack(name), stateless_stack(name))
    return (*names, edge_stack(name)) if environment.edge is not None else names


class CloudFormation:
    """`client`: a botocore client of the environment's region, and of every other one; None: those of the caller."""

    def __init__(self, region: str, client: Any = None) -> None:
        self._region = region
        self._client = client

    def deployed(self, environment: Environment) -> tuple[DeployedStack, ...]:
        """Those of its stacks that are there. Raises StacksUnknown."""
        found = (self.stack(name, self._region_of(environment, name)) for name in names_of(environment))
        return tuple(each for each in found if each is not None)

    def stack(self, name: str, region: str) -> DeployedStack | None:
        """None: it is not there, or never came about. Raises StacksUnknown."""
        with self._readable(region) as client:
            stack = described(name, client)
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
        """As it was deployed. Raises StacksUnknown."""
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
        """Logical id -> as AWS knows it, of what is there. Raises StacksUnknown."""
        found: dict[str, str] = {}
        more: dict[str, str] = {}
        while True:
            answer = self._call(stack.region, "list_stack_resources", StackName=stack.name, **more) or {}
            found |= {
                each["LogicalResourceId"]: each["PhysicalResourceId"]
                for each in answer.get("StackResourceSummaries", ())
                if each.get("PhysicalResourceId") and each["ResourceStatus"] not in GONE
            }
            if not answer.get("NextToken"):
                return found
            more = {"NextToken": answer["NextToken"]}

    def _region_of(self, environment: Environment, stack: str) -> str:
        return EDGE_REGION if stack == edge_stack(environment.name) else self._region

    def _call(self, region: str, operation: str, **parameters: Any) -> Any:
        """None: there is no such stack."""
        with self._readable(region) as client:
            return unless_absent(client, operation, **parameters)

    @contextmanager
    def _readable(self, region: str) -> Iterator[Any]:
        """A client. Raises StacksUnknown."""
        from botocore.exceptions import BotoCoreError

        try:
            yield self._client or client_in(region, "cloudformation")
        except (AwsDenied, AwsRefused, StoreThrottled, StoreUnavailable, BotoCoreError) as error:
            raise StacksUnknown(str(error)) from None
