"""The last scan of recovery (design §2): when it ended, and what it did."""

from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

LATE_AFTER = timedelta(minutes=3)
"""There is a scan each minute, and one takes a minute at most. So two are missing then."""


class Tally(NamedTuple):
    """Numbers of sessions. `looked`: that were read; `unreadable`: that are damaged or another release's; `put_off`:
    that were unreadable before and are not due again.

    `left`: for which no time was left. `unread`: shards of the index, by kind, for which none was left. `unanswered`:
    requests that AWS throttled or did not answer, for a session, a page of the index or the list of executions.
    """

    looked: int = 0
    started: int = 0
    restarted: int = 0
    woken: int = 0
    unreadable: int = 0
    put_off: int = 0
    left: int = 0
    unread: int = 0
    unanswered: int = 0


class RecoveryScan(NamedTuple):
    """Of all tenants' sessions."""

    ended_at: datetime
    tally: Tally


def is_late(last: RecoveryScan | None, now: datetime) -> bool:
    """Whether a newer one should have ended by now. None: none has ended yet."""
    return last is None or now - last.ended_at > LATE_AFTER


class RecoveryScans(Protocol):
    """One for the whole deployment. Both raise StoreThrottled, StoreUnavailable, AwsDenied."""

    def last(self) -> RecoveryScan | None:
        """None: none has been put. Eventually consistent."""
        ...

    def put(self, scan: RecoveryScan) -> None: ...
