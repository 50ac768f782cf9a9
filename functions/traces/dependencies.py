"""Everything `traces` needs, put together once per process."""

from functools import cache
from typing import NamedTuple

from shared.adapters.egress.address import FOR_TRACES, AddressGuard
from shared.adapters.system_clock import SystemClock
from shared.adapters.traces.commits import DynamoTracedCommits
from shared.adapters.traces.headers import addressed, headers_of
from shared.adapters.traces.otlp import OtlpReceiver
from shared.adapters.traces.queue import TraceQueue
from shared.ports.clock import Clock
from shared.ports.outside.traces import CommitMessages, CommitReader, SpanReceiver
from shared.settings import settings


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
