"""The table's items: keys, attributes, and the domain documents they hold.

One table, keys `pk` and `sk`; attribute names are short because they are billed.

    pk                        sk                        attributes
    T#{tenant}#S#{session}    C#{number:010d}           k commit key, v schema version, z body,
                                                        i ids of the interventions written with it,
                                                        rs true: a restore brought it back;
                                                        of a deleted session only ttl is left
    T#{tenant}#S#{session}    E                         live, live_at: of a deleted session, until it has been
                                                        erased a second time; of a fork that has come to be
                                                        only ttl
    T#{tenant}#S#{session}    O                         v, n URL of the session's webhook; also under T#{tenant}:
                                                        `receivers.py`
    T#{tenant}#S#{session}    S#{child}                 keys alone: a session that a call of this one has started
    T#{tenant}                S#{session}               id, ag agent id, st coarse state, v; of a session that
                                                        recovery looks after: live, live_at; of a private one: ow
                                                        its owner; of one in the tenant's count of open ones: ct;
                                                        of one that is not over: op
    T#{tenant}                I#{intervention}          ss session id, st state, v, z body; of a private session:
                                                        ow its owner, rl the role that may decide; of a pending
                                                        one: op
    T#{tenant}                K#{route}#{sha256(key)}   h body hash, c status, e expiry, z answer, v, n number of
                                                        the commit that has the rest of the answer; a very
                                                        long route is hashed, too;
                                                        ttl whole seconds since 1970
    T#{tenant}                L#{hour}                  g tokens granted of that hour, ttl
    T#{tenant}#=L{share}      L#{hour}                  f tokens of that hour that are free in the share, ttl
                              D#{hour}                  both also of the day that begins with the hour, in parts of a
                                                        dollar
    T#{tenant}#=N             O                         o open sessions, m minute since 1970, n starts in it
    T#{tenant}#=N             O#{share:02d}             f places free in it, m minute since 1970, n starts of
                                                        that minute that are left in it
    T#{tenant}#=Q             R                         w window since 1970, g requests of it that were taken
    T#{tenant}#=Q             P                         w window since 1970, c places for long polls that were
                                                        taken or renewed in it, t these and the ones before

The index `live` has keys only. `live` is {kind}#{shard:02d}. `live_at` is
{time}#{session}#{tenant}, which orders by time and has the names as they are: in `pk` and `sk` a long name is a hash.

The index `open` has keys only, too: `op`, which begins as its tenant's partition does, and `sk`. It has the tenant's
pending interventions, T#{tenant}#=I, and its sessions that are not over, T#{tenant}#=S#{state}.

How long items with a ttl live: `TOMBSTONE_LIFE` in `acta/engine/log/store.py` (what a deleted session leaves),
`KEY_LIFE` in `acta/engine/log/commit.py` (K#…), `hour_ttl` below (L#…). A session that nobody deletes has none.

The domain documents are stored as their complete JSON, compressed. The schema version is stored beside the bytes and is
checked first; `schema.py` converts between versions. An unknown version raises SchemaUnknown, a damaged document
PoisonedSession; no message quotes the document.

Compression uses a preset dictionary: field names and phrases that most commits have. With it a small commit takes less
than half of the bytes that zlib alone needs, and costs one write unit instead of two or three. A compressed document
names its dictionary by a checksum. So never change a dictionary: add another one, and keep the old one as long as
documents exist that need it.
"""

import hashlib
import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, TypeVar

from acta.engine.errors import PoisonedSession, SchemaUnknown
from acta.engine.limits.shares import CountShare, SharedCounts
from acta.engine.limits.tenant_limits import TenantCounts
from acta.engine.log.commit import Commit, IdempotencyRecord
from acta.engine.log.store import (
    ChildRow,
    Erasure,
    IndexEntry,
    ListingEntry,
    LiveEntry,
    LiveSession,
    SessionName,
    SessionReceiver,
    live_shard,
)
from acta.engine.people.intervention import Intervention
from acta.engine.store.keys import HASHED, TENANT, key_part, part_text, tenant_pk
from acta.engine.store.schema import FrozenModel, check_version, read_json, to_json

