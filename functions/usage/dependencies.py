"""Everything `usage` needs, put together once per process."""

from functools import cache
from typing import NamedTuple

from shared.adapters.audit.configured import audit
from shared.adapters.dynamodb.usage.store import DynamoUsage
from shared.adapters.system_clock import SystemClock
from shared.adapters.traces.queue import TraceQueue
from shared.ports.audit import Pseudonyms
from shared.ports.meter import UsageStore
from shared.ports.outside.traces import CommitQueue
from shared.settings import settings


class Dependencies(NamedTuple):
    """`traces` None: the environment exports none."""

    store: UsageStore
    pseudonyms: Pseudonyms
    traces: CommitQueue | None = None


@cache
def dependencies() -> Dependencies:
    chosen = settings()
    clock = SystemClock()
    return Dependencies(
        DynamoUsage(chosen.table, clock),
        audit(chosen, clock).pseudonyms,
        TraceQueue(chosen.traces_queue_url) if chosen.traces_queue_url else None,
    )
