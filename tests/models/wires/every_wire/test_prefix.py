"""Each request starts with the previous one's content up to its suffix. Prompt caching depends on that.

Cache breakpoints are no part of the content, so the comparison leaves them out.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from acta.engine.log.conversation import Entry
from acta.engine.models.anthropic import request as anthropic_request
from acta.engine.models.model import ModelRequest
from acta.engine.models.openai import chat as chat_request
from acta.engine.models.openai import responses as responses_request
from tests.models.wires.conversations import assistant, call, request, result, user

SUFFIX = "<suffix of this turn>"
CLAUDE = {"model": "claude-sonnet-4-6", "blocks": [{"type": "thinking", "thinking": "t", "signature": "s"}]}
MARKS = {"cache_control", "prompt_cache_breakpoint"}
Body = dict[str, Any]


def _bedrock(asked: ModelRequest) -> Body:
    return anthropic_request.to_body(asked, "bedrock")


def _chat(asked: ModelRequest) -> Body:
    return chat_request.to_body(asked, official=True)


def _responses(asked: ModelRequest) -> Body:
    return responses_request.to_body(asked, official=True)


def _responses_elsewhere(asked: ModelRequest) -> Body:
    return responses_request.to_body(asked, official=False)


TO_BODY = [anthropic_request.to_body, _bedrock, _chat, _responses, _responses_elsewhere]


def _without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_marks(item) for key, item in value.items() if key not in MARKS}
    return [_without_marks(item) for item in value] if isinstance(value, list) else value


def _turns(count: int, most_calls: int = 3) -> list[tuple[Entry, ...]]:
    """The entries at each of `count` turns: calls in parallel, failures, turns without text, messages of people."""
    entries: list[Entry] = [user("Summarise everything.")]
    seen = []
    for turn in range(count):
        seen.append(tuple(entries))
        ids = [f"call_{turn}_{n}" for n in range(turn % (most_calls + 1))]
        text = f"Turn {turn}." if turn % 3 else ""
        by_gpt = turn % 2 == 1
        entries.append(
            assistant(
                text,
                *(call(i, path=f"{i}.md") for i in ids),
                provider="openai" if by_gpt else "anthropic",
                raw=_by_gpt(turn, text, len(ids)) if by_gpt else CLAUDE if turn % 4 == 0 else None,
            )
        )
        entries += [result(i, f"text of {i}", ok=turn % 7 != 0) for i in ids]
        if turn % 6 == 5:
            entries.append(user(f"Also mind {turn}.", turn))
    return seen


def _by_gpt(turn: int, text: str, calls: int) -> Body:
    reasoning = {"type": "reasoning", "id": f"rs_{turn}", "summary": [], "encrypted_content": "x"}
    message = [{"type": "message", "chars": len(text), "id": f"msg_{turn}"}]
    called = [
        {"type": "function_call", "id": f"fc_{turn}_{n}", "call_id": f"c_{turn}_{n}"} for n in range(calls)
    ]
    return {"api": "responses", "model": "gpt-6-sol", "items": [reasoning, *message, *called]}


@pytest.mark.parametrize("to_body", TO_BODY)
@pytest.mark.parametrize("model", ["claude-sonnet-4-6", "claude-sonnet-5-5", "gpt-6-sol", "gpt-5.2"])
def test_fifty_turns_only_ever_append(to_body: Callable[[ModelRequest], Body], model: str) -> None:
    previous = None
    for entries in _turns(50):
        body = _without_marks(to_body(request(*entries, suffix=SUFFIX, model=model)))
        stable = json.dumps(body.pop("messages", None) or body.pop("input")).split(json.dumps(SUFFIX)[1:-1])[
            0
        ]
        rest = json.dumps(body)
        if previous is not None:
            # Only the block that holds the suffix comes after the stable part.
            head = previous[0].rpartition(", {")[0]
            head = head.removesuffix('{"type": "text", "text": "').removesuffix(
                ', {"role": "user", "content": ['
            )
            assert len(head) > len(previous[0]) - 120
            assert stable.startswith(head)
            assert rest == previous[1]
        previous = (stable, rest)


@pytest.mark.parametrize("to_body", TO_BODY)
def test_the_suffix_comes_last_and_only_once(to_body: Callable[[ModelRequest], Body]) -> None:
    for entries in _turns(12):
        body = to_body(request(*entries, suffix=SUFFIX, model="gpt-6-sol"))
        text = json.dumps(body.get("messages") or body["input"], ensure_ascii=False)
        assert text.count(SUFFIX) == 1
        assert not text.split(SUFFIX)[1].strip('"}] ')


def _messages_blocks(body: Body) -> list[Body]:
    """In the order in which the API renders them for its cache: tools, system, messages."""
    blocks = [{"role": m["role"], **block} for m in body["messages"] for block in m["content"]]
    return [*body.get("tools", []), *body.get("system", []), *blocks]


def _response_blocks(body: Body) -> list[Body]:
    blocks: list[Body] = list(body.get("tools", []))
    for item in body["input"]:
        inner = item.get("content", item.get("output"))
        outer = {key: value for key, value in item.items() if key not in ("content", "output")}
        blocks += [{**outer, **block} for block in inner] if isinstance(inner, list) else [item]
    return blocks


def _marked(blocks: list[Body]) -> list[int]:
    return [at for at, block in enumerate(blocks) if MARKS & block.keys()]


def _prefixes(blocks: list[Body]) -> list[str]:
    """For each block the content up to its end, as one string."""
    whole, prefixes = "", []
    for block in blocks:
        whole += json.dumps(_without_marks(block))
        prefixes.append(whole)
    return prefixes


def _last_stable(blocks: list[Body]) -> int:
    return max(at for at, block in enumerate(blocks) if block.get("text") != SUFFIX)


@pytest.mark.parametrize("most_calls", [3, 15])
def test_anthropic_reads_in_each_turn_all_that_the_turn_before_it_had_written(most_calls: int) -> None:
    """The API looks for a cached prefix at each breakpoint and at up to 20 blocks before it."""
    written: set[str] = set()
    before = -1
    for entries in _turns(40, most_calls):
        blocks = _messages_blocks(anthropic_request.to_body(request(*entries, suffix=SUFFIX)))
        prefixes, marked = _prefixes(blocks), _marked(blocks)
        looked_at = {at for mark in marked for at in range(max(0, mark - 20), mark + 1)}
        read = max((at for at in looked_at if prefixes[at] in written), default=-1)
        assert read == before
        assert len(marked) <= 4
        written |= {prefixes[at] for at in marked}
        before = _last_stable(blocks)
        assert before in marked


def test_gpt_from_5_6_on_reads_in_each_turn_what_the_turn_before_it_had_written() -> None:
    """The API looks at breakpoints only. A model's own output can carry none, so the end is the last input."""
    written: set[str] = set()
    before = -1
    for entries in _turns(40):
        body = _responses(request(*entries, suffix=SUFFIX, model="gpt-6-sol"))
        blocks = _response_blocks(body)
        prefixes, marked = _prefixes(blocks), _marked(blocks)
        assert max((at for at in marked if prefixes[at] in written), default=-1) == before
        assert body["prompt_cache_options"] == {"mode": "explicit"}
        assert 1 <= len(marked) <= 4
        written |= {prefixes[at] for at in marked}
        before = max(marked)
        texts = {at for at, block in enumerate(blocks) if block.get("type") == "input_text"}
        assert before == max(at for at in texts if blocks[at]["text"] != SUFFIX)


