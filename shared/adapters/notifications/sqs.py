"""Changes whose notification nobody took, as messages of an SQS queue, whose visibility timeout is the pause between
attempts and whose retention is their bound. Lambda brings each message again until it is told."""

import json
from collections.abc import Mapping
from typing import Any

from shared.adapters.aws.clients import Service
from shared.ports.notifier import Postponed

SOURCE = "aws:sqs"
SOON = 2
"""Seconds before the second attempt: what was a hiccup is over by then."""


class Queue:
    """A message is the change's key and what kind of change it was: enough to tell it under the same id."""

    def __init__(self, url: str, client: Any = None) -> None:
        self._url = url
        self._sqs = Service("sqs", client)

    def put(self, change: Mapping[str, Any]) -> None:
        kept = {"eventName": change["eventName"], "dynamodb": {"Keys": change["dynamodb"]["Keys"]}}
        body = json.dumps(kept, separators=(",", ":"))
        self._sqs.call("send_message", QueueUrl=self._url, MessageBody=body, DelaySeconds=SOON)

    def opened(self, record: Mapping[str, Any]) -> Postponed | None:
        if record.get("eventSource") != SOURCE:
            return None
        return Postponed(record["messageId"], json.loads(record["body"]))
