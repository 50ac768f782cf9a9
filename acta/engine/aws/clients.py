"""AWS clients, with one configuration for all adapters. A process makes each client once, at the first call.

To keep cold starts short, the SDK is imported at the first call, and only botocore, not boto3: importing boto3 takes a
third longer, and nothing here needs it. botocore itself reads `AWS_ENDPOINT_URL`.
"""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from acta.engine.aws.errors import translated
from acta.engine.bound_tenant import as_deployment
from acta.engine.settings import settings

if TYPE_CHECKING:
    from acta.engine.aws.tenant_credentials import TenantCredentials

CONNECT_SECONDS = 2
READ_SECONDS = 6
ATTEMPTS = 3
"""The first attempt and its repeats."""
CONNECTIONS = 16


SAY_THAT_KEYS_ARE_DENIED = ("dynamodb", "secrets-manager")
"""As botocore names them in events. S3 is left out, because it also denies access to objects that are missing."""

HOLDS_TENANTS_DATA = ("dynamodb", "s3")
HOLDS_TENANTS_SECRETS = ("secretsmanager",)
"""A tenant has separate credentials for each of the two. A function uses its own for every other service."""


_here: dict[str, Any] = {}


def serve_here(clients: Mapping[str, Any]) -> None:
    """From now on this process asks these in the place of AWS: service -> what takes the requests of its client."""
    _here.update(clients)


@cache
def aws_client(service: str) -> Any:
    """The client that the whole process uses. `service`: `dynamodb`, `s3`, `stepfunctions`, `secretsmanager`, …"""
    if service in _here:
        return _here[service]
    return make_client(
        service, read_seconds=settings().aws_read_seconds, credentials=tenant_credentials(service)
    )


def tenant_credentials(service: str) -> "TenantCredentials | None":
    """None: the service is asked with the function's own role, or the function has no other one."""
    if not settings().tenant_role:
        return None
    if service in HOLDS_TENANTS_DATA:
        return credentials_for_data()
    return credentials_for_secrets() if service in HOLDS_TENANTS_SECRETS else None


@cache
def credentials_for_data() -> "TenantCredentials":
    """Those of the process, once."""
    from acta.engine.aws.tenant_credentials import TenantCredentials, data_of

    chosen = settings()
    return TenantCredentials(
        chosen.tenant_role, data_of(chosen.bucket, chosen.session_bucket), _session().get_credentials()
    )


@cache
def credentials_for_secrets() -> "TenantCredentials":
    """Those of the process, once."""
    from acta.engine.aws.tenant_credentials import TenantCredentials, tool_secrets_of

    chosen = settings()
    return TenantCredentials(chosen.tenant_role, tool_secrets_of(chosen.env), _session().get_credentials())


def make_client(
    service: str,
    *,
    read_seconds: float = READ_SECONDS,
    attempts: int = ATTEMPTS,
    credentials: "TenantCredentials | None" = None,
    **where: Any,
) -> Any:
    """A new client. `read_seconds`: how long one attempt waits for bytes. `credentials`: instead of the process's own.
    `where`: region, endpoint and fixed keys, for tests and tools.
    """
    import botocore
    from botocore.config import Config

    session = _session()
    _asked_for.add(service)
    if credentials is not None:
        session.register_component("credential_provider", credentials)
    client = session.create_client(
        service,
        config=Config(
            connect_timeout=CONNECT_SECONDS,
            read_timeout=read_seconds,
            retries={"mode": "standard", "total_max_attempts": attempts},
            max_pool_connections=CONNECTIONS,
            parameter_validation=False,  # adapters build every request, and contract suites try them
            tcp_keepalive=True,
            # botocore would make its own from eleven parts for each request: a quarter of its CPU
            user_agent=f"acta botocore/{botocore.__version__}",
        ),
        **where,
    )
    if credentials is not None:
        for each in SAY_THAT_KEYS_ARE_DENIED:
            client.meta.events.register(f"after-call.{each}", credentials.forget_denied)
    return client


def _session() -> Any:
    """A new botocore session. All share what botocore has read of AWS, which takes most of a client's time."""
    import botocore.session

    session = botocore.session.get_session()
    session.register_component("data_loader", _descriptions_of_aws())
    return session


_asked_for: set[str] = set()


@cache
def _descriptions_of_aws() -> Any:
    """botocore's loader. To see whether a service is known it would look into the folders of all 400: a third of what
    the first client takes. A service that it does not have still fails, with a DataNotFoundError.
    """
    import botocore.session

    loader = botocore.session.get_session().get_component("data_loader")
    loader.list_available_services = lambda type_name: _asked_for
    return loader


def keeping_alive(client: Any) -> Any:
    """Keeps the client's connections alive while an answer takes minutes. Call it before the client's first request.

    botocore has no setting for how often a silent connection is probed, and Lambda brings its own botocore. So the
    options are added where this botocore keeps its own, and left out if another keeps them elsewhere.
    """
    from acta.engine.egress.keepalive import KEEP_ALIVE

    session = getattr(getattr(client, "_endpoint", None), "http_session", None)
    options = getattr(session, "_socket_options", None)
    if isinstance(options, list):
        options.extend(KEEP_ALIVE)
    return client


class Service:
    """One AWS service. `client`: another client than the process's, for tests and tools. `of_deployment`: it is asked
    for what belongs to no tenant, with the function's own role, whichever tenant is bound.
    """

    def __init__(self, name: str, client: Any = None, *, of_deployment: bool = False) -> None:
        self._name = name
        self._client = client
        self._of_deployment = of_deployment

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
            if self._of_deployment:
                with as_deployment():
                    return method(**parameters)
            return method(**parameters)
        except Exception as error:
            reaction = translated(operation, error)
            if reaction is error:
                raise
            raise reaction from error
