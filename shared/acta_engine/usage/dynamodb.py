"""A tenant's usage on DynamoDB. The projector adds to it, `GET /v1/usage` reads it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from acta_engine.aws.clients import Service
from acta_engine.clock import Clock
from acta_engine.errors import PoisonedSession, SchemaUnknown
from acta_engine.log.commit import Commit
from acta_engine.log.head import Head
from acta_engine.store import table_layout as table_items
from acta_engine.store.keys import key_part
from acta_engine.store.query import batch_get, get_item, query
from acta_engine.store.transaction import FREE, ConditionFailed, delete, put, transact
from acta_engine.usage import dynamodb_items as items
from acta_engine.usage.store import Committed, Fold, FoldLost, Partition
from acta_engine.usage.usage import NOTHING, Amounts, Counted, Dimension, RowKey, Rows

APPEARED = "INSERT"


def committed_in(event: Mapping[str, Any]) -> Iterator[Committed]:
    """The commits that the stream's event tells of; nothing else in it matters."""
    for record in event.get("Records", ()):
        if record.get("eventName") != APPEARED:
            continue
        told = record["dynamodb"]
        at = datetime.fromtimestamp(float(told.get("ApproximateCreationDateTime", 0)), UTC)
        found = items.committed(told["Keys"]["pk"]["S"], told["Keys"]["sk"]["S"], at)
        if found is not None:
            yield found


class DynamoUsage:
    """`client`: a botocore DynamoDB client, where it is not this process's own."""

    def __init__(self, table: str, clock: Clock, client: Any = None) -> None:
        self._table = table
        self._clock = clock
        self._dynamodb = Service("dynamodb", client)

    def counted(self, partitions: Sequence[Partition]) -> Mapping[Partition, Counted | None]:
        names = {_text(key := items.counted_key(each)): (each, key) for each in partitions}
        found = self._get([key for _, key in names.values()])
        return {names[_text(item)][0]: items.item_counted(item) for item in found}

    def heads(self, commits: Sequence[Committed]) -> Mapping[Committed, Head]:
        names = {_text(key := items.commit_key(each.partition, each.number)): (each, key) for each in commits}
        heads: dict[Committed, Head] = {}
        for item in self._get([key for _, key in names.values()]):
            commit = _read(item)
            if commit is not None:  # else a later commit of it has all that this one counted
                heads[names[_text(item)][0]] = commit.head
        return heads

    def commits(self, partition: Partition, numbers: Sequence[int]) -> Sequence[Commit]:
        keys = [items.commit_key(partition, number) for number in numbers]
        found = (commit for item in self._get(keys) if (commit := _read(item)) is not None)
        return sorted(found, key=lambda commit: -commit.number)

    def left(self, partition: Partition) -> tuple[str, Counted] | None:
        item = get_item(self._dynamodb, self._table, items.left_key(partition))
        return None if item is None else items.item_left(item)

    def add(self, folds: Sequence[Fold], rows: Rows) -> None:
        tenant = folds[0].partition.tenant
        actions: list[dict[str, Any]] = []
        for fold in folds:
            item = items.counted_item(fold.partition, fold.now)
            if fold.before:
                actions.append(put(self._table, item, "n = :before", before={"N": str(fold.before)}))
            else:
                actions.append(put(self._table, item, FREE))
            if fold.leaves:
                actions.append(delete(self._table, items.left_key(fold.partition)))
        actions += [
            items.addition(self._table, tenant, key, more) for key, more in rows.items() if more != NOTHING
        ]
        try:
            transact(self._dynamodb, self._clock, actions)
        except ConditionFailed:
            raise FoldLost from None

    def reach(self, tenant_part: str, until: datetime) -> None:
        with suppress(ConditionFailed):  # another shard of the stream was further
            transact(self._dynamodb, self._clock, [items.reaching(self._table, tenant_part, until)])

    def rows(
        self, tenant: str, dimension: Dimension, first: int, last: int, name: str | None = None
    ) -> Iterator[tuple[RowKey, Amounts]]:
        if name is not None:
            yield from self._rows_of(tenant, [RowKey(dimension, at, name) for at in range(first, last + 1)])
            return
        kind = items.ROWS[dimension]
        answers = query(
            self._dynamodb,
            TableName=self._table,
            KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
            ExpressionAttributeValues={
                ":pk": {"S": items.usage_pk(key_part(tenant))},
                ":first": {"S": f"{kind}{first:010d}"},
                ":last": {"S": f"{kind}{last:010d}#~"},
            },
        )
        for answer in answers:
            for item in answer["Items"]:
                yield items.item_row(dimension, item)

    def _rows_of(self, tenant: str, keys: Iterable[RowKey]) -> Iterator[tuple[RowKey, Amounts]]:
        """One by one: a query would read the rows of everybody else between them, however many people there are."""
        for key in keys:
            answer = self._dynamodb.call(
                "get_item", TableName=self._table, Key=items.row_key(key_part(tenant), key)
            )
            if "Item" in answer:
                yield items.item_row(key.dimension, answer["Item"])

    def agent_names(self, tenant: str, agent_ids: Sequence[str]) -> Mapping[str, str]:
        # Rows are by id, because names change. What reads no names imports no definitions.
        from acta_engine.agents.agent import built_in
        from acta_engine.agents.dynamodb_items import agent_key, item_agent

        found = [item_agent(item) for item in self._get(agent_key(tenant, each) for each in agent_ids)]
        names = {agent.agent_id: agent.name for agent in (built_in(), *found)}
        return {each: names[each] for each in agent_ids if each in names}

    def counted_until(self, tenant: str) -> datetime | None:
        answers = query(
            self._dynamodb,
            TableName=self._table,
            ScanIndexForward=False,
            Limit=1,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :hours)",
            ExpressionAttributeValues={
                ":pk": {"S": items.usage_pk(key_part(tenant))},
                ":hours": {"S": items.HOURS},
            },
        )
        for answer in answers:
            for item in answer["Items"]:
                if "u" in item:  # the newest hour has none until all parts of a batch are counted
                    return datetime.fromisoformat(item["u"]["S"])
        return None

    def _get(self, keys: Iterable[table_items.Item]) -> Iterator[table_items.Item]:
        return batch_get(self._dynamodb, self._clock, self._table, keys)


def _read(item: table_items.Item) -> Commit | None:
    """None: it is emptied, damaged or a later release's."""
    if table_items.is_tombstone(item):
        return None
    try:
        return table_items.item_commit(item)
    except (PoisonedSession, SchemaUnknown):
        return None


def _text(item: table_items.Item) -> tuple[str, str]:
    return item["pk"]["S"], item["sk"]["S"]
