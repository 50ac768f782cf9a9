"""What is made of the turns of one conversation that have ended: their size, a provider's form of them."""

from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

from shared.domain.session.conversation import AssistantEntry, Entry

T = TypeVar("T")
Turns = Sequence[Sequence[Entry]]


class _Kept(NamedTuple):
    """`made`: of the entries before place `end`, where the reply of the next turn stands."""

    end: int
    reply: Entry
    made: Any


class EndedTurns:
    """Kept with the conversation as a process holds it, and gone with it, so that a turn costs the same however many
    came before. Nothing in it is ever out of date: a turn has ended where the next reply is there, what has ended does
    not change, and a conversation that is replaced (a compaction) gets a new one.

    Any two are equal: they are no part of what a model is asked.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, _Kept] = {}

    def made(self, form: Hashable, entries: Sequence[Entry], nothing: T, added: Callable[[T, Turns], T]) -> T:
        """What `added` makes of all turns, the running one included. The first turn is what came before any reply;
        it may be empty. Each other one begins with a reply.

        `added` gets what it made of the turns before, `nothing` at first, and the turns that follow. It returns
        something new that follows from these and from `form` alone, and changes neither.
        """
        known = self._kept.get(form)
        if known is not None and (len(entries) <= known.end or entries[known.end] is not known.reply):
            known = None
        start, before = (0, nothing) if known is None else (known.end, known.made)
        replies = [at for at, entry in enumerate(entries[start:], start) if isinstance(entry, AssistantEntry)]
        bounds = [0, *replies] if known is None else replies
        if len(bounds) > 1:
            before = added(before, [entries[begin:end] for begin, end in pairwise(bounds)])
            self._kept[form] = _Kept(bounds[-1], entries[bounds[-1]], before)
        return added(before, [entries[bounds[-1] :]])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EndedTurns)

    __hash__ = None  # type: ignore[assignment]
