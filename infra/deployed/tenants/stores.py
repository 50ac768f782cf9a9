"""All that a deployment stores of a tenant, as an operator reaches it: with the credentials of an AWS account, and not
with those of a tenant.

What a function's role may do does not matter here. So nothing of this is for a function.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from infra.names import READS_VERSION, stateless_stack
from shared.adapters.aws.clients import Service, make_client
from shared.adapters.aws.errors import AwsRefused
from shared.adapters.dynamodb.definitions import DynamoDefinitions
from shared.adapters.dynamodb.memories import DynamoMemories
from shared.adapters.dynamodb.receivers import DynamoTenantReceivers
from shared.adapters.dynamodb.session_index import DynamoIndex
from shared.adapters.dynamodb.session_log import DynamoLog
from shared.adapters.dynamodb.table_layout import Item, receiver_key, session_pk
from shared.adapters.dynamodb.tool_secrets import DynamoToolSecretNames
from shared.adapters.s3.blobs import S3Blobs
from shared.adapters.system_clock import SystemClock
from shared.domain.schema.versions import CURRENT
from shared.ports.clock import Clock


class NotDeployed(RuntimeError):
    """The environment is not there, or is another release's. The message says what to do."""


class Names(NamedTuple):
    """Of what the deployment stores in. `environment`: its name. `session_bucket`: of texts of sessions; those of
    releases before may be in `bucket`, too.
    """

    environment: str
    table: str
    bucket: str
    session_bucket: str
    audit_table: str


@dataclass(frozen=True)
class TenantStores:
    """`dynamodb`, `s3`: botocore clients with an operator's credentials."""

    names: Names
    dynamodb: Any
    s3: Any
    clock: Clock = field(default_factory=SystemClock)

    @cached_property
    def table(self) -> Service:
        return Service("dynamodb", self.dynamodb)

    @cached_property
    def objects(self) -> Service:
        return Service("s3", self.s3)

    @property
    def text_buckets(self) -> tuple[str, ...]:
        """Where texts of sessions are; new ones are stored in the first."""
        return tuple(dict.fromkeys((self.names.session_bucket, self.names.bucket)))

    @cached_property
    def log(self) -> DynamoLog:
        return DynamoLog(self.names.table, self.clock, self.dynamodb)

    @cached_property
    def index(self) -> DynamoIndex:
        return DynamoIndex(self.names.table, self.clock, self.dynamodb)

    @cached_property
    def blobs(self) -> S3Blobs:
        return S3Blobs(self.text_buckets, self.s3)

    @cached_property
    def definitions(self) -> DynamoDefinitions:
        return DynamoDefinitions(self.names.table, self.clock, self.dynamodb)

    @cached_property
    def memories(self) -> DynamoMemories:
        return DynamoMemories(self.names.table, self.clock, self.dynamodb)

    @cached_property
    def receivers(self) -> DynamoTenantReceivers:
        return DynamoTenantReceivers(self.names.table, self.dynamodb)

    @cached_property
    def secret_names(self) -> DynamoToolSecretNames:
        return DynamoToolSecretNames(self.names.table, self.dynamodb)

    def session_webhook(self, tenant: str, session_id: str) -> str | None:
        """The URL that the session was started with; None: it has none."""
        item = self.item(receiver_key(session_pk(tenant, session_id)))
        return None if item is None else str(item["n"]["S"])

    def item(self, key: Item) -> Item | None:
        answer = self.table.call("get_item", TableName=self.names.table, Key=key, ConsistentRead=True)
        found: Item | None = answer.get("Item")
        return found


READ_SECONDS = 60
ATTEMPTS = 5


def account_stores(environment: str, region: str) -> TenantStores:
    """With account and credentials of the caller's AWS configuration. Raises NotDeployed, and what AWS says."""
    return _stores(environment, region_name=region)


def local_stores(endpoint_url: str, credentials: Mapping[str, Any]) -> TenantStores:
    """Of the local AWS at `endpoint_url`. `credentials`: arguments of `boto3.client`."""
    return _stores("local", endpoint_url=endpoint_url, region_name="us-east-1", **credentials)


def _stores(environment: str, **where: Any) -> TenantStores:
    def client(service: str) -> Any:
        return make_client(service, read_seconds=READ_SECONDS, attempts=ATTEMPTS, **where)

    names = deployed_names(environment, client("cloudformation"))
    return TenantStores(names, client("dynamodb"), client("s3"))


def deployed_names(environment: str, cloudformation: Any) -> Names:
    """From the outputs of the environment's stack. Raises NotDeployed, and what AWS answers else.

    A command of one release must not write what the deployed one cannot read.
    """
    try:
        found = Service("cloudformation", cloudformation).call(
            "describe_stacks", StackName=stateless_stack(environment)
        )
    except AwsRefused as refused:
        if refused.code == "ValidationError":  # its name for: there is no such stack
            raise NotDeployed(
                f"{stateless_stack(environment)} is not in this account and region: deploy it first"
            ) from None
        raise
    outputs: Mapping[str, str] = {
        each["OutputKey"]: each["OutputValue"] for each in found["Stacks"][0].get("Outputs", ())
    }
    if int(outputs.get(READS_VERSION, 0)) < CURRENT:
        raise NotDeployed(
            f"{environment!r} runs a release that cannot read what this command writes: use the command of that release"
        )
    return Names(
        environment,
        outputs["TableName"],
        outputs["BucketName"],
        outputs["SessionBucketName"],
        outputs["AuditTableName"],
    )
