"""Secrets of tenants' tools in memory."""

from acta.testing.memory.table import MemoryTable
from shared.domain.definitions.tool_secret import ToolSecret
from shared.domain.errors import TransientError


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
    """Also what a call reads them with. `away`: raised instead of the next answers."""

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
