"""Sends spans of what sessions did to an OpenTelemetry endpoint (ADR 78).

`usage` hands over the names of new commits in a queue. A message whose spans were not taken stays there and comes
again. After a day it is given up. What nobody will get is counted and logged.
"""

from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from typing import Any, NamedTuple

from acta_engine.clock import Clock
from acta_engine.egress.address import FOR_TRACES, AddressGuard
from acta_engine.settings import settings
from acta_engine.system_clock import SystemClock
from acta_engine.telemetry import Telemetry
from acta_engine.traces.commits import DynamoTracedCommits
from acta_engine.traces.export import export
from acta_engine.traces.otlp import OtlpReceiver, addressed, headers_of
from acta_engine.traces.port import (
    CommitMessages,
    CommitReader,
    HandedOver,
    SpanReceiver,
    SpansNotDelivered,
)
from acta_engine.traces.queue import TraceQueue


class Dependencies(NamedTuple):
    queue: CommitMessages
    commits: CommitReader
    receiver: SpanReceiver
    clock: Clock
    with_content: bool = False


@cache
def dependencies() -> Dependencies:
    chosen = addressed(settings())
    clock = SystemClock()
    guard = AddressGuard(chosen, lists=FOR_TRACES)
    return Dependencies(
        queue=TraceQueue(chosen.traces_queue_url),
        commits=DynamoTracedCommits(chosen.table, clock),
        receiver=OtlpReceiver(chosen.traces_url, guard, headers_of(chosen), chosen.env),
        clock=clock,
        with_content=chosen.traces_content,
    )


telemetry = Telemetry("traces")

GIVEN_UP_AFTER = timedelta(hours=24)
"""The queue keeps messages for longer, so that what is given up is given up here, and counted."""
BEGINS_WITHIN = timedelta(seconds=20)
"""A message is begun only so long after the first one: a receiver that is slow may not use up the invocation."""


def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return export_all(dependencies(), event)


def export_all(deps: Dependencies, event: Mapping[str, Any]) -> dict[str, Any]:
    """The answer names the messages that stay in the queue. Once the receiver is away no other message is tried."""
    began, is_away, staying = deps.clock.now(), False, []
    for record in event.get("Records", ()):
        handed = deps.queue.parse(record)
        if is_away or deps.clock.now() - began > BEGINS_WITHIN:
            is_done = False
        else:
            is_done, is_away = _exported(deps, handed)
        if is_done:
            continue
        if deps.clock.now() - handed.since > GIVEN_UP_AFTER:
            telemetry.spans_lost(len(handed.commits), why="given up after a day")
        else:
            staying.append({"itemIdentifier": handed.message_id})
    return {"batchItemFailures": staying}


def _exported(deps: Dependencies, handed: HandedOver) -> tuple[bool, bool]:
    """Whether the message is done with, and whether the receiver is away."""
    try:
        done = export(deps.commits, deps.receiver, handed.commits, with_content=deps.with_content)
    except SpansNotDelivered as failed:
        telemetry.spans_not_delivered(str(failed))
        return False, True
    except Exception as error:  # it concerns this message alone, so the others go on
        telemetry.failure(error)
        return False, False
    telemetry.logger.info("exported", extra=done._asdict())
    if done.lost:
        telemetry.spans_lost(done.lost, why="refused, deleted or damaged")
    return True, False


handler = telemetry.watch(handle)
