"""Texts of running turns on DynamoDB: one item for each session, outside the range of the commits.

pk                        sk    attributes
T#{tenant}#S#{session}    P     p body, v schema version, ttl; of a deleted session only ttl is left
"""

from typing import Any

from shared.adapters.aws.clients import Service
from shared.adapters.aws.errors import AwsRefused
from shared.adapters.dynamodb import table_layout as items
from shared.adapters.storage.documents import dump, load
from shared.domain.session.running_text import PARTIAL_VERSION, Partial
from shared.ports.running_text import PARTIAL_LIFE


def from_partial(partial: Partial) -> bytes:
    return dump(partial, PARTIAL_VERSION)


def to_partial(version: int, data: bytes) -> Partial:
    return load("partial text", Partial, version, data)


_NOT_DELETED = "attribute_not_exists(pk) OR attribute_exists(p)"


class DynamoPartials:
    """`client`: a botocore DynamoDB client, where it is not this process's own."""

    def __init__(self, table: str, client: Any = None) -> None:
        self._table = table
        self._dynamodb = Service("dynamodb", client)

    def put(self, tenant: str, session_id: str, partial: Partial) -> None:
        item = {
            **items.partial_key(tenant, session_id),
            "p": {"B": from_partial(partial)},
            "v": {"N": str(PARTIAL_VERSION)},
            "ttl": {"N": str(int((partial.at + PARTIAL_LIFE).timestamp()))},
        }
        try:
            self._dynamodb.call(
                "put_item", TableName=self._table, Item=item, ConditionExpression=_NOT_DELETED
            )
        except AwsRefused as refused:
            if refused.code != "ConditionalCheckFailedException":
                raise

    def get(self, tenant: str, session_id: str) -> Partial | None:
        key = items.partial_key(tenant, session_id)
        item = self._dynamodb.call("get_item", TableName=self._table, Key=key).get("Item", {})
        return to_partial(int(item["v"]["N"]), item["p"]["B"]) if "p" in item else None
