"""The retry queue on SQS, for changes whose notification was not delivered.

Lambda gets each message again until its notification is delivered. The queue's visibility timeout is the time between
two attempts, and its retention period limits how long they go on.
"""

import json
from collections.abc import Mapping
from typing import Any

from shared.adapters.aws.clients import Service
from shared.ports.notifier import QueuedChange

SOURCE = "aws:sqs"
FIRST_DELAY_SECONDS = 2
"""The time before the second attempt. A short disturbance is over by then."""


class Queue:
    """A RetryQueue. A message has the changed item's key and the kind of the change: from these the same notification
    with the same id can be made again.
    """

    def __init__(self, url: str, client: Any = None) -> None:
        self._url = url
        self._sqs = Service("sqs", client)

    def put(self, change: Mapping[str, Any]) -> None:
        kept = {"eventName": change["eventName"], "dynamodb": {"Keys": change["dynamodb"]["Keys"]}}
        body = json.dumps(kept, separators=(",", ":"))
        self._sqs.call("send_message", QueueUrl=self._url, MessageBody=body, DelaySeconds=FIRST_DELAY_SECONDS)

    def parse(self, record: Mapping[str, Any]) -> QueuedChange | None:
        if record.get("eventSource") != SOURCE:
            return None
        return QueuedChange(record["messageId"], json.loads(record["body"]))
