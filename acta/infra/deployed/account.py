"""The AWS account that a command works on: whether it is the one that the environment is pinned to, and its clients."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from acta.engine.aws.clients import Service, make_client
from acta.engine.aws.errors import NOT_FOUND, AwsRefused
from acta.engine.errors import AwsDenied, StoreThrottled, StoreUnavailable
from acta.infra.environments import Environment
from acta.infra.options import EDGE_REGION

AWS_ERRORS = (AwsDenied, AwsRefused, StoreThrottled, StoreUnavailable)
"""What `Service.call` raises."""
NO_CREDENTIALS = (
    "no AWS credentials were found: sign in with `aws sso login` or `aws configure`, or set AWS_PROFILE or "
    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
)
LOCAL_REGION = "us-east-1"
READ_SECONDS = 60
ATTEMPTS = 5
LOCAL_ATTEMPTS = 2
"""The local AWS is there or it is not. The second attempt is for a connection that was closed while idle."""


class WrongAccount(ValueError):
    """The caller's account is not the environment's. The message says what can be done."""


class AccountUnknown(RuntimeError):
    """AWS did not say who the caller is. The message names AWS's error."""


class CredentialsMissing(RuntimeError):
    """The message says what can be done."""


class CallerIdentity(NamedTuple):
    """`account`: twelve digits. `arn`: AWS's name of the caller."""

    account: str
    region: str
    arn: str


def caller(environment: Environment, client: Any = None) -> CallerIdentity:
    """Who the AWS credentials of this shell belong to, in the environment's region or else the shell's. `client`: a
    botocore STS client; None: one with those credentials.

    Raises AccountUnknown; WrongAccount where the environment is pinned to another account.
    """
    from botocore.exceptions import BotoCoreError

    try:
        if client is None:
            client = client_in(environment.region, "sts")
        answer = Service("sts", client).call("get_caller_identity")
    except (*AWS_ERRORS, BotoCoreError) as error:
        raise AccountUnknown(str(error)) from None
    found = CallerIdentity(answer["Account"], environment.region or client.meta.region_name, answer["Arn"])
    if environment.account not in (None, found.account):
        raise WrongAccount(
            f"environment {environment.name!r} belongs to account {environment.account}, and these credentials to "
            f"{found.account} ({found.arn}): sign in to {environment.account}, such as with AWS_PROFILE=…, or choose "
            "another environment"
        )
    return found


def require_credentials() -> None:
    """Checks that the shell has AWS credentials, without asking AWS. Raises CredentialsMissing."""
    from botocore.exceptions import BotoCoreError
    from botocore.session import Session

    try:
        found = Session().get_credentials()
    except BotoCoreError as error:
        raise CredentialsMissing(f"the AWS credentials cannot be used: {error}") from None
    if found is None:
        raise CredentialsMissing(NO_CREDENTIALS)


def client_in(region: str | None, service: str) -> Any:
    """A botocore client with the shell's credentials. `region` None: the shell's region, found in cdk's order:
    AWS_REGION, AWS_DEFAULT_REGION, the profile. botocore itself does not read AWS_REGION.
    """
    return make_client(service, region_name=region or os.environ.get("AWS_REGION") or None)


def unless(code: str, service: Service, operation: str, **parameters: Any) -> Any:
    """AWS's answer; None if AWS refused with this error code. Raises what `Service.call` raises."""
    try:
        return service.call(operation, **parameters)
    except AwsRefused as refused:
        if refused.code == code:
            return None
        raise


def pages(
    service: Service, operation: str, cursor: str, sent_as: str = "", **parameters: Any
) -> Iterator[Any]:
    """The answers of a listing, one after another. `cursor`: the field of an answer that says where the next one
    begins; `sent_as`: the parameter for it, where that has another name. Raises what `Service.call` raises.
    """
    more: dict[str, Any] = {}
    while True:
        answer = service.call(operation, **parameters, **more)
        yield answer
        if not answer.get(cursor):
            return
        more = {sent_as or cursor: answer[cursor]}


class Account(NamedTuple):
    """Where an environment is deployed: an AWS account, or the local AWS. `environment`: its name. `where`: arguments
    of `boto3.client`; the caller's AWS configuration supplies the others. `attempts`: the most for each request; None:
    as many as the command wants.
    """

    environment: str
    where: Mapping[str, Any] = {}
    attempts: int | None = None

    @classmethod
    def local(cls, endpoint_url: str, credentials: Mapping[str, Any]) -> "Account":
        """The local AWS at this URL. `credentials`: arguments of `boto3.client`."""
        where = {"endpoint_url": endpoint_url, "region_name": LOCAL_REGION, **credentials}
        return cls("local", where, LOCAL_ATTEMPTS)

    def client(self, service: str, *, read_seconds: float = READ_SECONDS, attempts: int = ATTEMPTS) -> Any:
        """A botocore client. `read_seconds`: how long it waits for an answer."""
        return make_client(
            service, read_seconds=read_seconds, attempts=self.attempts or attempts, **self.where
        )


def regions_of(environment: Environment, region: str) -> tuple[str, ...]:
    """The regions of the environment's stacks."""
    return tuple(dict.fromkeys((region, *((EDGE_REGION,) if environment.edge is not None else ()))))


def reserved_now(lambdas: Service, function: str) -> int | None:
    """What the deployed function reserves; None: nothing, or it is not there."""
    answer = unless(NOT_FOUND, lambdas, "get_function_concurrency", FunctionName=function) or {}
    found: int | None = answer.get("ReservedConcurrentExecutions")
    return found
