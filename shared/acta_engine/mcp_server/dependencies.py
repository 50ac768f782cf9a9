"""Everything `mcp` needs, put together once per process: what the functions need whose routes it asks."""

from functools import cache
from typing import NamedTuple

from acta_engine.agents.dynamodb import DynamoDefinitions
from acta_engine.agents.store import DefinitionStore
from acta_engine.audit.store import Audit
from acta_engine.limits.limiter import Limiter
from acta_engine.people.dependencies import Dependencies as Intervene
from acta_engine.people.dependencies import dependencies as intervene
from acta_engine.sessions.dependencies import Dependencies as Status
from acta_engine.sessions.dependencies import dependencies as status
from acta_engine.sessions.start_dependencies import Dependencies as Start
from acta_engine.sessions.start_dependencies import dependencies as start
from acta_engine.settings import Settings
from acta_engine.system_clock import SystemClock


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
