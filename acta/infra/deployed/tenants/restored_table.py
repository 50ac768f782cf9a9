"""Makes a deployment's table what a restored one is, fit to be worked with again (ADR 86).

AWS restores a table to an earlier time as another table. Its items are copied into the deployed one, which keeps its
name, its stream and its place in the stack. While this runs nothing else may write: the environment is quarantined.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from acta.engine.agents.dynamodb import DEPLOYMENT_PK
from acta.engine.errors import PoisonedSession, SchemaUnknown, SessionNotFound
from acta.engine.log.store import SessionName
from acta.engine.sessions.control import hold_restored
from acta.engine.store import table_layout as items
from acta.engine.store.dynamodb import batch_get, newest_commit_item
from acta.engine.store.keys import SESSIONS, TENANT, part_text
from acta.engine.subagents.money import give_up_child
from acta.infra.deployed.tenants.erase import (
    ERASE_TENANT,
    MEMORY_DELETE,
    SCHEDULE_DELETE,
    SESSION_DELETE,
    Eraser,
    delete_items,
    delete_schedule,
    delete_session,
)
from acta.infra.deployed.tenants.stores import TenantStores, in_pages, key_of

MARGIN = timedelta(minutes=5)
"""An action that began so long before the time may have been written after it."""
FOLLOWING = ("conversation-", "reply-")
"""How names of texts begin that follow from commits, or that no commit has named yet."""
Item = items.Item


class RestoreProgress(NamedTuple):
    """`copied`, `removed`: items of the table. `erased`: sessions, memories and items of tenants that were erased
    since. `parked`: sessions that wait for a person. `unreadable`: sessions that could not be looked at. `texts`:
    objects in S3 that followed from what is forgotten. `unnamed`: erasures in tenants whose names are too long for a
    key, which have to be repeated by hand. `texts_alone`: sessions, as `tenant/session`, of which S3 has texts and the
    table nothing.
    """

    counts: Mapping[str, int]
    texts_alone: tuple[str, ...]


def use_restored(eraser: Eraser, source: str, restored_to: datetime) -> RestoreProgress:
    """`source`: the name of the restored table. Raises what AWS raises; then it may be repeated."""
    counts = Counter[str]()
    stores = eraser.stores
    counts["copied"] = _copy(stores, source)
    counts["removed"] = _remove_later(stores, source)
    for action, tenant, thing in _erased_since(stores, restored_to - MARGIN):
        if tenant is None:
            counts["unnamed"] += 1
            continue
        counts["erased"] += _erase_again(eraser, action, tenant, thing)
    for session in _open_sessions(stores):
        counts[_park(stores, session, restored_to)] += 1
    counts["texts"], alone = _remove_following(stores)
    return RestoreProgress(counts, alone)


def later_sessions(stores: TenantStores, source: str) -> tuple[str, ...]:
    """As `tenant/session`: those of which the table has a listing, and the restored one `source` has none. They began
    after the time. Names that are too long for a key are told by the listing; where it cannot be read, as in the key.
    """
    found: list[str] = []
    listed = stores.scan(
        stores.names.table,
        FilterExpression="begins_with(sk, :s)",
        ExpressionAttributeValues={":s": {"S": items.LISTING}},
        ProjectionExpression="pk, sk, live_at",
    )
    for page in in_pages(listed):
        there = {items.item_name(item) for item in _there(stores, source, list(map(key_of, page)))}
        found += [_shown(item) for item in page if items.item_name(item) not in there]
    return tuple(sorted(found))


def _shown(listing: Item) -> str:
    try:
        named = items.item_live(listing)
        return f"{named.tenant}/{named.session_id}"
    except PoisonedSession:  # one that has ended is in no index of live ones
        parts = (listing["pk"]["S"].removeprefix(TENANT), listing["sk"]["S"].removeprefix(items.LISTING))
        return "/".join(part_text(part) or part for part in parts)


def _copy(stores: TenantStores, source: str) -> int:
    """Each item as it was. What the deployment itself stores is the present release's, and stays. Commits that are not
    there get a mark, because the stream tells of them as of new ones (ADR 78).
    """
    copied = 0
    for page in in_pages(stores.scan(source)):
        wanted = [item for item in page if not _is_deployments(item)]
        keys = list(map(key_of, wanted))
        there = {
            items.item_name(item)
            for item in _there(stores, stores.names.table, keys)
            if not items.is_restored(item)  # by an earlier attempt, which was cut short
        }
        puts = [
            {"PutRequest": {"Item": item if items.item_name(item) in there else items.restored_item(item)}}
            for item in map(items.found_by_key, wanted)
        ]
        copied += stores.change_items(puts)
    return copied


def _remove_later(stores: TenantStores, source: str) -> int:
    """Items that were made after the time."""
    removed = 0
    for page in in_pages(stores.scan(stores.names.table, ProjectionExpression="pk, sk")):
        keys = [item for item in page if not _is_deployments(item)]
        there = {items.item_name(item) for item in _there(stores, source, keys)}
        gone = [{"DeleteRequest": {"Key": key}} for key in keys if items.item_name(key) not in there]
        removed += stores.change_items(gone)
    return removed


def _erased_since(stores: TenantStores, since: datetime) -> Iterator[tuple[str, str | None, str]]:
    """From the audit trail, which no restore changes: action, tenant, and the id of what was deleted, of all that had
    not ended by then. What was begun, and nobody knows how it ended, was asked for all the same.
    """
    seen: set[tuple[str, str, str]] = set()
    wanted = {
        ":s": {"S": SESSION_DELETE},
        ":m": {"S": MEMORY_DELETE},
        ":w": {"S": SCHEDULE_DELETE},
        ":t": {"S": ERASE_TENANT},
    }
    found = stores.scan(
        stores.names.audit_table, FilterExpression="a IN (:s, :m, :w, :t)", ExpressionAttributeValues=wanted
    )
    for item in found:
        record = json.loads(item["j"]["S"])
        details = record.get("details", {})
        named = (details.get(name) for name in ("session_id", "memory_id", "schedule_id"))
        thing = next(filter(None, named), "")
        key = (record["action"], item["pk"]["S"], thing)
        last = datetime.fromisoformat(record.get("ended_at") or record["at"])
        if record.get("outcome") == "refused" or last < since or key in seen:
            continue
        seen.add(key)
        yield record["action"], part_text(item["pk"]["S"].removeprefix(TENANT)), thing


def _erase_again(eraser: Eraser, action: str, tenant: str, thing: str) -> int:
    match action:
        case "session.delete":
            give_up_child(eraser.stores.repository, tenant, thing)  # the restored parent may wait for it
            return delete_session(eraser, tenant, thing)
        case "schedule.delete":
            return delete_schedule(eraser.stores, tenant, thing)
        case "memory.delete":
            memory = eraser.stores.memories.get(tenant, thing)
            if memory is None:
                return 0
            eraser.stores.memories.delete(tenant, memory)
            return 1
        case _:
            return delete_items(eraser.stores, tenant)[0]


def _open_sessions(stores: TenantStores) -> Iterator[SessionName | None]:
    """None: a listing that nobody can read."""
    wanted = {":s": {"S": items.LISTING}, ":a": {"S": "active"}, ":w": {"S": "waiting_for_user"}}
    found = stores.scan(
        stores.names.table,
        FilterExpression="begins_with(sk, :s) AND st IN (:a, :w)",
        ExpressionAttributeValues=wanted,
    )
    for item in found:
        try:
            named = items.item_live(item)  # has names as they are, however long
            yield SessionName(named.tenant, named.session_id)
        except PoisonedSession:
            yield None


def _park(stores: TenantStores, session: SessionName | None, restored_to: datetime) -> str:
    """What it is counted as."""
    if session is None:
        return "unreadable"
    try:
        return "parked" if hold_restored(stores.repository, *session, restored_to) else "parked before"
    except SessionNotFound:
        return "erased before"
    except (PoisonedSession, SchemaUnknown):
        return "unreadable"


def _remove_following(stores: TenantStores) -> tuple[int, tuple[str, ...]]:
    """Segments of conversations beyond a log's end, and replies that were kept for a commit: they belong to what is
    forgotten. Texts that are named after their hash harm nobody. Returns how many objects, and the sessions of which
    only texts are left.
    """
    removed, lost = 0, dict[str, None]()
    ends: dict[str, int] = {}
    bucket = stores.names.session_bucket
    for found in stores.all_objects(bucket, f"{SESSIONS}/"):
        _, tenant, session, name = found["Key"].split("/", 3)
        place = f"{tenant}/{session}"
        if place not in ends:
            ends[place] = _last_number(stores, tenant, session)
        if not ends[place]:
            lost[place] = None
        elif name.startswith(FOLLOWING) and not _is_before(name, ends[place]):
            stores.objects.call("delete_object", Bucket=bucket, Key=found["Key"])
            removed += 1
    return removed, tuple(lost)


def _is_before(name: str, last: int) -> bool:
    """Whether a segment ends where the log still is what it was made of. The newest commits may be new ones."""
    kind, _, number = name.partition("-")
    return kind == "conversation" and number.isdecimal() and int(number) < last


def _last_number(stores: TenantStores, tenant_part: str, session_part: str) -> int:
    """Of the session's newest commit; 0: the table has none."""
    pk = f"{TENANT}{tenant_part}#{items.LISTING}{session_part}"
    newest = newest_commit_item(stores.table, stores.names.table, pk, consistent=True, projection="sk")
    return 0 if newest is None else int(newest["sk"]["S"].removeprefix(items.COMMIT))


def _there(stores: TenantStores, table: str, keys: list[Item]) -> Iterator[Item]:
    return batch_get(stores.table, stores.clock, table, keys, projection="pk, sk, rs")


def _is_deployments(item: Item) -> bool:
    """Prompts of the release, and providers' buckets and lines. Those of earlier would name erased tenants again."""
    return str(item["pk"]["S"]).partition("#")[0] == DEPLOYMENT_PK
