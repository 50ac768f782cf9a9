"""What the deployed stack of an environment says about itself."""

import os
from collections.abc import Mapping
from typing import Any

from acta_engine.aws.errors import AwsRefused
from acta_engine.errors import AwsDenied, StoreThrottled, StoreUnavailable
from acta_infra.deployed.account import (
    AccountUnknown,
    CredentialsMissing,
    WrongAccount,
    caller,
    client_in,
    require_credentials,
)
from acta_infra.deployed.stacks import described
from acta_infra.environments import UnusableValue, select
from acta_infra.names import stateless_stack
from acta_infra.own_environments import every_environment


class OutputsUnknown(Exception):
    """The message is a sentence for a person: why, and what to do."""


def stack_outputs(environment: str, client: Any) -> Mapping[str, str]:
    """Name -> value. `client`: a botocore CloudFormation client.

    Raises OutputsUnknown where nothing is deployed, or where the caller may not ask.
    """
    name = stateless_stack(environment)
    try:
        stack = described(name, client)
    except (AwsDenied, AwsRefused, StoreThrottled, StoreUnavailable) as error:
        raise OutputsUnknown(f"the stack {name} cannot be read: {error}") from None
    if stack is None:
        raise OutputsUnknown(
            f"there is no stack {name} in this account and region: is AWS_PROFILE or AWS_REGION another one's?"
        )
    return {each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", ())}


def callers_client(environment: str, service: str) -> Any:
    """With the credentials of the shell, in the environment's region or else the shell's. Raises OutputsUnknown where
    there are none, or those of another account than the environment's.
    """
    try:
        chosen = select(environment, every_environment(os.environ))
        require_credentials()
        return client_in(caller(chosen).region, service)
    except (AccountUnknown, CredentialsMissing, UnusableValue, WrongAccount) as error:
        raise OutputsUnknown(str(error)) from None
