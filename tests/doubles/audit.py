"""An audit trail in memory."""

from acta.engine.audit.record import Audit, AuditFilter, AuditPage, AuditRecord, RecordExists
from acta.engine.clock import Clock
from acta.engine.store.keys import from_cursor, to_cursor
from acta.testing.memory.clock import FakeClock


class MemoryTrail:
    """`records`: by tenant, all that was put, in that order. `away`: what a put raises instead, one after another; None
    lets it through.
    """

    def __init__(self) -> None:
        self.records: dict[str, list[AuditRecord]] = {}
        self.away: list[Exception | None] = []

    def put(self, tenant: str, record: AuditRecord) -> None:
        away = self.away.pop(0) if self.away else None
        if away is not None:
            raise away
        there = self.records.setdefault(tenant, [])
        if record in there:
            return
        if any(_key(each) == _key(record) for each in there):
            raise RecordExists
        there.append(record)

    def find(self, tenant: str, wanted: AuditFilter, *, limit: int, cursor: str | None) -> AuditPage:
        before = None if cursor is None else from_cursor(f"U#{tenant}", cursor)
        newest: dict[str, AuditRecord] = {}
        for each in sorted(self.records.get(tenant, ()), key=_key, reverse=True):
            if _fits(each, wanted) and (before is None or each.audit_id < before):
                newest.setdefault(each.audit_id, each)
        found, limit = list(newest.values()), max(limit, 1)
        page = tuple(found[:limit])
        return AuditPage(page, to_cursor(f"U#{tenant}", page[-1].audit_id) if len(found) > limit else None)


class PlainPseudonyms:
    """That can be read."""

    def of(self, tenant: str, user: str) -> str:
        return f"p_{tenant}_{user}"


def memory_audit(clock: Clock | None = None) -> Audit:
    return Audit(MemoryTrail(), PlainPseudonyms(), clock or FakeClock())


def _key(record: AuditRecord) -> tuple[str, bool]:
    return record.audit_id, record.outcome != "begun"


def _fits(record: AuditRecord, wanted: AuditFilter) -> bool:
    return (
        (wanted.since is None or record.at >= wanted.since)
        and (wanted.until is None or record.at < wanted.until)
        and wanted.action in (None, record.action)
        and wanted.who in (None, record.who)
        and wanted.session_id in (None, record.details.get("session_id"))
    )
