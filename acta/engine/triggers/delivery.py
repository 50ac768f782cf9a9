"""How events of the operator's sources reach triggers: by SQS, whatever they are.

EventBridge puts the events of buses and buckets into a queue of Acta's, each with the name of its source
(`acta/infra/event_feeds.py`). The operator's queues are read directly. So all of them are tried again in the same way,
and what stays unusable ends in a dead-letter queue, from where an operator can send it again.

An event that fails stays in its queue, and the others of its batch are done with. Source: AWS Lambda developer guide,
"Handling errors for an SQS event source in Lambda", ReportBatchItemFailures.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from acta.engine.bound_tenant import bound_to
from acta.engine.files.store import FileStore
from acta.engine.telemetry import Telemetry
from acta.engine.triggers.sources import (
    WRITTEN_BY,
    EventSource,
    EventUnreadable,
    Received,
    read_event,
    read_message,
)
from acta.engine.untrusted.path import PathRefused

Fire = Callable[[str, str, Received, datetime], object]
"""Gives an event to the bound tenant's triggers: tenant, name of the source, the event, when it came."""
FIFO = ".fifo"
LEAST_MS = 5_000
"""An invocation that has less time left begins no further event. Those come again when they are visible again."""


@dataclass(eq=False, repr=False)
class EventDelivery:
    """Answers the function `wake` where a queue calls it."""

    sources: Mapping[str, EventSource]
    fire: Fire
    files: FileStore
    telemetry: Telemetry

    def handle(self, event: Mapping[str, Any], context: Any = None) -> dict[str, Any]:
        """The answer names the messages that stay in the queue. In a queue that keeps an order nothing overtakes a
        message that failed.
        """
        staying: list[str] = []
        for record in event["Records"]:
            is_ordered = record["eventSourceARN"].endswith(FIFO)
            is_late = context is not None and context.get_remaining_time_in_millis() < LEAST_MS
            if is_late or (staying and is_ordered) or not self._is_done(record):
                staying.append(record["messageId"])
        return {"batchItemFailures": [{"itemIdentifier": each} for each in staying]}

    def _is_done(self, record: Mapping[str, Any]) -> bool:
        name = ""
        try:
            name, is_own = self._source(record)
            if name not in self.sources:
                raise EventUnreadable("the environment has no such source any more")
            source = self.sources[name]
            received = (
                read_event(source, json.loads(record["body"])["event"])
                if is_own
                else read_message(source, record["body"], record["messageId"])
            )
            sent = datetime.fromtimestamp(int(record["attributes"]["SentTimestamp"]) / 1_000, UTC)
            for tenant in received.tenants:
                with bound_to(tenant):
                    for each in self._completed(source, tenant, received):
                        self.fire(tenant, name, each, sent)
        except EventUnreadable as unreadable:
            self.telemetry.event_failed(name, str(unreadable))
            return False
        except Exception as error:  # it concerns this event alone, so the others of the batch go on
            self.telemetry.failure(error, source=name)
            return False
        return True

    def _source(self, record: Mapping[str, Any]) -> tuple[str, bool]:
        """The name of the source, and whether the queue is Acta's own, in which each event has the name beside it."""
        queue = record["eventSourceARN"].rpartition(":")[2]
        for name, source in self.sources.items():
            if source.queue == queue:
                return name, False
        return json.loads(record["body"])["source"], True

    def _completed(self, source: EventSource, tenant: str, received: Received) -> Iterator[Received]:
        """The event of a file with who wrote it, under the id of the write: a write that is repeated is one event.
        Nothing if the file is gone or another one by now, for whose write there is an event of its own.
        """
        if source.kind != "files":
            yield received
            return
        try:
            written = self.files.newest_write(tenant, received.event["path"])
        except PathRefused:  # put into the bucket directly, under a name that no file of Acta has
            return
        if written is not None and written.etag.strip('"') == received.event["etag"]:
            event_id = f"{received.event_id}#{written.write_id or written.etag}"
            event = {**received.event, WRITTEN_BY: written.by}
            yield received._replace(event_id=event_id, event=event, session_id=written.session_id)
