"""Builds replies from Messages API events that llmock does not script, made with the SDK's own event types."""

from types import SimpleNamespace
from typing import Any

import pytest
from anthropic.types import RawMessageStreamEvent, TextBlock
from pydantic import TypeAdapter

from acta.engine.errors import StreamBroken
from acta.engine.models.anthropic.stream import MessagesReplyBuilder
from acta.engine.models.model import ModelReply, TokenUsage
from acta.engine.models.wire import MOST_TOKENS

CUT: dict[str, Any] = {}
"""In place of a block's last delta: the block never ended."""
_EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)


def _reply(*blocks: list[dict[str, Any]], stop: str | None = "end_turn", **usage: int) -> ModelReply:
    builder = MessagesReplyBuilder("claude-x", _not_asked_for)
    counts = {"input_tokens": 10, "output_tokens": 1, **usage}
    message: dict[str, Any] = {
        "id": "m", "type": "message", "role": "assistant", "content": [], "model": "claude-x",
        "stop_reason": None, "stop_sequence": None, "usage": counts,
    }  # fmt: skip
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    for index, (start, *deltas) in enumerate(blocks):
        cut = deltas[-1:] == [CUT]
        deltas = deltas[:-1] if cut else deltas
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events += [] if cut else [{"type": "content_block_stop", "index": index}]
    end = {"stop_reason": stop, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": end, "usage": {"output_tokens": 7}})
    events.append({"type": "message_stop"})
    for event in events:
        builder.add(_EVENT.validate_python(event))
    return builder.reply()


def _not_asked_for() -> int:
    """A server that counts tokens has nobody encode the whole conversation."""
    raise AssertionError("the request's bytes were worked out, and nobody needs them")


def _tool(*parts: str, **whole: Any) -> list[dict[str, Any]]:
    start = {"type": "tool_use", "id": "t", "name": "read_file", "input": whole}
    return [start, *({"type": "input_json_delta", "partial_json": part} for part in parts)]


def _text(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": ""}, {"type": "text_delta", "text": text}]


def test_cached_tokens_are_part_of_the_input_and_counted_apart() -> None:
    reply = _reply(_text("hi"), cache_read_input_tokens=200, cache_creation_input_tokens=30)

    assert reply.usage == TokenUsage(input=240, output=7, cached_input=200, cache_write=30)


@pytest.mark.parametrize(
    ("told", "cached"), [(10**60, MOST_TOKENS), (-(10**60), 0), (-1, 0)], ids=["huge", "below", "one below"]
)
def test_no_number_of_tokens_is_taken_as_it_is_told(told: int, cached: int) -> None:
    usage = _reply(_text("hi"), cache_read_input_tokens=told, cache_creation_input_tokens=told).usage

    assert usage == TokenUsage(cached or 10, 7, cached, 0)


def test_thinking_comes_back_as_text_and_as_what_the_provider_wants_to_see_again() -> None:
    thinking = [
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "Hm. "},
        {"type": "thinking_delta", "thinking": "Yes."},
        {"type": "signature_delta", "signature": "sig=="},
    ]
    hidden = [{"type": "redacted_thinking", "data": "xx"}]

    reply = _reply(thinking, _text("Ok 🙂"), hidden, _tool('{"path": "a"}'), stop="tool_use")

    assert reply.thinking == "Hm. Yes."
    assert reply.raw == {
        "model": "claude-x",
        "blocks": [
            {"type": "thinking", "thinking": "Hm. Yes.", "signature": "sig=="},
            {"type": "text", "chars": 4},
            {"type": "redacted_thinking", "data": "xx"},
            {"type": "tool_use"},
        ],
    }


def _thought(*parts: str, signature: str = "sig==") -> list[dict[str, Any]]:
    start = {"type": "thinking", "thinking": "", "signature": ""}
    signed = [{"type": "signature_delta", "signature": signature}] if signature else []
    return [start, *({"type": "thinking_delta", "thinking": part} for part in parts), *signed]


@pytest.mark.parametrize("cut", [_thought("Hm.", signature=""), [*_thought("Hm.", signature="si"), CUT]])
def test_thinking_that_was_cut_off_is_shown_but_not_kept(cut: list[dict[str, Any]]) -> None:
    alone, after_others = _reply(cut, stop="max_tokens"), _reply(_thought("A."), _text("B"), cut)

    assert (alone.thinking, alone.raw) == ("Hm.", None)
    assert [block["type"] for block in after_others.raw["blocks"]] == ["thinking", "text"]


def test_thinking_with_half_a_surrogate_pair_is_not_kept_nor_is_the_thinking_next_to_it() -> None:
    reply = _reply(_thought("A."), _thought("half \ud83d"), _text("So."), _thought("B."), _text("Yes."))

    assert reply.raw is None
    assert reply.thinking.encode()


def test_a_surrogate_pair_in_two_pieces_is_joined() -> None:
    reply = _reply(_thought("\ud83d", "\ude00"), _text("So."))

    assert reply.raw["blocks"][0]["thinking"] == "\U0001f600"


def test_a_text_after_thinking_or_a_call_is_another_and_texts_in_a_row_are_one() -> None:
    cited = (_text("Rome "), _text("fell in 476"), _text("."))

    reply = _reply(_thought("A."), *cited, _thought("B."), _text("So be it."), _tool("{}"), _text("\nDone."))

    assert reply.text == "Rome fell in 476.\n\nSo be it.\nDone."
    kept = [block["chars"] for block in reply.raw["blocks"] if block["type"] == "text"]
    assert (kept, sum(kept)) == ([5, 11, 1, 11, 6], len(reply.text))


def test_a_reply_without_thinking_needs_no_raw_part() -> None:
    assert _reply(_text("hi"), _tool("{}"), stop="tool_use").raw is None


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("max_tokens", "max_tokens"),
        ("model_context_window_exceeded", "max_tokens"),
        ("pause_turn", "pause"),
        ("refusal", "refusal"),
    ],
)
def test_every_stop_reason_has_a_meaning(reason: str, stop: str) -> None:
    assert _reply(_text("hi"), stop=reason).stop == stop


