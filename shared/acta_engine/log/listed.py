"""What sessions are looked for by in a tenant's listing, beside state and agent (design §3)."""

import hashlib
from typing import NamedTuple

from acta_engine.log.head import Head

LISTED_GOAL_CHARS = 200
"""A goal is found by words in its beginning: the listing is read for every page, so it stays small."""
MARK_CHARS = 24


class Listed(NamedTuple):
    """What a session's listing keeps of it. `goal`: its beginning, without regard to case. `metadata`: a mark for each
    pair (`mark`), since the pairs themselves may be long.
    """

    created_by: str = ""
    goal: str = ""
    metadata: frozenset[str] = frozenset()

    @classmethod
    def of(cls, head: Head) -> "Listed":
        marks = frozenset(mark(name, value) for name, value in head.metadata.items())
        return cls(head.created_by, head.goal[:LISTED_GOAL_CHARS].casefold(), marks)


class Wanted(NamedTuple):
    """None: whatever. `goal`: words that the beginning of the goal has. `metadata`: a name and its value."""

    created_by: str | None = None
    goal: str | None = None
    metadata: tuple[str, str] | None = None

    def fits(self, listed: Listed) -> bool:
        return (
            self.created_by in (None, listed.created_by)
            and (self.goal is None or self.goal.casefold() in listed.goal)
            and (self.metadata is None or mark(*self.metadata) in listed.metadata)
        )


WHATEVER = Wanted()


def mark(name: str, value: str) -> str:
    return hashlib.sha256(f"{len(name)}:{name}{value}".encode()).hexdigest()[:MARK_CHARS]
