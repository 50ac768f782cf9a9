"""A long conversation is not gone through anew each turn: what a request has in common with the one before is kept."""

import json
from collections.abc import Callable, Iterator
from typing import Any, SupportsIndex

import pytest

from acta.engine.log.conversation import EndedTurns, Entry
from acta.engine.models.anthropic import request as anthropic
from acta.engine.models.model import ModelRequest
from acta.engine.models.openai import chat as chat_request
from acta.engine.models.openai import responses as responses_request
from acta.engine.models.openai.responses import API as RESPONSES_API
from acta.engine.turn.model_call import request_bytes
from tests.models.wires.conversations import assistant, call, request, result, user

pytestmark = pytest.mark.contract

TURNS = 100
CLAUDE, GPT = "claude-sonnet-4-6", "gpt-5.6"
RAW = {
    "anthropic": {
        "model": CLAUDE,
        "blocks": [{"type": "thinking", "thinking": "t", "signature": "s"}],
    },
    "openai": {
        "api": RESPONSES_API,
        "model": GPT,
        "items": [
            {"type": "reasoning", "encrypted_content": "r"},
            {"type": "function_call", "call_id": "same"},
        ],
    },
}
MAKERS: dict[str, Callable[[ModelRequest], object]] = {
    "size": lambda asked: request_bytes(asked),
    "claude": anthropic.to_body,
    "claude on bedrock": lambda asked: anthropic.to_body(asked, "bedrock"),
    "responses": lambda asked: responses_request.to_body(asked, official=True),
    "responses elsewhere": lambda asked: responses_request.to_body(asked, official=False),
    "chat": lambda asked: chat_request.to_body(asked, official=True),
    "chat without what was refused": lambda asked: chat_request.to_body(
        asked, official=False, without=chat_request.THINKING_FIELDS
    ),
}
every_maker = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


class Counted(tuple[Entry, ...]):
    """`handed_out`: how many entries were looked at."""

    handed_out = 0

    def __iter__(self) -> Iterator[Entry]:
        self.handed_out += len(self)
        return super().__iter__()

    def __getitem__(self, place: SupportsIndex | slice) -> Any:
        found = super().__getitem__(place)
        self.handed_out += len(found) if isinstance(found, tuple) else 1
        return found


def growing(turns: int, provider: str = "") -> list[tuple[Entry, ...]]:
    """The entries at each turn: parallel calls, failures, turns without a text or without calls, words of people, a
    reply of which nothing is shown, a result that is missing until the next turn.
    """
    entries: list[Entry] = [user("Summarise everything.")]
    seen = []
    for turn in range(turns):
        ids = [f"call_{turn}_{n}" for n in range(turn % 4)]
        text = f"Turn {turn}." if turn % 3 else ""
        raw = RAW.get(provider) if turn % 4 in (0, 1) else None
        calls = [call(name, path=f"{name}.md") for name in ids]
        entries.append(assistant(text, *calls, provider=provider, raw=raw))
        entries += [result(name, f"text of {name}", ok=turn % 7 != 0) for name in ids[:-1]]
        seen.append(tuple(entries))
        entries += [result(name, f"text of {name}") for name in ids[-1:]]
        entries += [result("gone", "of a call that is no longer there")] if turn % 9 == 8 else []
        entries += [user(f"Also mind {turn}.", turn)] if turn % 6 == 5 else []
        seen.append(tuple(entries))
    return seen


@every_maker
def test_a_late_turn_looks_at_no_more_entries_than_an_early_one(
    make: Callable[[ModelRequest], object],
) -> None:
    ended_turns = EndedTurns()
    looked_at = []
    entries: list[Entry] = [user("Go.")]
    for turn in range(TURNS):
        entries += [assistant(f"Turn {turn}.", call(f"c{turn}")), result(f"c{turn}", f"{turn}")]
        counted = Counted(entries)
        make(request()._replace(entries=counted, ended_turns=ended_turns))
        looked_at.append(counted.handed_out)

    assert len(set(looked_at[1:])) == 1


@every_maker
def test_each_turn_that_has_ended_is_worked_out_once(make: Callable[[ModelRequest], object]) -> None:
    class Counting(EndedTurns):
        turns = 0

        def made(self, form: Any, entries: Any, nothing: Any, added: Any) -> Any:
            def counted(before: Any, turns: Any) -> Any:
                self.turns += len(turns)
                return added(before, turns)

            return super().made(form, entries, nothing, counted)

    ended_turns = Counting()
    worked_out = []
    for entries in growing(TURNS)[1::2]:
        before = ended_turns.turns
        make(request(*entries)._replace(ended_turns=ended_turns))
        worked_out.append(ended_turns.turns - before)

    assert worked_out == [2] * TURNS  # the one that has ended (the opening, at first), and the running one


@every_maker
@pytest.mark.parametrize(("provider", "model"), [("anthropic", CLAUDE), ("openai", GPT), ("", "test-model")])
def test_what_is_kept_is_what_would_be_rendered_byte_for_byte(
    make: Callable[[ModelRequest], object], provider: str, model: str
) -> None:
    ended_turns = EndedTurns()
    for turn, entries in enumerate(growing(TURNS, provider)):
        asked = request(
            *entries, suffix=f"Suffix {turn}." if turn % 5 else "", model="other" if turn % 10 == 9 else model
        )

        kept = make(asked._replace(ended_turns=ended_turns))

        assert json.dumps(kept) == json.dumps(make(asked))
        assert json.dumps(make(asked._replace(ended_turns=ended_turns))) == json.dumps(kept)


@every_maker
def test_what_was_kept_of_another_conversation_is_not_shown(make: Callable[[ModelRequest], object]) -> None:
    ended_turns = EndedTurns()
    for entries in (growing(9)[-1], growing(9)[-1], growing(3)[-1], (user("Hello."),)):
        asked = request(*entries)

        assert json.dumps(make(asked._replace(ended_turns=ended_turns))) == json.dumps(make(asked))