Item = dict[str, dict[str, Any]]

LAST_NUMBER = 9_999_999_999
MAX_ROUTE_BYTES = 800
"""A longer route is replaced by its hash. A sort key has at most 1,024 bytes, and an ordinary route here about 80."""
LISTING, INTERVENTION = "S#", "I#"
LIVE_INDEX, OPEN_INDEX = "live", "open"
OPEN_STATES: frozenset[str] = frozenset({"idle", "active", "waiting_for_user"})
"""States in which listed sessions are found by the key of the index `open`."""
PENDING = "pending"
COUNTS, RATES, SHARE = "=N", "=Q", "=L"
"""Endings of the partition keys of a tenant's counts, its rate and the shares of its hours
(`acta/infra/lambdas/grants.py`). No name in a key has a `=`, so no other partition ends like this."""
OF_SHARE = "O#"
"""Begins the sort keys of the shares of a tenant's counts."""
COMMIT, RUNNING_TEXT, MARKER, ERASURE, RECEIVER, CHILD = "C#", "P", "A", "E", "O", "S#"
"""Sort keys of a session's items; a commit's is followed by its number. A tenant has a receiver, too."""
ERASED = "erased"
"""Deleted sessions in the index of live ones. Deletions are few, so they need no more than one partition of it."""


def session_pk(tenant: str, session_id: str) -> str:
    return f"{tenant_pk(tenant)}#{LISTING}{key_part(session_id)}"


def number_sk(number: int) -> str:
    return f"{COMMIT}{number:010d}"


def partial_key(tenant: str, session_id: str) -> Item:
    return item_key(session_pk(tenant, session_id), RUNNING_TEXT)


def erasure_key(tenant: str, session_id: str) -> Item:
    return item_key(session_pk(tenant, session_id), ERASURE)


def erasure_item(erasure: Erasure) -> Item:
    """The note of an erasure. It is found by time through the index of live sessions."""
    item = erasure_key(erasure.tenant, erasure.session_id)
    return {**item, "live": {"S": ERASED}, "live_at": {"S": _live_at(*erasure)}}


def lifted_erasure_item(erasure: Erasure) -> Item:
    """Replaces the note of an erasure by an item that nobody finds and that AWS removes. To delete the note would take
    one more permission."""
    return {
        **erasure_key(erasure.tenant, erasure.session_id),
        "ttl": {"N": str(math.ceil(erasure.at.timestamp()))},
    }


def receiver_key(partition: str) -> Item:
    """The key of the webhook of a session or a tenant. `partition`: that session's or tenant's."""
    return item_key(partition, RECEIVER)


def receiver_item(receiver: SessionReceiver) -> Item:
    return {
        **receiver_key(session_pk(receiver.tenant, receiver.session_id)),
        "v": {"N": str(ATTRIBUTES_VERSION)},
        "n": {"S": receiver.url},
    }


def child_item(child: ChildRow) -> Item:
    key = item_key(session_pk(child.tenant, child.parent_id), f"{CHILD}{child.session_id}")
    return {**key, "o": {"S": child.place}}


def attempts_key(tenant: str, session_id: str) -> Item:
    return item_key(session_pk(tenant, session_id), MARKER)


def listing_key(tenant: str, session_id: str) -> Item:
    return item_key(tenant_pk(tenant), LISTING + key_part(session_id))


def intervention_key(tenant: str, intervention_id: str) -> Item:
    return item_key(tenant_pk(tenant), INTERVENTION + key_part(intervention_id))


def record_key(tenant: str, route: str, key: str) -> Item:
    """The key of an idempotency record. A long route is hashed: its path may be as long as a request line."""
    if len(route.encode("utf-8", "surrogatepass")) > MAX_ROUTE_BYTES:
        route = HASHED + _sha256(route)
    return item_key(tenant_pk(tenant), f"K#{route}#{_sha256(key)}")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def lease_key(tenant: str, hour: int, *, of_day: bool = False) -> Item:
    return item_key(tenant_pk(tenant), f"{'D' if of_day else 'L'}#{hour}")


