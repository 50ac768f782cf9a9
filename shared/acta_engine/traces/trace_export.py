"""Sends spans of what sessions did to an OpenTelemetry endpoint (ADR 78).

`usage` hands over the names of new commits in a queue. A message whose spans were not taken stays there and comes
again. After a day it is given up. What nobody will get is counted and logged.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from acta_engine.clock import Clock
from acta_engine.telemetry import Telemetry
from acta_engine.traces.export import export
from acta_engine.traces.port import (
    CommitMessages,
    CommitReader,
    HandedOver,
    SpanReceiver,
    SpansNotDelivered,
)

GIVEN_UP_AFTER = timedelta(hours=24)
"""The queue keeps messages for longer, so that what is given up is given up here, and counted."""
BEGINS_WITHIN = timedelta(seconds=20)
"""A message is begun only so long after the first one: a receiver that is slow may not use up the invocation."""


@dataclass
class TraceExport:
    """Answers the events of the function `traces`: messages that name commits."""

    queue: CommitMessages
    commits: CommitReader
    receiver: SpanReceiver
    clock: Clock
    telemetry: Telemetry
    with_content: bool = False
    """Spans have what people, models and tools said (`Settings.traces_content`)."""

    def handle(self, event: Mapping[str, Any], context: Any = None) -> dict[str, Any]:
        """The answer names the messages that stay in the queue. Once the receiver is away no other message is tried."""
        began, is_away, staying = self.clock.now(), False, []
        for record in event.get("Records", ()):
            handed = self.queue.parse(record)
            if is_away or self.clock.now() - began > BEGINS_WITHIN:
                is_done = False
            else:
                is_done, is_away = self._exported(handed)
            if is_done:
                continue
            if self.clock.now() - handed.since > GIVEN_UP_AFTER:
                self.telemetry.spans_lost(len(handed.commits), why="given up after a day")
            else:
                staying.append({"itemIdentifier": handed.message_id})
        return {"batchItemFailures": staying}

    def _exported(self, handed: HandedOver) -> tuple[bool, bool]:
        """Whether the message is done with, and whether the receiver is away."""
        try:
            done = export(self.commits, self.receiver, handed.commits, with_content=self.with_content)
        except SpansNotDelivered as failed:
            self.telemetry.spans_not_delivered(str(failed))
            return False, True
        except Exception as error:  # it concerns this message alone, so the others go on
            self.telemetry.failure(error)
            return False, False
        self.telemetry.logger.info("exported", extra=done._asdict())
        if done.lost:
            self.telemetry.spans_lost(done.lost, why="refused, deleted or damaged")
        return True, False
