"""Definitions: the agents, managed prompts, tools and MCP servers of a tenant, which its admins write
(docs/design/api.md, tools.md 47).

A turn reads one small item: the tenant's revision, strongly consistent. Everything else comes from the process's
memory until the revision changes. Each write changes the revision in its transaction. So an edit that was answered with
2xx is in force from the next turn on. A tenant has few tools, so they are always read and listed together.

All methods raise StoreThrottled and StoreUnavailable, and SchemaUnknown where a stored document has a version that this
release does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, TypeVar

from acta.engine.errors import Conflict

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.agents.agent import AgentDefinition
    from acta.engine.log.commit import IdempotencyRecord
    from acta.engine.prompts.prompt import Prompt
    from acta.engine.tools.mcp.server import McpServer
    from acta.engine.tools.tool import ToolDefinition, ToolSecret

AGENTS_AT_ONCE = 100

Definition = TypeVar("Definition")


class DefinitionExists(Exception):
    """A definition with this id or name exists. Nothing was written."""


class DefinitionChanged(Exception):
    """Somebody has changed or deleted the definition since it was read. Nothing was written."""


OnDamaged = Callable[[str, str], None]
"""A function that is called with the name of a damaged definition and the reason why it cannot be read."""


def ignore_damaged(name: str, why: str) -> None:
    """For those who only need the definitions that can be read."""


class AgentPage(NamedTuple):
    """Sorted by id. `cursor` None: this is the last page."""

    agents: tuple[AgentDefinition, ...]
    cursor: str | None


class PromptPage(NamedTuple):
    """The versions of a prompt, newest first. `cursor` None: this is the last page."""

    versions: tuple[Prompt, ...]
    cursor: str | None


class DefinitionSnapshot(Protocol):
    """A tenant's definitions at one revision, or newer ones. For one turn, not to be kept."""

    def agent(self, agent_id: str) -> AgentDefinition | None:
        """None: there is no such agent. `default` always exists."""

    def prompt(self, name: str) -> Prompt:
        """The version in force. Raises KeyError where no prompt has this name."""

    def prompt_version(self, name: str, version: int) -> Prompt | None:
        """As in `DefinitionStore`."""

    def tools(self) -> tuple[ToolDefinition, ...]:
        """The tools that the tenant's admins have added, sorted by name."""

    def mcp_servers(self) -> tuple[McpServer, ...]:
        """The MCP servers that the tenant's admins have named, sorted by name."""


class Definitions(Protocol):
    """What turns use."""

    def snapshot(self, tenant: str) -> DefinitionSnapshot:
        """Reads the tenant's revision."""

    def last_snapshot(self, tenant: str) -> DefinitionSnapshot:
        """The snapshot at the revision that this process has read last. Reads the revision only where it never has."""


class DefinitionStore(Definitions, Protocol):
    """What admins use. These methods read the store each time, strongly consistent. `limit`: the most items of a page,
    from the query parameter of a route in `acta/functions/admin`.
    """

    def agent(self, tenant: str, agent_id: str) -> AgentDefinition | None:
        """None: there is no such agent."""

    def agents(self, tenant: str, *, limit: int, cursor: str | None) -> AgentPage:
        """The built-in agent is among them. Raises ValueError where the cursor is not valid."""

    def create_agent(
        self, tenant: str, agent: AgentDefinition, record: IdempotencyRecord | None = None
    ) -> None:
        """`record`: written in the same transaction. Raises DefinitionExists, KeyTaken."""

    def replace_agent(self, tenant: str, old: AgentDefinition, new: AgentDefinition) -> None:
        """`old`: as it was read. It may be the built-in agent. Raises DefinitionChanged."""

    def delete_agent(self, tenant: str, old: AgentDefinition) -> None:
        """Deletes the tenant's agent. Where it is `default`, the built-in one is in force again.

        Raises DefinitionChanged.
        """

    def prompt(self, tenant: str, name: str) -> Prompt:
        """The version in force. Raises KeyError where no prompt has this name."""

    def prompt_version(self, tenant: str, name: str, version: int) -> Prompt | None:
        """None: there is no such version. Raises KeyError where no prompt has this name. Only version 1 may come from
        the deployment's own items.
        """

    def newest_version(self, tenant: str, name: str) -> int:
        """The highest number that a version has, drafts included. Raises KeyError where no prompt has this name."""

    def prompt_versions(self, tenant: str, name: str, *, limit: int, cursor: str | None) -> PromptPage:
        """Drafts are among them. Raises KeyError where no prompt has this name, ValueError for a cursor that is not
        valid.
        """

    def write_prompt(
        self, tenant: str, old: Prompt, new: Prompt, record: IdempotencyRecord | None = None
    ) -> None:
        """Adds a version. `old`: the version in force, as it was read. `new`: the one after the newest. It is in force
        from then on, unless it is a draft.

        Where `old` is a seed, it is stored as the tenant's own version 1. So the tenant's history stays the same when a
        release brings another seed. Raises DefinitionChanged, KeyTaken.
        """

    def mark_prompt(self, tenant: str, marked: Prompt) -> None:
        """Writes the tenant's version in force again, with another `applied` and no other change. Raises
        DefinitionChanged where another version is in force.
        """

    def seed(self, name: str) -> Prompt:
        """The deployment's text, whatever versions tenants have. Raises KeyError where no prompt has this name."""

    def store_seed(self, seed: Prompt) -> None:
        """Replaces the deployment's text. Tenants' own versions stay. Repeating it is harmless."""


