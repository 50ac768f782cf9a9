"""The retry queue on SQS, for changes whose notification was not delivered.

Lambda gets each message again until its notification is delivered. The queue's visibility timeout is the time between
two attempts, and its retention period limits how long they go on.
"""

import json
from collections.abc import Mapping
from typing import Any, get_args

from acta_engine.aws.clients import Service
from acta_engine.notifications.notification import ReceiverName
from acta_engine.notifications.notifier import QueuedChange

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
        self._sqs.call("send_message", QueueUrl=self._url, MessageBody=body, DelaySeconds=delay)

    def parse(self, record: Mapping[str, Any]) -> QueuedChange | None:
        if record.get("eventSource") != SOURCE:
            return None
        change = json.loads(record["body"])
        to = change.pop("to", None)
        return QueuedChange(record["messageId"], change, to if to in get_args(ReceiverName) else None)