def hour_ttl(hour: int) -> int:
    """When the items of that hour, or of the day that it begins, are removed: a day after the hour."""
    return (hour + 25) * 3_600


def share_key(tenant: str, hour: int, number: int, *, of_day: bool = False) -> Item:
    """The key of a share of an hour or day. Each share has a partition of its own."""
    return item_key(f"{tenant_pk(tenant)}#{SHARE}{number:02d}", f"{'D' if of_day else 'L'}#{hour}")


def counts_key(tenant: str) -> Item:
    """The key of the tenant's counts. They have a partition of their own, because it is a hot one."""
    return item_key(counts_pk(tenant), "O")


def counts_pk(tenant: str) -> str:
    return f"{tenant_pk(tenant)}#{COUNTS}"


def count_share_key(tenant: str, number: int) -> Item:
    """The key of a share of the tenant's counts. It is in the same partition as the tenant's own item, so one query
    finds all, and the partition takes the writes of ten items."""
    return item_key(counts_pk(tenant), f"{OF_SHARE}{number:02d}")


def item_shared_counts(found: Iterable[Item]) -> SharedCounts:
    """The counts and their shares, from all items of the partition."""
    given, shares = TenantCounts(), dict[int, CountShare]()
    for item in found:
        _, is_share, number = item["sk"]["S"].partition(OF_SHARE)
        if is_share:
            shares[int(number)] = CountShare(*(int(item[name]["N"]) for name in ("f", "m", "n")))
        else:
            given = item_counts(item)
    return SharedCounts(given, shares)


def rate_key(tenant: str) -> Item:
    return item_key(f"{tenant_pk(tenant)}#{RATES}", "R")


def polls_key(tenant: str) -> Item:
    return item_key(f"{tenant_pk(tenant)}#{RATES}", "P")


def item_counts(item: Item) -> TenantCounts:
    """`item` empty: there is none yet."""
    numbers = (int(item[name]["N"]) if name in item else 0 for name in ("o", "m", "n"))
    return TenantCounts(*numbers)


def commit_item(commit: Commit, intervention_ids: list[str]) -> Item:
    item = item_key(session_pk(commit.head.tenant, commit.head.session_id), number_sk(commit.number))
    item["k"] = {"S": commit.key}
    item["v"] = {"N": str(commit.version)}
    item["z"] = {"B": from_commit(commit)}
    if intervention_ids:
        item["i"] = {"SS": intervention_ids}
    return item


def restored_item(item: Item) -> Item:
    """The item as a restore writes it: commits get a mark, everything else is as it was. The mark says that the outside
    was told of the commit's events by the deployment where they happened."""
    is_commit = item["sk"]["S"].startswith(COMMIT) and not is_tombstone(item)
    return {**item, "rs": {"BOOL": True}} if is_commit else item


def is_restored(item: Item) -> bool:
    return "rs" in item


def stored(item: Item) -> tuple[int, bytes]:
    """Schema version and body. Raises PoisonedSession."""
    try:
        return int(item["v"]["N"]), item["z"]["B"]
    except (KeyError, ValueError):
        raise PoisonedSession("a stored item lacks its version or its body") from None


def item_commit(item: Item) -> Commit:
    return to_commit(*stored(item))


def is_tombstone(item: Item) -> bool:
    """A commit of a deleted session: its keys are kept for a while, so that its number stays taken."""
    return "z" not in item


