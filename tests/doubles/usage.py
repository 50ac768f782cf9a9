"""The usage of tenants in memory. Names of partitions are as they are."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from acta.engine.log.commit import Commit
from acta.engine.log.head import Head
from acta.engine.store.table_layout import to_commit
from acta.engine.usage.store import Fold, FoldLost, StreamCommit, UsagePartition
from acta.engine.usage.usage import NOTHING, Amounts, Dimension, RowKey, Rows, UsageBaseline
from acta.testing.memory.clock import FakeClock
from acta.testing.memory.definitions import MemoryDefinitions
from acta.testing.memory.table import MemoryTable


class MemoryUsage:
    """`lost`: so many writes more find that somebody else was faster. `writes`: how many there were."""

    def __init__(self, table: MemoryTable) -> None:
        self._table = table
        self._rows: dict[tuple[str, RowKey], Amounts] = {}
        self._counted: dict[UsagePartition, UsageBaseline] = {}
        self._until: dict[str, datetime] = {}
        self.lost = 0
        self.writes = 0

    def committed(self) -> list[StreamCommit]:
        """Every commit that the table has, or had before a deletion."""
        return [
            StreamCommit(UsagePartition(*name), number, to_commit(stored.version, stored.body).at)
            for name, commits in self._table.commits.items()
            for number, stored in commits.items()
        ]

    def counted(self, partitions: Sequence[UsagePartition]) -> Mapping[UsagePartition, UsageBaseline | None]:
        found = {each: self._counted[each] for each in partitions if each in self._counted}
        return {each: None if now.standing == "deleted" else now for each, now in found.items()}

    def heads(self, commits: Sequence[StreamCommit]) -> Mapping[StreamCommit, Head]:
        heads = {}
        for each in commits:
            stored = self._table.commits.get(each.partition, {}).get(each.number)
            if stored is not None and each.partition not in self._table.deleted:
                heads[each] = to_commit(stored.version, stored.body).head
        return heads

    def commits(self, partition: UsagePartition, numbers: Sequence[int]) -> Sequence[Commit]:
        if partition in self._table.deleted:
            return []
        stored = self._table.commits.get(partition, {})
        wanted = sorted((number for number in numbers if number in stored), reverse=True)
        return [to_commit(stored[number].version, stored[number].body) for number in wanted]

    def left(self, partition: UsagePartition) -> tuple[str, UsageBaseline] | None:
        left = self._table.left.get(partition)
        return None if left is None else (partition.tenant, left)

    def add(self, folds: Sequence[Fold], rows: Rows) -> None:
        if self.lost:
            self.lost -= 1
            raise FoldLost
        for fold in folds:
            there = self._counted.get(fold.partition)
            if (0 if there is None else there.number) != fold.before:
                raise FoldLost
        (tenant,) = {fold.partition.tenant for fold in folds}
        self.writes += 1
        for fold in folds:
            self._counted[fold.partition] = fold.now
            if fold.leaves:
                self._table.left.pop(fold.partition, None)
        for key, more in rows.items():
            self._rows[tenant, key] = self._rows.get((tenant, key), NOTHING).plus(more)

    def reach(self, tenant_part: str, until: datetime) -> None:
        self._until[tenant_part] = max(until, self._until.get(tenant_part, until))

    def rows(
        self, tenant: str, dimension: Dimension, first: int, last: int, name: str | None = None
    ) -> Iterator[tuple[RowKey, Amounts]]:
        for (whose, key), amounts in sorted(self._rows.items()):
            fits = whose == tenant and key.dimension == dimension and first <= key.at <= last
            if fits and name in (None, key.name):
                yield key, amounts

    def agent_names(self, tenant: str, agent_ids: Sequence[str]) -> Mapping[str, str]:
        agents = MemoryDefinitions(self._table, FakeClock())
        found = [agents.agent(tenant, each) for each in agent_ids]
        return {agent.agent_id: agent.name for agent in found if agent is not None}

    def counted_until(self, tenant: str) -> datetime | None:
        return self._until.get(tenant)
