"""Counts what the running invocation uses."""

from typing import Protocol

from shared.domain.spending.used import Used


class Meter(Protocol):
    def take(self, transitions: int = 0) -> Used:
        """What was used since the last time, and is now counted. `transitions`: of the decision that is committed with
        it. They are taken back where the same invocation commits again: then it went on without the engine.
        """
        ...

    def give_back(self, used: Used) -> None:
        """What was taken was not stored: the next commit counts it."""
        ...
