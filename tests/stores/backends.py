"""Where a port's suite runs: on SQLite in memory, on moto in this process, on a local AWS that is already there."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol
from uuid import uuid4

from acta.embedded.objects import SqliteObjects
from acta.embedded.table import SqliteTable
from acta.engine.agents.dynamodb import DynamoDefinitions, DynamoMcpServerStore, DynamoToolStore
from acta.engine.agents.store import DefinitionStore, McpServerStore, ToolSecretNames, ToolStore
from acta.engine.audit.record import AuditTrail
from acta.engine.audit.trail import DynamoTrail
from acta.engine.aws.clients import make_client
from acta.engine.clock import SystemClock
from acta.engine.files.s3 import S3FileStore
from acta.engine.files.store import FileStore
from acta.engine.log.beside import AttemptStore, BlobStore, Partials
from acta.engine.log.dynamodb import DynamoAttempts, DynamoLog, DynamoPartials
from acta.engine.log.dynamodb_index import DynamoIndex
from acta.engine.log.s3 import S3Blobs
from acta.engine.log.store import IndexEntry, SessionIndex, SessionLog
from acta.engine.memories.dynamodb import DynamoMemories
from acta.engine.memories.memory import MemoryStore
from acta.engine.notifications.dynamodb import DynamoTenantReceivers
from acta.engine.notifications.notification import TenantReceivers
from acta.engine.people.intervention import Intervention
from acta.engine.store import table_layout as items
from acta.engine.store.schema import CURRENT
from acta.engine.tools.dynamodb import DynamoToolSecretNames
from acta.testing.clock import FakeClock

ENDPOINT = "ACTA_TEST_AWS_ENDPOINT"
AWS_ACCOUNTS = {"moto": "moto_account"} | ({"local_aws": "local_account"} if ENDPOINT in os.environ else {})
ACCOUNTS = {"sqlite": "sqlite_account", **AWS_ACCOUNTS}
"""Where suites run, each with the fixture of its table and bucket."""
TABLE, BUCKET = "ACTA_TEST_TABLE", "ACTA_TEST_BUCKET"
SPOILED = b"damaged, with a secret in it"
MOST_SEARCHED = 1_600
"""Items that a page looks at in these suites while it finds nothing."""
MOST_MEMORIES = 5
"""The bound per agent in these suites."""


class AskQuickly(Protocol):
    def __call__(self, tenant: str, asked: Sequence[Intervention]) -> None: ...


@dataclass(frozen=True)
class Stores:
    """`other_log`, `other_blobs` and so on: a second worker's. `set_version` makes a stored commit one of another
    release's, `spoil` damages it; `list_quickly` fills a listing without a commit for each, as commits of that
    version write it, and `ask_quickly` stores interventions without one.
    """

    log: SessionLog
    other_log: SessionLog
    index: SessionIndex
    blobs: BlobStore
    other_blobs: BlobStore
    files: FileStore
    definitions: DefinitionStore
    other_definitions: DefinitionStore
    tools: ToolStore
    other_tools: ToolStore
    servers: McpServerStore
    secret_names: ToolSecretNames
    receivers: TenantReceivers
    memories: MemoryStore
    other_memories: MemoryStore
    partials: Partials
    attempts: AttemptStore
    other_attempts: AttemptStore
    trail: AuditTrail
    clock: FakeClock
    set_version: Callable[[str, str, int, int], None]
    list_quickly: Callable[[Sequence[IndexEntry]], None]
    ask_quickly: AskQuickly
    spoil: Callable[[str, str, int], None]
    spoil_intervention: Callable[[str, str], None]


class Aws(NamedTuple):
    """Clients and the names of a table and a bucket."""

    dynamodb: Any
    s3: Any
    table: str
    bucket: str


def local_aws() -> Aws:
    """Uses the table and the bucket the environment names, else makes its own."""
    where = _where(os.environ[ENDPOINT])
    aws = Aws(
        make_client("dynamodb", **where),
        make_client("s3", **where),
        os.environ.get(TABLE, f"contract-{uuid4().hex}"),
        os.environ.get(BUCKET, f"contract-{uuid4().hex}"),
    )
    return create(aws, table=TABLE not in os.environ, bucket=BUCKET not in os.environ)


def moto_aws() -> Aws:
    """Inside `moto.mock_aws`."""
    return create(moto_clients())


def moto_clients() -> Aws:
    """For `create`, inside `moto.mock_aws`."""
    where = _where(None)
    return Aws(make_client("dynamodb", **where), make_client("s3", **where), "contract", "contract")


def create(aws: Aws, *, table: bool = True, bucket: bool = True) -> Aws:
    if table:
        aws.dynamodb.create_table(
            TableName=aws.table,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": "S"}
                for name in ("pk", "sk", "live", "live_at", "op")
            ],
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": items.LIVE_INDEX,
                    "KeySchema": [
                        {"AttributeName": "live", "KeyType": "HASH"},
                        {"AttributeName": "live_at", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                },
                {
                    "IndexName": items.OPEN_INDEX,
                    "KeySchema": [
                        {"AttributeName": "op", "KeyType": "HASH"},
                        {"AttributeName": "sk", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                },
            ],
        )
    if bucket:
        aws.s3.create_bucket(Bucket=aws.bucket)
    return aws


def sqlite() -> Aws:
    """A new one, in memory."""
    table = SqliteTable(None)
    return Aws(table, SqliteObjects(table), "contract", "contract")


def aws_stores(aws: Aws) -> Stores:
    clock = FakeClock(SystemClock().now())

    def set_version(tenant: str, session_id: str, number: int, version: int) -> None:
        aws.dynamodb.update_item(
            TableName=aws.table,
            Key={"pk": {"S": items.session_pk(tenant, session_id)}, "sk": {"S": items.number_sk(number)}},
            UpdateExpression="SET v = :v",
            ExpressionAttributeValues={":v": {"N": str(version)}},
        )

    def spoil(tenant: str, session_id: str, number: int) -> None:
        _spoil({"pk": {"S": items.session_pk(tenant, session_id)}, "sk": {"S": items.number_sk(number)}})

    def spoil_intervention(tenant: str, intervention_id: str) -> None:
        _spoil(items.intervention_key(tenant, intervention_id))

    def _spoil(key: items.Item) -> None:
        aws.dynamodb.update_item(
            TableName=aws.table,
            Key=key,
            UpdateExpression="SET z = :z",
            ExpressionAttributeValues={":z": {"B": SPOILED}},
        )

    def list_quickly(entries: Sequence[IndexEntry]) -> None:
        _put([items.listing_item(each) for each in entries])

    def ask_quickly(tenant: str, asked: Sequence[Intervention]) -> None:
        _put([items.intervention_item(tenant, each, CURRENT) for each in asked])

    def _put(found: Sequence[items.Item]) -> None:
        for start in range(0, len(found), 25):
            puts = [{"PutRequest": {"Item": each}} for each in found[start : start + 25]]
            aws.dynamodb.batch_write_item(RequestItems={aws.table: puts})

    return Stores(
        log=DynamoLog(aws.table, clock, aws.dynamodb),
        other_log=DynamoLog(aws.table, clock, aws.dynamodb),
        index=DynamoIndex(aws.table, clock, aws.dynamodb, MOST_SEARCHED),
        blobs=S3Blobs(aws.bucket, aws.s3),
        other_blobs=S3Blobs(aws.bucket, aws.s3),
        files=S3FileStore(aws.bucket, aws.s3),
        definitions=DynamoDefinitions(aws.table, clock, aws.dynamodb),
        other_definitions=DynamoDefinitions(aws.table, clock, aws.dynamodb),
        tools=DynamoToolStore(aws.table, clock, aws.dynamodb),
        other_tools=DynamoToolStore(aws.table, clock, aws.dynamodb),
        servers=DynamoMcpServerStore(aws.table, clock, aws.dynamodb),
        secret_names=DynamoToolSecretNames(aws.table, aws.dynamodb),
        receivers=DynamoTenantReceivers(aws.table, aws.dynamodb),
        memories=DynamoMemories(aws.table, clock, aws.dynamodb, MOST_MEMORIES),
        other_memories=DynamoMemories(aws.table, clock, aws.dynamodb, MOST_MEMORIES),
        partials=DynamoPartials(aws.table, aws.dynamodb),
        attempts=DynamoAttempts(aws.table, aws.dynamodb),
        other_attempts=DynamoAttempts(aws.table, aws.dynamodb),
        trail=DynamoTrail(aws.table, client=aws.dynamodb),
        clock=clock,
        set_version=set_version,
        list_quickly=list_quickly,
        ask_quickly=ask_quickly,
        spoil=spoil,
        spoil_intervention=spoil_intervention,
    )


def _where(endpoint: str | None) -> dict[str, Any]:
    return {
        "region_name": "us-east-1",
        "endpoint_url": endpoint,
        "aws_access_key_id": "test",
        "aws_secret_access_key": "test",
    }
