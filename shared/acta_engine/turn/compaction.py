"""Compaction: a conversation that nears the model's context window is made shorter (design §9). Pure functions.

First, the large results of older turns are elided: a short handle takes the place of the text. Where that is not
enough, a summary takes the place of the older turns. The conversation then is: the run's goal, word for word; the
summary; the users' messages since the goal, as many as there is room for; the most recent turns, unchanged.
The cut is always before a reply, so a call and its result stay together.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from acta_engine.log.conversation import AssistantEntry, Content, Entry, ToolEntry, UserEntry
from acta_engine.store.stored_model import VersionedModel

ELIDE_BYTES = 2_048
"""Smaller results stay: a handle is not much shorter, and reading the result again costs a turn."""
MIN_MESSAGES_BYTES = 1_000
"""Messages since the goal may take this much even where there is no room: they are short, and they are orders."""
RECENT_TURNS = 2
"""The results of this many turns are not elided: the model is working with them."""


class RequestLimits(NamedTuple):
    """Tokens. A request with more than `max_tokens` is compacted, if possible to `target_tokens` or less."""

    max_tokens: int
    target_tokens: int


def request_limits(window: int, max_output: int) -> RequestLimits:
    """The limits for a context window. `window`, `max_output`: in tokens; `TurnDeps.context_window` and the
    request's `max_tokens`.

    The answer must fit into the window as well. A tenth is kept free, because the request's tokens are estimated.
    """
    max_tokens = (window - min(max_output, window // 4)) * 9 // 10
    return RequestLimits(max_tokens, max_tokens // 2)


def max_request_bytes(window: int, max_output: int, bytes_per_token: float) -> int:
    """The bytes that a request may have without being compacted."""
    return int(request_limits(window, max_output).max_tokens * bytes_per_token)


class Compacted(VersionedModel):
    """The whole conversation after a compaction. A worker that knows nothing of the session starts from it.

    `entries`: what the model has seen. `waiting`: users' messages that it has not seen yet. `results`: results of the
    last reply's calls.
    """

    entries: tuple[Entry, ...]
    waiting: tuple[UserEntry, ...] = ()
    results: tuple[ToolEntry, ...] = ()


class Partition(NamedTuple):
    """A conversation in four parts; all but `older` stay as they are.

    `goal`: the message with the run's goal; empty where it is in `recent`. `messages`: users' messages since the goal.
    `older`: what a summary replaces, earlier summaries included. `recent`: the most recent turns. `turns`: the number
    of turns in `older`.
    """

    goal: tuple[UserEntry, ...]
    messages: tuple[UserEntry, ...]
    older: tuple[Entry, ...]
    recent: tuple[Entry, ...]
    turns: int


def entry_bytes(entry: Entry) -> int:
    """The bytes that the entry takes in a request, inputs of calls included."""
    calls = sum(len(str(call.input)) for call in entry.calls) if isinstance(entry, AssistantEntry) else 0
    return entry.content.bytes + calls


def total_bytes(entries: Sequence[Entry]) -> int:
    return sum(map(entry_bytes, entries))


def turns_of(entries: Sequence[Entry]) -> list[list[Entry]]:
    """The entries by turn: a reply, its results, and the messages after it. The first turn has what came before any
    reply.
    """
    turns: list[list[Entry]] = [[]]
    for entry in entries:
        if isinstance(entry, AssistantEntry):
            turns.append([])
        turns[-1].append(entry)
    return turns


def large_old_results(entries: Sequence[Entry]) -> list[ToolEntry]:
    """The results that are large enough to be elided, without those of the last `RECENT_TURNS` turns."""
    turns = turns_of(entries)
    old = [entry for turn in turns[: max(1, len(turns) - RECENT_TURNS)] for entry in turn]
    return [entry for entry in old if isinstance(entry, ToolEntry) and entry.content.bytes > ELIDE_BYTES]


def elided(entry: ToolEntry, whole: Content) -> ToolEntry:
    """The result with a handle in the place of its text. `whole`: the complete text, stored as a blob."""
    note = f"[result elided; handle {whole.blob}, {whole.bytes} bytes; read_result to see it]"
    return entry.model_copy(update={"content": Content.of(note), "whole": whole})


def large_results(results: Sequence[ToolEntry]) -> list[ToolEntry]:
    """The results that are large enough to be elided, largest first."""
    return sorted(
        (result for result in results if result.content.bytes > ELIDE_BYTES),
        key=lambda result: -result.content.bytes,
    )


def with_elided(entries: Sequence[Entry], stored: Mapping[str, Content]) -> tuple[Entry, ...]:
    """Elides the results of the calls in `stored`: by call id, the complete text, stored as a blob."""
    return tuple(
        elided(entry, stored[entry.call_id])
        if isinstance(entry, ToolEntry) and entry.call_id in stored
        else entry
        for entry in entries
    )


def partition(entries: Sequence[Entry], goal_id: str, room: int) -> Partition:
    """Splits a conversation into what stays and what a summary replaces.

    `room`: bytes for the parts that stay. The last turn stays, however large it is. `goal_id`: the message with the
    goal.
    """
    turns = turns_of(entries)
    people = [entry for entry in entries if isinstance(entry, UserEntry) and entry.origin == "user"]
    goal = next((entry for entry in people if entry.message_id == goal_id), None)
    left = room - (entry_bytes(goal) if goal is not None else 0)
    since = people[people.index(goal) + 1 :] if goal is not None else []
    messages = _newest_within(since, max(MIN_MESSAGES_BYTES, left // 4))
    left -= total_bytes(messages)
    first = len(turns) - 1
    left -= total_bytes(turns[first])
    while first > 1 and total_bytes(turns[first - 1]) <= left:
        first -= 1
        left -= total_bytes(turns[first])
    before = [entry for turn in turns[:first] for entry in turn]
    before_ids = {entry.message_id for entry in before if isinstance(entry, UserEntry)}
    begin = (goal,) if goal is not None and goal.message_id in before_ids else ()
    kept = tuple(message for message in messages if message.message_id in before_ids)
    stay = {message.message_id for message in (*begin, *kept)}
    older = tuple(e for e in before if not isinstance(e, UserEntry) or e.message_id not in stay)
    recent = tuple(entry for turn in turns[first:] for entry in turn)
    return Partition(begin, kept, older, recent, sum(isinstance(entry, AssistantEntry) for entry in older))


def _newest_within(messages: Sequence[UserEntry], room: int) -> list[UserEntry]:
    """The newest messages that fit into `room` bytes, oldest first."""
    kept: list[UserEntry] = []
    for message in reversed(messages):
        room -= entry_bytes(message)
        if room < 0:
            break
        kept.insert(0, message)
    return kept
