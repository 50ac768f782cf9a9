"""What recovery's rounds of each minute leave for the next ones (design §2): when they ended, what they did, and where
housekeeping stopped.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, Protocol, get_args

Round = Literal["due", "woken", "housekeeping"]
"""Each has an invocation of its own every minute, so that none takes another one's time. `due`: sessions whose time has
come or whose execution is lost. `woken`: those with a decision whose wake-up may be lost. `housekeeping`: what is to be
erased or is no longer kept."""
ROUNDS: tuple[Round, ...] = get_args(Round)
LATE_AFTER = timedelta(minutes=3)
"""There is one of each round every minute, and it takes a minute at most. So two are missing then."""


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


class EndedPlace(NamedTuple):
    """In the listing of ended sessions, which has a part for each minute of a day."""

    minute: int
    """Since 1970: whose part is looked through."""
    cursor: str | None = None
    """In that part; None: its beginning."""


class Place(NamedTuple):
    """Where housekeeping goes on."""

    erasures: str | None = None
    """Cursor in the listing of sessions that are to be erased once more; None: its beginning."""
    ended: EndedPlace | None = None
    """None: at the part of the minute in which it goes on."""


def together(last: Mapping[Round, RecoveryScan]) -> RecoveryScan | None:
    """The last scan of every round as one: as old as the oldest, with what all have done. None: a round has never
    ended.
    """
    if set(last) != set(ROUNDS):
        return None
    sums = (sum(numbers) for numbers in zip(*(scan.tally for scan in last.values()), strict=True))
    return RecoveryScan(min(scan.ended_at for scan in last.values()), Tally(*sums))


def is_late(last: RecoveryScan | None, now: datetime) -> bool:
    """Whether a newer one should have ended by now. None: none has ended yet."""
    return last is None or now - last.ended_at > LATE_AFTER


class RecoveryScans(Protocol):
    """One for the whole deployment. All raise StoreThrottled, StoreUnavailable, AwsDenied."""

    def last(self) -> Mapping[Round, RecoveryScan]:
        """Without the rounds that have never ended. Eventually consistent."""

    def put(self, round: Round, scan: RecoveryScan) -> None: ...

    def place(self) -> Place: ...

    def put_place(self, place: Place) -> None: ...
