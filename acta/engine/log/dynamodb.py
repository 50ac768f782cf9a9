"""The session log on DynamoDB: a commit is one item, an append one conditional put (docs/design/log.md 4)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from acta.engine.aws.clients import Service
from acta.engine.aws.errors import AwsRefused
from acta.engine.clock import Clock, made_at
from acta.engine.errors import Fenced, PoisonedSession, StoreThrottled
from acta.engine.limits.dynamodb import DynamoCounts
from acta.engine.limits.shares import LeaseChange
from acta.engine.log.beside import PARTIAL_LIFE, PARTIAL_VERSION, AttemptsChanged, Marker, PartialReply
from acta.engine.log.commit import Commit
from acta.engine.log.store import (
    NO_ITEMS,
    TOMBSTONE_LIFE,
    Erasure,
    GrantChanged,
    KeyTaken,
    LogPage,
    NumberTaken,
    Occupied,
    Places,
    TransactionItems,
)
from acta.engine.people.visibility import check_visible
from acta.engine.store import table_layout as items
from acta.engine.store.dynamodb import (
    FREE,
    Action,
    ClockedTable,
    ConditionFailed,
    OneTable,
    items_of,
    newest_commit_item,
    put,
    put_record,
    transact,
)
from acta.engine.store.table_layout import dump, load

_FAILED = "ConditionalCheckFailed"
COUNT_ATTEMPTS = 3
"""The first attempt may guess the minute wrong, and the second may lose that minute's last start to another worker."""
_Part = tuple[Action, type[Exception] | None]
"""An action of a transaction, and what its failed condition means."""


class _CountsDiffer(Exception):
    """The tenant's counts are not as the update takes them to be."""


