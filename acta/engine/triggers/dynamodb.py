"""Events of triggers on DynamoDB, in a partition for each trigger.

pk                           sk                   attributes
T#{tenant}#E#{trigger}       D#{hash of id}       e the event, ttl: the event has come
T#{tenant}#E#{trigger}       H#{event}            v version, o outcome, c received at, s session, x code, r reason, u
                                                  triggers that led to it, z the event as JSON, compressed, while it
                                                  may be needed; ttl; while it waits: live, live_at (when it is
                                                  tried again)
T#{tenant}#E#{trigger}       K#{hash of key}      s the session that was started last for the key, c since when, ttl
T#{tenant}#E#{trigger}       N                    a number for each field of `Counts`

An event is taken by one transaction, which writes the first two items: of two deliveries of one event, one takes it. It
waits from then on, until it has started a session or was said to one; so it is not lost where the worker dies, because
recovery finds what waits by the index `live`. The events of a trigger that was deleted end with their `ttl`.
"""

import json
import math
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from acta.engine.clock import make_id
from acta.engine.store.dynamodb import FREE, ClockedTable, ConditionFailed, live_request, put, query, transact
from acta.engine.store.keys import from_cursor, key_part, tenant_pk, to_cursor
from acta.engine.store.schema import check_version
from acta.engine.store.table_layout import (
    ATTRIBUTES_VERSION,
    Item,
    item_key,
    live_partition,
    load_json,
    pack,
    sortable,
)
from acta.engine.triggers.store import SHARDS, KeyHolder, WaitingEvent
from acta.engine.triggers.trigger import KEPT, Counts, Outcome, TriggerEvent, hashed

EVENT = "evt"
TAKEN, HISTORY, KEYS, NUMBERS = "D#", "H#", "K#", "N"
LIVE = "event"
"""How the index `live` names events that wait."""
DUE_AT_ONCE = 500
FIRST_TRY = timedelta(seconds=60)
"""How long whoever takes an event has for it, before recovery tries it: longer than the function `wake` runs."""
GONE = "The event came before, and is no longer kept."


