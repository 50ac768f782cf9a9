"""How much work one check of an input may take. It is counted in units, not in time, so that the same input is always
judged alike. A unit is a few microseconds.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MOST_WORK = 200_000


class TooMuchWork(Exception):
    """The check was given up."""


class Left:
    def __init__(self, units: int) -> None:
        self.units = units


_left: ContextVar[Left] = ContextVar("work that is left")


@contextmanager
def limited_work(units: int = MOST_WORK) -> Iterator[Left]:
    """What is done inside takes at most so many units. Yields what is left of them."""
    left = Left(units)
    token = _left.set(left)
    try:
        yield left
    finally:
        _left.reset(token)


def spend(units: int) -> None:
    """Raises TooMuchWork where no more is left. Raises LookupError outside `limited_work`: nothing bounds the work."""
    left = _left.get()
    left.units -= units
    if left.units < 0:
        raise TooMuchWork