class DynamoLog(ClockedTable):
    """`decode`: reads a stored commit."""

    def __init__(
        self,
        table: str,
        clock: Clock,
        client: Any = None,
        decode: Callable[[items.Item], Commit] = items.item_commit,
    ) -> None:
        super().__init__(table, clock, client)
        self._decode = decode
        self._counts = DynamoCounts(table, clock, self._dynamodb)

    def read(self, tenant: str, session_id: str, since: int, limit: int | None = None) -> LogPage:
        if since > items.LAST_NUMBER:  # DynamoDB refuses a range whose end comes before its beginning
            return LogPage((), complete=True)
        first, last = items.number_sk(max(since, 1)), items.number_sk(items.LAST_NUMBER)
        most = None if limit is None else limit + 1
        found = [*self._items(items.session_pk(tenant, session_id), first, last, most=most)]
        if any(items.is_tombstone(item) for item in found):
            return LogPage((), complete=True)
        kept = found if limit is None else found[:limit]
        commits = tuple(map(self._decode, kept))
        if commits:
            check_visible(commits[-1].head, lambda: self._latest(tenant, session_id))
        return LogPage(commits, complete=len(kept) == len(found))

    def latest(self, tenant: str, session_id: str) -> Commit | None:
        newest = self._latest(tenant, session_id)
        if newest is not None:
            check_visible(newest.head, lambda: newest)
        return newest

    def _latest(self, tenant: str, session_id: str) -> Commit | None:
        pk = items.session_pk(tenant, session_id)
        item = newest_commit_item(self._dynamodb, self._table, pk, consistent=True)
        return None if item is None or items.is_tombstone(item) else self._decode(item)

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        """Where the answer to a plain put is lost, the SDK's own retry meets the commit, and this raises NumberTaken;
        the caller reads again and finds its key.

        Where the answer to a transaction is lost, the retry succeeds, because it carries the token that botocore gives
        each request. The token is not the commit's: a later attempt at the same step has other contents, and DynamoDB
        would refuse it for ten minutes as a mismatch of tokens.
        """
        item = items.commit_item(commit, [each.intervention_id for each in extra_items.interventions])
        try:
            if extra_items == NO_ITEMS:
                self._put(item)
            else:
                self._transact(
                    commit, items.restored_item(item) if extra_items.restored else item, extra_items
                )
        except AwsRefused as refused:
            if refused.code == "ValidationException" or "ValidationError" in refused.reasons:
                raise PoisonedSession(
                    "a commit is larger than DynamoDB stores, or not as it takes it"
                ) from None
            raise

    def children(self, tenant: str, session_id: str) -> tuple[str, ...]:
        rows = self._items(items.session_pk(tenant, session_id), items.CHILD)
        found = [(row["sk"]["S"].removeprefix(items.CHILD), row["o"]["S"]) for row in rows]
        found.sort(key=lambda each: (made_at(each[0]) or 0, each[1]))
        return tuple(session_id for session_id, _ in found)

    def check_places(self, places: Places) -> None:
        self._counts.check(places)

    def delete(self, tenant: str, session_id: str) -> None:
        self._uncount(tenant, session_id)
        delete_session(self._dynamodb, self._table, self._clock, tenant, session_id)

    def _uncount(self, tenant: str, session_id: str) -> None:
        """Takes a session whose log cannot be read out of the count. Any other session is taken out by the commit that
        deletes it."""
        listed = self._get(items.listing_key(tenant, session_id)) or {}
        if not items.is_counted(listed):
            return
        uncounted = {name: value for name, value in listed.items() if name != "ct"}
        actions = [
            put(self._table, uncounted, "attribute_exists(ct)"),
            *self._counts.update(Places(tenant, opened=-1)),
        ]
        with suppress(ConditionFailed):  # somebody else deletes it at this moment
            transact(self._dynamodb, self._clock, actions)

    def note_erasure(self, erasure: Erasure) -> None:
        self._dynamodb.call("put_item", TableName=self._table, Item=items.erasure_item(erasure))

    def end_erasure(self, tenant: str, session_id: str) -> None:
        self._dynamodb.call("delete_item", TableName=self._table, Key=items.erasure_key(tenant, session_id))

    def _put(self, item: items.Item) -> None:
        try:
            self._dynamodb.call("put_item", TableName=self._table, Item=item, ConditionExpression=FREE)
        except AwsRefused as refused:
            if refused.code in ("ConditionalCheckFailedException", "TransactionConflictException"):
                raise NumberTaken from None
            raise

    def _transact(self, commit: Commit, item: items.Item, extra_items: TransactionItems) -> None:
        """Raises ValueError for extra items of another tenant."""
        tenant = commit.head.tenant
        listing, record, leases = extra_items.listing, extra_items.idempotency, extra_items.leases
        erasure, places, receiver = extra_items.erasure, extra_items.places, extra_items.receiver
        lifted = extra_items.lifted
        beside = (listing, record, *leases, erasure, places, receiver, lifted, extra_items.child)
        if any(each is not None and each.tenant != tenant for each in beside):
            raise ValueError("what is written with a commit belongs to its tenant")
        # A restored session takes the place of nothing, whatever a backup says.
        place, lost = (FREE, Occupied) if extra_items.restored else ("", None)
        # The first failed condition decides. The number comes first: a worker that lost it must read again anyway.
        parts: list[_Part] = [(put(self._table, item, FREE), NumberTaken)]
        if record is not None:
            parts.append((put_record(self._table, record, self._clock), KeyTaken))
        for lease in leases:
            parts += [(action, GrantChanged) for action in _lease_changes(self._table, lease)]
        if listing is not None:
            parts.append((put(self._table, items.listing_item(listing), place), lost))
        if erasure is not None:
            parts.append((put(self._table, items.erasure_item(erasure)), None))
            from acta.engine.usage.dynamodb import left_item  # of a deletion alone

            parts.append((put(self._table, left_item(commit)), None))
        if lifted is not None:
            parts.append((put(self._table, items.lifted_erasure_item(lifted)), None))
        if receiver is not None:
            parts.append((put(self._table, items.receiver_item(receiver), place), lost))
        if extra_items.child is not None:
            parts.append((put(self._table, items.child_item(extra_items.child)), None))
        for each in extra_items.interventions:
            parts.append(
                (put(self._table, items.intervention_item(tenant, each, commit.version), place), lost)
            )
        if places is None:
            self._write(parts)
        else:
            self._write_counted(parts, places)

    def _write_counted(self, parts: Sequence[_Part], places: Places) -> None:
        """The counts come last, so a repeated request that has succeeded meets its own key before a limit."""
        counting = self._counts.update(places)
        for _ in range(COUNT_ATTEMPTS):
            try:
                self._write([*parts, *((action, _CountsDiffer) for action in counting)])
            except _CountsDiffer:
                counting = self._counts.corrected(places)
            else:
                self._counts.made(places)
                return
        raise NumberTaken  # others are faster; the caller pauses

    def _write(self, parts: Sequence[_Part]) -> None:
        try:
            self._dynamodb.call("transact_write_items", TransactItems=[action for action, _ in parts])
        except AwsRefused as refused:
            raise _cancelled(refused, [lost for _, lost in parts]) from None


