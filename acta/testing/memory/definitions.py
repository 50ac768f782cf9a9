"""Agents, managed prompts, tenants' tools and MCP servers in memory."""

from collections.abc import Callable
from typing import Generic, TypeVar

from acta.engine.agents.agent import DEFAULT_AGENT, AgentDefinition, built_in, with_built_in
from acta.engine.agents.dynamodb import to_agent, to_prompt, to_server, to_tool
from acta.engine.agents.store import (
    AgentPage,
    DefinitionChanged,
    DefinitionExists,
    OnDamaged,
    PromptPage,
    ignore_damaged,
)
from acta.engine.clock import Clock
from acta.engine.errors import PoisonedSession, TransientError
from acta.engine.log.commit import IdempotencyRecord
from acta.engine.prompts import prompt as prompts
from acta.engine.prompts.prompt import Prompt
from acta.engine.store.keys import from_cursor, to_cursor
from acta.engine.store.schema import CURRENT, OLDEST_WRITTEN
from acta.engine.store.table_layout import dump, skip_damaged
from acta.engine.tools.mcp.server import McpServer
from acta.engine.tools.tool import ToolDefinition, ToolSecret
from acta.testing.memory.table import MemoryTable, StoredDocument

Definition = TypeVar("Definition", ToolDefinition, McpServer)


class _MemoryDefinitionsByName(Generic[Definition]):
    """NamedDefinitions."""

    def __init__(
        self,
        table: MemoryTable,
        clock: Clock,
        documents: dict[tuple[str, str], StoredDocument],
        read: Callable[[int, bytes], Definition],
    ) -> None:
        """`documents`: the table's documents of this kind, by tenant and name."""
        self._table = table
        self._clock = clock
        self._documents = documents
        self._read: Callable[[int, bytes], Definition] = read

    def all(self, tenant: str, on_damaged: OnDamaged = ignore_damaged) -> tuple[Definition, ...]:
        with self._table.lock:
            own = [(name, each) for (whose, name), each in sorted(self._documents.items()) if whose == tenant]

        def tell(found: tuple[str, StoredDocument], error: PoisonedSession) -> None:
            on_damaged(found[0], str(error))

        return tuple(skip_damaged(lambda found: self._read(*found[1]), own, tell))

    def get(self, tenant: str, name: str) -> Definition | None:
        stored = self._documents.get((tenant, name))
        return None if stored is None else self._read(stored.version, stored.body)

    def create(self, tenant: str, new: Definition, record: IdempotencyRecord | None = None) -> None:
        with self._table.lock:
            if (tenant, new.name) in self._documents:
                raise DefinitionExists
            self._table.take_key(record, self._clock.now())
            self._documents[tenant, new.name] = StoredDocument(CURRENT, dump(new, CURRENT))

    def replace(self, tenant: str, old: Definition, new: Definition) -> None:
        with self._table.lock:
            self._expect(tenant, old)
            self._documents[tenant, new.name] = StoredDocument(CURRENT, dump(new, CURRENT))

    def delete(self, tenant: str, old: Definition) -> None:
        with self._table.lock:
            self._expect(tenant, old)
            del self._documents[tenant, old.name]

    def _expect(self, tenant: str, old: Definition) -> None:
        there = self.get(tenant, old.name)
        if there is None or there.written != old.written:
            raise DefinitionChanged


class MemoryToolStore(_MemoryDefinitionsByName[ToolDefinition]):
    def __init__(self, table: MemoryTable, clock: Clock) -> None:
        super().__init__(table, clock, table.tools, to_tool)

    def take_key(self, record: IdempotencyRecord) -> None:
        with self._table.lock:
            self._table.take_key(record, self._clock.now())

    def leave_key(self, record: IdempotencyRecord) -> None:
        with self._table.lock:
            self._table.leave_key(record)


class MemoryMcpServerStore(_MemoryDefinitionsByName[McpServer]):
    def __init__(self, table: MemoryTable, clock: Clock) -> None:
        super().__init__(table, clock, table.mcp_servers, to_server)


class MemorySnapshot:
    def __init__(self, store: "MemoryDefinitions", tenant: str) -> None:
        self._store = store
        self._tenant = tenant

    def agent(self, agent_id: str) -> AgentDefinition | None:
        return self._store.agent(self._tenant, agent_id)

    def prompt(self, name: str) -> Prompt:
        return self._store.prompt(self._tenant, name)

    def prompt_version(self, name: str, version: int) -> Prompt | None:
        return self._store.prompt_version(self._tenant, name, version)

    def tools(self) -> tuple[ToolDefinition, ...]:
        return self._store.tools.all(self._tenant)

    def mcp_servers(self) -> tuple[McpServer, ...]:
        return self._store.servers.all(self._tenant)


