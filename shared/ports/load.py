"""How much of the functions' concurrency is in use, and what follows from it for long polls."""

from datetime import datetime, timedelta
from typing import Protocol

from shared.domain.rules.long_polls import LongPolls

LIMIT_LIFE = timedelta(minutes=5)
"""A limit on long polls that is not renewed holds no longer: nobody measures any more."""


class LoadMeter(Protocol):
    def load(self, now: datetime) -> float | None:
        """The part that is in use of the concurrent executions that long polls take from; may pass 1. None: it is not
        known. Raises StoreThrottled, StoreUnavailable and AwsDenied.
        """
        ...


class LongPollStore(Protocol):
    """One limit for the whole deployment. Both methods raise StoreThrottled, StoreUnavailable, AwsDenied."""

    def get(self, now: datetime) -> LongPolls:
        """What holds; no limit where none was put in the last `LIMIT_LIFE`. Eventually consistent."""
        ...

    def put(self, limit: LongPolls, now: datetime) -> None: ...
