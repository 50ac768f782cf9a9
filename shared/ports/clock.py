"""Time and chance, so that the rest of the house has neither."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The current time, UTC, aware."""
        ...

    def new_id(self, prefix: str) -> str:
        """An opaque, time-ordered id (`shared.domain.ids`)."""
        ...

    def sleep(self, seconds: float) -> None:
        """Waits so long: a long poll between two looks."""
        ...

    def pause(self, most_seconds: float) -> None:
        """Waits a jittered moment of at most `most_seconds`: losers of a race for a commit number."""
        ...
