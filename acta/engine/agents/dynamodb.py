"""Definitions on DynamoDB: agents, managed prompts, and tenants' tools, MCP servers and triggers.

A process keeps what turns have read of a tenant, and checks with one small item, the tenant's revision, whether it is
still current. `_change` is the one method that writes a tenant's definitions. A release that does not know
MCP servers leaves them as they are.

pk                        sk                        attributes
T#{tenant}                R                         r revision, another text after each write of a definition
T#{tenant}                A#{agent}                 n version, c created at, v, z body
T#{tenant}                P#{prompt}                n version in force, v, z body
T#{tenant}                F#{tool}                  n version, c created at, v, z body
T#{tenant}                MCP#{server}              n version, c created at, v, z body
T#{tenant}                TR#{trigger}              n version, c created at, v, z body
T#{tenant}#P#{prompt}     V#{version:010d}          v, z body
D                         P#{prompt}                the deployment's seed: v, z body
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from acta.engine.agents.agent import DEFAULT_AGENT, AgentDefinition, built_in, with_built_in
from acta.engine.agents.store import (
    AgentPage,
    DefinitionChanged,
    DefinitionExists,
    OnDamaged,
    PromptPage,
    ignore_damaged,
)
from acta.engine.aws.clients import Service
from acta.engine.clock import Clock
from acta.engine.errors import PoisonedSession
from acta.engine.log.commit import IdempotencyRecord
from acta.engine.log.store import KeyTaken
from acta.engine.prompts import prompt as prompts
from acta.engine.prompts.prompt import Prompt
from acta.engine.store.dynamodb import (
    FREE,
    Action,
    ClockedTable,
    ConditionFailed,
    between,
    delete,
    get_item,
    put,
    put_record,
    transact,
)
from acta.engine.store.keys import from_cursor, key_part, tenant_pk, to_cursor
from acta.engine.store.schema import CURRENT, OLDEST_WRITTEN, FrozenModel
from acta.engine.store.table_layout import Item, dump, item_key, load, record_key, skip_damaged, stored

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.tools.mcp.server import McpServer
    from acta.engine.tools.tool import ToolDefinition
    from acta.engine.triggers.trigger import Trigger

T = TypeVar("T")

TENANTS_KEPT = 200
MOST_VERSIONS = 9_999_999_999
"""The highest number that a key has room for."""


def to_agent(version: int, data: bytes) -> AgentDefinition:
    return load("agent", AgentDefinition, version, data)


def to_prompt(version: int, data: bytes) -> Prompt:
    return load("prompt", Prompt, version, data)


AGENT = "A#"
VERSION = "V#"
DEPLOYMENT_PK = "D"


def revision_key(tenant: str) -> Item:
    return item_key(tenant_pk(tenant), "R")


def agent_key(tenant: str, agent_id: str) -> Item:
    return item_key(tenant_pk(tenant), AGENT + key_part(agent_id))


def agent_item(tenant: str, agent: AgentDefinition, version: int) -> Item:
    """`version`: the one to write."""
    return {**agent_key(tenant, agent.agent_id), **_as_stored(agent), **_body(agent, version)}


def item_agent(item: Item) -> AgentDefinition:
    return to_agent(*stored(item))


def prompt_key(tenant: str, name: str) -> Item:
    return item_key(tenant_pk(tenant), f"P#{key_part(name)}")


def prompt_item(tenant: str, prompt: Prompt, version: int) -> Item:
    """`version`: the one to write, of the schema."""
    return {**prompt_key(tenant, prompt.name), "n": {"N": str(prompt.version)}, **_body(prompt, version)}


def versions_pk(tenant: str, name: str) -> str:
    return f"{tenant_pk(tenant)}#P#{key_part(name)}"


def version_sk(version: int) -> str:
    return f"{VERSION}{version:010d}"


def version_item(tenant: str, prompt: Prompt, version: int) -> Item:
    return {
        **item_key(versions_pk(tenant, prompt.name), version_sk(prompt.version)),
        **_body(prompt, version),
    }


def seed_key(name: str) -> Item:
    return item_key(DEPLOYMENT_PK, f"P#{key_part(name)}")


def seed_item(prompt: Prompt) -> Item:
    # the release before this one may still run
    return {**seed_key(prompt.name), **_body(prompt, OLDEST_WRITTEN)}


def item_prompt(item: Item) -> Prompt:
    return to_prompt(*stored(item))


def _body(one: FrozenModel, version: int) -> Item:
    return {"v": {"N": str(version)}, "z": {"B": dump(one, version)}}


class _DefinitionTable(ClockedTable):
    def _change(
        self, tenant: str, decisive: Action, record: IdempotencyRecord | None = None, *more: Action
    ) -> None:
        """Writes `decisive` with the tenant's new revision, all or nothing. The revision is a new text and not a count,
        so nothing has to be read first. Raises DefinitionChanged where a condition does not hold, KeyTaken.
        """
        revision = put(self._table, {**revision_key(tenant), "r": {"S": self._clock.new_id("rev")}})
        kept = [] if record is None else [put_record(self._table, record, self._clock)]
        try:
            transact(self._dynamodb, self._clock, [decisive, revision, *more, *kept])
        except ConditionFailed as failed:
            raise (KeyTaken if failed.failed == {2 + len(more)} else DefinitionChanged) from None

    def _create(self, tenant: str, item: Item, record: IdempotencyRecord | None) -> None:
        """Raises DefinitionExists, KeyTaken."""
        try:
            self._change(tenant, put(self._table, item, FREE), record)
        except DefinitionChanged:
            raise DefinitionExists from None


def to_tool(version: int, data: bytes) -> ToolDefinition:
    from acta.engine.tools.tool import ToolDefinition

    return load("tool", ToolDefinition, version, data)


def to_server(version: int, data: bytes) -> McpServer:
    from acta.engine.tools.mcp.server import McpServer  # few tenants have one

    return load("MCP server", McpServer, version, data)


def to_trigger(version: int, data: bytes) -> Trigger:
    from acta.engine.triggers.trigger import Trigger  # few tenants have one

    return load("trigger", Trigger, version, data)


AS_READ = "n = :n AND c = :c"
"""Both are compared: versions start again when a definition is deleted and made again under its name."""

Definition = TypeVar("Definition", "ToolDefinition", "McpServer", "Trigger")


class _DynamoDefinitionsByName(_DefinitionTable, Generic[Definition]):
    """NamedDefinitions, each as one item."""

    first: str
    """How its sort keys begin."""
    read: Callable[[int, bytes], Definition]

    def all(self, tenant: str, on_damaged: OnDamaged = ignore_damaged) -> tuple[Definition, ...]:
        def tell(item: Item, error: PoisonedSession) -> None:
            on_damaged(item["sk"]["S"].removeprefix(self.first), str(error))

        items = self._items(tenant_pk(tenant), self.first)
        return tuple(skip_damaged(lambda item: self.read(*stored(item)), items, tell))

    def get(self, tenant: str, name: str) -> Definition | None:
        item = self._get(self._key(tenant, name))
        return None if item is None else self.read(*stored(item))

    def create(self, tenant: str, new: Definition, record: IdempotencyRecord | None = None) -> None:
        self._create(tenant, self._item(tenant, new), record)

    def replace(self, tenant: str, old: Definition, new: Definition) -> None:
        self._change(tenant, put(self._table, self._item(tenant, new), AS_READ, **_as_stored(old)))

    def delete(self, tenant: str, old: Definition) -> None:
        self._change(tenant, delete(self._table, self._key(tenant, old.name), AS_READ, **_as_stored(old)))

    def _key(self, tenant: str, name: str) -> Item:
        return item_key(tenant_pk(tenant), self.first + key_part(name))

    def _item(self, tenant: str, one: Definition) -> Item:
        return {**self._key(tenant, one.name), **_as_stored(one), **_body(one, self._write_version)}


class DynamoToolStore(_DynamoDefinitionsByName["ToolDefinition"]):
    first, read = "F#", staticmethod(to_tool)

    def take_key(self, record: IdempotencyRecord) -> None:
        try:
            transact(self._dynamodb, self._clock, [put_record(self._table, record, self._clock)])
        except ConditionFailed:
            raise KeyTaken from None

    def leave_key(self, record: IdempotencyRecord) -> None:
        key = record_key(record.tenant, record.route, record.key)
        self._dynamodb.call("delete_item", TableName=self._table, Key=key)


class DynamoMcpServerStore(_DynamoDefinitionsByName["McpServer"]):
    first, read = "MCP#", staticmethod(to_server)


class DynamoTriggerStore(_DynamoDefinitionsByName["Trigger"]):
    first, read = "TR#", staticmethod(to_trigger)


def _as_stored(one: AgentDefinition | ToolDefinition | McpServer | Trigger) -> dict[str, dict[str, str]]:
    created_at = "" if one.created_at is None else one.created_at.isoformat()
    return {"n": {"N": str(one.version)}, "c": {"S": created_at}}


class _Known(NamedTuple):
    """What a process has read of a tenant while the tenant had this revision."""

    revision: str
    read: dict[tuple[str | int, ...], Any]


class DynamoSnapshot:
    """Reads what the process does not have yet. An item may be newer than the revision; the next `at` notices that."""

    def __init__(self, store: DynamoDefinitions, tenant: str, known: _Known) -> None:
        self._store = store
        self._tenant = tenant
        self._known = known

    def agent(self, agent_id: str) -> AgentDefinition | None:
        return self._once(("agent", agent_id), lambda: self._store.agent(self._tenant, agent_id))

    def prompt(self, name: str) -> Prompt:
        return self._once(("prompt", name), lambda: self._store.prompt(self._tenant, name))

    def prompt_version(self, name: str, version: int) -> Prompt | None:
        key = ("prompt", name, version)
        return self._once(key, lambda: self._store.prompt_version(self._tenant, name, version))

    def tools(self) -> tuple[ToolDefinition, ...]:
        return self._once(("tools",), lambda: self._store.tools.all(self._tenant))

    def mcp_servers(self) -> tuple[McpServer, ...]:
        return self._once(("servers",), lambda: self._store.servers.all(self._tenant))

    def _once(self, key: tuple[str | int, ...], read: Callable[[], T]) -> T:
        known = self._known.read
        if key not in known:
            known[key] = read()
        found: T = known[key]
        return found


class DynamoDefinitions(_DefinitionTable):
    def __init__(self, table: str, clock: Clock, client: Any = None, *, write_version: int = CURRENT) -> None:
        super().__init__(table, clock, client, write_version=write_version)
        self._deployment = Service("dynamodb", client, of_deployment=True)
        self.tools = DynamoToolStore(table, clock, client, write_version=write_version)
        self.servers = DynamoMcpServerStore(table, clock, client, write_version=write_version)
        self.triggers = DynamoTriggerStore(table, clock, client, write_version=write_version)
        self._known: OrderedDict[str, _Known] = OrderedDict()

    def snapshot(self, tenant: str) -> DynamoSnapshot:
        """A deployment that changes a seed moves no tenant's revision, but it replaces the processes."""
        item = self._get(revision_key(tenant))
        revision = "" if item is None else item["r"]["S"]
        known = self._known.get(tenant)
        if known is None or known.revision != revision:
            known = self._known[tenant] = _Known(revision, {})
        self._known.move_to_end(tenant)
        if len(self._known) > TENANTS_KEPT:
            self._known.popitem(last=False)
        return DynamoSnapshot(self, tenant, known)

    def last_snapshot(self, tenant: str) -> DynamoSnapshot:
        known = self._known.get(tenant)
        return self.snapshot(tenant) if known is None else DynamoSnapshot(self, tenant, known)

    def agent(self, tenant: str, agent_id: str) -> AgentDefinition | None:
        item = self._get(agent_key(tenant, agent_id))
        if item is None:
            return built_in() if agent_id == DEFAULT_AGENT else None
        return item_agent(item)

    def agents(self, tenant: str, *, limit: int, cursor: str | None) -> AgentPage:
        scope, limit = f"{AGENT}{tenant}", max(limit, 1)
        after = None if cursor is None else from_cursor(scope, cursor)
        # "!" sorts before every character an id may have
        first, last = AGENT if after is None else f"{AGENT}{after}!", f"{AGENT}~"
        if first > last:
            raise ValueError("not a cursor of this listing")
        answer = self._dynamodb.call(
            "query",
            TableName=self._table,
            ConsistentRead=True,
            Limit=limit + 1,
            **between(tenant_pk(tenant), first, last),
        )
        complete = "LastEvaluatedKey" not in answer
        found = with_built_in([item_agent(item) for item in answer["Items"]], after, complete=complete)
        kept = found[:limit]
        ended = complete and len(found) <= limit
        return AgentPage(tuple(kept), None if ended else to_cursor(scope, kept[-1].agent_id))

    def create_agent(
        self, tenant: str, agent: AgentDefinition, record: IdempotencyRecord | None = None
    ) -> None:
        if agent.agent_id == DEFAULT_AGENT:
            raise DefinitionExists
        self._create(tenant, agent_item(tenant, agent, self._write_version), record)

    def replace_agent(self, tenant: str, old: AgentDefinition, new: AgentDefinition) -> None:
        item = agent_item(tenant, new, self._write_version)
        if old.is_built_in:
            self._change(tenant, put(self._table, item, FREE))
        else:
            self._change(tenant, put(self._table, item, AS_READ, **_as_stored(old)))

    def delete_agent(self, tenant: str, old: AgentDefinition) -> None:
        key = agent_key(tenant, old.agent_id)
        self._change(tenant, delete(self._table, key, AS_READ, **_as_stored(old)))

    def prompt(self, tenant: str, name: str) -> Prompt:
        item = self._get(prompt_key(tenant, name))
        return self.seed(name) if item is None else item_prompt(item)

    def prompt_version(self, tenant: str, name: str, version: int) -> Prompt | None:
        if name not in prompts.SEEDS:
            raise KeyError(name)
        if not 0 < version <= MOST_VERSIONS:
            return None
        item = self._get(item_key(versions_pk(tenant, name), version_sk(version)))
        if item is not None:
            return item_prompt(item)
        return self.seed(name) if version == prompts.SEED_VERSION else None

    def newest_version(self, tenant: str, name: str) -> int:
        in_force = self.prompt(tenant, name).version
        newest = self._versions(tenant, name, MOST_VERSIONS, limit=1)
        return max(in_force, *(each.version for each in newest), prompts.SEED_VERSION)

    def prompt_versions(self, tenant: str, name: str, *, limit: int, cursor: str | None) -> PromptPage:
        scope, limit = f"P#{name}#{tenant}", max(limit, 1)
        before = None if cursor is None else int(from_cursor(scope, cursor))
        last = MOST_VERSIONS if before is None else before - 1
        if last < prompts.SEED_VERSION:
            raise ValueError("not a cursor of this listing")
        versions = self._versions(tenant, name, last, limit)
        current = self.prompt(tenant, name)
        if current.is_seed and len(versions) < limit:  # the tenant has not stored it: its own are drafts
            versions = (*versions, current)
        more = versions and versions[-1].version > prompts.SEED_VERSION
        return PromptPage(versions, to_cursor(scope, str(versions[-1].version)) if more else None)

    def _versions(self, tenant: str, name: str, last: int, limit: int) -> tuple[Prompt, ...]:
        """The versions that the tenant has stored, from `last` downwards."""
        pk, ends = versions_pk(tenant, name), (version_sk(prompts.SEED_VERSION), version_sk(last))
        return tuple(map(item_prompt, self._items(pk, *ends, most=limit, ScanIndexForward=False)))

    def write_prompt(
        self, tenant: str, old: Prompt, new: Prompt, record: IdempotencyRecord | None = None
    ) -> None:
        version = self._write_version
        added = put(self._table, version_item(tenant, new, version), FREE)
        if new.draft:
            self._change(tenant, added, record)
            return
        current = prompt_item(tenant, new, version)
        if old.is_seed:
            in_force = put(self._table, current, FREE)
            frozen = [put(self._table, version_item(tenant, old, version), FREE)]
        else:
            in_force = put(self._table, current, "n = :n", n={"N": str(old.version)})
            frozen = []
        self._change(tenant, in_force, record, added, *frozen)

    def mark_prompt(self, tenant: str, marked: Prompt) -> None:
        current = prompt_item(tenant, marked, self._write_version)
        in_force = put(self._table, current, "n = :n", n={"N": str(marked.version)})
        kept = put(self._table, version_item(tenant, marked, self._write_version))
        self._change(tenant, in_force, None, kept)

    def seed(self, name: str) -> Prompt:
        """The deployment's text. If no deployment has stored one: this release's."""
        item = get_item(self._deployment, self._table, seed_key(name))
        return prompts.seed(name) if item is None else item_prompt(item)

    def store_seed(self, seed: Prompt) -> None:
        self._deployment.call("put_item", TableName=self._table, Item=seed_item(seed))
