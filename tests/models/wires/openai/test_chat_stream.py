"""Builds replies from Chat Completions chunks that llmock does not script, made with the SDK's own chunk type."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from openai.types.chat import ChatCompletionChunk
from openai.types.completion_usage import CompletionUsage

from acta.engine.errors import StreamBroken
from acta.engine.models.model import ModelReply, TokenUsage
from acta.engine.models.openai.chat import ChatReplyBuilder
from acta.engine.models.wire import CUT_OFF, MOST_TOKENS


def _reply(
    *deltas: dict[str, Any],
    finish: str | None = "stop",
    usage: dict[str, Any] | CompletionUsage | None = None,
    request_bytes: Callable[[], int] = lambda: 400,
) -> ModelReply:
    builder = ChatReplyBuilder("m", request_bytes)
    for delta in deltas:
        builder.add(_chunk({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}))
    choice = {"index": 0, "delta": {}, "finish_reason": finish}
    last = _chunk({"choices": [choice], "usage": usage if isinstance(usage, dict) else None})
    builder.add(last.model_copy(update={"usage": usage}) if isinstance(usage, CompletionUsage) else last)
    return builder.reply()


def _chunk(fields: dict[str, Any]) -> ChatCompletionChunk:
    """As the SDK makes it, which checks nothing."""
    made: Any = ChatCompletionChunk.construct(id="c", object="chat.completion.chunk", model="m", **fields)
    return cast("ChatCompletionChunk", made)


def _part(index: int, arguments: Any, call_id: str | None = None, name: str | None = None) -> dict[str, Any]:
    return {
        "tool_calls": [{"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}]
    }


def _not_asked_for() -> int:
    """A server that counts tokens has nobody encode the whole conversation."""
    raise AssertionError("the request's bytes were worked out, and nobody needs them")


@pytest.mark.parametrize("is_beside", [True, False])
def test_what_a_stream_says_once_more_as_a_whole_message_is_no_second_call(is_beside: bool) -> None:
    function = {"name": "pay", "arguments": '{"amount": 5}'}
    message = {
        "role": "assistant",
        "content": "Paid.",
        "tool_calls": [{"type": "function", "function": function}],
    }
    first = {"content": "Paid.", "tool_calls": [{"index": 0, "function": function}]}
    builder = ChatReplyBuilder("m", lambda: 400)
    beside = {"message": message} if is_beside else {}
    builder.add(_chunk({"choices": [{"index": 0, "delta": first, "finish_reason": None, **beside}]}))
    last = {"index": 0, "delta": {}, "finish_reason": "tool_calls", "message": message}
    builder.add(_chunk({"choices": [last]}))

    reply = builder.reply()

    assert reply.text == "Paid."
    assert [(call.name, call.input) for call in reply.calls] == [("pay", {"amount": 5})]


def test_openai_counts_cached_tokens_apart() -> None:
    usage = {"prompt_tokens": 90, "completion_tokens": 3, "total_tokens": 93}

    details = {"cached_tokens": 64, "cache_write_tokens": 20}

    reply = _reply(
        {"content": "hi"}, usage={**usage, "prompt_tokens_details": details}, request_bytes=_not_asked_for
    )

    assert reply.usage == TokenUsage(90, 3, 64, 20)


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 900, "completion_tokens": 20, "total_tokens": 5920}, TokenUsage(900, 5020)),
        ({"prompt_tokens": 900, "completion_tokens": 20, "total_tokens": 920}, TokenUsage(900, 20)),
        ({"prompt_tokens": 900, "completion_tokens": 20, "total_tokens": 20}, TokenUsage(900, 20)),
        ({"prompt_tokens": 900, "total_tokens": 5920}, TokenUsage(900, 5020)),
        ({"completion_tokens": 20, "total_tokens": 5920}, TokenUsage(100, 20)),
    ],
)
def test_reasoning_that_only_the_total_counts_is_output(usage: dict[str, Any], counted: TokenUsage) -> None:
    assert _reply({"content": "hi"}, usage=usage).usage == counted


def test_a_count_that_falls_is_no_count() -> None:
    details = {"cached_tokens": 64}
    told = {"prompt_tokens": 90, "completion_tokens": 3, "total_tokens": 93, "prompt_tokens_details": details}
    builder = ChatReplyBuilder("m", _not_asked_for)
    for usage in (told, {**told, "completion_tokens": 7}, dict.fromkeys(told, 0), {}, None):
        builder.add(_chunk({"choices": [{"index": 0, "delta": {"content": "x"}}], "usage": usage}))
    builder.add(_chunk({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": None}))

    assert builder.reply().usage == TokenUsage(90, 7, 64)


def test_a_server_that_reports_no_usage_is_estimated_not_free() -> None:
    assert _reply({"content": "x" * 40}).usage == TokenUsage(100, 10)


def test_a_usage_that_counts_nothing_is_estimated_too() -> None:
    nothing = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}

    assert _reply({"content": "x" * 40}, usage=nothing).usage == TokenUsage(100, 10)


@pytest.mark.parametrize("told", [-1, True, 2.5, float("inf"), float("nan"), "7", [7], None])
def test_what_is_no_number_of_tokens_is_estimated(told: object) -> None:
    """As the SDK hands it on, which checks nothing."""
    counts: Any = {"prompt_tokens": told, "completion_tokens": told, "total_tokens": told}
    details: Any = SimpleNamespace(cached_tokens=told, cache_write_tokens=told)
    usage = CompletionUsage.model_construct(**counts)
    usage.prompt_tokens_details = details

    assert _reply({"content": "x" * 40}, usage=usage).usage == TokenUsage(100, 10)


def test_no_server_can_tell_more_than_can_be_added_up() -> None:
    counts = {"prompt_tokens": 10**60, "completion_tokens": 2**63, "total_tokens": 1}
    details = {"cached_tokens": 10**60, "cache_write_tokens": 10**60}

    usage = _reply({"content": "hi"}, usage={**counts, "prompt_tokens_details": details}).usage

    assert usage == TokenUsage(MOST_TOKENS, MOST_TOKENS, MOST_TOKENS, 0)


def test_a_server_cannot_tell_that_more_was_cached_than_was_sent() -> None:
    counts = {"prompt_tokens": 90, "completion_tokens": 3, "total_tokens": 93}
    details = {"cached_tokens": 64, "cache_write_tokens": 64}

    usage = _reply({"content": "hi"}, usage={**counts, "prompt_tokens_details": details}).usage

    assert usage == TokenUsage(90, 3, 64, 26)


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
def test_calls_with_one_index_and_no_ids_are_separated_where_an_object_ends(
    parts: list[dict[str, Any]],
) -> None:
    assert [(c.name, c.input) for c in _reply(*parts).calls] == [
        ("read_file", {"path": "1"}),
        ("read_file", {"path": "2"}),
    ]


def test_calls_with_one_index_and_no_ids_are_separated_by_their_names() -> None:
    reply = _reply(_part(0, "{}", None, "read_file"), _part(0, '{"a":1}', None, "update_plan"))

    assert [(c.name, c.input) for c in reply.calls] == [("read_file", {}), ("update_plan", {"a": 1})]


@pytest.mark.parametrize("call_id", ["a", None])
@pytest.mark.parametrize("later_id", [True, False])
@pytest.mark.parametrize(
    "names",
    [
        ["refund_preview", None],
        ["refund", "_preview", None],
        ["refund", "_", "preview"],
        ["refund_preview", "refund_preview", "refund_preview"],
        ["refund", "_preview", "refund_preview"],
        ["", "refund_preview", ""],
        ["refund_preview", "<|channel|>commentary", None],
    ],
)
def test_a_name_may_come_in_pieces_or_with_each_piece(
    names: list[str | None], call_id: str | None, later_id: bool
) -> None:
    first, *others = names
    later = call_id if later_id else None
    parts = [_part(0, "", call_id, first), *(_part(0, "", later, name) for name in others)]
    reply = _reply(*parts, _part(0, '{"order":', later), _part(0, '"A7"}', later))

    assert [(call.name, call.input) for call in reply.calls] == [("refund_preview", {"order": "A7"})]


@pytest.mark.parametrize(
    ("names", "read"),
    [
        (["refund", "refund_preview"], "refundrefund_preview"),
        (["read_file", "update_plan"], "read_fileupdate_plan"),
    ],
)
def test_names_that_can_be_read_in_two_ways_are_the_name_of_no_tool(names: list[str], read: str) -> None:
    """Each would be a tool of its own: the model is told that there is none of this name, and nothing has run."""
    reply = _reply(_part(0, "", None, names[0]), _part(0, '{"a":1}', None, names[1]))

    assert [(call.name, call.input) for call in reply.calls] == [(read, {"a": 1})]


def test_calls_of_a_whole_message_without_ids_are_apart_though_the_first_has_no_arguments() -> None:
    reply = _reply(
        {"tool_calls": [_sent("", call_id=None, name=one)["tool_calls"][0] for one in ("look", "wait")]}
    )

    assert [(call.name, call.input) for call in reply.calls] == [("look", {}), ("wait", {})]


def test_calls_with_one_index_are_separated_by_their_ids() -> None:
    reply = _reply(
        _part(0, '{"path":', "a", "read_file"), _part(0, '"1"}'), _part(0, '{"path":"2"}', "b", "read_file")
    )

    assert [c.input for c in reply.calls] == [{"path": "1"}, {"path": "2"}]
    assert reply.stop == "tools", "a forced call ends with `stop`"


def test_an_id_that_comes_after_its_call_has_begun_begins_no_other_call() -> None:
    reply = _reply(_part(0, '{"path":', None, "read_file"), _part(0, '"1"}', "a"), _part(0, " ", "a"))

    assert [(c.name, c.input) for c in reply.calls] == [("read_file", {"path": "1"})]


def test_a_call_whose_id_comes_late_is_separated_from_the_next_by_it() -> None:
    first = (_part(0, '{"path":', None, "read_file"), _part(0, '"1"}', "a"))
    reply = _reply(*first, _part(0, '{"path":', "b", "read_file"), _part(0, '"2"}', "b"))

    assert [c.input for c in reply.calls] == [{"path": "1"}, {"path": "2"}]


_BEFORE = {"before": "2020-01-01"}


@pytest.mark.parametrize(
    "pieces",
    [
        [("a", "purge", ""), ("b", None, '{"before": '), ("c", None, '"2020-01-01"}'), ("d", None, "")],
        [("a", "purge", '{"before": '), ("b", None, '"2020-'), ("a", None, '01-01"}')],
        [("a", "purge", None), ("b", None, {"before": "2020-01-01"})],
        [(None, "purge", "{}"), (None, None, json.dumps(_BEFORE))],
        [("a", "purge", "{ }"), ("a", "purge", '{"before": '), ("a", "purge", '"2020-01-01"}')],
        [("a", "purge", {}), ("b", None, " "), ("b", None, json.dumps(_BEFORE))],
        [("a", "purge", "{}"), ("a", None, _BEFORE)],
    ],
)
def test_a_part_without_a_name_goes_on_with_a_call_that_is_not_whole(
    pieces: list[tuple[str | None, str | None, Any]],
) -> None:
    """SGLang gave each piece another id in 2025. Other servers begin with an empty object."""
    reply = _reply(*(_part(0, told, call_id, name) for call_id, name, told in pieces))

    assert [(call.name, call.input) for call in reply.calls] == [("purge", _BEFORE)]


def test_pieces_whose_index_is_not_their_call_s_go_on_with_the_call_that_was_begun() -> None:
    """As SGLang counted in 2025: the first piece has the number of its tool (sgl-project/sglang#6310)."""
    reply = _reply(
        _part(1, "", "a", "purge"), _part(0, '{"n": ', "b"), _part(0, "1}", "c"), _part(0, "", "d"),
        _part(1, "", "e", "purge"), _part(1, '{"n": ', "f"), _part(1, "2}", "g"),
        _part(0, "", "h", "keep"), _part(2, '{"n": 3}', "i"),
    )  # fmt: skip

    assert [(call.name, call.input) for call in reply.calls] == [
        ("purge", {"n": 1}), ("purge", {"n": 2}), ("keep", {"n": 3}),
    ]  # fmt: skip


def test_pieces_of_calls_that_are_sent_at_the_same_time_stay_with_their_calls() -> None:
    reply = _reply(
        _part(0, '{"n": ', "a", "purge"), _part(1, '{"n": ', "b", "keep"), _part(0, "1"), _part(1, "2"),
        _part(0, "}"), _part(0, " "), _part(1, "}"),
    )  # fmt: skip

    assert [(call.name, call.input) for call in reply.calls] == [("purge", {"n": 1}), ("keep", {"n": 2})]


_PAY = '{"to":"bob"}'


@pytest.mark.parametrize(
    "parts",
    [
        [_part(0, _PAY, "a", "pay"), _part(1, _PAY, "a", "pay")],
        [_part(0, _PAY, "a", "pay"), _part(0, '{"to": "bob"}', "a", "pay")],
        [_part(0, '{"to":', "a", "pay"), _part(0, '"bob"}'), _part(0, _PAY, None, "pay")],
        [_part(0, '{"to":', None, "pay"), _part(0, '"bob"}'), _part(0, '{ "to": "bob" }', None, "pay")],
        [{"function_call": {"name": "pay", "arguments": _PAY}}] * 2,
    ],
)
def test_a_call_that_is_sent_twice_is_one_call(parts: list[dict[str, Any]]) -> None:
    assert [(call.name, call.input) for call in _reply(*parts).calls] == [("pay", {"to": "bob"})]


@pytest.mark.parametrize(
    "parts",
    [
        [_part(0, _PAY, "a", "pay"), _part(1, _PAY, "b", "pay")],
        [_part(0, _PAY, "a", "pay"), _part(0, _PAY, "b", "pay")],
        [_part(0, _PAY, None, "pay"), _part(1, _PAY, None, "pay")],
        [_part(0, _PAY, "a", "pay"), _part(1, '{"to":true}', "a", "pay")],
        [_part(0, '{"to":1}', "a", "pay"), _part(1, '{"to":true}', "a", "pay")],
        [_part(0, _PAY, "a", "pay"), _part(1, _PAY, "a", "praise")],
        [_part(0, _PAY, "a", "pay"), _part(0, _PAY, "a", "praise")],
        [_part(0, _PAY, "a", "pay"), _part(0, '{"to":', None, "praise"), _part(0, '"bob"}')],
    ],
)
def test_calls_that_differ_in_id_place_name_or_arguments_are_two(parts: list[dict[str, Any]]) -> None:
    assert len(_reply(*parts).calls) == 2


def _sent(arguments: object, *, call_id: str | None = "a", name: str | None = "f") -> dict[str, Any]:
    """A delta as the SDK hands it on, which checks nothing."""
    return {"tool_calls": [{"id": call_id, "function": {"name": name, "arguments": arguments}}]}


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        ([_sent({"a": 1})], [{"a": 1}]),
        ([_sent({"a": 9007199254740993, "b": [{"c": None}]})], [{"a": 9007199254740993, "b": [{"c": None}]}]),
        ([_sent({})], [{}]),
        ([_sent(None)], [{}]),
        ([_sent("null")], [{}]),
        ([_sent(""), _sent({"a": 1}, name=None)], [{"a": 1}]),
        ([_sent({"a": 1}), _sent(None, name=None), _sent("", name=None)], [{"a": 1}]),
        ([_sent({"a": 1}), _sent({"b": 2}), _sent({"a": 1})], [{"a": 1, "b": 2}]),
        ([_sent({"a": 1}, call_id=None), _sent({"b": 2}, call_id=None, name=None)], [{"a": 1, "b": 2}]),
        ([_sent({"a": 1}, call_id=None), _sent({"a": 2}, call_id=None)], [{"a": 1}, {"a": 2}]),
        ([_sent({"a": 1}), _sent({"a": 2}, call_id="b")], [{"a": 1}, {"a": 2}]),
        ([_sent({"a": 1}), _sent({"a": 2})], [None]),
        ([_sent('{"a":'), _sent({"b": 2})], [None]),
        ([_sent({"a": 1}), _sent('{"b":2}')], [None]),
        ([_sent([{"a": 1}])], [None]),
        ([_sent(5)], [None]),
        ([_sent({"a": float("nan")})], [None]),
        ([_sent(json.dumps('{"a": 1}'))], [{"a": 1}]),
        ([_sent(json.dumps(json.dumps('{"a": 1}')))], [None]),
        ([_sent('{"a"'), _sent(":1}")], [{"a": 1}]),
    ],
)
def test_arguments_are_taken_where_their_meaning_is_clear(
    pieces: list[dict[str, Any]], calls: list[object]
) -> None:
    reply = _reply(*pieces)
    assert ([call.input for call in reply.calls], {call.name for call in reply.calls}) == (calls, {"f"})
    assert all(call.malformed for call in reply.calls if call.input is None)


