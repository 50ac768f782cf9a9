"""Sends the spans of commits to a receiver outside (ADR 78)."""

from collections.abc import Sequence
from typing import NamedTuple

from shared.agent.traces.run_ends import completed
from shared.domain.traces.spans_of import spans_of
from shared.ports.outside.traces import CommitName, CommitReader, SpanReceiver


class Exported(NamedTuple):
    """`spans`: that the receiver took. `lost`: that nobody will get: those it refused, and one for each commit that was
    deleted before it was read or is damaged. `restored`: commits that a restore brought back. They are not sent again.
    """

    spans: int = 0
    lost: int = 0
    restored: int = 0


def export(
    reader: CommitReader, receiver: SpanReceiver, names: Sequence[CommitName], *, with_content: bool = False
) -> Exported:
    """`with_content`: as in `spans_of`. Raises what the reader and the receiver raise; then it may be done again."""
    wanted = set(names)
    found = reader.read(tuple(wanted))
    new = [each for each in found if not each.is_restored]
    spans = [
        span
        for name, commit, _ in new
        for span in completed(reader, name.partition, commit, spans_of(commit, with_content=with_content))
    ]
    refused = receiver.send(spans) if spans else 0
    return Exported(len(spans) - refused, len(wanted) - len(found) + refused, len(found) - len(new))
