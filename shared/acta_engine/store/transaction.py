"""Writes several items at once, all or none, and tries again where another transaction was in the way.

botocore gives each request a client token, so the SDK's own retry after a lost answer succeeds. An attempt that is
repeated here follows a cancellation, and is a new request. Definitions and memories are written this way. The session
log (`session_log.py`) uses the action builders alone: losing a commit number is not a reason to try the same again.
"""

from collections.abc import Sequence
from typing import Any

from acta_engine.aws.clients import Service
from acta_engine.aws.errors import AwsRefused
from acta_engine.clock import Clock
from acta_engine.errors import StoreThrottled
from acta_engine.log.commit import IdempotencyRecord
from acta_engine.store import table_layout as items

FREE = "attribute_not_exists(pk)"
ATTEMPTS = 6
PAUSE_SECONDS = 0.05
"""Doubled after each attempt that met another transaction."""

Action = dict[str, Any]


class ConditionFailed(Exception):
    """Nothing was written; `failed` are the positions of the actions whose conditions did not hold."""

    def __init__(self, failed: frozenset[int]) -> None:
        super().__init__(f"conditions {sorted(failed)} did not hold")
        self.failed = failed


def put(table: str, item: items.Item, condition: str = "", **values: dict[str, str]) -> Action:
    """`values`: what the condition calls `:name`."""
    return {"Put": {"TableName": table, "Item": item, **_condition(condition, values)}}


def delete(table: str, key: items.Item, condition: str = "", **values: dict[str, str]) -> Action:
    return {"Delete": {"TableName": table, "Key": key, **_condition(condition, values)}}


def put_record(table: str, record: IdempotencyRecord, clock: Clock) -> Action:
    """Its condition fails where the key is taken and still lives."""
    now = {"N": str(int(clock.now().timestamp()))}
    action = put(table, items.record_item(record), f"{FREE} OR #ttl <= :now", now=now)
    action["Put"]["ExpressionAttributeNames"] = {"#ttl": "ttl"}
    return action


def transact(dynamodb: Service, clock: Clock, actions: Sequence[Action]) -> None:
    """Raises ConditionFailed, StoreThrottled, StoreUnavailable."""
    pause = PAUSE_SECONDS
    for _ in range(ATTEMPTS):
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