def listing_item(entry: IndexEntry) -> Item:
    item = {
        **listing_key(entry.tenant, entry.session_id),
        "id": {"S": entry.session_id},
        "ag": {"S": entry.agent_id},
        "st": {"S": entry.state},
        "v": {"N": str(ATTRIBUTES_VERSION)},
    }
    if entry.live is not None:
        item["live"] = {"S": live_partition(entry.live.kind, live_shard(entry.session_id))}
        item["live_at"] = {"S": _live_at(entry.tenant, entry.session_id, entry.live.at)}
    if entry.private_to is not None:
        item["ow"] = {"S": entry.private_to}
    if entry.counted:
        item["ct"] = {"BOOL": True}
    item |= {"cb": {"S": entry.listed.created_by}, "gl": {"S": entry.listed.goal}}
    if entry.listed.metadata:
        item["md"] = {"SS": sorted(entry.listed.metadata)}
    if entry.listed.is_child:
        item["ch"] = {"BOOL": True}
    return found_by_key(item)


def pending_partition(tenant: str) -> str:
    """The partition of the index `open` that has the tenant's pending interventions."""
    return f"{tenant_pk(tenant)}#=I"


def open_partition(tenant: str, state: str) -> str:
    """The partition of the index `open` that has the tenant's sessions in this state."""
    return f"{tenant_pk(tenant)}#=S#{state}"


def found_by_key(item: Item) -> Item:
    """A listing or an intervention with its place in the index `open`, where it has one."""
    pk, sk, state = item["pk"]["S"], item["sk"]["S"], item.get("st", {}).get("S", "")
    if sk.startswith(INTERVENTION) and state == PENDING:
        return {**item, "op": {"S": f"{pk}#=I"}}
    if sk.startswith(LISTING) and state in OPEN_STATES:
        return {**item, "op": {"S": f"{pk}#=S#{state}"}}
    return item


def _live_at(tenant: str, session_id: str, at: datetime) -> str:
    return f"{sortable(at)}#{session_id}#{tenant}"


def live_partition(kind: str, shard: int) -> str:
    """The index's partition key."""
    return f"{kind}#{shard:02d}"


def sortable(at: datetime) -> str:
    """RFC 3339 in UTC, always with microseconds, so that text orders as time does."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def item_listing(tenant: str, item: Item) -> IndexEntry:
    check_version("listing entry", int(item["v"]["N"]))
    state: Any = item["st"]["S"]
    live = None
    if "live" in item:
        kind: Any = item["live"]["S"].partition("#")[0]
        live = LiveEntry(kind, item_live(item).at)
    marks = frozenset(item["md"]["SS"]) if "md" in item else frozenset()
    listed = ListingEntry(item["cb"]["S"], item["gl"]["S"], marks, "ch" in item)
    return IndexEntry(
        tenant, item["id"]["S"], item["ag"]["S"], state, live, item_owner(item), is_counted(item), listed
    )


def is_counted(item: Item) -> bool:
    """Whether the session of a listing item is in its tenant's count of open ones."""
    return "ct" in item


def item_owner(item: Item) -> str | None:
    """The owner of a listing item's session, if it is private. None: it is open to the tenant."""
    return item["ow"]["S"] if "ow" in item else None


def item_session_name(item: Item) -> SessionName | None:
    """The name of a listing item's session. None: the tenant's is too long for a key. Raises PoisonedSession."""
    try:
        tenant, session_id = part_text(item["pk"]["S"].removeprefix(TENANT)), item["id"]["S"]
    except KeyError:
        raise PoisonedSession("a listed session has no id") from None
    return None if tenant is None else SessionName(tenant, session_id)


def session_pk_of_listing(item: Item) -> str:
    """The partition of the session that a listing item lists."""
    return f"{item['pk']['S']}#{item['sk']['S']}"


def item_live(item: Item) -> LiveSession:
    """From a listing item, or from the index's copy of its keys. Raises PoisonedSession."""
    try:
        at, session_id, tenant = item["live_at"]["S"].split("#", 2)
        return LiveSession(tenant, session_id, datetime.fromisoformat(at))
    except (KeyError, ValueError):
        raise PoisonedSession("an entry of the index of live sessions cannot be read") from None


