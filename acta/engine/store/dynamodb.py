"""Requests to DynamoDB that several stores make: reading on after a Query, items by their keys, a session's newest
commit, and several items at once, all or none.

botocore gives each transaction a client token, so the SDK's own retry after a lost answer succeeds. An attempt that is
repeated here follows a cancellation, and is a new request. Definitions and memories are written this way. The session
log (`log/dynamodb.py`) uses the action builders alone: losing a commit number is no reason to try the same again.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from acta.engine.aws.clients import Service
from acta.engine.aws.errors import AwsRefused
from acta.engine.clock import Clock
from acta.engine.errors import StoreThrottled
from acta.engine.log.commit import Commit, IdempotencyRecord
from acta.engine.store import table_layout as items
from acta.engine.store.schema import CURRENT

Answer = dict[str, Any]
BATCH = 100
"""BatchGetItem's limit."""
ATTEMPTS = 8
PAUSE_SECONDS = 0.05
"""Doubled after each attempt that left keys unprocessed, or that met another transaction."""


class OneTable:
    """A store on one table. `client`: a botocore DynamoDB client other than this process's own. `write_version`: the
    schema version of the documents that the store writes (`store/schema.py`).
    """

    of_deployment = False

    def __init__(self, table: str, client: Any = None, *, write_version: int = CURRENT) -> None:
        self._table = table
        self._dynamodb = Service("dynamodb", client, of_deployment=self.of_deployment)
        self._write_version = write_version

    def _get(self, key: items.Item) -> items.Item | None:
        return get_item(self._dynamodb, self._table, key)

    def _items(self, pk: str, first: str = "", last: str | None = None, **more: Any) -> Iterator[items.Item]:
        return items_of(self._dynamodb, self._table, pk, first, last, **more)

    def _call_if(self, operation: str, **request: Any) -> Any:
        """As `Service.call`. None: the request's condition did not hold, and nothing was written."""
        try:
            return self._dynamodb.call(operation, TableName=self._table, **request)
        except AwsRefused as refused:
            if refused.code == "ConditionalCheckFailedException":
                return None
            raise


class ClockedTable(OneTable):
    """A store on one table that reads the time."""

    def __init__(self, table: str, clock: Clock, client: Any = None, *, write_version: int = CURRENT) -> None:
        super().__init__(table, client, write_version=write_version)
        self._clock = clock


class DeploymentTable(OneTable):
    """A store of what belongs to no tenant, as in `Service`."""

    of_deployment = True


def live_request(table: str, partition: str, before: str | None, limit: int) -> dict[str, Any]:
    """A Query of the index `live`: what has to be looked at, the earliest first. `before`: a text that `live_at` is
    less than; None: any.
    """
    times = {} if before is None else {":before": {"S": before}}
    return {
        "TableName": table,
        "IndexName": items.LIVE_INDEX,
        "Limit": limit,
        "KeyConditionExpression": "live = :live AND live_at < :before" if times else "live = :live",
        "ExpressionAttributeValues": {":live": {"S": partition}, **times},
    }


def query(
    dynamodb: Service, *, most: int | None = None, later: int | None = None, **request: Any
) -> Iterator[Answer]:
    """The answers of one Query after another, until there is no more or the caller stops: DynamoDB reads at most 1 MB,
    or `Limit` items, at once. The next request is made when the next answer is asked for.

    `most`: so many items are enough, and no Query asks for more than are missing. `later`: the `Limit` of every Query
    after the first.
    """
    missing = most
    while True:
        if missing is not None:
            request["Limit"] = missing
        answer: Answer = dynamodb.call("query", **request)
        yield answer
        if "LastEvaluatedKey" not in answer:
            return
        if missing is not None:
            missing -= len(answer["Items"])
            if missing <= 0:
                return
        if later is not None:
            request["Limit"] = later
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def items_of(
    dynamodb: Service, table: str, pk: str, first: str = "", last: str | None = None, **more: Any
) -> Iterator[items.Item]:
    """The items of one partition, strongly consistent, which are read on as the caller goes on: those whose sort keys
    begin with `first`; with `last`, those from `first` to `last`, both included. `more`: as for `query`.
    """
    asked = {"TableName": table, "ConsistentRead": True, **between(pk, first, last), **more}
    return (item for answer in query(dynamodb, **asked) for item in answer["Items"])


def between(pk: str, first: str, last: str | None = None) -> dict[str, Any]:
    """The condition of a Query for the items that `items_of` names."""
    values, condition = {":pk": {"S": pk}}, "pk = :pk"
    if last is not None:
        values |= {":first": {"S": first}, ":last": {"S": last}}
        condition += " AND sk BETWEEN :first AND :last"
    elif first:
        values[":first"] = {"S": first}
        condition += " AND begins_with(sk, :first)"
    return {"KeyConditionExpression": condition, "ExpressionAttributeValues": values}


