"""What a long conversation becomes when it nears the model's window (design §9). Pure.

First the large results of older turns become handles. Where that is not enough, older turns become a summary: the
run's goal stays to the letter, then the summary, then what people said since as far as there is room, then the most
recent turns as they are. The cut is always before a reply, so a call and its result are never parted.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from shared.domain.session.conversation import AssistantEntry, Content, Entry, ToolEntry, UserEntry
from shared.domain.value import Value

COMPACTED_VERSION = 1
ELIDE_BYTES = 2_048
"""Smaller results are left: a handle is not much shorter, and reading again costs a turn."""
SAID_BYTES = 1_000
"""What people said since the goal has so much room even where there is none: it is short, and an order."""
RECENT_TURNS = 2
"""Their results are what the model is working with; they are elided only by a later compaction."""


class Limits(NamedTuple):
    """Tokens of a request: above `most` the conversation is compacted, to `aim` or less where that is possible."""

    most: int
    aim: int


def limits(window: int, max_output: int) -> Limits:
    """The output has to fit as well; a tenth is kept back because the next request is only estimated."""
    most = (window - min(max_output, window // 4)) * 9 // 10
    return Limits(most, most // 2)


def most_bytes(window: int, max_output: int, bytes_per_token: float) -> int:
    """Of a request, what still fits."""
    return int(limits(window, max_output).most * bytes_per_token)


class Compacted(Value):
    """The whole conversation after a compaction, as a worker that starts cold takes it over: delivered entries,
    messages that are not delivered yet, results of the last reply's calls.
    """

    version: int = COMPACTED_VERSION
    entries: tuple[Entry, ...]
    waiting: tuple[UserEntry, ...] = ()
    results: tuple[ToolEntry, ...] = ()


class Choice(NamedTuple):
    """`goal`: the run's, or nothing where it is among the recent; `older`: what a summary has to stand for, earlier
    summaries included; `said`: people's words since the goal that stay; `recent`: turns as they are. `turns`: how
    many turns are in `older`.
    """

    goal: tuple[UserEntry, ...]
    said: tuple[UserEntry, ...]
    older: tuple[Entry, ...]
    recent: tuple[Entry, ...]
    turns: int


def entry_bytes(entry: Entry) -> int:
    calls = sum(len(str(call.input)) for call in entry.calls) if isinstance(entry, AssistantEntry) else 0
    return entry.content.bytes + calls


def total_bytes(entries: Sequence[Entry]) -> int:
    return sum(map(entry_bytes, entries))


def turns_of(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Each reply with its results and what people said after it; first what was there before any reply."""
    turns: list[list[Entry]] = [[]]
    for entry in entries:
        if isinstance(entry, AssistantEntry):
            turns.append([])
        turns[-1].append(entry)
    return turns


def large_old_results(entries: Sequence[Entry]) -> list[ToolEntry]:
    """Those that are worth a handle, outside the most recent turns."""
    turns = turns_of(entries)
    old = [entry for turn in turns[: max(1, len(turns) - RECENT_TURNS)] for entry in turn]
    return [entry for entry in old if isinstance(entry, ToolEntry) and entry.content.bytes > ELIDE_BYTES]


def elided(entry: ToolEntry, whole: Content) -> ToolEntry:
    """The result as a handle. `whole`: where all of it is stored."""
    note = f"[result elided; handle {whole.blob}, {whole.bytes} bytes; read_result to see it]"
    return entry.model_copy(update={"content": Content.of(note), "whole": whole})


def largest_first(results: Sequence[ToolEntry]) -> list[ToolEntry]:
    """Results of the last reply that may become handles where nothing else makes enough room."""
    return sorted(
        (result for result in results if result.content.bytes > ELIDE_BYTES),
        key=lambda result: -result.content.bytes,
    )


def with_elided(entries: Sequence[Entry], stored: Mapping[str, Content]) -> tuple[Entry, ...]:
    """`stored`: by call id, where the whole of a result is."""
    return tuple(
        elided(entry, stored[entry.call_id])
        if isinstance(entry, ToolEntry) and entry.call_id in stored
        else entry
        for entry in entries
    )


def choose(entries: Sequence[Entry], goal_id: str, room: int) -> Choice:
    """`room`: bytes for what stays and what is recent; the last turn stays however large it is.

    `goal_id` empty: a session from before goals were marked, whose first message is taken for it.
    """
    turns = turns_of(entries)
    people = [entry for entry in entries if isinstance(entry, UserEntry) and entry.origin == "user"]
    goal = next((entry for entry in people if entry.message_id == goal_id or not goal_id), None)
    left = room - (entry_bytes(goal) if goal is not None else 0)
    since = people[people.index(goal) + 1 :] if goal is not None else []
    said = _newest_within(since, max(SAID_BYTES, left // 4))
    left -= total_bytes(said)
    first = len(turns) - 1
    left -= total_bytes(turns[first])
    while first > 1 and total_bytes(turns[first - 1]) <= left:
        first -= 1
        left -= total_bytes(turns[first])
    before = [entry for turn in turns[:first] for entry in turn]
    there = {entry.message_id for entry in before if isinstance(entry, UserEntry)}
    begin = (goal,) if goal is not None and goal.message_id in there else ()
    words = tuple(message for message in said if message.message_id in there)
    stay = {message.message_id for message in (*begin, *words)}
    older = tuple(e for e in before if not isinstance(e, UserEntry) or e.message_id not in stay)
    recent = tuple(entry for turn in turns[first:] for entry in turn)
    return Choice(begin, words, older, recent, sum(isinstance(entry, AssistantEntry) for entry in older))


def _newest_within(messages: Sequence[UserEntry], room: int) -> list[UserEntry]:
    """The last messages that fit, in order."""
    kept: list[UserEntry] = []
    for message in reversed(messages):
        room -= entry_bytes(message)
        if room < 0:
            break
        kept.insert(0, message)
    return kept