def intervention_item(tenant: str, intervention: Intervention, version: int) -> Item:
    """`version`: the one to write."""
    item = {
        **intervention_key(tenant, intervention.intervention_id),
        "ss": {"S": intervention.session_id},
        "st": {"S": intervention.state},
        "v": {"N": str(version)},
        "z": {"B": from_intervention(intervention, version)},
    }
    if intervention.private_to is not None:
        item["ow"] = {"S": intervention.private_to}
        item |= {"rl": {"S": intervention.role}} if intervention.role is not None else {}
    return found_by_key(item)


def item_intervention(item: Item) -> Intervention:
    return to_intervention(*stored(item))


def record_item(record: IdempotencyRecord) -> Item:
    """`ttl` is whole seconds, rounded up: DynamoDB deletes the item some time after it."""
    return {
        **record_key(record.tenant, record.route, record.key),
        "h": {"S": record.body_hash},
        "c": {"N": str(record.status)},
        "e": {"S": record.expires_at.isoformat()},
        "z": {"B": pack(json.dumps(dict(record.answer), separators=(",", ":")).encode())},
        "v": {"N": str(ATTRIBUTES_VERSION)},
        "ttl": {"N": str(math.ceil(record.expires_at.timestamp()))},
        **({} if record.commit is None else {"n": {"N": str(record.commit)}}),
    }


def item_record(tenant: str, route: str, key: str, item: Item) -> IdempotencyRecord:
    check_version("idempotency record", int(item["v"]["N"]))
    return IdempotencyRecord(
        tenant=tenant,
        route=route,
        key=key,
        body_hash=item["h"]["S"],
        status=int(item["c"]["N"]),
        answer=load_json("idempotency record", item["z"]["B"]),
        expires_at=datetime.fromisoformat(item["e"]["S"]),
        commit=int(item["n"]["N"]) if "n" in item else None,
    )


def item_key(pk: str, sk: str) -> Item:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def item_name(item: Item) -> tuple[str, str]:
    """The item's key as a value that a set or a mapping takes."""
    return item["pk"]["S"], item["sk"]["S"]


ATTRIBUTES_VERSION = 1
"""The version of items that are plain attributes. A new attribute needs no new version: readers take what they know."""

_HAS_DICTIONARY = 0x20
"""A flag in the second byte of zlib's format. The next four bytes then are the dictionary's checksum (RFC 1950)."""

_Document = TypeVar("_Document", bound=FrozenModel)
_Stored = TypeVar("_Stored")
_Read = TypeVar("_Read")


def pack(data: bytes) -> bytes:
    press = zlib.compressobj(zdict=PHRASES)
    return press.compress(data) + press.flush()


def unpack(data: bytes) -> bytes:
    """Raises SchemaUnknown where the dictionary is unknown, PoisonedSession where the data is damaged."""
    phrases = b""
    if _names_dictionary(data):
        phrases = BY_CHECKSUM.get(int.from_bytes(data[2:6], "big"), b"")
        if not phrases:
            raise SchemaUnknown("a stored document needs a dictionary this release does not have")
    try:
        press = zlib.decompressobj(zdict=phrases)
        whole = press.decompress(data)
    except zlib.error:
        raise PoisonedSession("a stored document cannot be decompressed") from None
    if not press.eof or press.unused_data:
        raise PoisonedSession("a stored document is cut off, or has bytes after its end")
    return whole


def _names_dictionary(data: bytes) -> bool:
    """Whether the data has a header of zlib's format that names a dictionary (RFC 1950)."""
    is_zlib = len(data) > 6 and data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
    return is_zlib and bool(data[1] & _HAS_DICTIONARY)


def dump(document: FrozenModel, version: int) -> bytes:
    """`version`: the one to write."""
    return pack(to_json(document, version))


def load(what: str, model: type[_Document], version: int, data: bytes) -> _Document:
    """Reads a document. `version`: the stored one. Raises SchemaUnknown, PoisonedSession."""
    check_version(what, version)
    return read_json(what, model, version, unpack(data))


