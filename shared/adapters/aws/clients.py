"""AWS clients, with one configuration for all adapters. A process makes each client once, at the first call.

To keep cold starts short, the SDK is imported at the first call, and only botocore, not boto3: importing boto3 takes a
third longer, and nothing here needs it. botocore itself reads `AWS_ENDPOINT_URL`.
"""

from functools import cache
from typing import Any

from shared.adapters.aws.errors import translated
from shared.settings import settings

CONNECT_SECONDS = 2
READ_SECONDS = 6
ATTEMPTS = 3
"""The first attempt and its repeats."""
CONNECTIONS = 16


@cache
def aws_client(service: str) -> Any:
    """The client that the whole process uses. `service`: `dynamodb`, `s3`, `stepfunctions`, `secretsmanager`, …"""
    return make_client(service, read_seconds=settings().aws_read_seconds)


def make_client(
    service: str, *, read_seconds: float = READ_SECONDS, attempts: int = ATTEMPTS, **where: Any
) -> Any:
    """A new client. `read_seconds`: how long one attempt waits for bytes. `where`: region, endpoint and credentials,
    for tests and tools.
    """
    import botocore.session
    from botocore.config import Config

    return botocore.session.get_session().create_client(
        service,
        config=Config(
            connect_timeout=CONNECT_SECONDS,
            read_timeout=read_seconds,
            retries={"mode": "standard", "total_max_attempts": attempts},
            max_pool_connections=CONNECTIONS,
            parameter_validation=False,  # adapters build every request, and contract suites try them
            tcp_keepalive=True,
        ),
        **where,
    )


def keeping_alive(client: Any) -> Any:
    """The client, whose connections stay alive while an answer takes minutes. Before its first call.

    botocore has no setting for how often a silent connection is probed, and Lambda brings its own botocore. So the
    options are added where this release keeps them, and left out where another one keeps them elsewhere.
    """
    from shared.adapters.egress.keepalive import KEEP_ALIVE

    session = getattr(getattr(client, "_endpoint", None), "http_session", None)
    options = getattr(session, "_socket_options", None)
    if isinstance(options, list):
        options.extend(KEEP_ALIVE)
    return client


class Service:
    """One AWS service. `client`: another client than the process's, for tests and tools."""

    def __init__(self, name: str, client: Any = None) -> None:
        self._name = name
        self._client = client

    @property
    def client(self) -> Any:
        if self._client is None:
            self._client = aws_client(self._name)
        return self._client

    def call(self, operation: str, **parameters: Any) -> Any:
        """Calls an operation and returns botocore's answer. `operation`: as the client names it (`put_item`).

        Raises StoreThrottled, StoreUnavailable, AwsDenied, AwsRefused.
        """
        method = getattr(self.client, operation)
        try:
            return method(**parameters)
        except Exception as error:
            reaction = translated(operation, error)
            if reaction is error:
                raise
            raise reaction from error
