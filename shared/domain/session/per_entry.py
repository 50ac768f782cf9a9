"""What is worked out of the entries of one conversation, once each: their sizes, a provider's form of them."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from shared.domain.session.conversation import Entry

T = TypeVar("T")


class PerEntry:
    """Kept with the conversation as a process holds it, and gone with it. Nothing in it is ever out of date: an entry
    does not change, and a conversation that is replaced (a compaction) gets a new one.

    Any two are equal: they are no part of what a model is asked.
    """

    def __init__(self) -> None:
        self._made: dict[tuple[int, Hashable], tuple[Entry, Any]] = {}

    def once(self, entry: Entry, form: Hashable, make: Callable[[], T]) -> T:
        """What `make` returned when it was first asked for this very entry in this form. It must follow from them, and
        nobody may change it.
        """
        known = self._made.get((id(entry), form))
        if known is None:
            known = self._made[id(entry), form] = (entry, make())  # holds the entry, so its id stays its own
        made: T = known[1]
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PerEntry)

    __hash__ = None  # type: ignore[assignment]
