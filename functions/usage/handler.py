"""Adds what sessions have used to the usage of their tenants, as the table's stream tells of commits (ADR 67).

What is raised makes the stream bring the same commits again. What is logged: `lines.py`.
"""

from typing import Any

from functions.usage.dependencies import Dependencies, dependencies
from functions.usage.lines import Lines
from shared.adapters.dynamodb.usage.store import committed_in
from shared.agent.usage.fold import fold
from shared.telemetry import Telemetry

telemetry = Telemetry("usage")


def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return count(dependencies(), event)


def count(deps: Dependencies, event: dict[str, Any]) -> dict[str, Any]:
    """Raises StoreThrottled, StoreUnavailable, AwsDenied."""
    lines = Lines(telemetry.logger)
    folded = fold(deps.store, deps.pseudonyms, committed_in(event), lines.tell)
    lines.counted(folded)
    return folded._asdict()


handler = telemetry.watch(handle)
