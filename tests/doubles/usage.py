"""The usage of tenants on SQLite in memory."""

from collections.abc import Sequence

from acta.embedded.table import SqliteTable
from acta.engine.usage.dynamodb import DynamoUsage, committed
from acta.engine.usage.store import Fold, FoldLost, StreamCommit
from acta.engine.usage.usage import Rows
from acta.testing.clock import FakeClock


class MemoryUsage(DynamoUsage):
    """`lost`: so many writes more find that somebody else was faster. `writes`: how many there were."""

    def __init__(self, table: SqliteTable) -> None:
        super().__init__("t", FakeClock(), table)
        self._stored = table
        self.lost = 0
        self.writes = 0

    def committed(self) -> list[StreamCommit]:
        """Every commit that the table has, or had before a deletion."""
        names = [(each["pk"]["S"], each["sk"]["S"]) for each in self._stored.scan(TableName="t")["Items"]]
        found = (committed(*name, self._stored.clock.now()) for name in names)
        return [each for each in found if each is not None]

    def add(self, folds: Sequence[Fold], rows: Rows) -> None:
        if self.lost:
            self.lost -= 1
            raise FoldLost
        super().add(folds, rows)
        self.writes += 1
