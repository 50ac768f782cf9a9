"""Stream events as replies: what llmock does not script, told with the SDKs' own event types."""

from types import SimpleNamespace
from typing import Any

import pytest
from anthropic.types import RawMessageStreamEvent, TextBlock
from openai.types.chat import ChatCompletionChunk
from pydantic import TypeAdapter

from shared.adapters.llm.anthropic import stream as anthropic_stream
from shared.adapters.llm.openai import chat_stream as openai_stream
from shared.domain.errors import StreamBroken
from shared.ports.model import ModelReply, TokenUsage

CUT: dict[str, Any] = {}
"""In place of a block's last delta: it was never finished."""
_EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)


def _anthropic(*blocks: list[dict[str, Any]], stop: str | None = "end_turn", **usage: int) -> ModelReply:
    builder = anthropic_stream.MessagesReplyBuilder("claude-x", 400)
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


def _tool(*parts: str, **whole: Any) -> list[dict[str, Any]]:
    start = {"type": "tool_use", "id": "t", "name": "read_file", "input": whole}
    return [start, *({"type": "input_json_delta", "partial_json": part} for part in parts)]


def _text(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": ""}, {"type": "text_delta", "text": text}]


def test_cached_tokens_are_counted_in_and_told_apart() -> None:
    reply = _anthropic(_text("hi"), cache_read_input_tokens=200, cache_creation_input_tokens=30)

    assert reply.usage == TokenUsage(input=240, output=7, cached_input=200, cache_write=30)


def test_thinking_comes_back_as_text_and_as_what_the_provider_wants_to_see_again() -> None:
    thinking = [
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "Hm. "},
        {"type": "thinking_delta", "thinking": "Yes."},
        {"type": "signature_delta", "signature": "sig=="},
    ]
    hidden = [{"type": "redacted_thinking", "data": "xx"}]

    reply = _anthropic(thinking, _text("Ok 🙂"), hidden, _tool('{"path": "a"}'), stop="tool_use")

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
    alone, behind = _anthropic(cut, stop="max_tokens"), _anthropic(_thought("A."), _text("B"), cut)

    assert (alone.thinking, alone.raw) == ("Hm.", None)
    assert [block["type"] for block in behind.raw["blocks"]] == ["thinking", "text"]


def test_thinking_with_half_a_character_is_not_kept_nor_are_its_neighbours() -> None:
    reply = _anthropic(_thought("A."), _thought("half \ud83d"), _text("So."), _thought("B."), _text("Yes."))

    assert reply.raw is None
    assert reply.thinking.encode()


def test_a_character_in_two_pieces_is_one() -> None:
    reply = _anthropic(_thought("\ud83d", "\ude00"), _text("So."))

    assert reply.raw["blocks"][0]["thinking"] == "\U0001f600"


def test_a_reply_without_thinking_needs_no_raw_part() -> None:
    assert _anthropic(_text("hi"), _tool("{}"), stop="tool_use").raw is None


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
    assert _anthropic(_text("hi"), stop=reason).stop == stop


def test_an_answer_without_a_stop_reason_is_broken() -> None:
    with pytest.raises(StreamBroken):
        _anthropic(_text("hi"), stop=None)


def test_no_input_at_all_means_none_unless_the_answer_was_cut() -> None:
    assert _anthropic(_tool(), stop="tool_use").calls[0].input == {}
    assert _anthropic(_tool(), stop="max_tokens").calls[0].input is None
    assert _anthropic(_tool(), _text("so"), stop="max_tokens").calls[0].input == {}


def test_an_input_sent_whole_is_taken_whole() -> None:
    assert _anthropic(_tool(path="a"), stop="tool_use").calls[0].input == {"path": "a"}


@pytest.mark.parametrize(
    ("json_text", "says"),
    [
        ('["a"]', "array, not an object"),
        ('"a"', "string, not an object"),
        ("null", "null, not an object"),
        ('{"a": NaN}', "not valid JSON"),
        ('{"a": 1} {"b": 2}', "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ('{"a": ' * 250 + "1" + "}" * 250, "nested more than 100 deep"),
        ('{"a": "\\ud800"}', "not valid Unicode"),
    ],
)
def test_what_is_not_one_json_object_is_malformed_and_says_why(json_text: str, says: str) -> None:
    call = _anthropic(_tool(json_text), stop="tool_use").calls[0]

    assert call.input is None
    assert says in (call.malformed or "")