def load_json(what: str, data: bytes) -> Any:
    """Reads JSON that is no domain document. Raises SchemaUnknown, PoisonedSession."""
    try:
        return json.loads(unpack(data))
    except ValueError:
        raise PoisonedSession(f"a stored {what} is not JSON") from None


def skip_damaged(
    read: Callable[[_Stored], _Read],
    found: Iterable[_Stored],
    on_damaged: Callable[[_Stored, PoisonedSession], None] = lambda _, __: None,
) -> Iterator[_Read]:
    """Reads what a listing has found and leaves out what is damaged, so that the others can be listed.

    `on_damaged` is called with each one that is left out.
    """
    for stored in found:
        try:
            one = read(stored)
        except PoisonedSession as error:
            on_damaged(stored, error)
        else:
            yield one


def from_commit(commit: Commit) -> bytes:
    """The commit's bytes, in the version that it names."""
    return dump(commit, commit.version)


def to_commit(version: int, data: bytes) -> Commit:
    """Raises SchemaUnknown, PoisonedSession; also for the version of the head in the commit."""
    return load("commit", Commit, version, data)


def from_intervention(intervention: Intervention, version: int) -> bytes:
    return dump(intervention, version)


def to_intervention(version: int, data: bytes) -> Intervention:
    """Raises SchemaUnknown, PoisonedSession."""
    return load("intervention", Intervention, version, data)


