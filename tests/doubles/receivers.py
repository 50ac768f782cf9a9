"""Where tenants are told, in memory."""

from acta.engine.notifications.receiver import TenantReceiver
from acta.testing.memory.table import MemoryTable


class MemoryTenantReceivers:
    """TenantReceivers."""

    def __init__(self, table: MemoryTable) -> None:
        self._table = table

    def get(self, tenant: str) -> TenantReceiver | None:
        return self._table.tenant_receivers.get(tenant)

    def put(self, receiver: TenantReceiver) -> None:
        self._table.tenant_receivers[receiver.tenant] = receiver

    def delete(self, tenant: str) -> None:
        self._table.tenant_receivers.pop(tenant, None)
