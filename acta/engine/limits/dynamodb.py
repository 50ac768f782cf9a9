"""What limits count and remember on DynamoDB: a tenant's counts, the shares of its rate, and the limit on long polls.

The counts of a tenant are changed in the transactions of the commits that they count (ADR 65). An update says what it
adds, and is carried out only with its commit, whose number has to be free. So it is made once or never, and nothing is
read before it. The process guesses from what it saw last whether a start is the first of its minute, and whether a
share has what is needed. Where the guess is wrong, or a limit is reached, the condition fails and everything is read. A
small tenant's counts are one item. Those of a large one are given to shares, by the rules of `shares.py`.

The rate of a tenant is two items, each changed by one update, never read. An update that is repeated after a lost
answer takes a share that nobody spends: less is used, never more.

The limit on long polls is one item for the whole deployment:

pk    sk    attributes
D     W     f share of the wait that is given, ttl until when it holds
"""

from collections import OrderedDict
from collections.abc import Iterator
from datetime import datetime

from acta.engine.aws.clients import Service
from acta.engine.clock import Clock
from acta.engine.errors import StoreThrottled
from acta.engine.limits.shares import (
    SHUT,
    CountChanges,
    CountShare,
    GivenChange,
    ShareChange,
    SharedCounts,
    changes_of_start,
    changes_without_limit,
)
from acta.engine.limits.store import LIMIT_LIFE, LongPolls, RequestNumbers
from acta.engine.limits.tenant_limits import Start
from acta.engine.log.store import Places
from acta.engine.store import table_layout as items
from acta.engine.store.dynamodb import Action, DeploymentTable, OneTable, items_of

TENANTS_KEPT = 200
LOOKS = 4
"""How often the counts are read when something moves between shares meanwhile."""


def read_counts(dynamodb: Service, table: str, tenant: str) -> SharedCounts:
    """The counts from all of the tenant's items. They are read strongly consistently, in one request that costs no more
    units than one item."""
    return items.item_shared_counts(items_of(dynamodb, table, items.counts_pk(tenant)))


