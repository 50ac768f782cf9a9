"""A long conversation is not rendered anew each turn: what a request has in common with the one before is kept."""

import json
from collections.abc import Callable, Hashable
from typing import TypeVar

import pytest

from shared.adapters.llm.anthropic import bedrock
from shared.adapters.llm.anthropic.request import PROVIDER, to_body
from shared.agent.model_call.ask_model import sized
from shared.domain.session.conversation import Entry
from shared.domain.session.per_entry import PerEntry
from tests.contracts.llm.conversations import assistant, call, request, result, user

pytestmark = pytest.mark.contract

T = TypeVar("T")
TURNS = 100
CLAUDE = {"model": "claude-sonnet-4-6", "blocks": [{"type": "thinking", "thinking": "t", "signature": "s"}]}


class Counting(PerEntry):
    """`made`: how often something was worked out."""

    def __init__(self) -> None:
        super().__init__()
        self.made = 0

    def once(self, entry: Entry, form: Hashable, make: Callable[[], T]) -> T:
        def counted() -> T:
            self.made += 1
            return make()

        return super().once(entry, form, counted)


def growing(turns: int) -> list[tuple[Entry, ...]]:
    """The entries at each turn: parallel calls, failures, turns without a text or without calls, words of people."""
    entries: list[Entry] = [user("Summarise everything.")]
    seen = []
    for turn in range(turns):
        ids = [f"call_{turn}_{n}" for n in range(turn % 4)]
        text = f"Turn {turn}." if turn % 3 else ""
        raw = CLAUDE if turn % 4 == 0 else None
        calls = [call(name, path=f"{name}.md") for name in ids]
        entries.append(assistant(text, *calls, provider="anthropic", raw=raw))
        entries += [result(name, f"text of {name}", ok=turn % 7 != 0) for name in ids]
        if turn % 6 == 5:
            entries.append(user(f"Also mind {turn}.", turn))
        seen.append(tuple(entries))
    return seen


def test_each_turn_renders_the_turn_that_has_ended_and_the_running_one() -> None:
    per_entry = Counting()
    made = []
    for entries in growing(TURNS):
        before = per_entry.made
        to_body(request(*entries)._replace(per_entry=per_entry))
        made.append(per_entry.made - before)

    assert made == [0] + [1] * (TURNS - 1)


def test_each_turn_works_out_the_size_of_the_new_reply_alone() -> None:
    per_entry = Counting()
    made = []
    for entries in growing(TURNS):
        before = per_entry.made
        sized(request(*entries)._replace(per_entry=per_entry))
        made.append(per_entry.made - before)

    assert made == [1] * TURNS


@pytest.mark.parametrize("provider", [PROVIDER, bedrock.PROVIDER])
def test_what_is_kept_is_what_would_be_rendered_byte_for_byte(provider: str) -> None:
    per_entry = PerEntry()
    for turn, entries in enumerate(growing(TURNS)):
        model = "claude-sonnet-5-5" if turn % 10 == 9 else "claude-sonnet-4-6"
        asked = request(*entries, suffix=f"Suffix {turn}.", model=model)

        kept = to_body(asked._replace(per_entry=per_entry), provider)

        assert json.dumps(kept) == json.dumps(to_body(asked, provider))
        assert sized(asked._replace(per_entry=per_entry)).bytes == sized(asked).bytes
