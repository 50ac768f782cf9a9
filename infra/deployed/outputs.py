"""What the deployed stack of an environment says about itself."""

from collections.abc import Mapping
from typing import Any

from infra.names import stateless_stack
from shared.adapters.aws.clients import Service, make_client
from shared.adapters.aws.errors import AwsRefused
from shared.domain.errors import AwsDenied, StoreThrottled, StoreUnavailable


class OutputsUnknown(Exception):
    """The message is a sentence for a person: why, and what to do."""


def stack_outputs(environment: str, client: Any = None) -> Mapping[str, str]:
    """Name -> value. `client`: a botocore CloudFormation client; None: of the caller's account and region.

    Raises OutputsUnknown where nothing is deployed, or where the caller may not ask.
    """
    name = stateless_stack(environment)
    try:
        cloudformation = Service("cloudformation", client or callers_client("cloudformation"))
        (stack,) = cloudformation.call("describe_stacks", StackName=name)["Stacks"]
    except AwsRefused as refused:
        if refused.code == "ValidationError":  # its name for: there is no such stack
            raise OutputsUnknown(
                f"there is no stack {name} in this account and region: is AWS_PROFILE or AWS_REGION another one's?"
            ) from None
        raise OutputsUnknown(f"the stack {name} cannot be read: {refused}") from None
    except (AwsDenied, StoreThrottled, StoreUnavailable) as error:
        raise OutputsUnknown(f"the stack {name} cannot be read: {error}") from None
    return {each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", ())}


def callers_client(service: str) -> Any:
    """With the credentials and the region of the caller. Raises StoreUnavailable where there are none."""
    from botocore.exceptions import BotoCoreError

    try:
        return make_client(service)
    except BotoCoreError as error:
        raise StoreUnavailable(str(error)) from None
