"""What a deployed function's role may do, changed by an operator of the account."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

POLICY = "of-a-test"

Client = Callable[[str], Any]
"""The name of a service -> its client."""


def allow(client: Client, function: str, action: str, resource: str) -> None:
    """`function`: of Acta, without the environment."""
    statement = {"Effect": "Allow", "Action": action, "Resource": resource}
    client("iam").put_role_policy(
        RoleName=role_of(client, function),
        PolicyName=POLICY,
        PolicyDocument=json.dumps({"Statement": statement}),
    )


@contextmanager
def allowed(client: Client, function: str, action: str, resource: str) -> Iterator[None]:
    """As before afterwards."""
    allow(client, function, action, resource)
    try:
        yield
    finally:
        client("iam").delete_role_policy(RoleName=role_of(client, function), PolicyName=POLICY)


def role_of(client: Client, function: str) -> str:
    """The name of the role that it runs with."""
    found = client("lambda").get_function_configuration(FunctionName=f"acta-local-{function}")
    return str(found["Role"]).rpartition("/")[2]
