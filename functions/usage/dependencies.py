"""Everything `usage` needs, put together once per process."""

from functools import cache
from typing import NamedTuple

from shared.adapters.audit.configured import audit
from shared.adapters.dynamodb.usage.store import DynamoUsage
from shared.adapters.system_clock import SystemClock
from shared.ports.audit import Pseudonyms
from shared.ports.meter import UsageStore
from shared.settings import settings


class Dependencies(NamedTuple):
    store: UsageStore
    pseudonyms: Pseudonyms


@cache
def dependencies() -> Dependencies:
    chosen = settings()
    clock = SystemClock()
    return Dependencies(DynamoUsage(chosen.table, clock), audit(chosen, clock).pseudonyms)
