"""What recovery keeps between its rounds, and how one invocation of it hands work to others
(docs/design/recovery.md 16).

A round stores when it ended, what it did, and where housekeeping stopped. Where very many sessions are lost, other
invocations go on with a part of them (ADR 108); others admit a part of a provider's long line (ADR 106).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, Protocol, get_args

from acta.engine.log.store import SessionName
from acta.engine.queue.places import QueuePlace

Round = Literal["due", "woken", "events", "timed", "housekeeping"]
"""Each has an invocation of its own every minute, so that none takes another one's time. `due`: sessions whose time has
come or whose execution is lost. `woken`: those with a decision whose wake-up may be lost. `events`: events of triggers
that wait. `timed`: schedules whose time has come. `housekeeping`: what is to be erased or is no longer kept."""
ROUNDS: tuple[Round, ...] = get_args(Round)
LATE_AFTER = timedelta(minutes=3)
"""Each round begins every minute and takes a minute at most, so after this time two are missing."""


class RoundCounts(NamedTuple):
    """How many sessions a round has met, by what became of them."""

    looked: int = 0
    """Sessions that were read."""
    started: int = 0
    restarted: int = 0
    woken: int = 0
    unreadable: int = 0
    """Sessions that are damaged, or that another release wrote."""
    put_off: int = 0
    """Sessions that were unreadable before and are not due again."""
    left: int = 0
    """Sessions for which no time was left."""
    unread: int = 0
    """Shards of the index, by kind, for which no time was left."""
    unanswered: int = 0
    """Requests that AWS throttled or did not answer: for a session, a page of the index or the list of executions."""


class RoundResult(NamedTuple):
    """What a round has done for all tenants' sessions."""

    ended_at: datetime
    tally: RoundCounts


class EndedPlace(NamedTuple):
    """A place in the listing of ended sessions, which has a part for each minute of a day."""

    minute: int
    """The minute since 1970 whose part is looked through."""
    cursor: str | None = None
    """The cursor in that part; None: its beginning."""


class HousekeepingPlace(NamedTuple):
    """Where housekeeping goes on."""

    erasures: str | None = None
    """Cursor in the listing of sessions that are to be erased once more; None: its beginning."""
    ended: EndedPlace | None = None
    """None: at the part of the minute in which it goes on."""


def together(last: Mapping[Round, RoundResult]) -> RoundResult | None:
    """The last scan of every round as one: as old as the oldest, with what all have done. None: a round has never
    ended.
    """
    if set(last) != set(ROUNDS):
        return None
    sums = (sum(numbers) for numbers in zip(*(scan.tally for scan in last.values()), strict=True))
    return RoundResult(min(scan.ended_at for scan in last.values()), RoundCounts(*sums))


def is_late(last: RoundResult | None, now: datetime) -> bool:
    """Whether a newer round should have ended by now. `last` None: no round has ended yet."""
    return last is None or now - last.ended_at > LATE_AFTER


class RecoveryScans(Protocol):
    """The results of the whole deployment's last rounds. All raise StoreThrottled, StoreUnavailable, AwsDenied."""

    def last(self) -> Mapping[Round, RoundResult]:
        """The last result of each round that has ever ended. Eventually consistent."""

    def put(self, round: Round, scan: RoundResult) -> None: ...

    def place(self) -> HousekeepingPlace: ...

    def put_place(self, place: HousekeepingPlace) -> None: ...


SHARE = 1_000
"""Sessions that one invocation goes on with. It needs 40 seconds for them (`SESSIONS_PER_SECOND` in
`acta/engine/queue/dispatcher.py`).
"""


class LostSessions(NamedTuple):
    """Sessions whose executions are gone, for another invocation to go on with."""

    sessions: Sequence[SessionName]
    listed_at: datetime
    """When all running executions were listed and theirs were not among them."""
    until: datetime
    """From then on they are left alone, because the next scan has found them again."""


class PaidPlaces(NamedTuple):
    """Places in the line of one provider whose calls are paid for."""

    places: Sequence[QueuePlace]
    until: datetime
    """From then on they are left alone, and a dispatcher may pay for them again."""


class RecoveryWorkers(Protocol):
    """Other invocations of `recover`."""

    most: int
    """How many may be at work besides the one that asks."""
    share: int
    """The most sessions that each of them takes."""

    def hand_over(self, lost: LostSessions) -> None:
        """Has one of them go on with these sessions. Raises StoreThrottled, StoreUnavailable, AwsDenied."""

    def admit(self, paid: PaidPlaces) -> None:
        """Has one of them admit these, a hundred at most. Raises the same."""
