"""A tenant's listings on DynamoDB, newest first: sessions and interventions; and its idempotency records."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from acta.engine.clock import Clock
from acta.engine.errors import PoisonedSession, SchemaUnknown
from acta.engine.limits.dynamodb import read_counts
from acta.engine.limits.tenant_limits import TenantCounts
from acta.engine.log.commit import IdempotencyRecord
from acta.engine.log.head import TERMINAL, CoarseState
from acta.engine.log.store import (
    WHATEVER,
    FailedPage,
    InterventionPage,
    ListingFilter,
    LiveKind,
    LivePage,
    SessionName,
    SessionPage,
    mark,
)
from acta.engine.people.intervention import Intervention, InterventionState
from acta.engine.people.visibility import Viewer, check_by_listing, is_visible, viewer
from acta.engine.store import table_layout as items
from acta.engine.store.dynamodb import (
    BATCH,
    ClockedTable,
    batch_get,
    between,
    live_request,
    newest_commit,
    query,
)
from acta.engine.store.keys import from_cursor, key_part, position_near, tenant_pk, time_of, to_cursor
from acta.engine.store.table_layout import skip_damaged

FILTERED_LIMIT = 200
MOST_LOOKED_AT, MOST_SEARCHED = 1_000, 10_000
"""How many items a page looks at, and how many if it finds nothing. So a filtered page may be short with a cursor."""
END_OF_NAMES = "\x7f"
"""Sorts after every character of a key (`acta/engine/store/keys.py`)."""
MAX_ROLES = 100
"""An `IN` takes this many values. A listing leaves out what somebody may decide only by a further role: that is found
by its id."""

MAX_KEYS_BYTES = 8_192
"""The longest position that consists of all keys of an item, as JSON."""
FAILED, ENDED = "failed", "ended"
"""The names of these listings of sessions in their cursors."""


class DynamoIndex(ClockedTable):
    """`most_searched`: the most items that a page looks at while it has found nothing."""

    def __init__(
        self, table: str, clock: Clock, client: Any = None, most_searched: int = MOST_SEARCHED
    ) -> None:
        super().__init__(table, clock, client)
        self._most_searched = most_searched

    def sessions(
        self,
        tenant: str,
        *,
        states: Sequence[CoarseState],
        agent_id: str | None,
        limit: int,
        cursor: str | None,
        wanted: ListingFilter = WHATEVER,
    ) -> SessionPage:
        if len(states) == 1 and states[0] in items.OPEN_STATES:
            partition = items.open_partition(tenant, states[0])

            def fits(item: items.Item) -> bool:
                entry = items.item_listing(tenant, item)
                return (
                    entry.state == states[0]
                    and agent_id in (None, entry.agent_id)
                    and wanted.fits(entry.listed)
                )

            found, following = self._open_page(tenant, items.LISTING, partition, fits, limit, cursor)
            return SessionPage(tuple(items.item_listing(tenant, item) for item in found), following)
        filters: list[str] = []
        values: dict[str, dict[str, str]] = {}
        if states:
            values = {f":st{i}": {"S": state} for i, state in enumerate(states)}
            filters.append(f"st IN ({', '.join(values)})")
        if agent_id is not None:
            filters.append("ag = :ag")
            values[":ag"] = {"S": agent_id}
        if wanted._replace(children=True) != WHATEVER:
            named, of_named = _named(wanted)
            filters.append(named)
            values |= of_named
        roots = () if wanted.children else ("attribute_not_exists(ch)",)
        found, following = self._page(tenant, items.LISTING, filters, values, limit, cursor, roots)
        return SessionPage(tuple(items.item_listing(tenant, item) for item in found), following)

    def check_listed(self, tenant: str, session_id: str) -> None:
        item = self._get(items.listing_key(tenant, session_id))
        owner = items.item_owner(item) if item is not None else None
        check_by_listing(owner, listed=item is not None)

    def live(
        self, kind: LiveKind, shard: int, *, before: datetime | None, limit: int, cursor: str | None
    ) -> LivePage:
        return self._live_page(items.live_partition(kind, shard), before, limit, cursor)

    def erasures(self, *, before: datetime | None, limit: int, cursor: str | None) -> LivePage:
        return self._live_page(items.ERASED, before, limit, cursor)

    def _live_page(self, partition: str, before: datetime | None, limit: int, cursor: str | None) -> LivePage:
        until = None if before is None else items.sortable(before)
        request = live_request(self._table, partition, until, max(limit, 1))
        if cursor is not None:
            request["ExclusiveStartKey"] = json.loads(from_cursor(partition, cursor, MAX_KEYS_BYTES))
        answer = self._dynamodb.call("query", **request)
        last = answer.get("LastEvaluatedKey")
        sessions = tuple(skip_damaged(items.item_live, answer["Items"]))
        following = None if last is None else _keys_cursor(partition, last)
        return LivePage(sessions, following, damaged=len(answer["Items"]) - len(sessions))

    def failed(self, *, limit: int, cursor: str | None) -> FailedPage:
        return self._scan(FAILED, ["failed"], limit, cursor)

    def ended(self, *, part: int, parts: int, limit: int, cursor: str | None) -> FailedPage:
        segment = {"Segment": part, "TotalSegments": parts}
        return self._scan(f"{ENDED}{part}/{parts}", sorted(TERMINAL), limit, cursor, **segment)

    def _scan(
        self, scope: str, states: Sequence[str], limit: int, cursor: str | None, **request: Any
    ) -> FailedPage:
        values = {f":{state}": {"S": state} for state in states}
        if cursor is not None:
            request["ExclusiveStartKey"] = json.loads(from_cursor(scope, cursor, MAX_KEYS_BYTES))
        answer = self._dynamodb.call(
            "scan",
            TableName=self._table,
            Limit=max(limit, 1),
            FilterExpression=f"begins_with(sk, :listing) AND st IN ({', '.join(values)})",
            ExpressionAttributeValues={":listing": {"S": items.LISTING}, **values},
            **request,
        )
        sessions = tuple(skip_damaged(self._session_name, answer["Items"]))
        last = answer.get("LastEvaluatedKey")
        following = None if last is None else _keys_cursor(scope, last)
        return FailedPage(sessions, following, damaged=len(answer["Items"]) - len(sessions))

    def cursor_after_failed(self, session: SessionName) -> str:
        return _keys_cursor(FAILED, items.listing_key(*session))

    def _session_name(self, item: items.Item) -> SessionName:
        """Raises PoisonedSession. A tenant whose name is too long for a key is named by its session's newest commit."""
        named = items.item_session_name(item)
        if named is not None:
            return named
        pk = items.session_pk_of_listing(item)
        try:
            newest = newest_commit(self._dynamodb, self._table, pk, consistent=False)
        except SchemaUnknown as error:  # one session of another release must not stop the listing
            raise PoisonedSession(str(error)) from None
        if newest is None:
            raise PoisonedSession("a listed session has no commit")
        return SessionName(newest.head.tenant, newest.head.session_id)

    def interventions(
        self,
        tenant: str,
        *,
        state: InterventionState | None,
        limit: int,
        cursor: str | None,
        session_id: str | None = None,
    ) -> InterventionPage:
        wanted = {"st": state, "ss": session_id}
        filters = [f"{name} = :{name}" for name, value in wanted.items() if value is not None]
        values = {f":{name}": {"S": str(value)} for name, value in wanted.items() if value is not None}
        if state == items.PENDING and session_id is None:
            partition, kind = items.pending_partition(tenant), items.INTERVENTION
            found, following = self._open_page(
                tenant, kind, partition, lambda item: bool(item["st"]["S"] == items.PENDING), limit, cursor
            )
        else:
            found, following = self._page(tenant, items.INTERVENTION, filters, values, limit, cursor)
        shown = filter(is_visible, skip_damaged(items.item_intervention, found))
        return InterventionPage(tuple(shown), following)

    def searched_to(self, cursor: str) -> datetime | None:
        return time_of(cursor)

    def cursor_after_session(self, tenant: str, session_id: str) -> str:
        return to_cursor(items.LISTING + tenant, key_part(session_id))

    def cursor_after_intervention(self, tenant: str, intervention_id: str) -> str:
        return to_cursor(items.INTERVENTION + tenant, key_part(intervention_id))

    def intervention(self, tenant: str, intervention_id: str) -> Intervention | None:
        item = self._get(items.intervention_key(tenant, intervention_id))
        one = None if item is None else items.item_intervention(item)
        return one if one is not None and is_visible(one) else None

    def granted_tokens(self, tenant: str, hour: int, *, of_day: bool = False) -> int:
        item = self._get(items.lease_key(tenant, hour, of_day=of_day))
        return 0 if item is None else int(item["g"]["N"])

    def free_tokens_of_share(self, tenant: str, hour: int, number: int, *, of_day: bool = False) -> int:
        item = self._get(items.share_key(tenant, hour, number, of_day=of_day))
        return 0 if item is None else int(item["f"]["N"])

    def counts(self, tenant: str) -> TenantCounts:
        return read_counts(self._dynamodb, self._table, tenant).counts

    def idempotency_record(self, tenant: str, route: str, key: str) -> IdempotencyRecord | None:
        """Returns None also for a record that has expired and that DynamoDB has not deleted yet."""
        item = self._get(items.record_key(tenant, route, key))
        if item is None or int(item["ttl"]["N"]) <= self._clock.now().timestamp():
            return None
        return items.item_record(tenant, route, key, item)

    def _page(
        self,
        tenant: str,
        kind: str,
        filters: Sequence[str],
        values: dict[str, dict[str, str]],
        limit: int,
        cursor: str | None,
        usual: Sequence[str] = (),
    ) -> tuple[list[items.Item], str | None]:
        """Up to `limit` items that the caller may see, and a cursor after the last of them. If there are none, the
        cursor stands near the last item that was looked at and does not name it, because it may be private to somebody
        else. One item more than `limit` is asked for, which shows whether the page is the last. `usual`: filters that
        leave out few items, so that the first read need not be a large one."""
        pk, scope, limit = tenant_pk(tenant), kind + tenant, max(limit, 1)
        hidden, of_viewer = _visible_to(viewer())
        request: dict[str, Any] = {
            "TableName": self._table,
            "ConsistentRead": True,
            "ScanIndexForward": False,
            "Limit": max(limit + 1, FILTERED_LIMIT) if filters else limit + 1,
            **between(pk, kind),
        }
        request["ExpressionAttributeValues"] |= {**values, **of_viewer}
        if filters or hidden or usual:
            request["FilterExpression"] = " AND ".join([*filters, *usual, *hidden])
        before = None if cursor is None else from_cursor(scope, cursor)
        if before is not None:
            request["ExclusiveStartKey"] = {"pk": {"S": pk}, "sk": {"S": kind + before}}
        found: list[items.Item] = []
        later = max(limit + 1, FILTERED_LIMIT)
        for number, answer in enumerate(query(self._dynamodb, later=later, **request), start=1):
            found += answer["Items"]
            if len(found) > limit:
                return found[:limit], to_cursor(scope, _position(kind, found[limit - 1]))
            most = MOST_LOOKED_AT if found else self._most_searched
            if number * FILTERED_LIMIT < most or "LastEvaluatedKey" not in answer:
                continue
            last = answer["LastEvaluatedKey"]
            position = _position(kind, found[-1]) if found else position_near(_position(kind, last))
            if before is None or position < before:
                return found, to_cursor(scope, position)
        return found, None

    def _open_page(
        self,
        tenant: str,
        kind: str,
        partition: str,
        fits: Callable[[items.Item], bool],
        limit: int,
        cursor: str | None,
    ) -> tuple[list[items.Item], str | None]:
        """As `_page`, for a partition of the index `open`. The index has only keys and is a moment behind, so the items
        are read as they are now, and those that do not fit any more are left out."""
        scope, limit = kind + tenant, max(limit, 1)
        before = None if cursor is None else from_cursor(scope, cursor)
        end = f"{kind}{before or END_OF_NAMES}"
        asking, looked_at = viewer(), 0
        found: list[items.Item] = []
        while True:
            most = BATCH if looked_at else min(limit + 1, BATCH)
            keys = self._open_keys(partition, end, most)
            there = {
                item["sk"]["S"]: item for item in batch_get(self._dynamodb, self._clock, self._table, keys)
            }
            read = (there.get(key["sk"]["S"]) for key in keys)
            found += [item for item in read if item is not None and _is_shown(item, asking) and fits(item)]
            if len(found) > limit:
                return found[:limit], to_cursor(scope, _position(kind, found[limit - 1]))
            if len(keys) < most:
                return found, None
            looked_at += most
            end = keys[-1]["sk"]["S"]
            position = _position(kind, found[-1]) if found else position_near(end.removeprefix(kind))
            most_looked_at = MOST_LOOKED_AT if found else self._most_searched
            if looked_at >= most_looked_at and (before is None or position < before):
                return found, to_cursor(scope, position)

    def _open_keys(self, partition: str, end: str, most: int) -> list[items.Item]:
        """The newest `most` keys that stand before `end`."""
        answer = self._dynamodb.call(
            "query",
            TableName=self._table,
            IndexName=items.OPEN_INDEX,
            ScanIndexForward=False,
            Limit=most,
            KeyConditionExpression="op = :op AND sk < :end",
            ExpressionAttributeValues={":op": {"S": partition}, ":end": {"S": end}},
        )
        return [{"pk": key["pk"], "sk": key["sk"]} for key in answer["Items"]]


