"""The audit trail: who did what (ADR 54). It is added to and read, and nothing else."""

from datetime import datetime
from typing import NamedTuple, Protocol

from acta_engine.audit.record import AuditRecord
from acta_engine.clock import Clock


class RecordExists(Exception):
    """There is another record under this id and outcome. It stays as it is."""


class AuditFilter(NamedTuple):
    """What is looked for. None: whatever it is. `since` belongs to the span, `until` does not."""

    since: datetime | None = None
    until: datetime | None = None
    action: str | None = None
    who: str | None = None
    session_id: str | None = None


class AuditPage(NamedTuple):
    """Newest first, one record for each request: how it ended, where that is known. A page may have fewer than its
    limit and still have a cursor. `cursor` None: this is the last page.
    """

    records: tuple[AuditRecord, ...]
    cursor: str | None


class AuditTrail(Protocol):
    def put(self, tenant: str, record: AuditRecord) -> None:
        """The same record again is no error. Raises RecordExists, StoreThrottled, StoreUnavailable, AwsDenied."""

    def find(self, tenant: str, wanted: AuditFilter, *, limit: int, cursor: str | None) -> AuditPage:
        """Raises ValueError for a cursor that it did not make, and StoreThrottled, StoreUnavailable, AwsDenied."""


class Pseudonyms(Protocol):
    """Names for people that nobody can turn back without the deployment's key."""

    def of(self, tenant: str, user: str) -> str:
        """The same for the same two, as long as the key is. Raises StoreThrottled, StoreUnavailable, AwsDenied."""


class Audit(NamedTuple):
    """What a function needs to record what it is asked to do."""

    trail: AuditTrail
    pseudonyms: Pseudonyms
    clock: Clock