def test_halves_of_a_character_in_a_text_cannot_poison_the_store() -> None:
    assert _anthropic(_text("a\ud83d"), stop="end_turn").text.encode()


def _openai(
    *deltas: dict[str, Any], finish: str | None = "stop", usage: dict[str, Any] | None = None
) -> ModelReply:
    builder = openai_stream.ChatReplyBuilder("m", 400)
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    for delta in deltas:
        chunk = {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        builder.add(ChatCompletionChunk.model_validate(chunk))
    chunk = {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "usage": usage}
    builder.add(ChatCompletionChunk.model_validate(chunk))
    return builder.reply()


def _part(index: int, arguments: str, call_id: str | None = None, name: str | None = None) -> dict[str, Any]:
    return {
        "tool_calls": [{"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}]
    }


def test_openai_counts_cached_tokens_apart() -> None:
    usage = {"prompt_tokens": 90, "completion_tokens": 3, "total_tokens": 93}

    details = {"cached_tokens": 64, "cache_write_tokens": 20}

    reply = _openai({"content": "hi"}, usage={**usage, "prompt_tokens_details": details})

    assert reply.usage == TokenUsage(90, 3, 64, 20)


def test_a_server_that_reports_no_usage_is_estimated_not_free() -> None:
    assert _openai({"content": "x" * 40}).usage == TokenUsage(100, 10)


def test_a_usage_that_counts_nothing_is_estimated_too() -> None:
    nothing = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}

    assert _openai({"content": "x" * 40}, usage=nothing).usage == TokenUsage(100, 10)


def test_the_messages_api_without_usage_is_estimated_not_free() -> None:
    builder = anthropic_stream.MessagesReplyBuilder("claude-x", 400)
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


@pytest.mark.parametrize(
    "parts",
    [
        [_part(0, '{"path":"1"}', None, "read_file"), _part(0, '{"path":"2"}', None, "read_file")],
        [
            _part(0, "", None, "read_file"),
            _part(0, '{"path":', None, "read_file"),
            _part(0, '"1"}'),
            _part(0, "", None, "read_file"),
            _part(0, '{"path":'),
            _part(0, '"2"}'),
        ],
    ],
)
def test_calls_under_one_index_and_without_ids_are_told_apart_by_their_ends(
    parts: list[dict[str, Any]],
) -> None:
    assert [(c.name, c.input) for c in _openai(*parts).calls] == [
        ("read_file", {"path": "1"}),
        ("read_file", {"path": "2"}),
    ]


def test_calls_of_two_tools_under_one_index_and_without_ids_are_told_apart_by_their_names() -> None:
    reply = _openai(_part(0, "", None, "read_file"), _part(0, '{"a":1}', None, "update_plan"))

    assert [(c.name, c.input) for c in reply.calls] == [("read_file", {}), ("update_plan", {"a": 1})]


def test_calls_under_one_index_are_told_apart_by_their_ids() -> None:
    reply = _openai(
        _part(0, '{"path":', "a", "read_file"), _part(0, '"1"}'), _part(0, '{"path":"2"}', "b", "read_file")
    )

    assert [c.input for c in reply.calls] == [{"path": "1"}, {"path": "2"}]
    assert reply.stop == "tools", "a forced call ends with `stop`"


def test_an_id_that_comes_after_its_call_has_begun_begins_no_other_call() -> None:
    reply = _openai(_part(0, '{"path":', None, "read_file"), _part(0, '"1"}', "a"), _part(0, " ", "a"))

    assert [(c.name, c.input) for c in reply.calls] == [("read_file", {"path": "1"})]


def test_a_call_whose_id_came_late_is_told_apart_from_the_next_by_it() -> None:
    first = (_part(0, '{"path":', None, "read_file"), _part(0, '"1"}', "a"))
    reply = _openai(*first, _part(0, '{"path":', "b", "read_file"), _part(0, '"2"}', "b"))

    assert [c.input for c in reply.calls] == [{"path": "1"}, {"path": "2"}]


def test_a_refusal_in_its_own_field_is_a_refusal() -> None:
    reply = _openai({"refusal": "I can't "}, {"refusal": "help."})

    assert (reply.text, reply.stop) == ("I can't help.", "refusal")


def test_reasoning_of_compatible_servers_is_kept_as_thinking() -> None:
    assert _openai({"reasoning_content": "Hm."}, {"content": "Yes."}).thinking == "Hm."


def test_openai_without_a_finish_reason_is_broken() -> None:
    with pytest.raises(StreamBroken):
        _openai({"content": "hi"}, finish=None)