def get_item(dynamodb: Service, table: str, key: items.Item) -> items.Item | None:
    """The item, read strongly consistently. None: there is none."""
    found: items.Item | None = dynamodb.call("get_item", TableName=table, Key=key, ConsistentRead=True).get(
        "Item"
    )
    return found


def newest_commit(dynamodb: Service, table: str, pk: str, *, consistent: bool) -> Commit | None:
    """The newest commit of the session whose partition key is `pk`; None: it has none, or was deleted. `consistent`
    False: half the price, and it may be the one before. Raises SchemaUnknown, PoisonedSession.
    """
    item = newest_commit_item(dynamodb, table, pk, consistent=consistent)
    return None if item is None or items.is_tombstone(item) else items.item_commit(item)


def newest_commit_item(
    dynamodb: Service, table: str, pk: str, *, consistent: bool, projection: str | None = None
) -> items.Item | None:
    """The stored item of `newest_commit`; for a deleted session, its newest emptied commit. `projection`: the
    attributes to read, in DynamoDB's form; None: all."""
    asked: dict[str, Any] = {
        "ScanIndexForward": False,
        "ConsistentRead": consistent,
        **_projection(projection),
    }
    return next(items_of(dynamodb, table, pk, items.COMMIT, most=1, **asked), None)


def batch_get(
    dynamodb: Service, clock: Clock, table: str, keys: Iterable[items.Item], *, projection: str | None = None
) -> Iterator[items.Item]:
    """The items that exist under the keys, strongly consistent, in any order. `projection`: as in `newest_commit_item`.
    Raises StoreThrottled, StoreUnavailable, AwsDenied."""
    wanted = list(keys)
    pause, attempt = PAUSE_SECONDS, 0
    while wanted:
        batch, wanted = wanted[:BATCH], wanted[BATCH:]
        asked = {"Keys": batch, "ConsistentRead": True, **_projection(projection)}
        answer = dynamodb.call("batch_get_item", RequestItems={table: asked})
        yield from answer.get("Responses", {}).get(table, [])
        rest = answer.get("UnprocessedKeys", {}).get(table, {}).get("Keys", [])
        if len(rest) < len(batch):  # items that did not fit into one answer are no sign of throttling
            pause, attempt = PAUSE_SECONDS, 0
        if rest:
            attempt += 1
            if attempt == ATTEMPTS:
                raise StoreThrottled("batch_get_item: keys were left unprocessed")
            clock.back_off(pause)
            pause *= 2
            wanted = [*rest, *wanted]


def _projection(attributes: str | None) -> dict[str, str]:
    return {} if attributes is None else {"ProjectionExpression": attributes}


FREE = "attribute_not_exists(pk)"
TRANSACTION_ATTEMPTS = 6

Action = dict[str, Any]


class ConditionFailed(Exception):
    """Nothing was written; `failed` are the positions of the actions whose conditions did not hold."""

    def __init__(self, failed: frozenset[int]) -> None:
        super().__init__(f"conditions {sorted(failed)} did not hold")
        self.failed = failed


def put(table: str, item: items.Item, condition: str = "", **values: dict[str, str]) -> Action:
    """Builds a put. `values`: by name, what the condition calls `:name`."""
    return {"Put": {"TableName": table, "Item": item, **_condition(condition, values)}}


def delete(table: str, key: items.Item, condition: str = "", **values: dict[str, str]) -> Action:
    return {"Delete": {"TableName": table, "Key": key, **_condition(condition, values)}}


def put_record(table: str, record: IdempotencyRecord, clock: Clock) -> Action:
    """Builds the put of an idempotency record. Its condition fails if the key is taken and has not expired."""
    now = {"N": str(int(clock.now().timestamp()))}
    action = put(table, items.record_item(record), f"{FREE} OR #ttl <= :now", now=now)
    action["Put"]["ExpressionAttributeNames"] = {"#ttl": "ttl"}
    return action


def transact(dynamodb: Service, clock: Clock, actions: Sequence[Action]) -> None:
    """Carries out all actions or none. Raises ConditionFailed, StoreThrottled, StoreUnavailable."""
    pause = PAUSE_SECONDS
    for _ in range(TRANSACTION_ATTEMPTS):
        try:
            dynamodb.call("transact_write_items", TransactItems=list(actions))
            return
        except AwsRefused as refused:
            failed = {at for at, why in enumerate(refused.reasons) if why == "ConditionalCheckFailed"}
            if failed:
                raise ConditionFailed(frozenset(failed)) from None
            in_the_way = "TransactionConflict" in refused.reasons
            if not in_the_way and refused.code != "TransactionInProgressException":
                raise
        clock.back_off(pause)
        pause *= 2
    raise StoreThrottled("transact_write_items: other transactions were in the way")


def _condition(condition: str, values: dict[str, dict[str, str]]) -> Action:
    if not condition:
        return {}
    found: Action = {"ConditionExpression": condition}
    if values:
        found["ExpressionAttributeValues"] = {f":{name}": value for name, value in values.items()}
    return found