_FIRST = (
    # The rarest phrases come first: zlib takes fewer bits to point to phrases near the end.
    '{"intervention_id":"int_01","session_id":"ses_01","type":"clarification_needed","type":"error_recovery",'
    '"type":"budget_exceeded","type":"checkpoint_review","type":"approval_required","context":{"question":"","reason":'
    '""},"tool_call":{"call_id":"call_01","name":"delete_file","input":{"path":""},"input_hash":""},"options":["answer'
    '","cancel"],["approve","reject","modify"],"default_action":"reject","timeout_at":"2026-","warned":true,"state":'
    '"pending","resolution":null,"input":null,"comment":null,"resolved_by":null,"resolved_at":null,"created_at":"2026-'
    '"}],"result":{"goal_met":true,"answer":"GOAL_COMPLETE","reason":"plan_completed","message_id":"msg_01"},"error":{'
    '"code":"PROVIDER_","message":""},"wait":{"token":"","turn":'
    '"type":"run.finished","type":"plan.created","type":"plan.closed","type":"plan.rejected","type":"message.user",'
    '"type":"intervention.opened","type":"intervention.resolved","type":"budget.warning","type":"hint.injected",'
    '"data":{"intervention_id":"int_01","type":"","option":"","resolved_by":"","goal_met":true,"reason":"","version":1,'
    '"plan":{"version":1,"goal":"completed","failed","cancelled","idle","planning","waiting_for_user"'
    # a step of the conversation
    ',"events":[{"seq":1,"at":"2026-01-0","type":"run.started","step_number":null,"data":{}},{"seq":2,"at":"2026-01-0",'
    '"type":"state.changed","step_number":2,"data":{"from":"executing","to":"waiting_for_tool","reason":null}},{"seq":'
    '3,"at":"2026-01-0","type":"thought","step_number":3,"data":{"message_id":"msg_01"}},{"seq":4,"at":"2026-01-0",'
    '"type":"message.assistant","step_number":4,"data":{"message_id":"msg_01","plan_step":1,"from":"pending","status":'
    '"in_progress"}},{"seq":5,"at":"2026-01-0","type":"plan.step","step_number":5,"data":{"plan_step":2,"from":'
    '"in_progress","status":"completed"}},{"seq":6,"at":"2026-01-0","type":"tool.requested","step_number":6,"data":{'
    '"call_id":"call_01","effect_id":"eff_01","name":"create_file","input_hash":"0"}},{"type":"tool.started","step_'
    'number":7,"data":{"type":"tool.finished","step_number":8,"data":{"call_id":"call_01","effect_id":"eff_01","name":'
    '"list_files","input_hash":"0","ok":true,"duration_ms":1,"bytes":1}}],"entries":[{"kind":"user","message_id":'
    '"msg_01","content":{"text":null,"blob":"0","bytes":1}},{"kind":"assistant","message_id":"msg_01","content":{"text"'
    ':"","blob":null,"bytes":0},"thinking":"","calls":[{"call_id":"call_01","effect_id":"eff_01","name":"update_plan",'
    '"input":{"action":"update_step","step_number":1,"step_status":"completed","step_result":""},"malformed":null,'
    '"input_content":null},{"call_id":"call_01","effect_id":"eff_01","name":"read_file","input":{"path":""},"malformed'
    '":null,"input_content":null}],"provider":"anthropic","openai","offline","raw":null,"private":null},{"kind":"tool",'
    '"call_id":"call_01","name":"read_file","content":{"text":"Error: ","blob":null,"bytes":1},"ok":true}],"delivered":'
    '[],"step":{"step_number":1,"kind":"tool","kind":"llm","name":null,"started_at":"2026-01-0","completed_at":"2026-01'
    '-0","duration_ms":1,"attempt":0,"input_tokens":0,"output_tokens":0,"cached_input_tokens":0,"cost_usd":0.0,"error":'
    'null},"decision":{"next":"think","at":{"tenant":"","session_id":"ses_01","run_id":"run_01","generation":1,"turn":1'
    ',"first":1},"calls":["call_01"],"wait_seconds":null,"then":null,"wake_at":null}}'
    # the head
    '{"version":1,"number":1,"key":"run_01/1/1/think","key":"run_01/call_01/finish","at":"2026-01-0","head":{"version":1'
    ',"tenant":"","session_id":"ses_01","agent_id":"default","created_by":"","state":"waiting_for_tool","state":'
    '"executing","state_reason":null,"goal":"","created_at":"2026-01-0","updated_at":"2026-01-0","run":{"run_id":'
    '"run_01","generation":1,"iteration":1,"turn":1,"first":1,"max_steps":50,"events":1},"plan":{"version":1,"goal":"",'
    '"steps":[{"step_number":1,"description":"","tool":"list_files","input":{},"requires_permission":true,"status":'
    '"skipped","result":"","evidence":["call_01"],"started_at":"2026-01-0","completed_at":"2026-01-0"},{"step_number":2'
    ',"description":"","tool":"read_file","input":null,"requires_permission":false,"status":"completed","result":"",'
    '"evidence":["call_01","call_01"],"started_at":"2026-01-0","completed_at":"2026-01-0"},{"step_number":3,'
    '"description":"","tool":"read_file","input":{"path":""},"requires_permission":false,"status":"in_progress",'
    '"result":null,"evidence":[],"started_at":"2026-01-0","completed_at":null},{"step_number":4,"description":"","tool":'
    'null,"input":null,"requires_permission":false,"status":"pending","result":null,"evidence":[],"started_at":null,'
    '"completed_at":null}],"current_step_index":1,"status":"executing","risks":[],"created_at":"2026-01-0","updated_at":'
    '"2026-01-0"},"usage":{"input_tokens":1,"output_tokens":1,"cached_input_tokens":0,"llm_calls":1,"tool_calls":1,'
    '"cost_usd":0.0},"budget":{"token_budget":50000,"cost_budget_usd":null},"interventions":[],"result":null,"error":'
    'null,"metadata":{},"review_every":0,"max_steps":50,"last_seq":1,"last_step":1,"calls":[{"call_id":"call_01","name":'
    '"read_file","state":"started","state":"done","state":"ready","amended":null}],"undelivered":[],"progress":{'
    '"text_replies":0,"planning_attempts":0,"provider_waits":0,"hint":""},"wait":null},"events":[{"seq":1,"at":"2026-01-0","type":"'
)  # fmt: skip

PHRASES = _FIRST.encode()
BY_CHECKSUM = {zlib.adler32(phrases): phrases for phrases in (PHRASES,)}
