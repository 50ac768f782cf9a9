"""Adds what sessions have used to the usage of their tenants, as the table's stream tells of commits (ADR 67). Where
the environment exports traces, hands the commits over to the function that does (ADR 78).

What is raised makes the stream bring the same commits again. What is logged: `lines.py`.
"""

from collections.abc import Sequence
from typing import Any

from functions.usage.dependencies import Dependencies, dependencies
from functions.usage.lines import Lines
from shared.adapters.aws.errors import AwsRefused
from shared.adapters.dynamodb.usage.store import committed_in
from shared.agent.usage.fold import fold
from shared.domain.errors import AwsDenied, StoreThrottled, StoreUnavailable
from shared.ports.outside.traces import CommitName, CommitQueue
from shared.telemetry import Telemetry

telemetry = Telemetry("usage")


def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return count(dependencies(), event)


def count(deps: Dependencies, event: dict[str, Any]) -> dict[str, Any]:
    """Raises StoreThrottled, StoreUnavailable, AwsDenied, all of them by the table alone."""
    lines, commits = Lines(telemetry.logger), tuple(committed_in(event))
    folded = fold(deps.store, deps.pseudonyms, commits, lines.tell, lines.unreadable)
    lines.counted(folded)
    if deps.traces is not None:
        _hand_over(deps.traces, [CommitName(each.partition, each.number) for each in commits])
    return folded._asdict()


def _hand_over(queue: CommitQueue, names: Sequence[CommitName]) -> None:
    """A queue that takes nothing costs spans: the stream does not wait for it, and what is counted goes on."""
    try:
        queue.put(names)
    except (StoreThrottled, StoreUnavailable, AwsDenied, AwsRefused) as error:
        telemetry.spans_lost(len(names), why=f"not handed over: {type(error).__name__}")


handler = telemetry.watch(handle)
