"""Everything `mcp` needs, put together once per process: what the functions need whose routes it asks."""

from functools import cache
from typing import NamedTuple

from functions.intervene.dependencies import Dependencies as Intervene
from functions.intervene.dependencies import dependencies as intervene
from functions.start.dependencies import Dependencies as Start
from functions.start.dependencies import dependencies as start
from functions.status.dependencies import Dependencies as Status
from functions.status.dependencies import dependencies as status
from shared.adapters.dynamodb.definitions import DynamoDefinitions
from shared.adapters.system_clock import SystemClock
from shared.api.limiter import Limiter
from shared.ports.audit import Audit
from shared.ports.definitions import DefinitionStore
from shared.settings import Settings


class Dependencies(NamedTuple):
    """`limiter`: the one that all routes share, as they share the worker."""

    settings: Settings
    start: Start
    status: Status
    intervene: Intervene
    definitions: DefinitionStore
    audit: Audit
    limiter: Limiter | None = None


@cache
def dependencies() -> Dependencies:
    first = start()
    return Dependencies(
        settings=first.settings,
        start=first,
        status=status(),
        intervene=intervene(),
        definitions=DynamoDefinitions(first.settings.table, SystemClock()),
        audit=first.audit,
        limiter=first.limiter,
    )
