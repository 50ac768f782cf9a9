"""The store of what came to tenants' triggers."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from acta.engine.triggers.trigger import Counts, Outcome, TriggerEvent

SHARDS = 4
"""The parts of the index of events that wait. Each takes 1,000 writes a second, and each minute reads all of them."""


class WaitingEvent(NamedTuple):
    """An event that waits, as the index names it."""

    tenant: str
    trigger_id: str
    event_id: str


class KeyHolder(NamedTuple):
    """The session that stands for a key. `since`: when it was named, which is before it is started."""

    session_id: str
    since: datetime


class TriggerEvents(Protocol):
    """What came to the tenants' triggers. All methods raise StoreThrottled, StoreUnavailable, AwsDenied."""

    def take(
        self,
        tenant: str,
        trigger_id: str,
        source_id: str,
        event: Any,
        at: datetime,
        above: tuple[str, ...] = (),
    ) -> tuple[TriggerEvent, bool]:
        """Takes an event that waits from now on, and True. If the trigger has it already: as it stands, and False.
        `source_id`: the id that its sender gives it. `at`: when it came. `above`: as of `TriggerEvent`.
        """

    def get(self, tenant: str, trigger_id: str, event_id: str) -> TriggerEvent | None: ...

    def settle(self, tenant: str, trigger_id: str, before: TriggerEvent, after: TriggerEvent) -> bool:
        """Stores how it stands now, and counts its outcome. False: somebody else has changed it meanwhile, and nothing
        was stored. An event that waits is tried again in the next minute.
        """

    def count(self, tenant: str, trigger_id: str, name: str) -> None:
        """Counts an event that leaves nothing else. `name`: a field of `Counts`."""

    def counts(self, tenant: str, trigger_id: str) -> Counts: ...

    def forget_counts(self, tenant: str, trigger_id: str) -> None: ...

    def page(
        self, tenant: str, trigger_id: str, outcome: Outcome | None, limit: int, cursor: str | None
    ) -> tuple[list[TriggerEvent], str | None]:
        """Newest first, without what came. Raises ValueError for a cursor that is not of this listing."""

    def holder(self, tenant: str, trigger_id: str, key: str) -> KeyHolder | None: ...

    def hold(self, tenant: str, trigger_id: str, key: str, session_id: str, before: KeyHolder | None) -> bool:
        """Makes this session stand for the key. False: another one than `before` stands for it."""

    def waiting(self, shard: int, until: datetime) -> Iterator[WaitingEvent]:
        """The events of all tenants in a part of the index that are to be tried by then, the oldest first."""