def _is_shown(item: items.Item, asking: Viewer | None) -> bool:
    """The same rule as `_visible_to`, for an item that was read."""
    if asking is None or items.item_owner(item) in (None, asking.user):
        return True
    return item["st"]["S"] == items.PENDING and item.get("rl", {}).get("S") in asking.roles


def _position(kind: str, item: items.Item) -> str:
    """The position of an item, given whole or by its keys, in the listing of its kind."""
    name: str = item["sk"]["S"]
    return name.removeprefix(kind)


def _visible_to(asking: Viewer | None) -> tuple[list[str], dict[str, dict[str, str]]]:
    """The filter of a listing, like `Viewer.may_see`, and its values. A caller sees what is private to nobody, their
    own, and the open questions that their roles may decide. A question that they have decided they find by its id."""
    if asking is None:
        return [], {}
    values = {":me": {"S": asking.user}}
    roles = {f":r{i}": {"S": role} for i, role in enumerate(sorted(asking.roles)[:MAX_ROLES])}
    mine = "attribute_not_exists(ow) OR ow = :me"
    if roles:
        mine += f" OR (st = :open AND rl IN ({', '.join(roles)}))"
        values |= {":open": {"S": "pending"}, **roles}
    return [f"({mine})"], values


def _named(wanted: ListingFilter) -> tuple[str, dict[str, dict[str, str]]]:
    """The condition for what is wanted, and its values."""
    terms: dict[str, tuple[str, str]] = {}
    if wanted.created_by is not None:
        terms[":cb"] = ("cb = :cb", wanted.created_by)
    if wanted.goal is not None:
        terms[":gl"] = ("contains(gl, :gl)", wanted.goal.casefold())
    if wanted.metadata is not None:
        terms[":md"] = ("contains(md, :md)", mark(*wanted.metadata))
    condition = " AND ".join(term for term, _ in terms.values())
    return condition, {name: {"S": value} for name, (_, value) in terms.items()}


def _keys_cursor(scope: str, key: items.Item) -> str:
    return to_cursor(scope, json.dumps(key, separators=(",", ":")))
