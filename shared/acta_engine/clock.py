"""The only source of time and random numbers, so that tests can replace it."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The current time, with time zone UTC."""

    def new_id(self, prefix: str) -> str:
        """A new opaque id that sorts by time (`acta_engine.ids`)."""

    def sleep(self, seconds: float) -> None:
        """Waits, between two reads of a long poll."""

    def back_off(self, max_seconds: float) -> None:
        """Waits a random time of at most `max_seconds`, after another writer was faster: so that both do not collide
        again.
        """
