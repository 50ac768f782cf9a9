"""The items of a tenant's usage: keys, attributes, and what they hold (ADR 67).

    pk                sk                       attributes
    T#{tenant}#=U     H#{number}               an hour: one attribute for each amount, u newest commit that is counted
    T#{tenant}#=U     A#{number}#{agent}       a day of an agent; the number is that of the hour or the day since 1970
    T#{tenant}#=U     M#{number}#{model}       a day of a model
    T#{tenant}#=U     U#{number}#{user}        a day of a user, by pseudonym
    T#{tenant}#=U     E#{number}#{end}         a day of a way in which runs ended
    T#{tenant}#=U     N#{session}              what was counted of a session: n commit, v version, z body; of a
                                               deleted one ttl alone
    T#{tenant}#=U     D#{session}              what a deletion left to be counted: n commit, t tenant, v, z, ttl

No part of a key has a `#` or a `=`, so this partition is nobody else's. None of these sort keys begins as that of a
listing, an intervention or a commit: the stream's readers choose their records by that alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from acta.engine.aws.errors import AwsRefused
from acta.engine.errors import PoisonedSession, SchemaUnknown
from acta.engine.log.commit import Commit
from acta.engine.log.head import Head
from acta.engine.store.dynamodb import (
    FREE,
    Action,
    ClockedTable,
    ConditionFailed,
    batch_get,
    delete,
    put,
    transact,
)
from acta.engine.store.keys import key_part, part_text, tenant_part, tenant_pk
from acta.engine.store.table_layout import (
    ATTRIBUTES_VERSION,
    COMMIT,
    Item,
    dump,
    is_tombstone,
    item_commit,
    item_key,
    item_name,
    load,
    number_sk,
    sortable,
)
from acta.engine.usage.store import Fold, FoldLost, StreamCommit, SumsRefused, UsagePartition
from acta.engine.usage.usage import NOTHING, Amounts, Dimension, RowKey, Rows, UsageBaseline, counted, hour_of

PARTITION = "#=U"
SESSION = "#S#"
"""Between a tenant and a session in the keys of commits."""
HOURS, AGENTS, MODELS, USERS, ENDS = "H#", "A#", "M#", "U#", "E#"
COUNTED, LEFT = "N#", "D#"
ROWS: dict[Dimension, str] = {"tenant": HOURS, "agent": AGENTS, "model": MODELS, "user": USERS, "end": ENDS}
KEPT = timedelta(days=2)
"""Longer than a stream keeps its records: none of a deleted session can come any more."""
ATTRIBUTES: dict[str, str] = {name: kind.__metadata__[0] for name, kind in Amounts.__annotations__.items()}
"""Amount -> attribute."""


def usage_pk(tenant_part: str) -> str:
    """`tenant_part`: as it stands in keys."""
    return f"T#{tenant_part}{PARTITION}"


def committed(pk: str, sk: str, at: datetime) -> StreamCommit | None:
    """The commit with these keys; None: they are of something else."""
    tenant, found, session = pk.removeprefix("T#").partition(SESSION)
    if not found or not sk.startswith(COMMIT):
        return None
    return StreamCommit(UsagePartition(tenant, session), int(sk.removeprefix(COMMIT)), at)


def commit_key(partition: UsagePartition, number: int) -> Item:
    pk = f"T#{partition.tenant}{SESSION}{partition.session}"
    return item_key(pk, number_sk(number))


def counted_key(partition: UsagePartition) -> Item:
    return item_key(usage_pk(partition.tenant), COUNTED + partition.session)


def counted_item(partition: UsagePartition, now: UsageBaseline) -> Item:
    """The item of what was counted. For a deleted session it says only that all of it was counted."""
    key = counted_key(partition)
    if now.standing == "deleted":
        return {**key, "ttl": {"N": str(int((now.at + KEPT).timestamp()))}}
    return {**key, "n": {"N": str(now.number)}, **_body(now)}


def _counted_in(item: Item) -> UsageBaseline:
    """Raises PoisonedSession, SchemaUnknown."""
    try:
        version, body = int(item["v"]["N"]), item["z"]["B"]
    except (KeyError, ValueError):
        raise PoisonedSession("a stored count of a session cannot be read") from None
    return load("count of a session", UsageBaseline, version, body)


def left_key(partition: UsagePartition) -> Item:
    return item_key(usage_pk(partition.tenant), LEFT + partition.session)


def left_item(commit: Commit) -> Item:
    """What stays of a session's last commit, which is emptied with the others: its counts, and who started it."""
    head = commit.head
    partition = UsagePartition(tenant_pk(head.tenant).removeprefix("T#"), key_part(head.session_id))
    return {
        **left_key(partition),
        "n": {"N": str(commit.number)},
        "t": {"S": head.tenant},
        **_body(counted(head, commit.number, head.created_by)),
        "ttl": {"N": str(int((commit.at + KEPT).timestamp()))},
    }