def _lease_changes(table: str, lease: LeaseChange) -> Iterator[Action]:
    """A grant needs enough tokens left. Giving back has no condition, so a run's end is never refused."""
    if lease.of_hour:
        key = items.lease_key(lease.tenant, lease.hour, of_day=lease.of_day)
        room = lease.limit - lease.of_hour
        condition = "attribute_not_exists(g) OR g <= :bound" if lease.of_hour > 0 else ""
        yield _added(table, key, "g", lease, lease.of_hour, condition, room)
    if lease.share is not None:
        key = items.share_key(lease.tenant, lease.hour, lease.share, of_day=lease.of_day)
        condition = "f >= :bound" if lease.of_share < 0 else ""
        yield _added(table, key, "f", lease, lease.of_share, condition, -lease.of_share)


def _added(
    table: str, key: items.Item, name: str, lease: LeaseChange, tokens: int, condition: str, bound: int
) -> Action:
    values = {":zero": 0, ":tokens": tokens, ":ttl": items.hour_ttl(lease.hour)}
    update: Action = {
        "TableName": table,
        "Key": key,
        "UpdateExpression": f"SET {name} = if_not_exists({name}, :zero) + :tokens, #ttl = :ttl",
        "ExpressionAttributeNames": {"#ttl": "ttl"},
    }
    if condition:
        update["ConditionExpression"] = condition
        values[":bound"] = bound
    update["ExpressionAttributeValues"] = {each: {"N": str(value)} for each, value in values.items()}
    return {"Update": update}


def _cancelled(refused: AwsRefused, lost: Sequence[type[Exception] | None]) -> Exception:
    """The exception of the first failed condition; `lost` has one for each item."""
    if refused.code == "TransactionInProgressException":
        return NumberTaken()
    if refused.code != "TransactionCanceledException" or not refused.reasons:
        return refused
    for reason, meaning in zip(refused.reasons, lost, strict=False):
        if reason == _FAILED and meaning is not None:
            return meaning()
    return NumberTaken() if "TransactionConflict" in refused.reasons else refused


BATCH = 25
"""BatchWriteItem's limit."""
ATTEMPTS = 8
PAUSE_SECONDS = 0.05
"""Doubled after each attempt that left items unprocessed."""


def delete_session(dynamodb: Service, table: str, clock: Clock, tenant: str, session_id: str) -> None:
    """Removes a session's items, in an order in which a deletion that was cut short can be repeated.

    Interventions and the listing entry go first. If the worker dies then, the commits still name the interventions.
    After that the commits, in their order, and the running text are replaced by their bare keys, which DynamoDB removes
    after a while (`ttl`). Whatever else is in the session's partition goes; the note of the erasure stays.
    """
    ttl = {"N": str(int((clock.now() + TOMBSTONE_LIFE).timestamp()))}
    tombstones: list[items.Item] = []
    replaced: list[dict[str, str]] = []
    gone = [items.listing_key(tenant, session_id)]
    interventions: dict[str, items.Item] = {}
    found = list(_partition(dynamodb, table, tenant, session_id))
    for item in found:
        key = {"pk": item["pk"], "sk": item["sk"]}
        match item["sk"]["S"]:
            case items.RUNNING_TEXT | items.MARKER | items.ERASURE:
                pass
            case sk if sk.startswith(items.COMMIT):
                if "ttl" in item:
                    replaced.append(item["ttl"])
                else:
                    tombstones.append({**key, "ttl": ttl})
                interventions |= {
                    each: items.intervention_key(tenant, each) for each in item.get("i", {}).get("SS", ())
                }
            case _:
                gone.append(key)
    if found:  # these keys keep a late worker from writing the running text or the marker again
        beside = (items.partial_key(tenant, session_id), items.attempts_key(tenant, session_id))
        # a repeated deletion keeps the time of the first one: late workers are those of the first
        as_before = max(replaced, key=lambda each: int(each["N"])) if replaced and not tombstones else ttl
        tombstones += [{**key, "ttl": as_before} for key in beside]
    gone += interventions.values()
    write_in_batches(dynamodb, table, clock, ({"DeleteRequest": {"Key": key}} for key in gone))
    write_in_batches(dynamodb, table, clock, ({"PutRequest": {"Item": item}} for item in tombstones))


