"""A tenant's listings and idempotency records in memory."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar
from zlib import crc32

from acta.engine.clock import Clock
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
    LiveSession,
    SessionName,
    SessionPage,
)
from acta.engine.people.intervention import Intervention, InterventionState
from acta.engine.people.visibility import check_by_listing, is_visible, viewer
from acta.engine.store.keys import from_cursor, time_of, to_cursor
from acta.engine.store.table_layout import skip_damaged, to_intervention
from acta.testing.memory.table import MemoryTable, StoredIntervention

MOST_LOOKED_AT, MOST_SEARCHED = 1_000, 10_000
"""Rows after which a page with a filter ends short, with a cursor, as in DynamoDB: the first number if it has found
something, else the second.
"""
LOOKED_AT_ONCE = 200
OPEN_STATES: frozenset[str] = frozenset({"idle", "active", "waiting_for_user"})

_Stored = TypeVar("_Stored")


class MemoryIndex:
    """`most_searched`: rows that a page looks at while it has found nothing."""

    def __init__(self, table: MemoryTable, clock: Clock, most_searched: int = MOST_SEARCHED) -> None:
        self._most_searched = most_searched
        self._table = table
        self._clock = clock

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
        asking, listing = viewer(), self._table.listing
        if len(states) == 1 and states[0] in OPEN_STATES:  # found by key
            listing = {name: entry for name, entry in listing.items() if entry.state == states[0]}
        found, following = self._page(
            "S#",
            listing,
            tenant,
            lambda entry: (
                (not states or entry.state in states)
                and agent_id in (None, entry.agent_id)
                and wanted.fits(entry.listed)
                and (asking is None or entry.private_to in (None, asking.user))
            ),
            limit,
            cursor,
        )
        return SessionPage(tuple(found), following)

    def check_listed(self, tenant: str, session_id: str) -> None:
        entry = self._table.listing.get((tenant, session_id))
        check_by_listing(entry.private_to if entry is not None else None, listed=entry is not None)

    def live(
        self, kind: LiveKind, shard: int, *, before: datetime | None, limit: int, cursor: str | None
    ) -> LivePage:
        with self._table.lock:
            entries = list(self._table.live.get((kind, shard), {}).values())
        found = [(each.live.at, each.session_id, each.tenant) for each in entries if each.live is not None]
        return _live_page(f"{kind}#{shard}", found, before, limit, cursor)

    def erasures(self, *, before: datetime | None, limit: int, cursor: str | None) -> LivePage:
        with self._table.lock:
            found = [(at, session_id, tenant) for (tenant, session_id), at in self._table.erasures.items()]
        return _live_page("erased", found, before, limit, cursor)

    def failed(self, *, limit: int, cursor: str | None) -> FailedPage:
        return self._names("failed", lambda name: True, lambda state: state == "failed", limit, cursor)

    def ended(self, *, part: int, parts: int, limit: int, cursor: str | None) -> FailedPage:
        def is_of_part(name: tuple[str, str]) -> bool:
            return crc32(name[1].encode()) % parts == part

        return self._names(f"ended{part}/{parts}", is_of_part, lambda state: state in TERMINAL, limit, cursor)

    def _names(
        self,
        scope: str,
        looked_at: Callable[[tuple[str, str]], bool],
        fits: Callable[[str], bool],
        limit: int,
        cursor: str | None,
    ) -> FailedPage:
        """A page of the names that are `looked_at`, without sessions whose state does not fit."""
        after = None if cursor is None else tuple(json.loads(from_cursor(scope, cursor)))
        with self._table.lock:
            names = sorted(each for each in self._table.listing if looked_at(each) and (after or ()) < each)
            page = [SessionName(*name) for name in names[: max(limit, 1)]]
            found = tuple(name for name in page if fits(self._table.listing[name].state))
        return FailedPage(found, to_cursor(scope, json.dumps(page[-1])) if len(page) < len(names) else None)

    def cursor_after_failed(self, session: SessionName) -> str:
        return to_cursor("failed", json.dumps(session))

    def interventions(
        self,
        tenant: str,
        *,
        state: InterventionState | None,
        limit: int,
        cursor: str | None,
        session_id: str | None = None,
    ) -> InterventionPage:
        stored = self._table.interventions
        if state == "pending" and session_id is None:  # found by key
            stored = {key: each for key, each in stored.items() if each.state == state}

        def is_listed(one: Intervention) -> bool:
            asking = viewer()
            return asking is None or one.private_to in (None, asking.user) or asking.may_decide(one)

        found, following = self._page(
            "I#",
            stored,
            tenant,
            lambda each: (
                state in (None, each.state)
                and session_id in (None, each.session_id)
                and all(map(is_listed, skip_damaged(_intervention, [each])))
            ),
            limit,
            cursor,
        )
        shown = filter(is_visible, skip_damaged(_intervention, found))
        return InterventionPage(tuple(shown), following)

    def searched_to(self, cursor: str) -> datetime | None:
        return time_of(cursor)

    def cursor_after_session(self, tenant: str, session_id: str) -> str:
        return to_cursor("S#" + tenant, session_id)

    def cursor_after_intervention(self, tenant: str, intervention_id: str) -> str:
        return to_cursor("I#" + tenant, intervention_id)

    def intervention(self, tenant: str, intervention_id: str) -> Intervention | None:
        stored = self._table.interventions.get((tenant, intervention_id))
        one = None if stored is None else _intervention(stored)
        return one if one is not None and is_visible(one) else None

    def granted_tokens(self, tenant: str, hour: int, *, of_day: bool = False) -> int:
        return self._table.granted.get((tenant, hour, of_day), 0)

    def free_tokens_of_share(self, tenant: str, hour: int, number: int, *, of_day: bool = False) -> int:
        return self._table.shares.get((tenant, hour, of_day, number), 0)

    def counts(self, tenant: str) -> TenantCounts:
        return self._table.counts.get(tenant, TenantCounts())

    def idempotency_record(self, tenant: str, route: str, key: str) -> IdempotencyRecord | None:
        record = self._table.records.get((tenant, route, key))
        return record if record is not None and record.expires_at > self._clock.now() else None

    def _page(
        self,
        kind: str,
        stored: Mapping[tuple[str, str], _Stored],
        tenant: str,
        fits: Callable[[_Stored], bool],
        limit: int,
        cursor: str | None,
    ) -> tuple[list[_Stored], str | None]:
        scope, limit = kind + tenant, max(limit, 1)
        with self._table.lock:
            own = [(key[1], row) for key, row in stored.items() if key[0] == tenant]
        rows = sorted(own, key=lambda row: row[0], reverse=True)
        if cursor is not None:
            position = from_cursor(scope, cursor)
            rows = [row for row in rows if row[0] < position]
        found: list[tuple[str, _Stored]] = []
        for looked_at, row in enumerate(rows):
            most = max(MOST_LOOKED_AT if found else self._most_searched, limit + 1)
            if looked_at >= most and looked_at % LOOKED_AT_ONCE == 0:
                return [each for _, each in found], to_cursor(scope, rows[looked_at - 1][0])
            if not fits(row[1]):
                continue
            if len(found) == limit:
                return [each for _, each in found], to_cursor(scope, found[-1][0])
            found.append(row)
        return [each for _, each in found], None


def _live_page(
    scope: str,
    entries: list[tuple[datetime, str, str]],
    before: datetime | None,
    limit: int,
    cursor: str | None,
) -> LivePage:
    found = sorted(each for each in entries if before is None or each[0] < before)
    if cursor is not None:  # the last entry of the previous page, which may be gone by now
        at, session_id, tenant = json.loads(from_cursor(scope, cursor))
        found = [each for each in found if each > (datetime.fromisoformat(at), session_id, tenant)]
    page = found[: max(limit, 1)]
    at_end = len(page) == len(found)
    return LivePage(
        tuple(LiveSession(tenant, session_id, at) for at, session_id, tenant in page),
        None if at_end else to_cursor(scope, json.dumps([page[-1][0].isoformat(), *page[-1][1:]])),
    )


def _intervention(stored: StoredIntervention) -> Intervention:
    return to_intervention(stored.version, stored.body)