class DynamoTriggerEvents(ClockedTable):
    """TriggerEvents."""

    def take(
        self,
        tenant: str,
        trigger_id: str,
        source_id: str,
        event: Any,
        at: datetime,
        above: tuple[str, ...] = (),
    ) -> tuple[TriggerEvent, bool]:
        digest = hashed(source_id)
        made = make_id(EVENT, int(at.timestamp() * 1_000), bytes.fromhex(digest)[:10])
        new = TriggerEvent(made, at, event=event, above=above)
        taken = item_key(_pk(tenant, trigger_id), TAKEN + digest)
        mark = {**taken, "e": {"S": made}, "ttl": _ttl(at)}
        item = self._item(tenant, trigger_id, new, self._clock.now() + FIRST_TRY)
        try:
            transact(
                self._dynamodb, self._clock, [put(self._table, mark, FREE), put(self._table, item, FREE)]
            )
        except ConditionFailed:
            there = self._get(taken)
            known = None if there is None else self.get(tenant, trigger_id, there["e"]["S"])
            # AWS may remove either item before the other one.
            return known or TriggerEvent(made, at, "refused", code="NOT_KEPT", reason=GONE), False
        return new, True

    def get(self, tenant: str, trigger_id: str, event_id: str) -> TriggerEvent | None:
        item = self._get(_history_key(tenant, trigger_id, event_id))
        return None if item is None else _event(item)

    def settle(self, tenant: str, trigger_id: str, before: TriggerEvent, after: TriggerEvent) -> bool:
        written = self._call_if(
            "put_item",
            Item=self._item(tenant, trigger_id, after, self._clock.now()),
            ConditionExpression="o = :o",
            ExpressionAttributeValues={":o": {"S": before.outcome}},
        )
        if written is None:
            return False
        if after.outcome != "waiting":
            self.count(tenant, trigger_id, after.outcome)
        return True

    def count(self, tenant: str, trigger_id: str, name: str) -> None:
        self._dynamodb.call(
            "update_item",
            TableName=self._table,
            Key=item_key(_pk(tenant, trigger_id), NUMBERS),
            UpdateExpression="ADD #n :one",
            ExpressionAttributeNames={"#n": name},
            ExpressionAttributeValues={":one": {"N": "1"}},
        )

    def counts(self, tenant: str, trigger_id: str) -> Counts:
        item = self._get(item_key(_pk(tenant, trigger_id), NUMBERS)) or {}
        return Counts(**{name: int(item[name]["N"]) for name in Counts._fields if name in item})

    def forget_counts(self, tenant: str, trigger_id: str) -> None:
        key = item_key(_pk(tenant, trigger_id), NUMBERS)
        self._dynamodb.call("delete_item", TableName=self._table, Key=key)

    def page(
        self, tenant: str, trigger_id: str, outcome: Outcome | None, limit: int, cursor: str | None
    ) -> tuple[list[TriggerEvent], str | None]:
        scope = f"{HISTORY}{tenant}#{trigger_id}#{outcome or ''}"
        before = "~" if cursor is None else from_cursor(scope, cursor)
        named: dict[str, Any] = {} if outcome is None else {"FilterExpression": "o = :o"}
        answer = self._dynamodb.call(
            "query",
            TableName=self._table,
            ConsistentRead=True,
            ScanIndexForward=False,
            Limit=limit + 1 if outcome is None else 1_000,
            KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
            ExpressionAttributeValues={
                ":pk": {"S": _pk(tenant, trigger_id)},
                ":first": {"S": HISTORY},
                ":last": {"S": HISTORY + before},
                **({} if outcome is None else {":o": {"S": outcome}}),
            },
            **named,
        )
        found = [_event(item)._replace(event=None) for item in answer["Items"]]
        found = [one for one in found if one.event_id != before]
        if len(found) > limit:
            return found[:limit], to_cursor(scope, found[limit - 1].event_id)
        if "LastEvaluatedKey" in answer:
            return found, to_cursor(scope, answer["LastEvaluatedKey"]["sk"]["S"].removeprefix(HISTORY))
        return found, None

    def holder(self, tenant: str, trigger_id: str, key: str) -> KeyHolder | None:
        item = self._get(item_key(_pk(tenant, trigger_id), KEYS + key))
        return None if item is None else KeyHolder(item["s"]["S"], datetime.fromisoformat(item["c"]["S"]))

    def hold(self, tenant: str, trigger_id: str, key: str, session_id: str, before: KeyHolder | None) -> bool:
        now = self._clock.now()
        item = {
            **item_key(_pk(tenant, trigger_id), KEYS + key),
            "s": {"S": session_id},
            "c": {"S": now.isoformat()},
            "ttl": _ttl(now),
        }
        condition: dict[str, Any] = {"ConditionExpression": FREE}
        if before is not None:
            condition = {
                "ConditionExpression": "s = :s",
                "ExpressionAttributeValues": {":s": {"S": before.session_id}},
            }
        return self._call_if("put_item", Item=item, **condition) is not None

    def waiting(self, shard: int, until: datetime) -> Iterator[WaitingEvent]:
        request = live_request(self._table, live_partition(LIVE, shard), f"{sortable(until)}~", DUE_AT_ONCE)
        for answer in query(self._dynamodb, **request):
            for item in answer["Items"]:
                _, trigger_id, event_id, tenant = item["live_at"]["S"].split("#", 3)
                yield WaitingEvent(tenant, trigger_id, event_id)

    def _item(self, tenant: str, trigger_id: str, one: TriggerEvent, due: datetime) -> Item:
        item: Item = {
            **_history_key(tenant, trigger_id, one.event_id),
            "v": {"N": str(ATTRIBUTES_VERSION)},
            "o": {"S": one.outcome},
            "c": {"S": one.received_at.isoformat()},
            "ttl": _ttl(one.received_at),
        }
        if one.session_id:
            item["s"] = {"S": one.session_id}
        if one.code:
            item |= {"x": {"S": one.code}, "r": {"S": one.reason}}
        if one.above:
            item["u"] = {"L": [{"S": each} for each in one.above]}
        if one.event is not None:
            item["z"] = {"B": pack(json.dumps(one.event, separators=(",", ":")).encode())}
        if one.outcome == "waiting":
            shard = int(hashed(one.event_id)[:8], 16) % SHARDS
            item["live"] = {"S": live_partition(LIVE, shard)}
            item["live_at"] = {"S": f"{sortable(due)}#{trigger_id}#{one.event_id}#{tenant}"}
        return item


def _pk(tenant: str, trigger_id: str) -> str:
    return f"{tenant_pk(tenant)}#E#{key_part(trigger_id)}"


def _history_key(tenant: str, trigger_id: str, event_id: str) -> Item:
    return item_key(_pk(tenant, trigger_id), HISTORY + key_part(event_id))


def _ttl(at: datetime) -> dict[str, str]:
    return {"N": str(math.ceil((at + KEPT).timestamp()))}


def _event(item: Item) -> TriggerEvent:
    check_version("event of a trigger", int(item["v"]["N"]))
    outcome: Any = item["o"]["S"]
    return TriggerEvent(
        event_id=item["sk"]["S"].removeprefix(HISTORY),
        received_at=datetime.fromisoformat(item["c"]["S"]),
        outcome=outcome,
        session_id=item["s"]["S"] if "s" in item else "",
        code=item["x"]["S"] if "x" in item else "",
        reason=item["r"]["S"] if "r" in item else "",
        event=load_json("event of a trigger", item["z"]["B"]) if "z" in item else None,
        above=tuple(each["S"] for each in item["u"]["L"]) if "u" in item else (),
    )
