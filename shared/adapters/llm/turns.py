"""A conversation as providers want to be told it: each reply, its results, and only then what people said."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from shared.domain.conversation import AssistantEntry, Entry, ToolCall, ToolEntry

NO_RESULT = "Error: this call has no result."
"""A call left without one would make the provider refuse every later request."""
NO_OUTPUT = "(no output)"
ORDER = "Answer now by calling the tool `{}`, and with nothing else."


class Answer(NamedTuple):
    """The one result of a call."""

    call: ToolCall
    text: str
    ok: bool


class Turn(NamedTuple):
    """One reply of the model: an answer for each of its calls, in their order, and the texts that follow."""

    reply: AssistantEntry
    answers: tuple[Answer, ...]
    said: tuple[str, ...]


def in_turns(entries: Sequence[Entry]) -> tuple[tuple[str, ...], list[Turn]]:
    """The texts before the first reply, and the turns. Blank texts are left out: no provider wants them. A result
    whose call is no longer there is told as text."""
    bounds = [at for at, entry in enumerate(entries) if isinstance(entry, AssistantEntry)] + [len(entries)]
    turns = [_turn(entries[start:end]) for start, end in pairwise(bounds)]
    return _said(entries[: bounds[0]], {}), turns


def _turn(entries: Sequence[Entry]) -> Turn:
    reply, *following = entries
    assert isinstance(reply, AssistantEntry)
    results = {entry.call_id: entry for entry in following if isinstance(entry, ToolEntry)}
    answers = tuple(_answer(call, results.get(call.call_id)) for call in reply.calls)
    return Turn(reply, answers, _said(following, {call.call_id: call for call in reply.calls}))


def _answer(call: ToolCall, result: ToolEntry | None) -> Answer:
    if result is None:
        return Answer(call, NO_RESULT, ok=False)
    text = result.content.loaded
    return Answer(call, text if text.strip() else NO_OUTPUT, result.ok)


def _said(entries: Sequence[Entry], called: dict[str, ToolCall]) -> tuple[str, ...]:
    texts = []
    for entry in entries:
        if not isinstance(entry, ToolEntry):
            texts.append(entry.content.loaded)
        elif entry.call_id not in called:
            texts.append(f"Result of {entry.name}:\n{entry.content.loaded}")
    return tuple(text for text in texts if text.strip())


def ordered(tail: str, tool: str) -> str:
    """The tail for a model that cannot be forced to call the tool, and so is told to."""
    return f"{tail}\n\n{ORDER.format(tool)}" if tail.strip() else ORDER.format(tool)
