"""Adds what sessions have used to the usage of their tenants, as the table's stream tells of commits (ADR 67).

What is raised makes the stream bring the same commits again. Only counts are logged.
"""

from typing import Any

from functions.usage.dependencies import Dependencies, dependencies
from shared.adapters.dynamodb.usage.store import committed_in
from shared.agent.usage.fold import fold
from shared.telemetry import Telemetry

telemetry = Telemetry("usage")


def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return count(dependencies(), event)


def count(deps: Dependencies, event: dict[str, Any]) -> dict[str, Any]:
    """Raises StoreThrottled, StoreUnavailable, AwsDenied."""
    folded = fold(deps.store, deps.pseudonyms, committed_in(event))
    if folded.sessions or folded.unread:
        telemetry.logger.info("counted", extra=folded._asdict())
    return folded._asdict()


handler = telemetry.watch(handle)
