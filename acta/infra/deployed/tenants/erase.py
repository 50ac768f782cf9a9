"""Erases all that a deployment stores of a tenant, or of one person in it.

The audit trail stays: it says who did what, this erasure included, and has no content. After a table is restored, it
also says what has to be erased again. Deletions may be repeated: run an interrupted command again, and it goes on.

A session that was at work may still have a late worker. So a deleted session's emptied keys and a note stay until no
such worker can live; the same command, run again after that, removes them and whatever such a worker left. A token
outlives its user and can start sessions until it expires; the table keeps that time, and the command is run again then.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from acta.engine.agents.dynamodb import DEPLOYMENT_PK
from acta.engine.agents.store import DefinitionChanged
from acta.engine.audit.record import OperatorAction
from acta.engine.aws.clients import Service
from acta.engine.aws.step_functions import StepFunctionsWorkflow
from acta.engine.errors import PoisonedSession, SessionNotFound
from acta.engine.log.store import TOMBSTONE_LIFE, IndexEntry
from acta.engine.people.requester import Requester
from acta.engine.queue.dynamodb import BUCKET, line_prefix
from acta.engine.sessions.delete import delete
from acta.engine.store import table_layout as items
from acta.engine.store.keys import (
    FILES,
    SESSIONS,
    TENANT,
    key_part,
    notification_secrets_prefix,
    tenant_pk,
    tenant_prefix,
    tool_secrets_prefix,
)
from acta.engine.store.objects import erase_prefix
from acta.engine.turn.engine import Workflow
from acta.engine.untrusted.path import private_folder
from acta.infra.deployed.account import Account, pages, unless
from acta.infra.deployed.operator_trail import OPERATOR
from acta.infra.deployed.tenants.stores import TenantStores, in_pages, key_of, stores_in
from acta.infra.deployed.users import Users

ERASE_TENANT: OperatorAction = "tenant.erase"
SESSION_DELETE, MEMORY_DELETE = "session.delete", "memory.delete"
SCHEDULE_DELETE, TRIGGER_DELETE = "schedule.delete", "trigger.delete"
WORKERS_LIVE = timedelta(minutes=20)
"""A worker that began before a deletion has ended by then (`Settings.erase_again_seconds`)."""
TOKENS = "Q"
"""The sort keys of the tenant's items that say until when (`ttl`) tokens of removed users are valid, or workers of a
person's deleted sessions may live, begin with this. The key alone is for all users of the tenant; with a subject behind
it, the item is for that user.
"""
TOKEN_LIFE = timedelta(hours=1)


class Eraser(NamedTuple):
    """`secrets`: Secrets Manager. `users`: those of Acta's own pool; None: there is no pool. `token_life`: how long a
    newly issued token is valid.
    """

    stores: TenantStores
    workflow: Workflow
    secrets: Service
    users: Users | None = None
    token_life: timedelta = TOKEN_LIFE


class ErasureReceipt(NamedTuple):
    """What was removed, by kind: `users`, `sessions`, `objects` (files and texts, each version), `secrets`, `memories`,
    `schedules`, `items` of the table. `until`: when the command has to be run again, since late workers and old tokens
    may bring data back; None: nothing is left. `wrote_to`: ids of others' sessions with words of the person, which
    stay.
    `looked_at`: how many `users`, `sessions`, `memories` and `schedules` were searched for the person.
    """

    removed: Mapping[str, int]
    until: datetime | None = None
    wrote_to: tuple[str, ...] = ()
    looked_at: Mapping[str, int] = {}

    @property
    def told(self) -> Mapping[str, str]:
        """What the audit trail has of it: numbers, and whether the command has to be run again."""
        counts = {kind: str(number) for kind, number in self.removed.items() if number}
        return counts if self.until is None else {**counts, "again_after": self.until.isoformat()}


def eraser_of(account: Account, token_life: timedelta = TOKEN_LIFE) -> Eraser:
    """Raises NotDeployed, and what AWS says."""
    stores = stores_in(account)
    pool = stores.names.user_pool
    return Eraser(
        stores,
        StepFunctionsWorkflow(stores.names.state_machine, account.client("stepfunctions")),
        Service("secretsmanager", account.client("secretsmanager")),
        Users(pool, account.client("cognito-idp")) if pool else None,
        token_life,
    )


def erase_tenant(eraser: Eraser, tenant: str) -> ErasureReceipt:
    """Raises what AWS raises; then it may be repeated."""
    stores, removed = eraser.stores, Counter[str]()
    with stores.trail.recorded(ERASE_TENANT, tenant) as told:
        if eraser.users is not None:  # first, so that nobody gets another token
            people = eraser.users.subjects(tenant)
            if people:
                _note(stores, tenant, eraser.token_life)
            removed["users"] = eraser.users.delete_all(people)
        for trigger in stores.definitions.triggers.all(tenant):  # so that no event starts a session meanwhile
            stores.definitions.triggers.delete(tenant, trigger)
            removed["items"] += 1
        for entry in list(stores.all_sessions(tenant)):
            removed["sessions"] += 1
            _delete_session(eraser, tenant, entry.session_id)
        for kind, bucket in ((FILES, stores.names.bucket), (SESSIONS, stores.names.session_bucket)):
            removed["objects"] += erase_prefix(stores.objects, bucket, tenant_prefix(kind, tenant))
        removed["secrets"] = _delete_secrets(eraser, tenant)
        # A table may be restored to the middle of this; what came before may have taken hours.
        stores.trail.note(ERASE_TENANT, tenant)
        items_gone, until = delete_items(stores, tenant)
        removed["items"] += items_gone
        receipt = ErasureReceipt(removed, until)
        told |= receipt.told
    return receipt


def erase_user(eraser: Eraser, tenant: str, user: str) -> ErasureReceipt:
    """`user`: the subject of their tokens. Removes them from the pool, their schedules and triggers, their sessions,
    private or not, their private files, and the memories that they wrote or that are for them alone. Raises what AWS
    raises; then it may be repeated.
    """
    stores, removed, looked_at = eraser.stores, Counter[str](), Counter[str]()
    with stores.trail.recorded("user.erase", tenant, **stores.trail.person(tenant, user)) as told:
        if eraser.users is not None:
            subjects = eraser.users.subjects(tenant)
            looked_at["users"] = len(subjects)
            names = [name for name, subject in subjects.items() if subject == user]
            if names:
                _note(stores, tenant, eraser.token_life, user)
            removed["users"] = eraser.users.delete_all(names)
        for schedule in stores.schedules.all(tenant):  # before their sessions, so that none starts meanwhile
            looked_at["schedules"] += 1
            if schedule.created_by == user:
                stores.trail.note(SCHEDULE_DELETE, tenant, schedule_id=schedule.schedule_id)
                removed["schedules"] += delete_schedule(stores, tenant, schedule.schedule_id)
        for trigger in stores.definitions.triggers.all(tenant):
            if trigger.created_by == user:
                stores.trail.note(TRIGGER_DELETE, tenant, trigger_id=trigger.trigger_id)
                stores.definitions.triggers.delete(tenant, trigger)
                removed["triggers"] += 1
        wrote_to: list[str] = []
        found = [(entry, _askers(stores, entry)) for entry in stores.all_sessions(tenant)]
        for entry, people in found:  # all are read first, because a deletion takes the sessions below along
            looked_at["sessions"] += 1
            if people[:1] == (user,):
                _note(stores, tenant, WORKERS_LIVE, user)  # one may write private files and memories
                removed["sessions"] += 1
                _delete_session(eraser, tenant, entry.session_id)
            elif user in people:
                wrote_to.append(entry.session_id)
        folder = f"{tenant_prefix(FILES, tenant)}{private_folder(user)}/"
        removed["objects"] = erase_prefix(stores.objects, stores.names.bucket, folder)
        for memory in list(stores.all_memories(tenant)):
            looked_at["memories"] += 1
            if user in (memory.only_for, memory.source.user):
                stores.trail.note(MEMORY_DELETE, tenant, memory_id=memory.memory_id)
                stores.memories.delete(tenant, memory)
                removed["memories"] += 1
        until = _noted(stores, tenant, user)
        until = until if until is not None and until > stores.clock.now() else None
        receipt = ErasureReceipt(removed, until, tuple(wrote_to), looked_at)
        told |= receipt.told
    return receipt


def _note(stores: TenantStores, tenant: str, life: timedelta, user: str = "") -> None:
    """Stores in the table until when what lives for so long from now may bring data back: a later run, which finds
    neither user nor session any more, still reports it. A later time that is noted already stays.
    """
    noted, until = _noted(stores, tenant, user), int((stores.clock.now() + life).timestamp()) + 1
    if noted is None or noted.timestamp() < until:
        stores.put_item({**_tokens_key(tenant, user), "ttl": {"N": str(until)}})


def _noted(stores: TenantStores, tenant: str, user: str) -> datetime | None:
    item = stores.item(_tokens_key(tenant, user))
    return None if item is None else _needed_until(item)


def _tokens_key(tenant: str, user: str) -> items.Item:
    return {"pk": {"S": tenant_pk(tenant)}, "sk": {"S": f"{TOKENS}#{key_part(user)}" if user else TOKENS}}


def _askers(stores: TenantStores, entry: IndexEntry) -> tuple[str, ...]:
    """Who started the session, wrote to it or rated an answer; if it cannot be read, who started it according to its
    listing."""
    try:
        commit = stores.log.latest(entry.tenant, entry.session_id)
    except PoisonedSession:
        return (entry.listed.created_by,)
    return () if commit is None else (commit.head.created_by, *commit.head.writers, *commit.head.raters)


def _delete_session(eraser: Eraser, tenant: str, session_id: str) -> None:
    eraser.stores.trail.note(SESSION_DELETE, tenant, session_id=session_id)
    delete_session(eraser, tenant, session_id)


def delete_session(eraser: Eraser, tenant: str, session_id: str) -> int:
    """Deletes a session as the API does: cancels it, and erases it again when no worker can live. Returns how many."""
    stores, requester = eraser.stores, Requester(tenant, OPERATOR)
    try:
        delete(
            stores.repository, eraser.workflow, stores.log, stores.index, stores.blobs, requester, session_id
        )
    except SessionNotFound:  # somebody else has deleted it meanwhile
        return 0
    return 1


def delete_schedule(stores: TenantStores, tenant: str, schedule_id: str) -> int:
    """Says how many there were. A round may move it on meanwhile, and then it is read again."""
    while (schedule := stores.schedules.get(tenant, schedule_id)) is not None:
        with suppress(DefinitionChanged):
            stores.schedules.delete(tenant, schedule)
            return 1
    return 0


def _delete_secrets(eraser: Eraser, tenant: str) -> int:
    removed = 0
    environment = eraser.stores.names.environment
    for prefix_of in (tool_secrets_prefix, notification_secrets_prefix):
        prefix = prefix_of(environment, tenant)
        named = [{"Key": "name", "Values": [prefix]}]
        for page in pages(eraser.secrets, "list_secrets", "NextToken", Filters=named):
            names = [each["Name"] for each in page["SecretList"] if "DeletedDate" not in each]
            for name in (each for each in names if each.startswith(prefix)):
                eraser.secrets.call("delete_secret", SecretId=name, ForceDeleteWithoutRecovery=True)
                removed += 1
    return removed


def delete_items(stores: TenantStores, tenant: str) -> tuple[int, datetime | None]:
    """Removes all items of the tenant, wherever they are in the table. Returns how many, and when it has to be done
    again; None: nothing can come back. Items can come back in two cases: the items that stop late workers of recently
    deleted sessions are still there; or a commit was removed that no deletion had emptied, because its session began
    meanwhile or its worker was late.
    """
    now, until, removed = stores.clock.now(), None, 0
    for keys in in_pages(tenant_items(stores, tenant)):
        gone = []
        for item in keys:
            if item["pk"]["S"].startswith(f"{DEPLOYMENT_PK}#") and item["sk"]["S"] == BUCKET:
                unless(  # it names the tenant that was admitted last, which may be another one by now
                    "ConditionalCheckFailedException", stores.table, "update_item",
                    TableName=stores.names.table, Key=key_of(item), UpdateExpression="REMOVE n",
                    ConditionExpression="n = :tenant", ExpressionAttributeValues={":tenant": {"S": tenant}},
                )  # fmt: skip
                continue
            needed = _needed_until(item)
            if needed is None and item["sk"]["S"].startswith(items.COMMIT):
                until = max(until or now, now + WORKERS_LIVE)
            if needed is not None and needed > now:
                until = max(until or now, needed)
            else:
                gone.append({"DeleteRequest": {"Key": key_of(item)}})
        removed += stores.change_items(gone)
    return removed, until


def tenant_items(stores: TenantStores, tenant: str) -> Iterator[items.Item]:
    """Keys of all items of the tenant, of its sessions in providers' lines, and of the buckets that name it. Reads the
    whole table, so that items that no listing names are found, too.
    """
    values = {
        ":one": tenant_pk(tenant),
        ":many": f"{tenant_pk(tenant)}#",
        ":deployment": f"{DEPLOYMENT_PK}#",
        ":line": line_prefix(tenant),
        ":tenant": tenant,
    }
    ours = "begins_with(pk, :deployment) AND (begins_with(sk, :line) OR n = :tenant)"
    return stores.scan(
        stores.names.table,
        FilterExpression=f"pk = :one OR begins_with(pk, :many) OR ({ours})",
        ExpressionAttributeValues={name: {"S": value} for name, value in values.items()},
        ProjectionExpression="pk, sk, z, live_at, live, #ttl",
        ExpressionAttributeNames={"#ttl": "ttl"},
    )


def _needed_until(item: items.Item) -> datetime | None:
    """Until when an item is needed that is left of a deleted session or user: its workers, or tokens, may live until
    then. None: the item is not needed.
    """
    sk = item["sk"]["S"]
    if not item["pk"]["S"].startswith(TENANT):
        return None
    if sk == TOKENS or sk.startswith(f"{TOKENS}#"):
        return datetime.fromtimestamp(int(item["ttl"]["N"]), UTC)
    if sk == items.ERASURE and "live" in item:
        return items.item_live(item).at + WORKERS_LIVE
    is_emptied = (sk.startswith(items.COMMIT) or sk in (items.RUNNING_TEXT, items.MARKER)) and "z" not in item
    if is_emptied and "ttl" in item:
        return datetime.fromtimestamp(int(item["ttl"]["N"]), UTC) - TOMBSTONE_LIFE + WORKERS_LIVE
    return None
