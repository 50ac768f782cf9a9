"""Which known names are like one that does not exist. The work grows with the names' lengths and no faster, so that
nobody can make it long by what they call their files.
"""

from collections.abc import Iterable
from itertools import pairwise

COMPARED_CHARS = 120
"""Of each name its end is compared: files in one folder begin alike."""


def similar(name: str, known: Iterable[str], most: int, at_least: float = 0.5) -> list[str]:
    """At most `most` of the known names, the most similar first. `at_least`: between 0, for no common pair of
    neighbouring characters, and 1, for all of them in common (Dice's coefficient).
    """
    wanted = _pairs(name)
    alike = {each: _likeness(wanted, _pairs(each)) for each in known}
    near = sorted((each for each in alike if alike[each] >= at_least), key=lambda each: (-alike[each], each))
    return near[:most]


def _pairs(name: str) -> frozenset[str]:
    """The pairs of neighbouring characters, the first and the last character with a mark beside it."""
    ended = f"\0{name[-COMPARED_CHARS:].casefold()}\0"
    return frozenset(map("".join, pairwise(ended)))


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other))
