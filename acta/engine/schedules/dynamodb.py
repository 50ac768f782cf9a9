"""Schedules on DynamoDB. What is to be done is found by time in the index of live sessions.

    pk                        sk                        attributes
    T#{tenant}                W#{schedule}              n revision, c created at, v, z body;
                                                        live, live_at: of one that has to be looked at
    T#{tenant}#W#{schedule}   {created at}#{time}       v, z body, ttl

A schedule that is made again under the id of a deleted one does not have that one's history.
"""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from zlib import crc32

from acta.engine.agents.store import DefinitionChanged, DefinitionExists
from acta.engine.log.commit import IdempotencyRecord
from acta.engine.log.store import KeyTaken
from acta.engine.schedules.schedule import (
    SHARDS,
    DueSchedule,
    RunPage,
    Schedule,
    ScheduleRun,
)
from acta.engine.store.dynamodb import (
    FREE,
    ClockedTable,
    ConditionFailed,
    delete,
    live_request,
    put,
    put_record,
    transact,
)
from acta.engine.store.keys import from_cursor, key_part, tenant_pk, to_cursor
from acta.engine.store.table_layout import (
    Item,
    dump,
    item_key,
    item_live,
    live_partition,
    load,
    skip_damaged,
    sortable,
    stored,
)

SCHEDULE = "W#"
LIVE = "schedule"
RUN_LIFE = timedelta(days=90)
AS_READ = "n = :n AND c = :c"
"""Both are compared: revisions start again when a schedule is deleted and made again under its id."""


def schedule_key(tenant: str, schedule_id: str) -> Item:
    return item_key(tenant_pk(tenant), SCHEDULE + key_part(schedule_id))


def schedule_item(tenant: str, schedule: Schedule, version: int) -> Item:
    """`version`: the one to write."""
    item = {
        **schedule_key(tenant, schedule.schedule_id),
        **_as_stored(schedule),
        "v": {"N": str(version)},
        "z": {"B": dump(schedule, version)},
    }
    if schedule.looked_at is not None:
        shard = crc32(f"{tenant}#{schedule.schedule_id}".encode()) % SHARDS
        item["live"] = {"S": live_partition(LIVE, shard)}
        item["live_at"] = {"S": f"{sortable(schedule.looked_at)}#{schedule.schedule_id}#{tenant}"}
    return item


def run_item(tenant: str, schedule: Schedule, run: ScheduleRun, version: int) -> Item:
    return {
        **item_key(_runs_pk(tenant, schedule.schedule_id), _runs_sk(schedule) + sortable(run.tick)),
        "v": {"N": str(version)},
        "z": {"B": dump(run, version)},
        "ttl": {"N": str(math.ceil((run.at + RUN_LIFE).timestamp()))},
    }


def _runs_pk(tenant: str, schedule_id: str) -> str:
    return f"{tenant_pk(tenant)}#{SCHEDULE}{key_part(schedule_id)}"


def _runs_sk(schedule: Schedule) -> str:
    return f"{sortable(schedule.created_at)}#"


def _as_stored(schedule: Schedule) -> dict[str, dict[str, str]]:
    return {"n": {"N": str(schedule.revision)}, "c": {"S": schedule.created_at.isoformat()}}


def to_schedule(item: Item) -> Schedule:
    return load("schedule", Schedule, *stored(item))


class DynamoSchedules(ClockedTable):
    """A ScheduleStore."""

    def get(self, tenant: str, schedule_id: str) -> Schedule | None:
        item = self._get(schedule_key(tenant, schedule_id))
        return None if item is None else to_schedule(item)

    def all(self, tenant: str) -> tuple[Schedule, ...]:
        return tuple(map(to_schedule, self._items(tenant_pk(tenant), SCHEDULE)))

    def create(self, tenant: str, new: Schedule, record: IdempotencyRecord | None = None) -> None:
        actions = [put(self._table, schedule_item(tenant, new, self._write_version), FREE)]
        if record is not None:
            actions.append(put_record(self._table, record, self._clock))
        try:
            transact(self._dynamodb, self._clock, actions)
        except ConditionFailed as failed:
            raise (DefinitionExists if 0 in failed.failed else KeyTaken) from None

    def replace(
        self, tenant: str, old: Schedule, new: Schedule, runs: Sequence[ScheduleRun] = ()
    ) -> Schedule:
        new = new.model_copy(update={"revision": old.revision + 1})
        item = schedule_item(tenant, new, self._write_version)
        added = [put(self._table, run_item(tenant, new, run, self._write_version)) for run in runs]
        try:
            transact(
                self._dynamodb, self._clock, [put(self._table, item, AS_READ, **_as_stored(old)), *added]
            )
        except ConditionFailed:
            raise DefinitionChanged from None
        return new

    def delete(self, tenant: str, old: Schedule) -> None:
        key = schedule_key(tenant, old.schedule_id)
        try:
            transact(self._dynamodb, self._clock, [delete(self._table, key, AS_READ, **_as_stored(old))])
        except ConditionFailed:
            raise DefinitionChanged from None

    def runs(self, tenant: str, schedule: Schedule, *, limit: int, cursor: str | None) -> RunPage:
        scope = f"{SCHEDULE}{tenant}#{schedule.schedule_id}"
        first = _runs_sk(schedule)
        last = f"{first}~" if cursor is None else first + from_cursor(scope, cursor)
        pk = _runs_pk(tenant, schedule.schedule_id)
        newest_first = self._items(pk, first, last, most=limit + 2, ScanIndexForward=False)
        # The cursor names the last run of the page before, which is in what was asked for.
        found = [item for item in newest_first if cursor is None or item["sk"]["S"] != last]
        kept, more = found[:limit], len(found) > limit
        runs = tuple(load("run of a schedule", ScheduleRun, *stored(item)) for item in kept)
        return RunPage(runs, to_cursor(scope, kept[-1]["sk"]["S"].removeprefix(first)) if more else None)

    def due(self, shard: int, now: datetime, most: int) -> Sequence[DueSchedule]:
        request = live_request(self._table, live_partition(LIVE, shard), f"{sortable(now)}~", most)
        found = self._dynamodb.call("query", **request)["Items"]
        return [DueSchedule(each.tenant, each.session_id) for each in skip_damaged(item_live, found)]
