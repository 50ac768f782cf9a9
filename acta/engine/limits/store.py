"""What limits need from stores: the load of the functions, the limit on long polls that follows from it, and the shares
in which the workers of a tenant take its rate of requests and its long polls (ADR 65).
"""

from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

LIMIT_LIFE = timedelta(minutes=5)
"""A limit on long polls that is not renewed ends after this time, because nobody measures the load any more."""


MOST_EXTRA_MS = 9_000
"""Added to the usual pause where no poll may wait. Otherwise clients would come again at once, and their requests would
be the load."""


class LongPolls(NamedTuple):
    """How long polls may wait now."""

    share: float = 1.0
    """The part of the requested waiting time that a poll gets, from 0 to 1."""

    def seconds(self, asked: float) -> float:
        return asked * self.share

    def pause_ms(self, usual: int, asked: float = 0.0) -> int:
        """Milliseconds after which the client comes again. `usual`: the pause without load. `asked`: the seconds that
        the poll would like to wait. They are part of the pause, because a client whose poll was held until something
        happened may come again at once."""
        rest = max(0, usual - round(self.seconds(asked) * 1_000))
        return rest + round((1 - self.share) * MOST_EXTRA_MS)


class LoadMeter(Protocol):
    def load(self, now: datetime) -> float | None:
        """The fraction in use of the concurrent executions that long polls take from; it may exceed 1. None: it is not
        known. Raises StoreThrottled, StoreUnavailable and AwsDenied."""


class LongPollStore(Protocol):
    """One limit for the whole deployment. Both methods raise StoreThrottled, StoreUnavailable, AwsDenied."""

    def get(self, now: datetime) -> LongPolls:
        """The limit in force. There is none if none was stored in the last `LIMIT_LIFE`. Eventually consistent."""

    def put(self, limit: LongPolls, now: datetime) -> None: ...


class RequestNumbers(NamedTuple):
    """Numbers of requests that a worker may make in a window. No other worker gets the same ones."""

    window: int
    first: int
    """The lowest of them, counted from 0."""


class RateLeases(Protocol):
    """Windows are numbered since 1970, each kind by its own length (`acta/engine/limits/tenant_limits.py`).

    Both raise StoreThrottled, StoreUnavailable, AwsDenied.
    """

    def take(self, tenant: str, window: int, size: int) -> RequestNumbers:
        """The next `size` requests of the tenant's window, or of a later one that somebody has taken from already."""

    def hold(self, tenant: str, window: int, most: int, *, renews: bool) -> bool:
        """Takes a place for a long poll that begins in this window. False: `most` places are held already. `renews`:
        the caller held one in the window before. A place counts in its window and the next, unless it is renewed there.
        """