def test_an_answer_without_a_stop_reason_is_broken() -> None:
    with pytest.raises(StreamBroken):
        _reply(_text("hi"), stop=None)


def test_no_input_at_all_means_none_unless_the_answer_was_cut() -> None:
    assert _reply(_tool(), stop="tool_use").calls[0].input == {}
    assert _reply(_tool(), stop="max_tokens").calls[0].input is None
    assert _reply(_tool(), _text("so"), stop="max_tokens").calls[0].input == {}


def test_an_input_sent_whole_is_taken_whole() -> None:
    assert _reply(_tool(path="a"), stop="tool_use").calls[0].input == {"path": "a"}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "half \ud800", "deep"])
def test_an_input_sent_whole_that_could_not_be_stored_is_malformed(value: Any) -> None:
    if value == "deep":
        for _ in range(150):
            value = [value]
    call = _reply(_tool(path=value), stop="tool_use").calls[0]
    assert call.input is None
    assert call.malformed


@pytest.mark.parametrize(
    ("json_text", "reason"),
    [
        ('["a"]', "array, not an object"),
        ('"a"', "string, not an object"),
        ('{"a": NaN}', "not valid JSON"),
        ('{"a": 1} {"b": 2}', "not valid JSON"),
        ("[" * 100_000, "nested more than 100 deep"),
        ('{"a": ' * 250 + "1" + "}" * 250, "nested more than 100 deep"),
        ('{"a": "\\ud800"}', "not valid Unicode"),
    ],
)
def test_arguments_that_are_not_one_json_object_are_malformed_with_a_reason(
    json_text: str, reason: str
) -> None:
    call = _reply(_tool(json_text), stop="tool_use").calls[0]

    assert call.input is None
    assert reason in (call.malformed or "")


def test_half_a_surrogate_pair_in_a_text_is_replaced_so_that_it_can_be_stored() -> None:
    assert _reply(_text("a\ud83d"), stop="end_turn").text.encode()


def test_the_messages_api_without_usage_is_estimated_not_free() -> None:
    builder = MessagesReplyBuilder("claude-x", lambda: 400)
    for event in (
        SimpleNamespace(type="message_start", message=SimpleNamespace(usage=None)),
        SimpleNamespace(type="content_block_start", index=0, content_block=TextBlock(type="text", text="")),
        SimpleNamespace(
            type="content_block_delta", index=0, delta=SimpleNamespace(type="text_delta", text="ä" * 20)
        ),
        SimpleNamespace(type="message_delta", delta=SimpleNamespace(stop_reason="end_turn"), usage=None),
        SimpleNamespace(type="message_stop"),
    ):
        builder.add(event)

    assert builder.reply().usage == TokenUsage(100, 10)
