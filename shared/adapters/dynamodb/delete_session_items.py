"""Removes a session's items, in an order in which a deletion that was cut short can be repeated.

Interventions and the listing entry go first. If the worker dies then, the commits still name the interventions. After
that the commits, in their order, and the running text are replaced by their bare keys, which DynamoDB removes after a
while (`ttl`). Whatever else is in the session's partition goes; the note of the erasure stays.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from shared.adapters.aws.clients import Service
from shared.adapters.dynamodb import table_layout as items
from shared.adapters.dynamodb.query import query
from shared.domain.errors import StoreThrottled
from shared.ports.clock import Clock
from shared.ports.log import TOMBSTONE_LIFE

BATCH = 25
"""BatchWriteItem's limit."""
ATTEMPTS = 8
PAUSE_SECONDS = 0.05
"""Doubled after each attempt that left items unprocessed."""


def delete_session(dynamodb: Service, table: str, clock: Clock, tenant: str, session_id: str) -> None:
    ttl = {"N": str(int((clock.now() + TOMBSTONE_LIFE).timestamp()))}
    tombstones: list[items.Item] = []
    replaced: list[dict[str, str]] = []
    gone = [items.listing_key(tenant, session_id)]
    interventions: dict[str, items.Item] = {}
    found = list(_partition(dynamodb, table, tenant, session_id))
    for item in found:
        key = {"pk": item["pk"], "sk": item["sk"]}
        match item["sk"]["S"]:
            case items.RUNNING_TEXT | items.MARKER | items.ERASURE:
                pass
            case sk if sk.startswith(items.COMMIT):
                if "ttl" in item:
                    replaced.append(item["ttl"])
                else:
                    tombstones.append({**key, "ttl": ttl})
                interventions |= {
                    each: items.intervention_key(tenant, each) for each in item.get("i", {}).get("SS", ())
                }
            case _:
                gone.append(key)
    if found:  # a worker that is late writes neither the running text nor the marker again
        beside = (items.partial_key(tenant, session_id), items.attempts_key(tenant, session_id))
        # repeated, it is the first deletion whose late workers are waited for
        as_before = max(replaced, key=lambda each: int(each["N"])) if replaced and not tombstones else ttl
        tombstones += [{**key, "ttl": as_before} for key in beside]
    gone += interventions.values()
    write_in_batches(dynamodb, table, clock, ({"DeleteRequest": {"Key": key}} for key in gone))
    write_in_batches(dynamodb, table, clock, ({"PutRequest": {"Item": item}} for item in tombstones))


def _partition(dynamodb: Service, table: str, tenant: str, session_id: str) -> Iterator[items.Item]:
    """The keys of all items of the session, and of a commit the ids of its interventions. Bodies are not read, so a
    newer release's can be deleted too.
    """
    answers = query(
        dynamodb,
        TableName=table,
        ConsistentRead=True,
        ProjectionExpression="pk, sk, i, #ttl",
        ExpressionAttributeNames={"#ttl": "ttl"},
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": items.session_pk(tenant, session_id)}},
    )
    for answer in answers:
        yield from answer["Items"]


def write_in_batches(dynamodb: Service, table: str, clock: Clock, requests: Iterable[dict[str, Any]]) -> None:
    """`requests`: as of BatchWriteItem, any number. Raises StoreThrottled, and what else AWS says."""
    left = iter(requests)
    while batch := list(islice(left, BATCH)):
        pause = PAUSE_SECONDS
        for _ in range(ATTEMPTS):
            answer = dynamodb.call("batch_write_item", RequestItems={table: batch})
            batch = answer.get("UnprocessedItems", {}).get(table, [])
            if not batch:
                break
            clock.back_off(pause)
            pause *= 2
        else:
            raise StoreThrottled("batch_write_item: items were left unprocessed")