class DynamoCounts:
    def __init__(self, table: str, clock: Clock, dynamodb: Service) -> None:
        self._table = table
        self._clock = clock
        self._dynamodb = dynamodb
        self._minutes: OrderedDict[str, int] = OrderedDict()
        """Tenant -> the newest minute that its item is known to have."""

    def update(self, places: Places) -> list[Action]:
        """The actions for the commit's transaction. Reads nothing."""
        return [self._of_share(places) if _is_shared(places) else self._of_tenant(places)]

    def corrected(self, places: Places) -> list[Action]:
        """The actions to try after the conditions of the last ones have failed. Raises LimitReached if a limit is the
        reason. Otherwise these actions succeed, unless others are faster."""
        start = places.start
        if start is None:
            if places.opened <= 0 or not _is_shared(places):  # the share does not exist, or none is used
                return [self._of_tenant(places)]
            there = self._read(places.tenant)
            return list(self._actions(places.tenant, there, changes_without_limit(there, places.opened)))
        there = self._allowed(places, start)
        shares = places.shares if _is_shared(places) else 1
        if shares == 1 and start.refusal(there.given, places.opened, self._clock.now()) is None:
            return [self._of_tenant(places)]
        changes = changes_of_start(there, start, places.opened, places.share, shares)
        return self.update(places) if changes is None else list(self._actions(places.tenant, there, changes))

    def check(self, places: Places) -> None:
        """Raises LimitReached where a start is not allowed now."""
        if places.start is not None:
            self._allowed(places, places.start)

    def made(self, places: Places) -> None:
        """After the transaction succeeded."""
        if places.start is not None and places.start.most_starts is not None:
            self._saw(places.tenant, max(places.start.minute, self._minutes.get(places.tenant, 0)))

    def _allowed(self, places: Places, start: Start) -> SharedCounts:
        """What the tenant has used. Raises LimitReached if nothing is free anywhere. Free places and starts move only
        when the tenant's item changes. So where there are shares, a start is refused only if that item stayed the same
        between two reads."""
        there = self._read(places.tenant)
        for _ in range(LOOKS):
            refusal = start.refusal(there.counts, places.opened, self._clock.now())
            if refusal is None:
                break
            again = self._read(places.tenant) if there.shares else there
            if again.given == there.given and start.refusal(again.counts, places.opened, self._clock.now()):
                raise refusal
            there = again
        return there

    def _read(self, tenant: str) -> SharedCounts:
        there = read_counts(self._dynamodb, self._table, tenant)
        self._saw(tenant, there.given.minute)
        return there

    def _saw(self, tenant: str, minute: int) -> None:
        self._minutes[tenant] = minute
        self._minutes.move_to_end(tenant)
        if len(self._minutes) > TENANTS_KEPT:
            self._minutes.popitem(last=False)

    def _of_tenant(self, places: Places) -> Action:
        start, minute = places.start, None
        change = GivenChange(places.opened)
        if start is not None and places.opened > 0 and start.most_open is not None:
            change = change._replace(most_open=start.most_open - 1)
        if start is not None and start.most_starts is not None:
            minute = self._minutes.get(places.tenant, -1)
            change = change._replace(starts=1, minute=start.minute, most_starts=start.most_starts - 1)
        return self._of_given(places.tenant, change, minute)

    def _of_given(
        self, tenant: str, change: GivenChange, known: int | None, *, for_share: bool = False
    ) -> Action:
        """`known`: the minute that the item has or had. `for_share`: the starts must be of exactly that minute."""
        changes, conditions, values = list[str](), list[str](), dict[str, int]()
        if change.open or change.most_open is not None:
            changes.append("o = if_not_exists(o, :zero) + :opened")
            values |= {":zero": 0, ":opened": change.open}
        if change.most_open is not None:
            conditions.append("(attribute_not_exists(o) OR o <= :open)")
            values[":open"] = change.most_open
        if change.minute is not None and known is not None:
            values |= {":m": change.minute, ":starts": change.starts}
            if known >= change.minute:  # a clock that is behind counts in the minute that the item has
                changes.append("n = n + :starts")
                conditions.append("m = :m" if for_share else "m >= :m")
                if change.most_starts is not None:
                    conditions.append("n <= :most")
                    values[":most"] = change.most_starts
            else:
                changes += ["m = :m", "n = :starts"]
                conditions.append("(attribute_not_exists(m) OR m < :m)")
        return self._update(items.counts_key(tenant), changes, conditions, values)

    def _of_share(self, places: Places) -> Action:
        """Changes the session's own share. The condition is that the share exists and, for a start, holds what it needs
        for the start's minute."""
        changes, conditions, values = list[str](), ["attribute_exists(pk)"], dict[str, int]()
        start = places.start
        if places.opened:
            changes.append("f = f - :opened")
            values[":opened"] = places.opened
        if places.opened > 0:
            conditions.append("f >= :opened")
        if start is not None:
            conditions.append("m >= :m")
            values[":m"] = start.minute
        if start is not None and start.most_starts is not None:
            changes.append("n = n - :one")
            conditions.append("n >= :one")
            values[":one"] = 1
        return self._update(items.count_share_key(places.tenant, places.share), changes, conditions, values)

    def _actions(self, tenant: str, there: SharedCounts, changes: CountChanges) -> Iterator[Action]:
        if changes.given != GivenChange():
            yield self._of_given(tenant, changes.given, there.given.minute, for_share=True)
        for number, change in sorted(changes.shares.items()):
            key = items.count_share_key(tenant, number)
            yield self._of_read_share(key, there.shares.get(number), change)

    def _of_read_share(self, key: items.Item, share: CountShare | None, change: ShareChange) -> Action:
        if share is None:
            new = {":f": change.free, ":m": change.minute, ":n": change.starts}
            return self._update(key, ["f = :f", "m = :m", "n = :n"], ["attribute_not_exists(pk)"], new)
        changes, conditions = ["f = f + :free"], ["m = :was"]
        values = {":free": change.free, ":was": share.minute}
        if change.free < 0:
            conditions.append("f >= :least")
            values[":least"] = -change.free
        if change.most_free is not None:
            conditions.append("f <= :most")
            values[":most"] = change.most_free
        if change.minute == share.minute:
            changes.append("n = n + :starts")
            values[":starts"] = change.starts
            if change.starts < 0:
                conditions.append("n >= :left")
                values[":left"] = -change.starts
        else:
            changes += ["m = :m", "n = :starts"]
            values |= {":m": change.minute, ":starts": max(0, change.starts)}
        if change.minute == SHUT and share.minute != SHUT:
            conditions.append("n = :left")
            values[":left"] = share.starts
        return self._update(key, changes, conditions, values)

    def _update(
        self, key: items.Item, changes: list[str], conditions: list[str], values: dict[str, int]
    ) -> Action:
        update = {
            "TableName": self._table,
            "Key": key,
            "UpdateExpression": f"SET {', '.join(changes)}",
            "ExpressionAttributeValues": {name: {"N": str(value)} for name, value in values.items()},
        }
        if conditions:
            update["ConditionExpression"] = " AND ".join(conditions)
        return {"Update": update}