def all_agents(store: DefinitionStore, tenant: str) -> Iterator[AgentDefinition]:
    """The built-in one is among them. A page is read when the caller needs it."""
    cursor: str | None = None
    while True:
        page = store.agents(tenant, limit=AGENTS_AT_ONCE, cursor=cursor)
        yield from page.agents
        cursor = page.cursor
        if cursor is None:
            return


NAMED = 20
"""The most agents that an answer lists of those that name a definition."""


def check_not_named(
    store: DefinitionStore,
    tenant: str,
    is_named: Callable[[AgentDefinition], bool],
    *,
    as_what: str = "this tool",
) -> None:
    """Raises Conflict where an agent of the tenant names what is to be deleted. `is_named`: whether this agent does.
    `as_what`: how the answer calls what is to be deleted.
    """
    naming = [agent.agent_id for agent in all_agents(store, tenant) if is_named(agent)]
    if not naming:
        return
    more = f" and {len(naming) - NAMED} more" if len(naming) > NAMED else ""
    raise Conflict(
        f"Agents name {as_what}: {', '.join(naming[:NAMED])}{more}. Change them first, or delete it with force=true: "
        "they go on without it.",
        {"agents": naming[:NAMED]},
    )


class NamedDefinitions(Protocol[Definition]):
    """Definitions of which a tenant has few, by name: its tools, its MCP servers. What admins use. These methods read
    the store each time, strongly consistent.
    """

    def all(self, tenant: str, on_damaged: OnDamaged = ignore_damaged) -> tuple[Definition, ...]:
        """Sorted by name, without those that are damaged."""

    def get(self, tenant: str, name: str) -> Definition | None:
        """None: there is none of this name."""

    def create(self, tenant: str, new: Definition, record: IdempotencyRecord | None = None) -> None:
        """`record`: written in the same transaction. Raises DefinitionExists, KeyTaken."""

    def replace(self, tenant: str, old: Definition, new: Definition) -> None:
        """`old`: as it was read. Raises DefinitionChanged."""

    def delete(self, tenant: str, old: Definition) -> None:
        """`old`: as it was read. Raises DefinitionChanged."""


McpServerStore: TypeAlias = "NamedDefinitions[McpServer]"


class ToolStore(NamedDefinitions["ToolDefinition"], Protocol):
    def take_key(self, record: IdempotencyRecord) -> None:
        """Stores the record before a call that is stored nowhere else. Raises KeyTaken."""

    def leave_key(self, record: IdempotencyRecord) -> None:
        """Deletes the record again after a call that was not made."""


class ToolSecretNames(Protocol):
    """Which secrets a tenant's tools have; the values are kept apart (docs/design/tools.md 27). A name is stored
    before its value and removed after it, so there is no value that nobody knows of. Read strongly consistent. Names
    and values raise AwsDenied, too.
    """

    def all(self, tenant: str) -> tuple[ToolSecret, ...]:
        """Sorted by name."""

    def put(self, tenant: str, secret: ToolSecret) -> None:
        """Adds it, or replaces the one of its name."""

    def delete(self, tenant: str, name: str) -> None:
        """Deletes it, if there is one."""


class ToolSecretValues(Protocol):
    """What admins use. Values can be written and not read."""

    def put(self, tenant: str, name: str, value: str) -> None:
        """Adds it, or replaces the one of its name. Raises StoreUnavailable while an earlier one is being deleted."""

    def delete(self, tenant: str, name: str) -> None:
        """Deletes it for good, if there is one."""