def test_the_suffix_is_never_written_to_a_cache() -> None:
    for entries in _turns(20):
        for body in (
            anthropic_request.to_body(request(*entries, suffix=SUFFIX)),
            _responses(request(*entries, suffix=SUFFIX, model="gpt-6-sol")),
        ):
            blocks = _messages_blocks(body) if "messages" in body else _response_blocks(body)
            assert all(blocks[at].get("text") != SUFFIX for at in _marked(blocks))
            assert any(blocks[at].get("text") == "You work." for at in _marked(blocks))


def test_only_models_that_know_breakpoints_are_sent_any() -> None:
    for model in ("gpt-5.2", "gpt-5.5", "gpt-4.1", "o3"):
        assert "prompt_cache" not in json.dumps(_responses(request(model=model))["input"])
        assert "prompt_cache_options" not in _responses(request(model=model))
    for model in ("gpt-5.6-sol", "gpt-6-astra", "gpt-6.2-sol"):
        assert "prompt_cache_breakpoint" in json.dumps(_responses(request(model=model))["input"])
    assert "prompt_cache" not in json.dumps(_responses_elsewhere(request(model="gpt-6-sol")))


@pytest.mark.parametrize("to_body", [_chat, _responses])
def test_requests_of_one_session_have_one_cache_key_and_others_another(
    to_body: Callable[[ModelRequest], Body],
) -> None:
    one = {to_body(request(*entries))["prompt_cache_key"] for entries in _turns(5)}
    other = to_body(request(user("Summarise everything.", 99)))["prompt_cache_key"]

    assert len(one) == 1
    assert other not in one
    assert "Summarise" not in other