class MemoryDefinitions:
    def __init__(self, table: MemoryTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock
        self.tools = MemoryToolStore(table, clock)
        self.servers = MemoryMcpServerStore(table, clock)

    def snapshot(self, tenant: str) -> MemorySnapshot:
        return MemorySnapshot(self, tenant)

    def last_snapshot(self, tenant: str) -> MemorySnapshot:
        return self.snapshot(tenant)

    def agent(self, tenant: str, agent_id: str) -> AgentDefinition | None:
        stored = self._table.agents.get((tenant, agent_id))
        if stored is None:
            return built_in() if agent_id == DEFAULT_AGENT else None
        return to_agent(stored.version, stored.body)

    def agents(self, tenant: str, *, limit: int, cursor: str | None) -> AgentPage:
        scope, limit = f"A#{tenant}", max(limit, 1)
        after = None if cursor is None else from_cursor(scope, cursor)
        with self._table.lock:
            own = [
                to_agent(each.version, each.body)
                for key, each in sorted(self._table.agents.items())
                if key[0] == tenant and (after is None or key[1] > after)
            ]
        agents = with_built_in(own, after, complete=True)
        following = to_cursor(scope, agents[limit - 1].agent_id) if len(agents) > limit else None
        return AgentPage(tuple(agents[:limit]), following)

    def create_agent(
        self, tenant: str, agent: AgentDefinition, record: IdempotencyRecord | None = None
    ) -> None:
        with self._table.lock:
            if self.agent(tenant, agent.agent_id) is not None:
                raise DefinitionExists
            self._table.take_key(record, self._clock.now())
            self._put_agent(tenant, agent)

    def replace_agent(self, tenant: str, old: AgentDefinition, new: AgentDefinition) -> None:
        with self._table.lock:
            self._expect(tenant, old)
            self._put_agent(tenant, new)

    def delete_agent(self, tenant: str, old: AgentDefinition) -> None:
        with self._table.lock:
            self._expect(tenant, old)
            if self._table.agents.pop((tenant, old.agent_id), None) is None:
                raise DefinitionChanged

    def prompt(self, tenant: str, name: str) -> Prompt:
        with self._table.lock:
            own = self._table.prompts.get((tenant, name), {})
            versions = [to_prompt(each.version, each.body) for _, each in sorted(own.items())]
        return next((each for each in reversed(versions) if not each.draft), None) or self.seed(name)

    def prompt_version(self, tenant: str, name: str, version: int) -> Prompt | None:
        current = self.prompt(tenant, name)
        if version == current.version:
            return current
        stored = self._table.prompts.get((tenant, name), {}).get(version)
        return None if stored is None else to_prompt(stored.version, stored.body)

    def newest_version(self, tenant: str, name: str) -> int:
        own = self._table.prompts.get((tenant, name), {})
        return max((*own, self.prompt(tenant, name).version))

    def prompt_versions(self, tenant: str, name: str, *, limit: int, cursor: str | None) -> PromptPage:
        scope, limit = f"P#{name}#{tenant}", max(limit, 1)
        newest = self.newest_version(tenant, name)
        before = newest + 1 if cursor is None else int(from_cursor(scope, cursor))
        numbers = range(min(before - 1, newest), max(before - 1 - limit, 0), -1)
        found = [self.prompt_version(tenant, name, number) for number in numbers]
        versions = tuple(each for each in found if each is not None)
        more = versions and versions[-1].version > prompts.SEED_VERSION
        return PromptPage(versions, to_cursor(scope, str(versions[-1].version)) if more else None)

    def write_prompt(
        self, tenant: str, old: Prompt, new: Prompt, record: IdempotencyRecord | None = None
    ) -> None:
        with self._table.lock:
            own = self._table.prompts.get((tenant, old.name), {})
            if new.version in own or (not new.draft and self.prompt(tenant, old.name).version != old.version):
                raise DefinitionChanged
            self._table.take_key(record, self._clock.now())
            frozen = {} if new.draft else {old.version: _stored(old, CURRENT)}
            added = {new.version: _stored(new, CURRENT)}
            self._table.prompts[tenant, old.name] = {**frozen, **own, **added}

    def mark_prompt(self, tenant: str, marked: Prompt) -> None:
        with self._table.lock:
            own = self._table.prompts.get((tenant, marked.name), {})
            if self.prompt(tenant, marked.name).version != marked.version:
                raise DefinitionChanged
            own[marked.version] = _stored(marked, CURRENT)

    def seed(self, name: str) -> Prompt:
        stored = self._table.seeds.get(name)
        return prompts.seed(name) if stored is None else to_prompt(stored.version, stored.body)

    def store_seed(self, seed: Prompt) -> None:
        self._table.seeds[seed.name] = _stored(seed, OLDEST_WRITTEN)

    def _put_agent(self, tenant: str, agent: AgentDefinition) -> None:
        self._table.agents[tenant, agent.agent_id] = StoredDocument(CURRENT, dump(agent, CURRENT))

    def _expect(self, tenant: str, old: AgentDefinition) -> None:
        there = self.agent(tenant, old.agent_id)
        if there is None or (there.version, there.created_at) != (old.version, old.created_at):
            raise DefinitionChanged


def _stored(prompt: Prompt, version: int) -> StoredDocument:
    return StoredDocument(version, dump(prompt, version))


class MemoryToolSecretNames:
    def __init__(self, table: MemoryTable) -> None:
        self._table = table

    def all(self, tenant: str) -> tuple[ToolSecret, ...]:
        return tuple(each for (owner, _), each in sorted(self._table.tool_secrets.items()) if owner == tenant)

    def put(self, tenant: str, secret: ToolSecret) -> None:
        self._table.tool_secrets[tenant, secret.name] = secret

    def delete(self, tenant: str, name: str) -> None:
        self._table.tool_secrets.pop((tenant, name), None)


class MemoryToolSecretValues:
    """The values of tools' secrets, written and read here. `away`: raised instead of the next answers."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], str] = {}
        self.away: list[TransientError] = []

    def put(self, tenant: str, name: str, value: str) -> None:
        self._answer()
        self.values[tenant, name] = value

    def delete(self, tenant: str, name: str) -> None:
        self._answer()
        self.values.pop((tenant, name), None)

    def __call__(self, tenant: str, name: str, set_at: str = "") -> str | None:
        self._answer()
        return self.values.get((tenant, name))

    def _answer(self) -> None:
        if self.away:
            raise self.away.pop(0)
