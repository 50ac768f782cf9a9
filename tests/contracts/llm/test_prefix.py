"""Each request starts with the previous one's content up to its volatile tail: what prompt caching lives on.

Cache breakpoints are marks on that content, not part of it, so they are left out of the comparison.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from shared.adapters.llm import anthropic_request, openai_request
from shared.domain.conversation import Entry
from shared.ports.model import ModelRequest
from tests.contracts.llm.conversations import assistant, call, request, result, user

TAIL = "<tail of this turn>"
THINKING = {"model": "claude-sonnet-4-6", "blocks": [{"type": "thinking", "thinking": "t", "signature": "s"}]}


def _anthropic(asked: ModelRequest) -> dict[str, Any]:
    return anthropic_request.to_body(asked)


def _openai(asked: ModelRequest) -> dict[str, Any]:
    return openai_request.to_body(asked, official=True)


def _without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_marks(item) for key, item in value.items() if key != "cache_control"}
    return [_without_marks(item) for item in value] if isinstance(value, list) else value


def _turns(count: int) -> list[tuple[Entry, ...]]:
    """The entries at each of `count` turns: calls in parallel, failures, silent turns, people speaking up."""
    entries: list[Entry] = [user("Summarise everything.")]
    seen = []
    for turn in range(count):
        seen.append(tuple(entries))
        ids = [f"call_{turn}_{n}" for n in range(turn % 4)]
        entries.append(
            assistant(
                f"Turn {turn}." if turn % 3 else "",
                *(call(i, path=f"{i}.md") for i in ids),
                provider="anthropic",
                raw=THINKING if turn % 5 == 0 else None,
            )
        )
        entries += [result(i, f"text of {i}", ok=turn % 7 != 0) for i in ids]
        if turn % 6 == 5:
            entries.append(user(f"Also mind {turn}.", turn))
    return seen


@pytest.mark.parametrize("to_body", [_anthropic, _openai])
@pytest.mark.parametrize("model", ["claude-sonnet-4-6", "claude-sonnet-5-5"])
def test_fifty_turns_only_ever_append(to_body: Callable[[ModelRequest], dict[str, Any]], model: str) -> None:
    previous = None
    for entries in _turns(50):
        body = _without_marks(to_body(request(*entries, tail=TAIL, model=model)))
        stable = json.dumps(body.pop("messages")).split(json.dumps(TAIL)[1:-1])[0]
        rest = json.dumps(body)
        if previous is not None:
            # the block that opens the tail is the only thing after the stable part
            head = previous[0].rpartition(", {")[0]
            assert stable.startswith(head.removesuffix('{"type": "text", "text": "'))
            assert rest == previous[1]
        previous = (stable, rest)


@pytest.mark.parametrize("to_body", [_anthropic, _openai])
def test_the_tail_comes_last_and_only_once(to_body: Callable[[ModelRequest], dict[str, Any]]) -> None:
    for entries in _turns(12):
        text = json.dumps(to_body(request(*entries, tail=TAIL))["messages"], ensure_ascii=False)
        assert text.count(TAIL) == 1
        assert not text.split(TAIL)[1].strip('"}] ')


def test_the_breakpoints_stand_after_the_system_prompt_and_around_the_last_turn() -> None:
    for entries in _turns(20):
        body = anthropic_request.to_body(request(*entries, tail=TAIL))
        marked = [b for message in body["messages"] for b in message["content"] if "cache_control" in b]
        assert "cache_control" in body["system"][-1]
        assert 1 <= len(marked) <= 3
        assert all(TAIL not in json.dumps(block) for block in marked)
        last_stable = [
            b for message in body["messages"] for b in message["content"] if b.get("text") != TAIL
        ][-1]
        assert last_stable in marked
