"""AWS clients: made once per process at the first call, configured here for everyone.

The SDK is not imported before that (cold start is a budget), and then as botocore, which boto3's clients
are: boto3's own layers cost a third more to import and are not used. `AWS_ENDPOINT_URL` is honoured by
botocore itself.
"""

from functools import cache
from typing import Any

from shared.adapters.aws.errors import translated

CONNECT_SECONDS = 2
READ_SECONDS = 6
ATTEMPTS = 3
"""In all. Three attempts that all time out stay inside the 30 s an API request has."""
CONNECTIONS = 16


@cache
def aws_client(service: str) -> Any:
    """The process's own. `service`: `dynamodb`, `s3`, `stepfunctions`, `secretsmanager`, …"""
    return make_client(service)


def make_client(
    service: str, *, read_seconds: int = READ_SECONDS, attempts: int = ATTEMPTS, **where: Any
) -> Any:
    """A new client; `where`: region, endpoint and credentials, for a test or a tool."""
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


class Service:
    """One AWS service. `client` only where a test or a tool brings its own."""

    def __init__(self, name: str, client: Any = None) -> None:
        self._name = name
        self._client = client

    @property
    def client(self) -> Any:
        if self._client is None:
            self._client = aws_client(self._name)
        return self._client

    def call(self, operation: str, **parameters: Any) -> Any:
        """`operation` in the client's spelling (`put_item`). Raises StoreThrottled, StoreUnavailable,
        AwsRefused.
        """
        method = getattr(self.client, operation)
        try:
            return method(**parameters)
        except Exception as error:
            reaction = translated(operation, error)
            if reaction is error:
                raise
            raise reaction from error
