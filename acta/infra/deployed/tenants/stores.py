"""All that a deployment stores of a tenant, as an operator reaches it: with the credentials of an AWS account, and not
with those of a tenant.

What a function's role may do does not matter here. So nothing of this is for a function.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from acta.engine.agents.dynamodb import DynamoDefinitions
from acta.engine.audit.trail import DynamoTrail
from acta.engine.aws.clients import Service
from acta.engine.clock import Clock, SystemClock
from acta.engine.log.dynamodb import DynamoLog, write_in_batches
from acta.engine.log.dynamodb_index import DynamoIndex
from acta.engine.log.repository import SessionRepository
from acta.engine.log.s3 import S3Blobs
from acta.engine.log.store import IndexEntry
from acta.engine.memories.dynamodb import DynamoMemories
from acta.engine.memories.memory import Memory
from acta.engine.notifications.dynamodb import DynamoTenantReceivers
from acta.engine.people.intervention import Intervention
from acta.engine.schedules.dynamodb import DynamoSchedules
from acta.engine.store.schema import CURRENT
from acta.engine.store.table_layout import Item, receiver_key, session_pk
from acta.engine.tools.dynamodb import DynamoToolSecretNames
from acta.infra.deployed.account import Account, pages
from acta.infra.deployed.operator_trail import OperatorTrail, trail_of
from acta.infra.deployed.stacks import OutputsUnknown, stack_outputs
from acta.infra.names import READS_VERSION

PAGE = 100
T = TypeVar("T")


class NotDeployed(OutputsUnknown):
    """The environment is not there, or is another release's. The message says what to do."""


class Names(NamedTuple):
    """Of what the deployment stores in. `environment`: its name. `bucket`: of files. `session_bucket`: of texts of
    sessions. `state_machine`: its ARN. `user_pool`: the id of the environment's own; empty: others sign its users in.
    """

    environment: str
    table: str
    bucket: str
    session_bucket: str
    audit_table: str
    state_machine: str = ""
    user_pool: str = ""


class TenantStores:
    """The stores of all tenants' data, and what no store of the engine lists: all that there is, page after page.

    `dynamodb`, `s3`: botocore clients with an operator's credentials. `trail`: None: one that does not tell operators
    apart.
    """

    def __init__(
        self,
        names: Names,
        dynamodb: Any,
        s3: Any,
        clock: Clock | None = None,
        trail: OperatorTrail | None = None,
    ) -> None:
        self.names, self.dynamodb, self.s3 = names, dynamodb, s3
        self.clock = clock or SystemClock()
        self.trail = trail or OperatorTrail(DynamoTrail(names.audit_table, client=dynamodb), self.clock)
        self.table, self.objects = Service("dynamodb", dynamodb), Service("s3", s3)
        self.log = DynamoLog(names.table, self.clock, dynamodb)
        self.index = DynamoIndex(names.table, self.clock, dynamodb)
        self.blobs = S3Blobs(names.session_bucket, s3)
        self.repository = SessionRepository(self.log, self.blobs, self.clock)
        self.definitions = DynamoDefinitions(names.table, self.clock, dynamodb)
        self.memories = DynamoMemories(names.table, self.clock, dynamodb)
        self.schedules = DynamoSchedules(names.table, self.clock, dynamodb)
        self.receivers = DynamoTenantReceivers(names.table, dynamodb)
        self.secret_names = DynamoToolSecretNames(names.table, dynamodb)

    def session_webhook(self, tenant: str, session_id: str) -> str | None:
        """The URL that the session was started with; None: it has none."""
        item = self.item(receiver_key(session_pk(tenant, session_id)))
        return None if item is None else str(item["n"]["S"])

    def item(self, key: Item) -> Item | None:
        answer = self.table.call("get_item", TableName=self.names.table, Key=key, ConsistentRead=True)
        found: Item | None = answer.get("Item")
        return found

    def put_item(self, item: Item) -> None:
        self.table.call("put_item", TableName=self.names.table, Item=item)

    def change_items(self, requests: Sequence[dict[str, Any]]) -> int:
        """`requests`: of BatchWriteItem. Says how many there were."""
        write_in_batches(self.table, self.names.table, self.clock, requests)
        return len(requests)

    def all_sessions(self, tenant: str) -> Iterator[IndexEntry]:
        return _all(
            "entries",
            lambda cursor: self.index.sessions(tenant, states=(), agent_id=None, limit=PAGE, cursor=cursor),
        )

    def all_interventions(self, tenant: str, session_id: str) -> Iterator[Intervention]:
        """Of one session."""
        find = partial(self.index.interventions, tenant, state=None, limit=PAGE, session_id=session_id)
        return _all("items", lambda cursor: find(cursor=cursor))

    def all_memories(self, tenant: str) -> Iterator[Memory]:
        """Of all agents."""
        find = partial(self.memories.list, tenant, agent_id=None, kind=None, limit=PAGE)
        return _all("memories", lambda cursor: find(cursor=cursor))

    def all_objects(self, bucket: str, prefix: str) -> Iterator[Mapping[str, Any]]:
        """As S3 lists them: `Key`, `Size` and more; of each object its newest version."""
        more = ("NextContinuationToken", "ContinuationToken")
        for page in pages(self.objects, "list_objects_v2", *more, Bucket=bucket, Prefix=prefix):
            yield from page.get("Contents", ())

    def scan(self, table: str, **request: Any) -> Iterator[Item]:
        """All items of a table, strongly consistent. `request`: more of a Scan, such as a filter."""
        more = ("LastEvaluatedKey", "ExclusiveStartKey")
        for page in pages(self.table, "scan", *more, TableName=table, ConsistentRead=True, **request):
            yield from page["Items"]


def _all(field: str, page: Callable[[str | None], Any]) -> Iterator[Any]:
    """What stands in the `field` of each page. `page`: is called with the cursor of the page before, None at first."""
    cursor: str | None = None
    while True:
        found = page(cursor)
        yield from getattr(found, field)
        cursor = found.cursor
        if cursor is None:
            return


def in_pages(found: Iterable[T]) -> Iterator[list[T]]:
    """Up to PAGE at once."""
    left = iter(found)
    while page := list(islice(left, PAGE)):
        yield page


def key_of(item: Item) -> Item:
    return {"pk": item["pk"], "sk": item["sk"]}


def stores_in(account: Account) -> TenantStores:
    """Raises NotDeployed, and what AWS says."""
    names = deployed_names(account.environment, account.client("cloudformation"))
    trail = trail_of(account, names.audit_table)
    return TenantStores(names, account.client("dynamodb"), account.client("s3"), trail=trail)


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
        outputs.get("UserPoolId", ""),
    )
