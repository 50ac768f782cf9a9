"""Checks before a deployment that the account has the concurrent executions which an environment reserves.

Without the check Lambda refuses the first function that goes too far, in the middle of the deployment, which is then
rolled back.
"""

from typing import Any

from acta_engine.aws.clients import Service
from acta_engine.aws.errors import NOT_FOUND, AwsRefused
from acta_engine.errors import AwsDenied, StoreThrottled, StoreUnavailable
from acta_infra.deployed.account import client_in
from acta_infra.environments import Environment
from acta_infra.names import function_name

ALWAYS_UNRESERVED = 100
"""Lambda leaves that many to the functions that reserve none. Source: Lambda Developer Guide, "Configuring reserved
concurrency for a function"."""


class TooMuchReserved(ValueError):
    """The account does not have what the environment reserves. The message says what can be done."""


class QuotaUnknown(RuntimeError):
    """The account's quota could not be read. The message names AWS's error."""


def reserved(environment: Environment) -> dict[str, int]:
    """Function -> concurrent executions, of those that reserve some."""
    return {
        name: size.reserved_concurrency
        for name, size in environment.sizes.items()
        if size.reserved_concurrency is not None and name in environment.functions
    }


def check_reserved(environment: Environment, client: Any = None) -> None:
    """`client`: a botocore Lambda client; None: of the caller's account and region. Asks nothing where the environment
    reserves nothing. Raises TooMuchReserved and QuotaUnknown.
    """
    wanted = reserved(environment)
    if not wanted:
        return
    from botocore.exceptions import BotoCoreError

    try:
        lambdas = Service("lambda", client or client_in(environment.region, "lambda"))
        limit = lambdas.call("get_account_settings")["AccountLimit"]
        # A deployment gives back what a function reserves before, or while, it takes the new number.
        own = sum(
            reserved_now(lambdas, function_name(environment.name, name)) or 0
            for name in environment.functions
        )
    except (AwsDenied, AwsRefused, StoreThrottled, StoreUnavailable, BotoCoreError) as error:
        raise QuotaUnknown(str(error)) from None
    reservable = max(0, limit["UnreservedConcurrentExecutions"] + own - ALWAYS_UNRESERVED)
    if sum(wanted.values()) <= reservable:
        return
    each = ", ".join(f"{name} {number}" for name, number in wanted.items())
    raise TooMuchReserved(
        f"environment {environment.name!r} reserves {sum(wanted.values())} concurrent executions ({each}); the account "
        f"has {limit['ConcurrentExecutions']} in this region, {ALWAYS_UNRESERVED} must stay unreserved, and others "
        f"reserve some, so it can reserve {reservable}. Lower reserved_concurrency in "
        f"infra/acta_infra/environments.py, or ask "
        "AWS for a higher quota (Service Quotas, AWS Lambda, Concurrent executions)"
    )


def reserved_now(lambdas: Service, function: str) -> int | None:
    """What the deployed function reserves; None: nothing, or it is not there."""
    try:
        answer = lambdas.call("get_function_concurrency", FunctionName=function)
    except AwsRefused as refused:
        if refused.code == NOT_FOUND:
            return None
        raise
    found: int | None = answer.get("ReservedConcurrentExecutions")
    return found
