"""All that a deployment stores of a tenant, as an operator reaches it: with the credentials of an AWS account, and not
with those of a tenant.

What a function's role may do does not matter here. So nothing of this is for a function.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from acta_engine.agents.dynamodb import DynamoDefinitions
from acta_engine.aws.clients import Service
from acta_engine.clock import Clock
from acta_engine.log.dynamodb import DynamoLog
from acta_engine.log.dynamodb_index import DynamoIndex
from acta_engine.log.s3 import S3Blobs
from acta_engine.memories.dynamodb import DynamoMemories
from acta_engine.notifications.dynamodb import DynamoTenantReceivers
from acta_engine.store.schema import CURRENT
from acta_engine.store.table_layout import Item, receiver_key, session_pk
from acta_engine.system_clock import SystemClock
from acta_engine.tools.dynamodb import DynamoToolSecretNames
from acta_infra.deployed.account import Account
from acta_infra.deployed.stacks import OutputsUnknown, stack_outputs
from acta_infra.names import READS_VERSION


class NotDeployed(OutputsUnknown):
    """The environment is not there, or is another release's. The message says what to do."""


class Names(NamedTuple):
    """Of what the deployment stores in. `environment`: its name. `bucket`: of files. `session_bucket`: of texts of
    sessions. `state_machine`: its ARN. `issuer`: of the environment's own user pool;
    empty: it has none.
    """

    environment: str
    table: str
    bucket: str
    session_bucket: str
    audit_table: str
    state_machine: str = ""
    issuer: str = ""


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

    @cached_property
    def log(self) -> DynamoLog:
        return DynamoLog(self.names.table, self.clock, self.dynamodb)

    @cached_property
    def index(self) -> DynamoIndex:
        return DynamoIndex(self.names.table, self.clock, self.dynamodb)

    @cached_property
    def blobs(self) -> S3Blobs:
        return S3Blobs(self.names.session_bucket, self.s3)

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


def stores_in(account: Account) -> TenantStores:
    """Raises NotDeployed, and what AWS says."""
    names = deployed_names(account.environment, account.client("cloudformation"))
    return TenantStores(names, account.client("dynamodb"), account.client("s3"))


def deployed_names(environment: str, cloudformation: Any) -> Names:
    """From the outputs of the environment's stack. Raises NotDeployed.

    A command of one release must not write what the deployed one cannot read.
    """
    try:
        outputs = stack_outputs(environment, cloudformation)
    except OutputsUnknown as error:
        raise NotDeployed(str(error)) from None
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
        outputs["StateMachineArn"],
        outputs.get("Issuer", ""),
    )
