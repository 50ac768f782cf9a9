"""Restores a backup into a tenant: the one that was backed up, or another.

What is there stays as it is, unless the operator says that definitions and files shall be replaced. A restore may be
repeated: what it has brought back is found there. No backup has secrets, so who restores is told which ones have to be
set.

Sessions come back ended, with their log, their texts and what people decided in them. The newest commit is written
first and commit 1 last, with the listing. So a session that is half there is never at work and stands in no listing,
and a restore that was cut short goes on where it was. Each commit is written where its number is free, and nowhere
else.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal, NamedTuple, TypeVar

from acta.engine.agents.agent import AgentDefinition
from acta.engine.agents.store import DefinitionChanged, DefinitionExists, NamedDefinitions
from acta.engine.aws.errors import AwsRefused
from acta.engine.clock import RUN
from acta.engine.errors import PoisonedSession, SchemaUnknown, StoreThrottled
from acta.engine.log.commit import Change, Commit
from acta.engine.log.repository import child_row
from acta.engine.log.store import (
    IndexEntry,
    ListingEntry,
    NumberTaken,
    Occupied,
    SessionReceiver,
    TransactionItems,
)
from acta.engine.memories.memory import Memory, MemoryChanged, MemoryFull
from acta.engine.notifications.receiver import TenantReceiver
from acta.engine.people.intervention import Intervention
from acta.engine.prompts.prompt import SEED_VERSION, SEEDS, Prompt
from acta.engine.schedules.schedule import Schedule
from acta.engine.store import table_layout as items
from acta.engine.store.dynamodb import items_of
from acta.engine.store.keys import FILES as FILE_KEYS
from acta.engine.store.keys import TENANT, key_part, tenant_pk, tenant_prefix
from acta.engine.store.objects import MISSING, read_object
from acta.engine.store.schema import FrozenModel, read_json
from acta.engine.tools.mcp.server import McpServer
from acta.engine.tools.tenant.definition import Unusable, check_fixed, check_schema
from acta.engine.tools.tool import ToolDefinition
from acta.engine.triggers.trigger import Trigger
from acta.engine.turn.endings import restored
from acta.engine.untrusted.path import PathRefused, check_stored_path
from acta.engine.usage.dynamodb import counted_item
from acta.engine.usage.store import UsagePartition
from acta.engine.usage.usage import counted
from acta.infra.deployed.operator_trail import OPERATOR
from acta.infra.deployed.tenants.backup import (
    CONTENT,
    DEFINITIONS,
    FILES,
    Backup,
    BackupPlace,
    BackupUnusable,
    Line,
    at_rest,
    session_part,
    without_rights,
)
from acta.infra.deployed.tenants.stores import TenantStores, key_of

SessionOutcome = Literal["restored", "there already", "left as it is", "deleted lately"]
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
        sessions = [each.head.session_id for each in commits]
        sessions += [each.session_id for each in interventions.values()]
        parts = {session_part(each) for each in (session_id, *sessions)}
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, PoisonedSession, SchemaUnknown):
        raise BackupUnusable(f"{part} has what this release cannot read") from None
    if parts != {part}:  # it would be written to another session, which may be there
        raise BackupUnusable(f"{part} has commits or decisions of another session")
    if len(commits) != wanted or [each.number for each in commits] != list(range(1, wanted + 1)):
        raise BackupUnusable(f"{part} does not have all commits of its session")
    decided = {name: one for name, one in interventions.items() if one.state != "pending"}
    return SessionInBackup(session_id, tuple(commits), texts, decided, webhook)


def read_document(model: type[Document], line: Mapping[str, Any]) -> Document:
    """Raises SchemaUnknown, PoisonedSession."""
    return read_json(line["kind"], model, int(line["version"]), json.dumps(line["document"]))


def restore_session(
    stores: TenantStores, tenant: str, session: SessionInBackup, backup: str
) -> SessionOutcome:
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
    stores.put_item(counted_item(partition, counted(last.head, last.number, "")))
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
            listed=ListingEntry.of(head),
        ),
        interventions=_asked(session, commits[0]),
        receiver=None if url is None else SessionReceiver(tenant, session_id, url),
        child=child_row(head),
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
    read: dict[str, Any] = {
        "ProjectionExpression": "pk, sk, v, live, #ttl",
        "ExpressionAttributeNames": {"#ttl": "ttl"},
    }
    pk = items.session_pk(tenant, session_id)
    found = [*items_of(stores.table, stores.names.table, pk, **read)]
    rest = [item for item in found if "v" not in item and "ttl" in item]
    now = stores.clock.now()
    is_late = any(datetime.fromtimestamp(int(item["ttl"]["N"]), UTC) > now for item in rest)
    if is_late or any(item["sk"]["S"] == items.ERASURE and "live" in item for item in found):
        return True
    for item in rest:
        stores.table.call("delete_item", TableName=stores.names.table, Key=key_of(item))
    return False


Named = TypeVar("Named", ToolDefinition, McpServer, Trigger)
Versioned = TypeVar("Versioned", AgentDefinition, ToolDefinition, McpServer, Trigger, Schedule)
Outcome = Literal["restored", "there already", "left as it is", "replaced", "no room", "name refused"]
"""`left as it is`: another one is there, and was not to be replaced. `no room`: the agent has as many memories as it
may. `name refused`: no new file may have the name."""


class Restored(NamedTuple):
    """`definitions`, `sessions`, `files`: outcome -> how many. `secrets`: the tools' secrets that have to be set, by
    name, with the hosts that they were for; `webhook`: the webhook's secret has to be, too.
    """

    definitions: Counter[str]
    sessions: Counter[str]
    files: Counter[str]
    secrets: Mapping[str, Sequence[str]]
    webhook: bool


class Restore(NamedTuple):
    """`replace`: definitions and files that are there are replaced by those of the backup."""

    stores: TenantStores
    tenant: str
    backup: Backup
    replace: bool = False


def restore(
    stores: TenantStores,
    tenant: str,
    place: BackupPlace,
    *,
    replace: bool = False,
    told: Callable[[str, str], None] = lambda what, outcome: None,
) -> Restored:
    """`told`: is called with each session and what became of it. Raises BackupUnusable, and what the stores raise; then
    it may be repeated.
    """
    job = Restore(stores, tenant, Backup(place), replace)
    try:
        lines = list(job.backup.lines(DEFINITIONS))
        definitions = Counter[str](_definitions(job, lines))
        sessions = Counter[str]()
        for part in job.backup.sessions:
            session = read_session(part, job.backup.lines(part))
            try:
                outcome = restore_session(stores, tenant, session, job.backup.identity)
            except Occupied:
                raise BackupUnusable(
                    f"{part} has a decision under the id of another one that is there"
                ) from None
            told(session.session_id, outcome)
            sessions[outcome] += 1
        files = Counter[str](_file(job, line) for line in job.backup.lines(FILES))
    except (DefinitionExists, DefinitionChanged, MemoryChanged):
        raise StoreThrottled("somebody has changed the same definition meanwhile") from None
    except Unusable as error:
        raise BackupUnusable(f"a tool in it cannot be used: {error.problems}") from None
    except (
        KeyError, TypeError, ValueError, AttributeError, RecursionError, PoisonedSession, SchemaUnknown
    ) as error:  # fmt: skip
        raise BackupUnusable(f"it has what this release cannot read ({type(error).__name__})") from error
    there = {secret.name for secret in stores.secret_names.all(tenant)}
    wanted = {line["name"]: line["hosts"] for line in lines if line["kind"] == "secret_to_set"}
    return Restored(
        definitions,
        sessions,
        files,
        {name: hosts for name, hosts in wanted.items() if name not in there},
        any(line["kind"] == "webhook" for line in lines),
    )


def _definitions(job: Restore, lines: Iterable[Line]) -> Iterator[Outcome]:
    tenant, store = job.tenant, job.stores.definitions
    prompts: dict[str, list[Prompt]] = {name: [] for name in SEEDS}
    for line in lines:
        match line["kind"]:
            case "agent":
                agent = read_document(AgentDefinition, line)
                if wrong := agent.wrong():
                    raise BackupUnusable(f"an agent in it cannot be used: {wrong}")
                there, replace = store.agent(tenant, agent.agent_id), partial(store.replace_agent, tenant)
                if there is not None and there.is_built_in:
                    replace(there, agent)
                    yield "restored"
                else:
                    yield _versioned(job, there, agent, partial(store.create_agent, tenant), replace)
            case "tool":
                tool = read_document(ToolDefinition, line)
                check_schema(tool.input_schema)
                check_fixed(tool.config, tool.input_schema)
                yield _named(job, store.tools, tool)
            case "mcp_server":
                server = read_document(McpServer, line)
                for one in server.tools:
                    check_schema(one.input_schema, is_checked_again=True)
                yield _named(job, store.servers, server)
            case "trigger":
                trigger = read_document(Trigger, line)
                here = store.triggers.get(tenant, trigger.name)
                # Nothing starts before an admin has looked: what delivers to it may belong to another deployment.
                paused = {"paused": True if here is None else here.paused}
                yield _named(job, store.triggers, trigger.model_copy(update=paused))
            case "memory":
                yield _memory(job, read_document(Memory, line))
            case "schedule":
                yield _schedule(job, at_rest(read_document(Schedule, line)))
            case "prompt":
                prompt = read_document(Prompt, line)
                prompts.setdefault(prompt.name, []).append(prompt)
            case "webhook":
                yield _webhook(job, line["url"])
    yield from (_prompt(job, versions) for versions in prompts.values() if versions)


def _named(job: Restore, store: NamedDefinitions[Named], one: Named) -> Outcome:
    """A tool, an MCP server or a trigger."""
    there, tenant = store.get(job.tenant, one.name), job.tenant
    return _versioned(job, there, one, partial(store.create, tenant), partial(store.replace, tenant))


def _versioned(
    job: Restore,
    there: Versioned | None,
    backed_up: Versioned,
    add: Callable[[Versioned], object],
    replace: Callable[[Versioned, Versioned], object],
) -> Outcome:
    """As `_written`, of what counts its writes: the count makes no difference, and goes on where one is replaced. What
    is added counts from now on: no write of it has the name of an earlier one, which an open approval may be for.
    """
    if there is None:
        add(backed_up.model_copy(update={"created_at": job.stores.clock.now()}))
        return "restored"
    new = backed_up.model_copy(update={"version": there.version + 1, "created_at": there.created_at})
    same = there.model_copy(update={"version": new.version}) == new
    return _written(job, there, same, lambda: None, lambda: replace(there, new))


def _written(
    job: Restore, there: object, same: bool, add: Callable[[], object], replace: Callable[[], object]
) -> Outcome:
    """Writes one thing of the backup as the operator said. `there`: what the tenant has in its place; None: nothing.
    `same`: it is what the backup has.
    """
    if there is None:
        add()
        return "restored"
    if same:
        return "there already"
    if not job.replace:
        return "left as it is"
    replace()
    return "replaced"


def _memory(job: Restore, memory: Memory) -> Outcome:
    store, tenant = job.stores.memories, job.tenant
    there = store.get(tenant, memory.memory_id)
    try:
        return _written(
            job,
            there,
            there == memory,
            add=lambda: store.add(tenant, memory),
            replace=lambda: store.update(tenant, there or memory, memory),
        )
    except MemoryFull:
        return "no room"


def _schedule(job: Restore, schedule: Schedule) -> Outcome:
    """It comes back paused: whoever resumes or writes it knows what it would do here."""
    store, tenant = job.stores.schedules, job.tenant
    if wrong := schedule.wrong():
        raise BackupUnusable(f"a schedule in it cannot be used: {wrong}")
    there = store.get(tenant, schedule.schedule_id)
    return _versioned(
        job,
        None if there is None else at_rest(there),
        schedule,
        partial(store.create, tenant),
        lambda _, new: store.replace(tenant, there or schedule, new),
    )


def _prompt(job: Restore, versions: list[Prompt]) -> Outcome:
    """All versions, where the tenant has none of its own; a restore that was cut short has some of them. `versions`:
    from 1 on.
    """
    store, name = job.stores.definitions, versions[0].name
    numbers = [each.version for each in versions]
    if numbers != sorted(set(numbers)) or numbers[0] != SEED_VERSION or any(each.draft for each in versions):
        raise BackupUnusable(f"it does not have the versions of the prompt {name} from {SEED_VERSION} on")
    there = store.prompt(job.tenant, name)
    if not there.is_seed and there.content == versions[-1].content:
        return "there already"
    if there.is_seed:  # version 1 is the product's text, and not what a backup calls so
        old, missing = there, versions[1:]
    elif there in versions:
        old, missing = there, versions[versions.index(there) + 1 :]
    elif job.replace:
        newest = versions[-1]
        missing = [
            there.next_version(newest.content, newest.comment, newest.created_by, job.stores.clock.now())
        ]
        old = there
    else:
        return "left as it is"
    for new in missing:
        store.write_prompt(job.tenant, old, new)
        old = new
    return "restored" if there.is_seed or there in versions else "replaced"


def _webhook(job: Restore, url: str | None) -> Outcome:
    store, now = job.stores.receivers, job.stores.clock.now()
    there = store.get(job.tenant)
    new = TenantReceiver(tenant=job.tenant, url=url, created_at=now, updated_at=now, updated_by=OPERATOR)
    put = partial(store.put, new)
    return _written(job, there, there is not None and there.url == url, put, put)


def _file(job: Restore, line: Line) -> Outcome:
    """A file that is replaced stays as a version, where the bucket keeps those."""
    s3, bucket = job.stores.objects, job.stores.names.bucket
    try:
        check_stored_path(line["path"])
    except PathRefused:
        return "name refused"
    key = tenant_prefix(FILE_KEYS, job.tenant) + line["path"]
    data = job.backup.read(CONTENT + line["sha256"])
    put = partial(s3.call, "put_object", Bucket=bucket, Key=key, Body=data)
    try:
        there: bytes | None = read_object(s3, bucket, key).body
    except AwsRefused as refused:
        if refused.code != MISSING:
            raise
        there = None
    return _written(job, there, there == data, partial(put, IfNoneMatch="*"), put)
