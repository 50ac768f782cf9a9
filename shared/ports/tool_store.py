"""The tools a tenant's admins added (design §7): few, so that a tenant's are always read and told whole.

Each write changes the tenant's revision in the same transaction, as every definition's does (`definitions`).
All raise StoreThrottled, StoreUnavailable and SchemaUnknown.
"""

from typing import Protocol

from shared.domain.definitions.tool import ToolDefinition
from shared.ports.log import IdempotencyRecord


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
