"""A session's history as a test looks at it: whole, read page after page as the product reads it."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from acta.engine.log.commit import StepRecord
from acta.engine.log.head import Head
from acta.engine.plans.plan import ExecutionPlan
from acta.engine.sessions.history import History, HistoryCursor, PositionedEntry, Row

ROWS = 7
"""Of a page: few, so that every history a test looks at has several."""

Item = TypeVar("Item")


class WholeHistory:
    def __init__(self, history: History) -> None:
        self.paged = history

    @property
    def head(self) -> Head:
        return self.paged.head

    def steps(self) -> list[StepRecord]:
        return list(_all(self.paged.steps))

    def plan_versions(self) -> list[ExecutionPlan]:
        return list(_all(self.paged.plan_versions))

    def messages(self, offset: int, limit: int) -> tuple[list[PositionedEntry], int | None]:
        return _some(list(_all(self.paged.messages)), offset, limit)

    def trace(self, offset: int, limit: int) -> tuple[list[dict[str, Any]], int | None]:
        return _some(list(_all(self.paged.trace)), offset, limit)


def _all(read: Callable[[HistoryCursor], Iterator[Row[Item]]]) -> Iterator[Item]:
    since: HistoryCursor | None = HistoryCursor()
    while since is not None:
        rows, since = read(since), None
        for told, row in enumerate(rows, start=1):
            if row.item is not None:
                yield row.item
            if row.item is None or told == ROWS:
                since = row.cursor_after
                break


def _some(found: list[Item], offset: int, limit: int) -> tuple[list[Item], int | None]:
    end = offset + limit
    return found[offset:end], end if end < len(found) else None
