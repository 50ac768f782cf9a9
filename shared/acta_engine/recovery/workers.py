"""Other invocations of recovery, which go on with a part of what one of them has found (ADR 108), or admit a part of a
provider's line (ADR 106).
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from acta_engine.log.store import SessionName
from acta_engine.queue.places import InLine

SHARE = 1_000
"""Sessions that one invocation goes on with: what it does in 40 seconds (`shared/acta_engine/queue/admit_one.py`)."""


class LostSessions(NamedTuple):
    """`listed_at`: when all running executions were listed, and theirs were not among them. `until`: from then on they
    are left, because the next scan has found them again.
    """

    sessions: Sequence[SessionName]
    listed_at: datetime
    until: datetime


class PaidPlaces(NamedTuple):
    """Places in the line of one provider. What their calls may use is taken. `until`: from then on they are left, and
    somebody else may pay for them again.
    """

    places: Sequence[InLine]
    until: datetime


class RecoveryWorkers(Protocol):
    """`most`: so many may be at work beside the one that asks. Each takes at most `share` sessions."""

    most: int
    share: int

    def hand_over(self, lost: LostSessions) -> None:
        """Has one of them go on with these sessions. Raises StoreThrottled, StoreUnavailable, AwsDenied."""

    def admit(self, paid: PaidPlaces) -> None:
        """Has one of them admit these, a hundred at most. Raises the same."""