def _is_shared(places: Places) -> bool:
    """Whether the session's own share may count it. Shares hold places only if open sessions are limited."""
    start = places.start
    return places.shares > 1 and (
        start is None or places.opened == 0 or (places.opened > 0 and start.most_open is not None)
    )


ATTEMPTS = 4
_Change = tuple[str, str]
"""What an update sets, and on which condition."""
_TAKE: tuple[_Change, ...] = (
    ("SET g = g + :k", "w >= :w"),
    ("SET w = :w, g = :k", "attribute_not_exists(w) OR w < :w"),
)
_RENEW_HERE: _Change = ("SET c = c + :one", "w = :w AND c < t")
_HOLD_HERE: _Change = ("SET c = c + :one, t = t + :one", "w = :w AND t < :most")
_RENEW: tuple[_Change, ...] = (
    _RENEW_HERE,
    ("SET t = c, c = :one, w = :w", "w = :v AND c >= :one"),
    _RENEW_HERE,
)
_HOLD: tuple[_Change, ...] = (
    _HOLD_HERE,
    ("SET t = c + :one, c = :one, w = :w", "w = :v AND c < :most"),
    ("SET t = :one, c = :one, w = :w", "attribute_not_exists(w) OR w < :v"),
    _HOLD_HERE,
)
"""The most usual first. The last is for a worker that the first worker of a window has overtaken."""


class DynamoRateLeases(OneTable):
    def take(self, tenant: str, window: int, size: int) -> RequestNumbers:
        key, values = items.rate_key(tenant), {"w": window, "k": size}
        for _ in range(ATTEMPTS):
            for change in _TAKE:
                item = self._update(key, *change, values)
                if item is not None:
                    return RequestNumbers(int(item["w"]["N"]), int(item["g"]["N"]) - size)
        raise StoreThrottled("update_item: other workers were faster")

    def hold(self, tenant: str, window: int, most: int, *, renews: bool) -> bool:
        key, values = items.polls_key(tenant), {"w": window, "v": window - 1, "one": 1, "most": most}
        changes = [*(_RENEW if renews else ()), *_HOLD]
        return any(self._update(key, *change, values) is not None for change in changes)

    def _update(
        self, key: items.Item, update: str, condition: str, values: dict[str, int]
    ) -> items.Item | None:
        """Updates the item and returns it as it is now. None: the condition did not hold."""
        words = f"{update} {condition}".replace(",", " ").split()
        answer = self._call_if(
            "update_item",
            Key=key,
            UpdateExpression=update,
            ConditionExpression=condition,
            ExpressionAttributeValues={
                f":{name}": {"N": str(value)} for name, value in values.items() if f":{name}" in words
            },
            ReturnValues="ALL_NEW",
        )
        item: items.Item | None = None if answer is None else answer["Attributes"]
        return item


_KEY = {"pk": {"S": "D"}, "sk": {"S": "W"}}


class DynamoLongPolls(DeploymentTable):
    def get(self, now: datetime) -> LongPolls:
        item = self._dynamodb.call("get_item", TableName=self._table, Key=_KEY).get("Item")
        if item is None or int(item["ttl"]["N"]) <= now.timestamp():
            return LongPolls()
        return LongPolls(min(1.0, max(0.0, float(item["f"]["N"]))))

    def put(self, limit: LongPolls, now: datetime) -> None:
        until = {"N": str(int((now + LIMIT_LIFE).timestamp()))}
        item = {**_KEY, "f": {"N": f"{limit.share:.4f}"}, "ttl": until}
        self._dynamodb.call("put_item", TableName=self._table, Item=item)
