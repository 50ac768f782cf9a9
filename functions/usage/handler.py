"""Adds what sessions have used to the usage of their tenants, as the table's stream tells of commits (ADR 67). Where
the environment exports traces, hands the commits over to the function that does (ADR 78).

What is raised makes the stream bring the same commits again. What is logged: `lines.py`.
"""

from typing import Any

from functions.usage.dependencies import Dependencies, dependencies
from functions.usage.lines import Lines
from shared.adapters.dynamodb.usage.store import committed_in
from shared.agent.usage.fold import fold
from shared.ports.outside.traces import CommitName
from shared.telemetry import Telemetry

telemetry = Telemetry("usage")


def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return count(dependencies(), event)


def count(deps: Dependencies, event: dict[str, Any]) -> dict[str, Any]:
    """Raises StoreThrottled, StoreUnavailable, AwsDenied."""
    lines, commits = Lines(telemetry.logger), tuple(committed_in(event))
    folded = fold(deps.store, deps.pseudonyms, commits, lines.tell)
    lines.counted(folded)
    if deps.traces is not None:
        deps.traces.put(CommitName(each.partition, each.number) for each in commits)
    return folded._asdict()


handler = telemetry.watch(handle)
