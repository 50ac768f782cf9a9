"""The table's stream as Lambda brings it: keys of what changed. The thing itself is read from the table, as it is now.

Keys only, because what sessions hold has no business in a second place; and what was decided before its notification
got out is seen to be decided.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from shared.adapters.aws.clients import Service
from shared.adapters.dynamodb import session_items as items
from shared.domain.interventions.intervention import Intervention
from shared.ports.notifier import Changed

TENANT = "T#"
HASHED = "%sha256-"
APPEARED, CHANGED = "INSERT", "MODIFY"


class StreamedChanges:
    """`client`: a botocore DynamoDB client, where it is not this process's own."""

    def __init__(self, table: str, client: Any = None) -> None:
        self._table = table
        self._dynamodb = Service("dynamodb", client)

    def told_by(self, event: Mapping[str, Any]) -> Iterator[Changed]:
        for record in event.get("Records", ()):
            key: items.Item = record["dynamodb"]["Keys"]
            what = record["eventName"]
            if key["sk"]["S"].startswith(items.INTERVENTION) and what in (APPEARED, CHANGED):
                yield Changed(_tenant(key["pk"]["S"]), self._now(key), what == APPEARED)

    def _now(self, key: items.Item) -> Intervention | None:
        answer = self._dynamodb.call("get_item", TableName=self._table, Key=key, ConsistentRead=True)
        return items.item_intervention(answer["Item"]) if "Item" in answer else None


def _tenant(pk: str) -> str:
    """One whose name is too long for a key is named as the key names it."""
    part = pk.removeprefix(TENANT)
    return part if part.startswith(HASHED) else unquote(part, errors="surrogatepass")