def _body(now: UsageBaseline) -> Item:
    return {"v": {"N": str(ATTRIBUTES_VERSION)}, "z": {"B": dump(now, ATTRIBUTES_VERSION)}}


def row_key(tenant_part: str, key: RowKey) -> Item:
    sk = f"{ROWS[key.dimension]}{key.at:010d}"
    if key.dimension != "tenant":
        sk += f"#{key_part(key.name or '-')}"
    return item_key(usage_pk(tenant_part), sk)


def item_row(dimension: Dimension, item: Item) -> tuple[RowKey, Amounts]:
    at, _, part = item["sk"]["S"].removeprefix(ROWS[dimension]).partition("#")
    name = (part_text(part) or part) if part else ""
    amounts = NOTHING._replace(
        **{field: int(item[short]["N"]) for field, short in ATTRIBUTES.items() if short in item}
    )
    return RowKey(dimension, int(at), name), amounts


def addition(table: str, tenant_part: str, key: RowKey, more: Amounts) -> Action:
    """The action that adds `more`, which is not empty, to the row."""
    added = {ATTRIBUTES[field]: value for field, value in more._asdict().items() if value}
    return {
        "Update": {
            "TableName": table,
            "Key": row_key(tenant_part, key),
            "UpdateExpression": "ADD " + ", ".join(f"#{short} :{short}" for short in added),
            "ExpressionAttributeNames": {f"#{short}": short for short in added},
            "ExpressionAttributeValues": {f":{short}": {"N": str(value)} for short, value in added.items()},
        }
    }


def reaching(table: str, tenant_part: str, until: datetime) -> Action:
    """The action that notes in the row of its hour that commits up to `until` are counted. Its condition fails if a
    later time is noted there.
    """
    return {
        "Update": {
            "TableName": table,
            "Key": row_key(tenant_part, RowKey("tenant", hour_of(until))),
            "UpdateExpression": "SET #u = :u",
            "ConditionExpression": "attribute_not_exists(#u) OR #u < :u",
            "ExpressionAttributeNames": {"#u": "u"},
            "ExpressionAttributeValues": {":u": {"S": sortable(until)}},
        }
    }


APPEARED = "INSERT"


def committed_in(event: Mapping[str, Any]) -> Iterator[StreamCommit]:
    """The commits that the stream's event tells of; nothing else in it matters."""
    for record in event.get("Records", ()):
        if record.get("eventName") != APPEARED:
            continue
        told = record["dynamodb"]
        at = datetime.fromtimestamp(float(told.get("ApproximateCreationDateTime", 0)), UTC)
        found = committed(told["Keys"]["pk"]["S"], told["Keys"]["sk"]["S"], at)
        if found is not None:
            yield found


