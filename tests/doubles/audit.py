"""An audit trail on SQLite in memory."""

from acta.embedded.table import SqliteTable
from acta.engine.audit.record import Audit, AuditRecord
from acta.engine.audit.trail import DynamoTrail
from acta.engine.clock import Clock
from acta.testing.clock import FakeClock


class MemoryTrail(DynamoTrail):
    """`records`: by tenant, all that was put, in that order. `away`: what a put raises instead, one after another; None
    lets it through.
    """

    def __init__(self) -> None:
        super().__init__("audit", client=SqliteTable(None))
        self.records: dict[str | None, list[AuditRecord]] = {}
        self.away: list[Exception | None] = []

    def put(self, tenant: str | None, record: AuditRecord) -> None:
        away = self.away.pop(0) if self.away else None
        if away is not None:
            raise away
        super().put(tenant, record)
        there = self.records.setdefault(tenant, [])
        if record not in there:
            there.append(record)


class PlainPseudonyms:
    """That can be read."""

    def of(self, tenant: str, user: str) -> str:
        return f"p_{tenant}_{user}"


def memory_audit(clock: Clock | None = None) -> Audit:
    return Audit(MemoryTrail(), PlainPseudonyms(), clock or FakeClock())