@pytest.mark.parametrize("arguments", ['{"a": 1}', {"a": 1}])
def test_the_form_of_calls_before_tool_calls_is_taken_once(arguments: object) -> None:
    legacy = {"function_call": {"name": "f", "arguments": arguments}}
    for deltas in ([legacy], [legacy, _sent({"a": 1})], [{**legacy, **_sent({"a": 1})}]):
        reply = _reply(*deltas, finish="function_call")
        assert ([(call.name, call.input) for call in reply.calls], reply.stop) == ([("f", {"a": 1})], "tools")


def test_a_call_that_was_cut_off_before_its_arguments_never_runs() -> None:
    for arguments in (None, "", '{"a"'):
        (call,) = _reply(_sent(arguments), finish="length").calls
        assert (call.input, call.malformed) == (None, CUT_OFF)


def test_a_name_that_is_none_is_no_name() -> None:
    for name in (None, "", 5, {"a": 1}):
        (call,) = _reply({"tool_calls": [{"id": "a", "function": {"name": name, "arguments": "{}"}}]}).calls
        assert (call.name, call.input) == ("", {})


def test_text_in_parts_is_put_together() -> None:
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "lo"}, 5]
    assert _reply({"content": "Hel"}, {"content": parts}).text == "Hello"


def test_of_several_choices_the_first_counts() -> None:
    builder = ChatReplyBuilder("m", lambda: 400)
    for index, text, finish in ((0, "Yes.", None), (1, "No.", None), (1, "", "length"), (0, "", "stop")):
        choice = {"index": index, "delta": {"content": text}, "finish_reason": finish}
        builder.add(_chunk({"choices": [choice]}))
    assert (builder.reply().text, builder.reply().stop) == ("Yes.", "end")


def test_a_refusal_in_its_own_field_is_a_refusal() -> None:
    reply = _reply({"refusal": "I can't "}, {"refusal": "help."})

    assert (reply.text, reply.stop) == ("I can't help.", "refusal")


def test_reasoning_of_compatible_servers_is_kept_as_thinking() -> None:
    assert _reply({"reasoning_content": "Hm."}, {"content": "Yes."}).thinking == "Hm."


def test_openai_without_a_finish_reason_is_broken() -> None:
    with pytest.raises(StreamBroken):
        _reply({"content": "hi"}, finish=None)
