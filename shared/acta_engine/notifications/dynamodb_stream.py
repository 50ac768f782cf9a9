"""The table's stream as Lambda brings it: the keys of the items that changed. The items are read from the table.

The stream has keys only, so that no content of a session is in a second place. And an intervention that was decided
before its notification could be sent is read as decided.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from acta_engine.log.head import TERMINAL, Head
from acta_engine.notifications.notifier import InterventionChange, SessionChange
from acta_engine.store import table_layout as items
from acta_engine.store.dynamodb import OneTable, get_item, newest_commit
from acta_engine.store.keys import TENANT, part_text

APPEARED, CHANGED = "INSERT", "MODIFY"


class StreamedChanges(OneTable):
    def changed_by(self, event: Mapping[str, Any]) -> Iterator[InterventionChange | SessionChange]:
        """A session that begins is not over, so its first listing is passed over."""
        for record in event.get("Records", ()):
            key: items.Item = record["dynamodb"]["Keys"]
            what, name = record["eventName"], key["sk"]["S"]
            if name.startswith(items.INTERVENTION) and what in (APPEARED, CHANGED):
                partition, item = key["pk"]["S"], get_item(self._dynamodb, self._table, key)
                part = partition.removeprefix(TENANT)
                tenant = (
                    part_text(part) or part
                )  # a name that is too long for a key stays as the key has it: its hash
                now = None if item is None else items.item_intervention(item)
                yield InterventionChange(tenant, now, what == APPEARED, partition)
            elif name.startswith(items.LISTING) and what == CHANGED:
                yield SessionChange(self._ended(key), key["pk"]["S"])

    def _ended(self, key: items.Item) -> Head | None:
        """The newest head, read only where the listing says that the session is over."""
        item = get_item(self._dynamodb, self._table, key)
        if item is None or item["st"]["S"] not in TERMINAL:
            return None
        pk = items.session_pk_of_listing(key)
        newest = newest_commit(self._dynamodb, self._table, pk, consistent=True)
        return None if newest is None else newest.head
