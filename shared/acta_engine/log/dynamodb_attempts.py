"""The marker of a session's model calls and the text of its running turn on DynamoDB: one item of each for a session,
outside the range of the commits.

pk                        sk    attributes
T#{tenant}#S#{session}    A     k id of its last attempt, v schema version, z body;
                                of a deleted session only ttl is left
                          P     p body, v schema version, ttl; of a deleted session only ttl is left
"""

from typing import Any

from acta_engine.aws.clients import Service
from acta_engine.aws.errors import AwsRefused
from acta_engine.errors import Fenced
from acta_engine.log.attempt import PARTIAL_VERSION, Marker, Partial
from acta_engine.log.attempts import PARTIAL_LIFE, AttemptsChanged
from acta_engine.store import table_layout as items
from acta_engine.store.documents import dump, load
from acta_engine.store.query import OneTable, get_item
from acta_engine.store.versions import CURRENT


def from_marker(marker: Marker, version: int) -> bytes:
    """`version`: the one to write."""
    return dump(marker, version)


def to_marker(version: int, data: bytes) -> Marker:
    """Raises SchemaUnknown, PoisonedSession."""
    return load("marker of model calls", Marker, version, data)


class DynamoAttempts:
    """`client`: a botocore DynamoDB client, where it is not this process's own. `write_version`: the schema version of
    its markers (`acta_engine.store.versions`).
    """

    def __init__(self, table: str, client: Any = None, *, write_version: int = CURRENT) -> None:
        self._table = table
        self._version = write_version
        self._dynamodb = Service("dynamodb", client)

    def write(self, tenant: str, session_id: str, marker: Marker, *, after: str | None) -> None:
        own = marker.last_id or ""
        item = {
            **items.attempts_key(tenant, session_id),
            "k": {"S": own},
            "v": {"N": str(self._version)},
            "z": {"B": from_marker(marker, self._version)},
        }
        known = {":own": {"S": own}} | ({":after": {"S": after}} if after is not None else {})
        try:
            self._dynamodb.call(
                "put_item",
                TableName=self._table,
                Item=item,
                ConditionExpression=f"attribute_not_exists(pk) OR k IN ({', '.join(known)})",
                ExpressionAttributeValues=known,
            )
        except AwsRefused as refused:
            if refused.code != "ConditionalCheckFailedException":
                raise
            found = self._item(tenant, session_id)
            if found and "z" not in found:
                raise Fenced("the session was deleted") from None
            raise AttemptsChanged(_marker(found)) from None

    def read(self, tenant: str, session_id: str) -> Marker:
        return _marker(self._item(tenant, session_id))

    def _item(self, tenant: str, session_id: str) -> items.Item:
        return get_item(self._dynamodb, self._table, items.attempts_key(tenant, session_id)) or {}


def _marker(item: items.Item) -> Marker:
    return to_marker(*items.stored(item)) if "z" in item else Marker()


def from_partial(partial: Partial) -> bytes:
    return dump(partial, PARTIAL_VERSION)


def to_partial(version: int, data: bytes) -> Partial:
    return load("partial text", Partial, version, data)


_NOT_DELETED = "attribute_not_exists(pk) OR attribute_exists(p)"


class DynamoPartials(OneTable):
    def put(self, tenant: str, session_id: str, partial: Partial) -> None:
        item = {
            **items.partial_key(tenant, session_id),
            "p": {"B": from_partial(partial)},
            "v": {"N": str(PARTIAL_VERSION)},
            "ttl": {"N": str(int((partial.at + PARTIAL_LIFE).timestamp()))},
        }
        self._call_if("put_item", Item=item, ConditionExpression=_NOT_DELETED)

    def get(self, tenant: str, session_id: str) -> Partial | None:
        key = items.partial_key(tenant, session_id)
        item = self._dynamodb.call("get_item", TableName=self._table, Key=key).get("Item", {})
        return to_partial(int(item["v"]["N"]), item["p"]["B"]) if "p" in item else None
