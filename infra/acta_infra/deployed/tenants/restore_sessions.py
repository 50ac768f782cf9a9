"""Brings one session of a backup back, ended, with its log, its texts and what people decided in it.

The newest commit is written first and commit 1 last, with the listing. So a session that is half there is never at work
and stands in no listing, and a restore that was cut short goes on where it was. Each commit is written where its number
is free, and nowhere else.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, TypeVar

from acta_engine.errors import PoisonedSession, SchemaUnknown, StoreThrottled
from acta_engine.ids import RUN
from acta_engine.log.change import Change
from acta_engine.log.commit import Commit
from acta_engine.log.store import IndexEntry, Listed, NumberTaken, SessionReceiver, TransactionItems
from acta_engine.people.intervention import Intervention
from acta_engine.store import table_layout as items
from acta_engine.store.dynamodb import query
from acta_engine.store.keys import TENANT, key_part, tenant_pk
from acta_engine.store.schema import FrozenModel, read_json
from acta_engine.turn.endings import restored
from acta_engine.usage.dynamodb import counted_item
from acta_engine.usage.store import UsagePartition
from acta_engine.usage.usage import counted
from acta_infra.deployed.tenants.backup_format import BackupUnusable, Line, without_rights
from acta_infra.deployed.tenants.stores import TenantStores

Outcome = Literal["restored", "there already", "left as it is", "deleted lately"]
"""`there already`: this backup was restored before, or the session is as it was backed up. `left as it is`: another
session has the id, or this one has gone on. `deleted lately`: the
rest of the deleted session still stops it; an hour later it does not."""
OPENED = "intervention.opened"
Document = TypeVar("Document", bound=FrozenModel)


class SessionInBackup(NamedTuple):
    """`texts`: name -> text. `interventions`: those that are decided."""

    session_id: str
    commits: tuple[Commit, ...]
    texts: Mapping[str, str]
    interventions: Mapping[str, Intervention]
    webhook: str | None


def read_session(part: str, lines: Iterable[Line]) -> SessionInBackup:
    """In the shape of this release. Raises BackupUnusable."""
    session_id, wanted, webhook = "", -1, None
    commits: list[Commit] = []
    texts: dict[str, str] = {}
    interventions: dict[str, Intervention] = {}
    try:
        for line in lines:
            match line["kind"]:
                case "session":
                    session_id, wanted, webhook = line["session_id"], line["commits"], line.get("webhook")
                case "commit":
                    commits.append(read_document(Commit, line))
                case "text":
                    texts[line["name"]] = line["text"]
                case "intervention":
                    one = read_document(Intervention, line)
                    interventions[one.intervention_id] = one
    except (KeyError, TypeError, PoisonedSession, SchemaUnknown):
        raise BackupUnusable(f"{part} has what this release cannot read") from None
    if len(commits) != wanted or [each.number for each in commits] != list(range(1, wanted + 1)):
        raise BackupUnusable(f"{part} does not have all commits of its session")
    decided = {name: one for name, one in interventions.items() if one.state != "pending"}
    return SessionInBackup(session_id, tuple(commits), texts, decided, webhook)


def read_document(model: type[Document], line: Mapping[str, Any]) -> Document:
    """Raises SchemaUnknown, PoisonedSession."""
    return read_json(line["kind"], model, int(line["version"]), json.dumps(line["document"]))


def restore_session(stores: TenantStores, tenant: str, session: SessionInBackup, backup: str) -> Outcome:
    """`backup`: its identity, which the session's last commit has in its key. Raises BackupUnusable where a text is not
    what its name says, and what the stores raise.
    """
    session_id = session.session_id
    if _is_deleted_lately(stores, tenant, session_id):
        return "deleted lately"
    commits = [_for(tenant, commit) for commit in session.commits]
    change = Change(commits[-1].head, commits[-1].number + 1, stores.clock.now())
    restored(change, stores.clock.new_id(RUN))
    last = change.as_commit(f"restore/{backup}")
    newest = stores.log.latest(tenant, session_id)
    if newest is not None:
        if _for(tenant, newest) == commits[-1]:
            return "there already"
        following = stores.log.read(tenant, session_id, since=last.number, limit=1).commits
        if not following or following[0].key != last.key:
            return "left as it is"
        if stores.item(items.listing_key(tenant, session_id)) is not None:
            return "there already"
    for name, text in session.texts.items():
        if stores.blobs.put(tenant, session_id, text) != name:
            raise BackupUnusable(f"a text of {session_id} is not what its name says")
    # What the session used was counted where it was used. From here on only what comes after it is.
    partition = UsagePartition(tenant_pk(tenant).removeprefix(TENANT), key_part(last.head.session_id))
    now = counted_item(partition, counted(last.head, last.number, ""))
    stores.table.call("put_item", TableName=stores.names.table, Item=now)
    for commit in (last, *reversed(commits[1:])):
        with suppress(NumberTaken):  # by an earlier attempt, which was cut short
            stores.log.append(commit, TransactionItems(interventions=_asked(session, commit), restored=True))
    head, url = last.head, session.webhook
    first = TransactionItems(
        listing=IndexEntry(
            head.tenant,
            head.session_id,
            head.agent_id,
            head.coarse_state,
            private_to=head.private_to,
            listed=Listed.of(head),
        ),
        interventions=_asked(session, commits[0]),
        receiver=None if url is None else SessionReceiver(tenant, session_id, url),
        restored=True,
    )
    try:
        stores.log.append(commits[0], first)
    except NumberTaken:
        raise StoreThrottled("somebody else restores the same session") from None
    return "restored"


def _for(tenant: str, commit: Commit) -> Commit:
    """The commit as one of the tenant's, without rights whatever the backup has."""
    bare = without_rights(commit)
    return bare.model_copy(update={"head": bare.head.model_copy(update={"tenant": tenant})})


def _asked(session: SessionInBackup, commit: Commit) -> list[Intervention]:
    """What was asked with this commit and is decided by now."""
    opened = (each.data.get("intervention_id", "") for each in commit.events if each.type == OPENED)
    return [session.interventions[each] for each in opened if each in session.interventions]


def _is_deleted_lately(stores: TenantStores, tenant: str, session_id: str) -> bool:
    """Whether a deleted session of that id still stands in the way. What is left of it for longer than it has to be is
    removed: AWS takes its time.
    """
    answers = query(
        stores.table,
        TableName=stores.names.table,
        ConsistentRead=True,
        ProjectionExpression="pk, sk, v, live, #ttl",
        ExpressionAttributeNames={"#ttl": "ttl"},
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": items.session_pk(tenant, session_id)}},
    )
    found = [item for answer in answers for item in answer["Items"]]
    rest = [item for item in found if "v" not in item and "ttl" in item]
    now = stores.clock.now()
    is_late = any(datetime.fromtimestamp(int(item["ttl"]["N"]), UTC) > now for item in rest)
    if is_late or any(item["sk"]["S"] == items.ERASURE and "live" in item for item in found):
        return True
    for item in rest:
        key = {"pk": item["pk"], "sk": item["sk"]}
        stores.table.call("delete_item", TableName=stores.names.table, Key=key)
    return False
