"""The AWS account that a command works on, and whether it is the one that the environment is pinned to."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from acta_engine.aws.clients import Service, make_client
from acta_engine.aws.errors import AwsRefused
from acta_engine.errors import AwsDenied, StoreThrottled, StoreUnavailable
from acta_infra.environments import Environment

NO_CREDENTIALS = (
    "no AWS credentials were found: sign in with `aws sso login` or `aws configure`, or set AWS_PROFILE or "
    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
)
LOCAL_REGION = "us-east-1"
READ_SECONDS = 60
ATTEMPTS = 5
LOCAL_ATTEMPTS = 2
"""The local AWS is there or it is not. The second one is for a connection that was closed while nobody used it."""


class WrongAccount(ValueError):
    """The caller's account is not the environment's. The message says what can be done."""


class AccountUnknown(RuntimeError):
    """AWS did not say who the caller is. The message names AWS's error."""


class CredentialsMissing(RuntimeError):
    """The message says what can be done."""


class Caller(NamedTuple):
    """`account`: twelve digits. `arn`: who it is, as AWS names them."""

    account: str
    region: str
    arn: str


def caller(environment: Environment, client: Any = None) -> Caller:
    """Who the AWS credentials of this shell belong to, in the environment's region or else the shell's. `client`: a
    botocore STS client; None: one with those credentials.

    Raises AccountUnknown; WrongAccount where the environment is pinned to another account.
    """
    from botocore.exceptions import BotoCoreError

    try:
        if client is None:
            client = client_in(environment.region, "sts")
        answer = Service("sts", client).call("get_caller_identity")
    except (AwsDenied, AwsRefused, StoreThrottled, StoreUnavailable, BotoCoreError) as error:
        raise AccountUnknown(str(error)) from None
    found = Caller(answer["Account"], environment.region or client.meta.region_name, answer["Arn"])
    if environment.account not in (None, found.account):
        raise WrongAccount(
            f"environment {environment.name!r} belongs to account {environment.account}, and these credentials to "
            f"{found.account} ({found.arn}): sign in to {environment.account}, such as with AWS_PROFILE=…, or choose "
            "another environment"
        )
    return found


def require_credentials() -> None:
    """Of the shell. AWS is not asked. Raises CredentialsMissing."""
    from botocore.exceptions import BotoCoreError
    from botocore.session import Session

    try:
        found = Session().get_credentials()
    except BotoCoreError as error:
        raise CredentialsMissing(f"the AWS credentials cannot be used: {error}") from None
    if found is None:
        raise CredentialsMissing(NO_CREDENTIALS)


def client_in(region: str | None, service: str) -> Any:
    """A botocore client with the shell's credentials. `region` None: the shell's, in cdk's order: AWS_REGION, then
    AWS_DEFAULT_REGION, then the profile's. botocore itself does not read the first.
    """
    return make_client(service, region_name=region or os.environ.get("AWS_REGION") or None)


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
    of `boto3.client`; what is not in it is as in the caller's AWS configuration. `attempts`: at most, of each request;
    None: what the command wants.
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
        """A botocore client. `read_seconds`: how long an answer is waited for."""
        return make_client(
            service, read_seconds=read_seconds, attempts=self.attempts or attempts, **self.where
        )
