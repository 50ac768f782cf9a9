"""What a tenant's admins define: agents, managed prompts and tools (design §3, §7).

Turns read a snapshot at the price of one small item: `at` reads the tenant's revision, strongly consistent, and
everything else comes from the process's memory until the revision changes. Each write changes it in the same
transaction, so an edit that was answered with 2xx is in force from the next turn on. A tenant's tools are few: they are
always read and listed whole.

All of them raise StoreThrottled, StoreUnavailable and, where a stored document has a version this release does not
know, SchemaUnknown.
"""

from typing import NamedTuple, Protocol

from shared.domain.definitions.agent import AgentDefinition
from shared.domain.definitions.prompt import Prompt
from shared.domain.definitions.tool import ToolDefinition
from shared.ports.log import IdempotencyRecord


class AgentExists(Exception):
    """The id is taken."""


class DefinitionChanged(Exception):
    """What was to be replaced is no longer there as it was read; nothing was written."""


class AgentPage(NamedTuple):
    """By id; `cursor` None: no more."""

    agents: tuple[AgentDefinition, ...]
    cursor: str | None


class PromptPage(NamedTuple):
    """Versions, newest first; `cursor` None: no more."""

    versions: tuple[Prompt, ...]
    cursor: str | None


class Snapshot(Protocol):
    """A tenant's definitions as of one revision or later; made for one turn, not to be kept."""

    def agent(self, agent_id: str) -> AgentDefinition | None:
        """None: no such agent, or not any more. `default` is always there."""
        ...

    def prompt(self, name: str) -> Prompt:
        """The version in force. Raises KeyError: no release has a prompt of that name."""
        ...

    def tools(self) -> tuple[ToolDefinition, ...]:
        """What the tenant's admins put into the registry, by name."""
        ...


class Definitions(Protocol):
    """What a turn reads."""

    def at(self, tenant: str) -> Snapshot: ...

    def last(self, tenant: str) -> Snapshot:
        """As the last `at` of this process saw it, for who looked already in this turn: costs no further look."""
        ...


class DefinitionStore(Definitions, Protocol):
    """What admins work on. Reads are strongly consistent and come from the store."""

    def agent(self, tenant: str, agent_id: str) -> AgentDefinition | None: ...

    def agents(self, tenant: str, *, limit: int, cursor: str | None) -> AgentPage:
        """The built-in one included. ValueError: bad cursor."""
        ...

    def create_agent(
        self, tenant: str, agent: AgentDefinition, record: IdempotencyRecord | None = None
    ) -> None:
        """Raises AgentExists, KeyTaken."""
        ...

    def replace_agent(self, tenant: str, old: AgentDefinition, new: AgentDefinition) -> None:
        """`old` as it was read; the built-in one is replaced by being written. Raises DefinitionChanged."""
        ...

    def delete_agent(self, tenant: str, old: AgentDefinition) -> None:
        """Of `default` the built-in one is left. Raises DefinitionChanged."""
        ...

    def prompt(self, tenant: str, name: str) -> Prompt:
        """The version in force. Raises KeyError."""
        ...

    def prompt_version(self, tenant: str, name: str, version: int) -> Prompt | None:
        """Raises KeyError."""
        ...

    def prompt_versions(self, tenant: str, name: str, *, limit: int, cursor: str | None) -> PromptPage:
        """Raises KeyError. ValueError: bad cursor."""
        ...

    def write_prompt(
        self, tenant: str, old: Prompt, new: Prompt, record: IdempotencyRecord | None = None
    ) -> None:
        """`new` follows `old`, the version in force as it was read. A seed that is followed becomes the tenant's own
        version 1, so that its history stays what it was when a release brings another one. Raises DefinitionChanged,
        KeyTaken.
        """
        ...

    def seed(self, name: str) -> Prompt:
        """The deployment's text, whatever the tenant's is. Raises KeyError."""
        ...

    def store_seed(self, seed: Prompt) -> None:
        """The deployment's; tenants' own versions are left alone. Repeating it is harmless."""
        ...


class ToolExists(Exception):
    """The name is taken."""


class ToolChanged(Exception):
    """What was to be replaced is no longer there as it was read; nothing was written."""


class ToolStore(Protocol):
    """What admins work on. Reads are strongly consistent and come from the store."""

    def all(self, tenant: str) -> tuple[ToolDefinition, ...]:
        """By name."""
        ...

    def get(self, tenant: str, name: str) -> ToolDefinition | None: ...

    def create(self, tenant: str, tool: ToolDefinition, record: IdempotencyRecord | None = None) -> None:
        """Raises ToolExists, KeyTaken."""
        ...

    def replace(self, tenant: str, old: ToolDefinition, new: ToolDefinition) -> None:
        """`old` as it was read. Raises ToolChanged."""
        ...

    def delete(self, tenant: str, old: ToolDefinition) -> None:
        """Raises ToolChanged."""
        ...
