"""How changes reach `notify`: from the table's stream, and again from the retry queue on SQS.

The stream, as Lambda brings it, has the keys of the items that changed; the items are read from the table. So no
content of a session is in a second place, and an intervention that was decided before its notification could be sent
is read as decided.

The queue has changes whose notification was not delivered. Lambda gets each message again until its notification is
delivered. The queue's visibility timeout is the time between two attempts (`NOTIFY_PAUSE` in
`acta/infra/stream.py`), and its retention period limits how long they go on (`NOTIFICATION_HOURS` in
`acta/infra/retention.py`). Each message names its tenant as its group: then SQS brings those of others first
while one tenant's fill the queue. Source: Amazon SQS Developer Guide, "How Amazon SQS fair queues work".
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from acta.engine.aws.clients import Service
from acta.engine.bound_tenant import tenant_hash
from acta.engine.log.head import TERMINAL, Head
from acta.engine.notifications.notification import (
    InterventionChange,
    QueuedChange,
    ReceiverName,
    SessionChange,
)
from acta.engine.store import table_layout as items
from acta.engine.store.dynamodb import OneTable, newest_commit
from acta.engine.store.keys import TENANT, key_part, part_text

APPEARED, CHANGED = "INSERT", "MODIFY"


class StreamedChanges(OneTable):
    def changed_by(self, event: Mapping[str, Any]) -> Iterator[InterventionChange | SessionChange]:
        """A session that begins is not over, so its first listing is passed over."""
        for record in event.get("Records", ()):
            key: items.Item = record["dynamodb"]["Keys"]
            what, name = record["eventName"], key["sk"]["S"]
            if name.startswith(items.INTERVENTION) and what in (APPEARED, CHANGED):
                partition, item = key["pk"]["S"], self._get(key)
                now = None if item is None else items.item_intervention(item)
                part = partition.removeprefix(TENANT)
                tenant = part_text(part)
                if tenant is None and now is not None:  # the key has a long name's hash, the session the name
                    pk = f"{partition}#{items.LISTING}{key_part(now.session_id)}"
                    newest = newest_commit(self._dynamodb, self._table, pk, consistent=True)
                    tenant = None if newest is None else newest.head.tenant
                yield InterventionChange(tenant or part, now, what == APPEARED, partition)
            elif name.startswith(items.LISTING) and what == CHANGED:
                yield SessionChange(self._ended(key), key["pk"]["S"])

    def _ended(self, key: items.Item) -> Head | None:
        """The newest head, read only where the listing says that the session is over."""
        item = self._get(key)
        if item is None or item["st"]["S"] not in TERMINAL:
            return None
        pk = items.session_pk_of_listing(key)
        newest = newest_commit(self._dynamodb, self._table, pk, consistent=True)
        return None if newest is None else newest.head


SOURCE = "aws:sqs"
FIRST_DELAY_SECONDS = 2
"""The time before the second attempt. A short disturbance is over by then."""


class NotificationQueue:
    """A RetryQueue. A message has the changed item's key, the kind of the change and who has not been told: from these
    the same notification with the same id can be made again.
    """

    def __init__(self, url: str, client: Any = None) -> None:
        self._url = url
        self._sqs = Service("sqs", client)

    def put(
        self, change: Mapping[str, Any], to: ReceiverName | None = None, *, at_once: bool = False
    ) -> None:
        kept: dict[str, Any] = {
            "eventName": change["eventName"],
            "dynamodb": {"Keys": change["dynamodb"]["Keys"]},
            **({"to": to} if to is not None else {}),
        }
        body = json.dumps(kept, separators=(",", ":"))
        delay = 0 if at_once else FIRST_DELAY_SECONDS
        tenant = change["dynamodb"]["Keys"]["pk"]["S"].removeprefix(TENANT).partition("#")[0]
        self._sqs.call(
            "send_message",
            QueueUrl=self._url,
            MessageBody=body,
            DelaySeconds=delay,
            MessageGroupId=tenant_hash(tenant),
        )

    def parse(self, record: Mapping[str, Any]) -> QueuedChange | None:
        if record.get("eventSource") != SOURCE:
            return None
        change = json.loads(record["body"])
        to = change.pop("to", None)
        return QueuedChange(record["messageId"], change, to if to in get_args(ReceiverName) else None)
