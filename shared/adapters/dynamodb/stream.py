"""The table's stream as Lambda brings it: the keys of the items that changed. The items are read from the table.

The stream has keys only, so that no content of a session is in a second place. And an intervention that was decided
before its notification could be sent is read as decided.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from shared.adapters.aws.clients import Service
from shared.adapters.dynamodb import table_layout as items
from shared.domain.interventions.intervention import Intervention
from shared.ports.notifier import InterventionChange

TENANT = "T#"
HASHED = "%sha256-"
APPEARED, CHANGED = "INSERT", "MODIFY"


class StreamedChanges:
    """`client`: a botocore DynamoDB client, where it is not this process's own."""

    def __init__(self, table: str, client: Any = None) -> None:
        self._table = table
        self._dynamodb = Service("dynamodb", client)

    def changed_by(self, event: Mapping[str, Any]) -> Iterator[InterventionChange]:
        for record in event.get("Records", ()):
            key: items.Item = record["dynamodb"]["Keys"]
            what = record["eventName"]
            if key["sk"]["S"].startswith(items.INTERVENTION) and what in (APPEARED, CHANGED):
                yield InterventionChange(_tenant(key["pk"]["S"]), self._now(key), what == APPEARED)

    def _now(self, key: items.Item) -> Intervention | None:
        answer = self._dynamodb.call("get_item", TableName=self._table, Key=key, ConsistentRead=True)
        return items.item_intervention(answer["Item"]) if "Item" in answer else None


def _tenant(pk: str) -> str:
    """A tenant's name that is too long for a key stays as the key has it: its hash."""
    part = pk.removeprefix(TENANT)
    return part if part.startswith(HASHED) else unquote(part, errors="surrogatepass")