class DynamoUsage(ClockedTable):
    def counted(self, partitions: Sequence[UsagePartition]) -> Mapping[UsagePartition, UsageBaseline | None]:
        keys = {each: counted_key(each) for each in partitions}
        by_key = {item_name(key): each for each, key in keys.items()}
        found: dict[UsagePartition, UsageBaseline | None] = {}
        for item in self._get_each(keys.values()):
            # that of a deleted session, which is counted whole, has no body
            found[by_key[item_name(item)]] = _counted_in(item) if "z" in item else None
        return found

    def heads(self, commits: Sequence[StreamCommit]) -> Mapping[StreamCommit, Head]:
        keys = {each: commit_key(each.partition, each.number) for each in commits}
        by_key = {item_name(key): each for each, key in keys.items()}
        heads: dict[StreamCommit, Head] = {}
        for item in self._get_each(keys.values()):
            commit = _read(item)
            if commit is not None:  # else a later commit of it has all that this one counted
                heads[by_key[item_name(item)]] = commit.head
        return heads

    def commits(self, partition: UsagePartition, numbers: Sequence[int]) -> Sequence[Commit]:
        keys = [commit_key(partition, number) for number in numbers]
        found = (commit for item in self._get_each(keys) if (commit := _read(item)) is not None)
        return sorted(found, key=lambda commit: -commit.number)

    def left(self, partition: UsagePartition) -> tuple[str, UsageBaseline] | None:
        item = self._get(left_key(partition))
        return None if item is None else (item["t"]["S"], _counted_in(item))

    def add(self, folds: Sequence[Fold], rows: Rows) -> None:
        tenant = folds[0].partition.tenant
        actions: list[dict[str, Any]] = []
        for fold in folds:
            item = counted_item(fold.partition, fold.now)
            if fold.before:
                actions.append(put(self._table, item, "n = :before", before={"N": str(fold.before)}))
            else:
                actions.append(put(self._table, item, FREE))
            if fold.leaves:
                actions.append(delete(self._table, left_key(fold.partition)))
        actions += [addition(self._table, tenant, key, more) for key, more in rows.items() if more != NOTHING]
        try:
            transact(self._dynamodb, self._clock, actions)
        except ConditionFailed:
            raise FoldLost from None
        except AwsRefused as refused:
            if refused.code != "ValidationException" and "ValidationError" not in refused.reasons:
                raise
            raise SumsRefused(str(refused)) from None

    def reach(self, tenant_part: str, until: datetime) -> None:
        with suppress(ConditionFailed):  # another shard of the stream was further
            transact(self._dynamodb, self._clock, [reaching(self._table, tenant_part, until)])

    def rows(
        self, tenant: str, dimension: Dimension, first: int, last: int, name: str | None = None
    ) -> Iterator[tuple[RowKey, Amounts]]:
        if name is not None:
            # One by one: a query would read the rows of everybody else between them, however many people there are.
            for at in range(first, last + 1):
                key = row_key(tenant_part(tenant), RowKey(dimension, at, name))
                answer = self._dynamodb.call("get_item", TableName=self._table, Key=key)
                if "Item" in answer:
                    yield item_row(dimension, answer["Item"])
            return
        kind = ROWS[dimension]
        ends = f"{kind}{first:010d}", f"{kind}{last:010d}#~"
        for item in self._items(usage_pk(tenant_part(tenant)), *ends, ConsistentRead=False):
            yield item_row(dimension, item)

    def agent_names(self, tenant: str, agent_ids: Sequence[str]) -> Mapping[str, str]:
        # Rows are by id, because names change. What reads no names imports no definitions.
        from acta.engine.agents.agent import built_in
        from acta.engine.agents.dynamodb import agent_key, item_agent

        found = [item_agent(item) for item in self._get_each(agent_key(tenant, each) for each in agent_ids)]
        names = {agent.agent_id: agent.name for agent in (built_in(), *found)}
        return {each: names[each] for each in agent_ids if each in names}

    def counted_until(self, tenant: str) -> datetime | None:
        asked: dict[str, Any] = {"ScanIndexForward": False, "ConsistentRead": False, "Limit": 1}
        for item in self._items(usage_pk(tenant_part(tenant)), HOURS, **asked):
            if "u" in item:  # the newest hour has none until all parts of a batch are counted
                return datetime.fromisoformat(item["u"]["S"])
        return None

    def _get_each(self, keys: Iterable[Item]) -> Iterator[Item]:
        return batch_get(self._dynamodb, self._clock, self._table, keys)


def _read(item: Item) -> Commit | None:
    """None: it is emptied, damaged or a later release's."""
    if is_tombstone(item):
        return None
    try:
        return item_commit(item)
    except (PoisonedSession, SchemaUnknown):
        return None
