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

from datetime import datetime, timedelta

from acta_engine.errors import PoisonedSession
from acta_engine.log.commit import Commit
from acta_engine.store.documents import ATTRIBUTES_VERSION, dump, load
from acta_engine.store.keys import key_part, part_text, tenant_pk
from acta_engine.store.table_layout import COMMIT, Item, number_sk, sortable
from acta_engine.store.transaction import Action
from acta_engine.usage.store import Committed, Partition
from acta_engine.usage.usage import NOTHING, Amounts, Counted, Dimension, RowKey, counted, hour_of

PARTITION = "#=U"
SESSION = "#S#"
"""Between a tenant and a session in the keys of commits."""
HOURS, AGENTS, MODELS, USERS, ENDS = "H#", "A#", "M#", "U#", "E#"
COUNTED, LEFT = "N#", "D#"
ROWS: dict[Dimension, str] = {"tenant": HOURS, "agent": AGENTS, "model": MODELS, "user": USERS, "end": ENDS}
KEPT = timedelta(days=2)
"""Longer than a stream keeps its records: none of a deleted session can come any more."""
ATTRIBUTES: dict[str, str] = dict(
    zip(
        Amounts._fields,
        (
            "fr", "ca", "ou", "cl", "mi", "un",
            "ru", "um", "am", "pl", "pc", "qa", "qr", "qe", "qw", "wm", "tk", "tf",
            "ct", "ft", "fc", "fw", "wa", "ex", "ms", "mt",
            "si", "sa", "sw", "sc", "sf", "sx", "sd",
            "rc", "rf", "rx",
        ),
        strict=True,
    )
)  # fmt: skip
"""Amount -> attribute."""


def usage_pk(tenant_part: str) -> str:
    """`tenant_part`: as it stands in keys."""
    return f"T#{tenant_part}{PARTITION}"


def committed(pk: str, sk: str, at: datetime) -> Committed | None:
    """The commit with these keys; None: they are of something else."""
    tenant, found, session = pk.removeprefix("T#").partition(SESSION)
    if not found or not sk.startswith(COMMIT):
        return None
    return Committed(Partition(tenant, session), int(sk.removeprefix(COMMIT)), at)


def commit_key(partition: Partition, number: int) -> Item:
    pk = f"T#{partition.tenant}{SESSION}{partition.session}"
    return {"pk": {"S": pk}, "sk": {"S": number_sk(number)}}


def counted_key(partition: Partition) -> Item:
    return {"pk": {"S": usage_pk(partition.tenant)}, "sk": {"S": COUNTED + partition.session}}


def counted_item(partition: Partition, now: Counted) -> Item:
    """Of a deleted session only that it was counted whole."""
    key = counted_key(partition)
    if now.standing == "deleted":
        return {**key, "ttl": {"N": str(int((now.at + KEPT).timestamp()))}}
    return {**key, "n": {"N": str(now.number)}, **_body(now)}


def item_counted(item: Item) -> Counted | None:
    """None: of a deleted session, which is counted whole."""
    return None if "z" not in item else _read(item)


def item_left(item: Item) -> tuple[str, Counted]:
    return item["t"]["S"], _read(item)


def _read(item: Item) -> Counted:
    """Raises PoisonedSession, SchemaUnknown."""
    try:
        version, body = int(item["v"]["N"]), item["z"]["B"]
    except (KeyError, ValueError):
        raise PoisonedSession("a stored count of a session cannot be read") from None
    return load("count of a session", Counted, version, body)


def left_key(partition: Partition) -> Item:
    return {"pk": {"S": usage_pk(partition.tenant)}, "sk": {"S": LEFT + partition.session}}


def left_item(commit: Commit) -> Item:
    """Of a session's last commit, which is emptied with the others: its counts, and who started it."""
    head = commit.head
    partition = Partition(tenant_pk(head.tenant).removeprefix("T#"), key_part(head.session_id))
    return {
        **left_key(partition),
        "n": {"N": str(commit.number)},
        "t": {"S": head.tenant},
        **_body(counted(head, commit.number, head.created_by)),
        "ttl": {"N": str(int((commit.at + KEPT).timestamp()))},
    }


def _body(now: Counted) -> Item:
    return {"v": {"N": str(ATTRIBUTES_VERSION)}, "z": {"B": dump(now, ATTRIBUTES_VERSION)}}


def row_key(tenant_part: str, key: RowKey) -> Item:
    sk = f"{ROWS[key.dimension]}{key.at:010d}"
    if key.dimension != "tenant":
        sk += f"#{key_part(key.name or '-')}"
    return {"pk": {"S": usage_pk(tenant_part)}, "sk": {"S": sk}}


def item_row(dimension: Dimension, item: Item) -> tuple[RowKey, Amounts]:
    at, _, part = item["sk"]["S"].removeprefix(ROWS[dimension]).partition("#")
    name = (part_text(part) or part) if part else ""
    amounts = NOTHING._replace(
        **{field: int(item[short]["N"]) for field, short in ATTRIBUTES.items() if short in item}
    )
    return RowKey(dimension, int(at), name), amounts


def addition(table: str, tenant_part: str, key: RowKey, more: Amounts) -> Action:
    """What adds `more`, which is not nothing, to the row."""
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
    """What says in the row of its hour that commits up to `until` are counted. Its condition fails where a later one
    was said there.
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