def _partition(dynamodb: Service, table: str, tenant: str, session_id: str) -> Iterator[items.Item]:
    """The keys of all items of the session, and with each commit the ids of its interventions. Bodies are not read, so
    those of a newer release can be deleted too."""
    read: dict[str, Any] = {
        "ProjectionExpression": "pk, sk, i, #ttl",
        "ExpressionAttributeNames": {"#ttl": "ttl"},
    }
    return items_of(dynamodb, table, items.session_pk(tenant, session_id), **read)


def write_in_batches(dynamodb: Service, table: str, clock: Clock, requests: Iterable[dict[str, Any]]) -> None:
    """`requests`: any number of BatchWriteItem's requests. Raises StoreThrottled, and any other error of AWS."""
    left = iter(requests)
    while batch := list(islice(left, BATCH)):
        pause = PAUSE_SECONDS
        for _ in range(ATTEMPTS):
            answer = dynamodb.call("batch_write_item", RequestItems={table: batch})
            batch = answer.get("UnprocessedItems", {}).get(table, [])
            if not batch:
                break
            clock.back_off(pause)
            pause *= 2
        else:
            raise StoreThrottled("batch_write_item: items were left unprocessed")


def from_marker(marker: Marker, version: int) -> bytes:
    """`version`: the one to write."""
    return dump(marker, version)


def to_marker(version: int, data: bytes) -> Marker:
    """Raises SchemaUnknown, PoisonedSession."""
    return load("marker of model calls", Marker, version, data)


class DynamoAttempts(OneTable):
    def write(self, tenant: str, session_id: str, marker: Marker, *, after: str | None) -> None:
        own = marker.last_id or ""
        item = {
            **items.attempts_key(tenant, session_id),
            "k": {"S": own},
            "v": {"N": str(self._write_version)},
            "z": {"B": from_marker(marker, self._write_version)},
        }
        known = {":own": {"S": own}} | ({":after": {"S": after}} if after is not None else {})
        condition = f"attribute_not_exists(pk) OR k IN ({', '.join(known)})"
        written = self._call_if(
            "put_item", Item=item, ConditionExpression=condition, ExpressionAttributeValues=known
        )
        if written is None:
            found = self._item(tenant, session_id)
            if found and "z" not in found:
                raise Fenced("the session was deleted")
            raise AttemptsChanged(_marker(found))

    def read(self, tenant: str, session_id: str) -> Marker:
        return _marker(self._item(tenant, session_id))

    def _item(self, tenant: str, session_id: str) -> items.Item:
        return self._get(items.attempts_key(tenant, session_id)) or {}


def _marker(item: items.Item) -> Marker:
    return to_marker(*items.stored(item)) if "z" in item else Marker()


def from_partial(partial: PartialReply) -> bytes:
    return dump(partial, PARTIAL_VERSION)


def to_partial(version: int, data: bytes) -> PartialReply:
    return load("partial text", PartialReply, version, data)


_NOT_DELETED = "attribute_not_exists(pk) OR attribute_exists(p)"


class DynamoPartials(OneTable):
    def put(self, tenant: str, session_id: str, partial: PartialReply) -> None:
        item = {
            **items.partial_key(tenant, session_id),
            "p": {"B": from_partial(partial)},
            "v": {"N": str(PARTIAL_VERSION)},
            "ttl": {"N": str(int((partial.at + PARTIAL_LIFE).timestamp()))},
        }
        self._call_if("put_item", Item=item, ConditionExpression=_NOT_DELETED)

    def get(self, tenant: str, session_id: str) -> PartialReply | None:
        key = items.partial_key(tenant, session_id)
        item = self._dynamodb.call("get_item", TableName=self._table, Key=key).get("Item", {})
        return to_partial(int(item["v"]["N"]), item["p"]["B"]) if "p" in item else None
