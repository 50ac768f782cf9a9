"""Checks before a deployment that the account has the concurrent executions which an environment reserves.

Without the check Lambda refuses the first function that goes too far, in the middle of the deployment, which is then
rolled back.
"""

from typing import Any, NamedTuple

from infra.deployed.account import client_in
from infra.environments import Environment
from infra.names import function_name
from shared.adapters.aws.clients import Service
from shared.adapters.aws.errors import NOT_FOUND, AwsRefused
from shared.domain.errors import AwsDenied, StoreThrottled, StoreUnavailable

ALWAYS_UNRESERVED = 100
"""Lambda leaves that many to the functions that reserve none. Source: Lambda Developer Guide, "Configuring reserved
concurrency for a function"."""


class TooMuchReserved(ValueError):
    """The account does not have what the environment reserves. The message says what can be done."""


class QuotaUnknown(RuntimeError):
    """The account's quota could not be read. The message names AWS's error."""


class Account(NamedTuple):
    """`quota`: concurrent executions of the account in this region. `for_environment`: the most that the environment's
    functions may reserve together.
    """

    quota: int
    for_environment: int


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
    account = _account(environment, client)
    if sum(wanted.values()) <= account.for_environment:
        return
    each = ", ".join(f"{name} {number}" for name, number in wanted.items())
    raise TooMuchReserved(
        f"environment {environment.name!r} reserves {sum(wanted.values())} concurrent executions ({each}); the account "
        f"has {account.quota} in this region, {ALWAYS_UNRESERVED} must stay unreserved, and others reserve some, so it "
        f"can reserve {account.for_environment}. Lower reserved_concurrency in infra/environments.py, or ask AWS for a "
        "higher quota (Service Quotas, AWS Lambda, Concurrent executions)"
    )


def _account(environment: Environment, client: Any) -> Account:
    try:
        lambdas = Service("lambda", client or _caller_s_client(environment))
        limit = lambdas.call("get_account_settings")["AccountLimit"]
        own = sum(
            _reserved_now(lambdas, function_name(environment.name, name)) for name in environment.functions
        )
    except (AwsDenied, AwsRefused, StoreThrottled, StoreUnavailable) as error:
        raise QuotaUnknown(str(error)) from None
    unreserved: int = limit["UnreservedConcurrentExecutions"]
    return Account(limit["ConcurrentExecutions"], max(0, unreserved + own - ALWAYS_UNRESERVED))


def _caller_s_client(environment: Environment) -> Any:
    from botocore.exceptions import BotoCoreError

    try:
        return client_in(environment.region, "lambda")
    except BotoCoreError as error:
        raise QuotaUnknown(str(error)) from None


def _reserved_now(lambdas: Service, function: str) -> int:
    """What the deployed function reserves. A deployment gives it back before, or while, it takes the new number."""
    try:
        answer = lambdas.call("get_function_concurrency", FunctionName=function)
    except AwsRefused as refused:
        if refused.code == NOT_FOUND:
            return 0
        raise
    return int(answer.get("ReservedConcurrentExecutions") or 0)
