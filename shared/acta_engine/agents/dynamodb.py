"""Agents and managed prompts on DynamoDB.

A process keeps what turns have read of a tenant, and checks with one small item, the tenant's revision, whether it is
still current.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

from acta_engine.agents import dynamodb_items as items
from acta_engine.agents.agent import DEFAULT_AGENT, AgentDefinition, built_in, with_built_in
from acta_engine.agents.dynamodb_items import change_definition
from acta_engine.agents.store import AgentExists, AgentPage, DefinitionChanged, PromptPage
from acta_engine.aws.clients import Service
from acta_engine.clock import Clock
from acta_engine.log.commit import IdempotencyRecord
from acta_engine.prompts import prompt as prompts
from acta_engine.prompts.prompt import Prompt
from acta_engine.store.dynamodb import FREE, Action, ClockedTable, delete, get_item, put
from acta_engine.store.keys import from_cursor, tenant_pk, to_cursor
from acta_engine.store.schema import CURRENT
from acta_engine.store.table_layout import Item
from acta_engine.tools.dynamodb import DynamoMcpServerStore, DynamoToolStore

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta_engine.tools.mcp.server import McpServer
    from acta_engine.tools.tool import ToolDefinition

TENANTS_KEPT = 200
MOST_VERSIONS = 9_999_999_999
"""The highest number that a key has room for."""


class _Known(NamedTuple):
    """What a process has read of a tenant while the tenant had this revision."""

    revision: str
    agents: dict[str, AgentDefinition | None]
    prompts: dict[str, Prompt]
    versions: dict[tuple[str, int], Prompt]
    tools: list[tuple[ToolDefinition, ...]]
    """Empty: not read yet. Else one tuple with all tools."""
    servers: list[tuple[McpServer, ...]]
    """As `tools`."""


class DynamoSnapshot:
    """Reads what the process does not have yet. An item may be newer than the revision; the next `at` notices that."""

    def __init__(self, store: DynamoDefinitions, tenant: str, known: _Known) -> None:
        self._store = store
        self._tenant = tenant
        self._known = known

    def agent(self, agent_id: str) -> AgentDefinition | None:
        if agent_id not in self._known.agents:
            self._known.agents[agent_id] = self._store.agent(self._tenant, agent_id)
        return self._known.agents[agent_id]

    def prompt(self, name: str) -> Prompt:
        if name not in self._known.prompts:
            self._known.prompts[name] = self._store.prompt(self._tenant, name)
        return self._known.prompts[name]

    def prompt_version(self, name: str, version: int) -> Prompt | None:
        if (name, version) not in self._known.versions:
            found = self._store.prompt_version(self._tenant, name, version)
            if found is None:
                return None
            self._known.versions[name, version] = found
        return self._known.versions[name, version]

    def tools(self) -> tuple[ToolDefinition, ...]:
        if not self._known.tools:
            self._known.tools.append(self._store.tools.all(self._tenant))
        return self._known.tools[0]

    def mcp_servers(self) -> tuple[McpServer, ...]:
        if not self._known.servers:
            self._known.servers.append(self._store.servers.all(self._tenant))
        return self._known.servers[0]


class DynamoDefinitions(ClockedTable):
    def __init__(self, table: str, clock: Clock, client: Any = None, *, write_version: int = CURRENT) -> None:
        super().__init__(table, clock, client, write_version=write_version)
        self._deployment = Service("dynamodb", client, of_deployment=True)
        self.tools = DynamoToolStore(table, clock, client, write_version=write_version)
        self.servers = DynamoMcpServerStore(table, clock, client, write_version=write_version)
        self._known: OrderedDict[str, _Known] = OrderedDict()

    def snapshot(self, tenant: str) -> DynamoSnapshot:
        """A deployment that changes a seed moves no tenant's revision, but it replaces the processes."""
        item = self._get(items.revision_key(tenant))
        revision = "" if item is None else item["r"]["S"]
        known = self._known.get(tenant)
        if known is None or known.revision != revision:
            known = self._known[tenant] = _Known(revision, {}, {}, {}, [], [])
        self._known.move_to_end(tenant)
        if len(self._known) > TENANTS_KEPT:
            self._known.popitem(last=False)
        return DynamoSnapshot(self, tenant, known)

    def last_snapshot(self, tenant: str) -> DynamoSnapshot:
        known = self._known.get(tenant)
        return self.snapshot(tenant) if known is None else DynamoSnapshot(self, tenant, known)

    def agent(self, tenant: str, agent_id: str) -> AgentDefinition | None:
        item = self._get(items.agent_key(tenant, agent_id))
        if item is None:
            return built_in() if agent_id == DEFAULT_AGENT else None
        return items.item_agent(item)

    def agents(self, tenant: str, *, limit: int, cursor: str | None) -> AgentPage:
        scope, limit = f"{items.AGENT}{tenant}", max(limit, 1)
        after = None if cursor is None else from_cursor(scope, cursor)
        # "!" sorts before every character an id may have
        first, last = items.AGENT if after is None else f"{items.AGENT}{after}!", f"{items.AGENT}~"
        if first > last:
            raise ValueError("not a cursor of this listing")
        answer = self._dynamodb.call(
            "query",
            TableName=self._table,
            ConsistentRead=True,
            Limit=limit + 1,
            KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
            ExpressionAttributeValues={
                ":pk": {"S": tenant_pk(tenant)},
                ":first": {"S": first},
                ":last": {"S": last},
            },
        )
        complete = "LastEvaluatedKey" not in answer
        found = with_built_in([items.item_agent(item) for item in answer["Items"]], after, complete=complete)
        kept = found[:limit]
        ended = complete and len(found) <= limit
        return AgentPage(tuple(kept), None if ended else to_cursor(scope, kept[-1].agent_id))

    def create_agent(
        self, tenant: str, agent: AgentDefinition, record: IdempotencyRecord | None = None
    ) -> None:
        if agent.agent_id == DEFAULT_AGENT:
            raise AgentExists
        item = items.agent_item(tenant, agent, self._write_version)
        try:
            self._change(tenant, put(self._table, item, FREE), record)
        except DefinitionChanged:
            raise AgentExists from None

    def replace_agent(self, tenant: str, old: AgentDefinition, new: AgentDefinition) -> None:
        item = items.agent_item(tenant, new, self._write_version)
        if old.is_built_in:
            self._change(tenant, put(self._table, item, FREE))
        else:
            self._change(tenant, put(self._table, item, _AS_READ, **_as_read(old)))

    def delete_agent(self, tenant: str, old: AgentDefinition) -> None:
        key = items.agent_key(tenant, old.agent_id)
        self._change(tenant, delete(self._table, key, _AS_READ, **_as_read(old)))

    def prompt(self, tenant: str, name: str) -> Prompt:
        item = self._get(items.prompt_key(tenant, name))
        return self.seed(name) if item is None else items.item_prompt(item)

    def prompt_version(self, tenant: str, name: str, version: int) -> Prompt | None:
        if name not in prompts.SEEDS:
            raise KeyError(name)
        if not 0 < version <= MOST_VERSIONS:
            return None
        pk, sk = items.versions_pk(tenant, name), items.version_sk(version)
        item = self._get({"pk": {"S": pk}, "sk": {"S": sk}})
        if item is not None:
            return items.item_prompt(item)
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
        """Those that the tenant has stored, from `last` on down."""
        answer = self._dynamodb.call(
            "query",
            TableName=self._table,
            ConsistentRead=True,
            ScanIndexForward=False,
            Limit=limit,
            KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
            ExpressionAttributeValues={
                ":pk": {"S": items.versions_pk(tenant, name)},
                ":first": {"S": items.version_sk(prompts.SEED_VERSION)},
                ":last": {"S": items.version_sk(last)},
            },
        )
        return tuple(items.item_prompt(item) for item in answer["Items"])

    def write_prompt(
        self, tenant: str, old: Prompt, new: Prompt, record: IdempotencyRecord | None = None
    ) -> None:
        version = self._write_version
        added = put(self._table, items.version_item(tenant, new, version), FREE)
        if new.draft:
            self._change(tenant, added, record)
            return
        current = items.prompt_item(tenant, new, version)
        if old.is_seed:
            in_force = put(self._table, current, FREE)
            frozen = [put(self._table, items.version_item(tenant, old, version), FREE)]
        else:
            in_force = put(self._table, current, "n = :n", n={"N": str(old.version)})
            frozen = []
        self._change(tenant, in_force, record, added, *frozen)

    def mark_prompt(self, tenant: str, marked: Prompt) -> None:
        current = items.prompt_item(tenant, marked, self._write_version)
        in_force = put(self._table, current, "n = :n", n={"N": str(marked.version)})
        kept = put(self._table, items.version_item(tenant, marked, self._write_version))
        self._change(tenant, in_force, None, kept)

    def seed(self, name: str) -> Prompt:
        """Where no deployment has stored one: this release's."""
        item = self._get(items.seed_key(name), self._deployment)
        return prompts.seed(name) if item is None else items.item_prompt(item)

    def store_seed(self, seed: Prompt) -> None:
        self._deployment.call("put_item", TableName=self._table, Item=items.seed_item(seed))

    def _change(
        self, tenant: str, decisive: Action, record: IdempotencyRecord | None = None, *more: Action
    ) -> None:
        """Raises DefinitionChanged, KeyTaken."""
        change_definition(self._dynamodb, self._table, self._clock, tenant, decisive, record, *more)

    def _get(self, key: Item, service: Service | None = None) -> Item | None:
        return get_item(service or self._dynamodb, self._table, key)


_AS_READ = "n = :n AND c = :c"
"""Both: versions begin anew where an agent was deleted and made again under its id."""


def _as_read(agent: AgentDefinition) -> dict[str, dict[str, str]]:
    return {"n": {"N": str(agent.version)}, "c": {"S": items.instant(agent.created_at)}}
