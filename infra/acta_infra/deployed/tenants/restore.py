"""Restores a backup into a tenant: the one that was backed up, or another.

What is there stays as it is, unless the operator says that definitions and files shall be replaced. A restore may be
repeated: what it has brought back is found there. Sessions come back ended (`restore_sessions`). No backup has secrets,
so who restores is told which ones have to be set.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Literal, NamedTuple, TypeVar

from acta_engine.agents.agent import AgentDefinition
from acta_engine.agents.store import (
    AgentExists,
    DefinitionChanged,
    ServerChanged,
    ToolChanged,
    ToolExists,
)
from acta_engine.aws.errors import AwsRefused
from acta_engine.errors import PoisonedSession, SchemaUnknown, StoreThrottled
from acta_engine.memories.memory import Memory
from acta_engine.memories.store import MemoryChanged, MemoryFull
from acta_engine.notifications.receiver import TenantReceiver
from acta_engine.prompts.prompt import SEEDS, Prompt
from acta_engine.store.keys import FILES as FILE_KEYS
from acta_engine.store.keys import tenant_prefix
from acta_engine.store.objects import MISSING, read_object
from acta_engine.tools.mcp.server import McpServer
from acta_engine.tools.tool import ToolDefinition
from acta_infra.deployed.tenants.backup_format import (
    CONTENT,
    DEFINITIONS,
    FILES,
    Backup,
    BackupUnusable,
    Line,
)
from acta_infra.deployed.tenants.backup_places import Place
from acta_infra.deployed.tenants.restore_sessions import read_document, read_session, restore_session
from acta_infra.deployed.tenants.stores import TenantStores

OPERATOR = "operator"
"""Who wrote a webhook that came out of a backup."""

T = TypeVar("T")
Versioned = TypeVar("Versioned", AgentDefinition, ToolDefinition, McpServer)
Outcome = Literal["restored", "there already", "left as it is", "replaced", "no room"]
"""`left as it is`: another one is there, and was not to be replaced. `no room`: the agent has as many memories as it
may."""


class Restored(NamedTuple):
    """`definitions`, `sessions`, `files`: outcome -> how many. `secrets`: names of the tools' secrets that have to be
    set; `webhook`: the webhook's secret has to be, too.
    """

    definitions: Counter[str]
    sessions: Counter[str]
    files: Counter[str]
    secrets: tuple[str, ...]
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
    place: Place,
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
            outcome = restore_session(stores, tenant, session, job.backup.identity)
            told(session.session_id, outcome)
            sessions[outcome] += 1
        files = Counter[str](_file(job, line) for line in job.backup.lines(FILES))
    except (AgentExists, DefinitionChanged, MemoryChanged, ServerChanged, ToolChanged, ToolExists):
        raise StoreThrottled("somebody has changed the same definition meanwhile") from None
    except (KeyError, TypeError, ValueError, PoisonedSession, SchemaUnknown) as error:
        raise BackupUnusable(f"it has what this release cannot read ({type(error).__name__})") from error
    there = {secret.name for secret in stores.secret_names.all(tenant)}
    wanted = [line["name"] for line in lines if line["kind"] == "secret_to_set"]
    return Restored(
        definitions,
        sessions,
        files,
        tuple(name for name in wanted if name not in there),
        any(line["kind"] == "webhook" for line in lines),
    )


def _definitions(job: Restore, lines: Iterable[Line]) -> Iterator[Outcome]:
    prompts: dict[str, list[Prompt]] = {name: [] for name in SEEDS}
    for line in lines:
        match line["kind"]:
            case "agent":
                yield _agent(job, read_document(AgentDefinition, line))
            case "tool":
                yield _tool(job, read_document(ToolDefinition, line))
            case "mcp_server":
                yield _server(job, read_document(McpServer, line))
            case "memory":
                yield _memory(job, read_document(Memory, line))
            case "prompt":
                prompt = read_document(Prompt, line)
                prompts.setdefault(prompt.name, []).append(prompt)
            case "webhook":
                yield _webhook(job, line["url"])
    for versions in prompts.values():
        if versions:
            yield _prompt(job, versions)


def _agent(job: Restore, agent: AgentDefinition) -> Outcome:
    store, tenant = job.stores.definitions, job.tenant
    there = store.agent(tenant, agent.agent_id)
    if there is not None and there.is_built_in:
        store.replace_agent(tenant, there, agent)
        return "restored"
    add, replace = partial(store.create_agent, tenant), partial(store.replace_agent, tenant)
    return _versioned(job, there, agent, add, replace)


def _tool(job: Restore, tool: ToolDefinition) -> Outcome:
    store, tenant = job.stores.definitions.tools, job.tenant
    there = store.get(tenant, tool.name)
    return _versioned(job, there, tool, partial(store.create, tenant), partial(store.replace, tenant))


def _server(job: Restore, server: McpServer) -> Outcome:
    store, tenant = job.stores.definitions.servers, job.tenant
    there = store.get(tenant, server.name)
    return _versioned(job, there, server, partial(store.write, tenant, None), partial(store.write, tenant))


def _memory(job: Restore, memory: Memory) -> Outcome:
    store = job.stores.memories
    try:
        return _written(
            job,
            store.get(job.tenant, memory.memory_id),
            is_same=lambda old: old == memory,
            add=lambda: store.add(job.tenant, memory),
            replace=lambda old: store.update(job.tenant, old, memory),
        )
    except MemoryFull:
        return "no room"


def _versioned(
    job: Restore,
    there: Versioned | None,
    backed_up: Versioned,
    add: Callable[[Versioned], object],
    replace: Callable[[Versioned, Versioned], object],
) -> Outcome:
    """As `_written`, of what counts its writes: the count makes no difference, and goes on where one is replaced."""
    return _written(
        job,
        there,
        is_same=lambda old: old.model_copy(update={"version": backed_up.version}) == backed_up,
        add=lambda: add(backed_up),
        replace=lambda old: replace(old, backed_up.model_copy(update={"version": old.version + 1})),
    )


def _written(
    job: Restore,
    there: T | None,
    *,
    is_same: Callable[[T], bool],
    add: Callable[[], object],
    replace: Callable[[T], object],
) -> Outcome:
    """Writes one thing of the backup as the operator said. `there`: what the tenant has in its place. `is_same`:
    whether what is there is what the backup has.
    """
    if there is None:
        add()
        return "restored"
    if is_same(there):
        return "there already"
    if not job.replace:
        return "left as it is"
    replace(there)
    return "replaced"


def _prompt(job: Restore, versions: list[Prompt]) -> Outcome:
    """All versions, where the tenant has none of its own; a restore that was cut short has some of them. `versions`:
    from 1 on.
    """
    store, name = job.stores.definitions, versions[0].name
    there = store.prompt(job.tenant, name)
    if not there.is_seed and there.content == versions[-1].content:
        return "there already"
    if there.is_seed:
        old, missing = versions[0], versions[1:]
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
    receiver = TenantReceiver(tenant=job.tenant, url=url, created_at=now, updated_at=now, updated_by=OPERATOR)
    return _written(
        job,
        store.get(job.tenant),
        is_same=lambda old: old.url == url,
        add=lambda: store.put(receiver),
        replace=lambda _: store.put(receiver),
    )


def _file(job: Restore, line: Line) -> Outcome:
    """A file that is replaced stays as a version, where the bucket keeps those."""
    s3, bucket = job.stores.objects, job.stores.names.bucket
    key = tenant_prefix(FILE_KEYS, job.tenant) + line["path"]
    data = job.backup.read(CONTENT + line["sha256"])
    target: dict[str, Any] = {"Bucket": bucket, "Key": key, "Body": data}
    try:
        there: bytes | None = read_object(s3, bucket, key).body
    except AwsRefused as refused:
        if refused.code != MISSING:
            raise
        there = None
    return _written(
        job,
        there,
        is_same=lambda old: old == data,
        add=lambda: s3.call("put_object", **target, IfNoneMatch="*"),
        replace=lambda _: s3.call("put_object", **target),
    )
