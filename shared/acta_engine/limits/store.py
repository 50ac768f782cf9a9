"""How much of the functions' concurrency is in use and what follows from it for long polls; and where the workers of a
tenant share its rate of requests and its long polls (ADR 65).
"""

from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from acta_engine.limits.long_poll_rules import LongPolls

LIMIT_LIFE = timedelta(minutes=5)
"""A limit on long polls that is not renewed holds no longer: nobody measures any more."""


class LoadMeter(Protocol):
    def load(self, now: datetime) -> float | None:
        """The part that is in use of the concurrent executions that long polls take from; may pass 1. None: it is not
        known. Raises StoreThrottled, StoreUnavailable and AwsDenied.
        """


class LongPollStore(Protocol):
    """One limit for the whole deployment. Both methods raise StoreThrottled, StoreUnavailable, AwsDenied."""

    def get(self, now: datetime) -> LongPolls:
        """What holds; no limit where none was put in the last `LIMIT_LIFE`. Eventually consistent."""

    def put(self, limit: LongPolls, now: datetime) -> None: ...


class Taken(NamedTuple):
    """The requests from number `first` on, counted from 0 in `window`. Nobody else has the same."""

    window: int
    first: int


class RateLeases(Protocol):
    """Windows are numbered since 1970, each kind by its own length (`shared/acta_engine/limits/tenant_limits.py`).

    Both raise StoreThrottled, StoreUnavailable, AwsDenied.
    """

    def take(self, tenant: str, window: int, size: int) -> Taken:
        """The next `size` requests of the tenant's window, or of a later one that somebody has taken from already."""

    def hold(self, tenant: str, window: int, most: int, *, renews: bool) -> bool:
        """A place for a long poll that begins in this window. False: `most` are held. `renews`: the caller held one in
        the window before. A place counts in its window and the next, unless it is renewed there.
        """
