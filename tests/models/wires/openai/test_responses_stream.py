"""Builds replies from streams of the Responses API that llmock does not script."""

from typing import Any

import pytest

from acta.engine.errors import (
    ActaError,
    ProviderOverloaded,
    ProviderQuotaExceeded,
    ProviderRejected,
    ProviderUnavailable,
    StreamBroken,
)
from acta.engine.models.model import StreamOptions, TokenUsage
from acta.engine.models.openai.responses import OpenAIResponsesModel
from acta.engine.models.wire import MOST_TOKENS
from tests.models.wires.conversations import KEY, READ_FILE, SECRET_TEXT, TIMEOUT, request, user
from tests.models.wires.fake_provider import FakeProvider
from tests.models.wires.openai.responses_api import CUT, SSE, ask, queue
from tests.models.wires.stream_formats import (
    function_call,
    message,
    reasoning,
    refusal,
    response_events,
    sse,
)

pytestmark = pytest.mark.contract


def test_nothing_is_stored_at_the_provider(server: FakeProvider) -> None:
    queue(server, message("ok"))

    ask(server)

    (asked,) = server.requests
    assert asked.path == "/responses"
    assert (asked.body["store"], asked.body["stream"]) == (False, True)
    assert asked.body["include"] == ["reasoning.encrypted_content"]
    assert "previous_response_id" not in asked.body


def test_cached_and_written_tokens_are_counted_apart(server: FakeProvider) -> None:
    queue(server, message("hi"))

    assert ask(server).usage == TokenUsage(90, 7, 64, 20)


def test_a_server_that_reports_no_usage_is_estimated_not_free(server: FakeProvider) -> None:
    queue(server, message("x" * 40), function_call(1, '{"path":"abcdefgh"}'), status="completed", usage=None)

    usage = ask(server).usage

    assert usage.output == (40 + 19) // 4
    assert usage.input > 10


def test_a_usage_without_counts_is_estimated_from_the_whole_request(server: FakeProvider) -> None:
    queue(server, message("x" * 40), status="completed", usage={})
    queue(server, message("x" * 40), status="completed", usage={})

    with_tools, without = ask(server).usage, ask(server, tools=()).usage

    assert (with_tools.output, without.output) == (10, 10)
    assert with_tools.input > without.input + len(READ_FILE.description) // 4


@pytest.mark.parametrize("told", [-1, True, 2.5, "7", 10**60])
def test_no_number_of_tokens_is_taken_as_it_is_told(server: FakeProvider, told: object) -> None:
    details = {"cached_tokens": told, "cache_write_tokens": told}
    counts = {"input_tokens": told, "output_tokens": told, "input_tokens_details": details}
    queue(server, message("x" * 40), status="completed", usage=counts)

    usage = ask(server).usage

    assert usage.output == (MOST_TOKENS if told == 10**60 else 10)
    assert 10 < usage.input <= MOST_TOKENS
    assert usage.cached_input in (0, usage.input)
    assert usage.cache_write == 0


def test_reasoning_that_only_the_total_counts_is_output(server: FakeProvider) -> None:
    counts = {"input_tokens": 900, "output_tokens": 20, "total_tokens": 5920}
    queue(server, message("hi"), status="completed", usage=counts)

    assert ask(server).usage == TokenUsage(900, 5020)


@pytest.mark.parametrize("streamed", ["Hel", "Hello.", "something else"])
@pytest.mark.parametrize("is_done", [True, False])
def test_an_item_that_never_began_is_taken_from_the_last_event(
    streamed: str, is_done: bool, server: FakeProvider
) -> None:
    items = [message("Hello."), function_call(1, '{"path": "a"}')]
    at = {"output_index": 0, "content_index": 0, "item_id": "msg_1"}
    events = [
        {"type": "response.output_text.delta", **at, "delta": streamed},
        {"type": "response.function_call_arguments.delta", **at, "output_index": 1, "delta": '{"pa'},
    ]
    events += [{"type": "response.output_item.done", "output_index": 0, "item": items[0]}] if is_done else []
    server.queue(*map(sse, [*events, response_events(items, status="completed")[-1]]), headers=SSE)

    reply = ask(server)

    assert (reply.text, [call.input for call in reply.calls]) == ("Hello.", [{"path": "a"}])


@pytest.mark.parametrize("pieces", [["Hel", "lo."], []])
def test_text_whose_item_is_never_told_is_the_text(pieces: list[str], server: FakeProvider) -> None:
    at = {"output_index": 0, "content_index": 0, "item_id": "m"}
    events: list[dict[str, Any]] = [
        {"type": "response.output_text.delta", **at, "delta": piece} for piece in pieces
    ]
    events.append({"type": "response.output_text.done", **at, "text": "Hello."})
    server.queue(*map(sse, [*events, response_events([], status="completed")[-1]]), headers=SSE)
    texts: list[str] = []
    asked = request(user("go"))._replace(stream_options=StreamOptions(on_text=texts.append))

    assert OpenAIResponsesModel(KEY, server.url).complete(asked, timeout=TIMEOUT).text == "Hello."
    assert "".join(texts) == "Hello."


def test_a_refusal_is_an_item_of_its_own(server: FakeProvider) -> None:
    queue(server, refusal("I can't help."))

    reply = ask(server)

    assert (reply.text, reply.stop) == ("I can't help.", "refusal")


def test_each_message_is_a_text_of_its_own_and_its_parts_are_one(server: FakeProvider) -> None:
    cited = message("Rome fell ")
    cited["content"].append({**cited["content"][0], "text": "in 476."})
    queue(server, reasoning(1), cited, message(""), message("That is all."))

    reply = ask(server)

    assert reply.text == "Rome fell in 476.\n\nThat is all."
    assert [item["chars"] for item in reply.raw["items"] if item["type"] == "message"] == [17, 0, 14]


def test_text_cut_at_the_limit_is_kept(server: FakeProvider) -> None:
    events = response_events([reasoning(1)], message("The beginning of"), **CUT)
    server.queue(*map(sse, events), headers=SSE)

    reply = ask(server)

    assert (reply.text, reply.stop) == ("The beginning of", "max_tokens")
    assert reply.usage.output == 7


@pytest.mark.parametrize("arguments", ['{"path": "a/lo', '{"path": "a"}', ""])
def test_a_call_that_was_never_completed_is_not_run_even_if_its_json_is_complete(
    server: FakeProvider, arguments: str
) -> None:
    first = function_call(1, '{"path": "b"}')
    server.queue(*map(sse, response_events([first], function_call(2, arguments), **CUT)), headers=SSE)

    reply = ask(server)

    assert reply.stop == "max_tokens"
    assert [c.input for c in reply.calls] == [{"path": "b"}, None]
    assert "cut off" in (reply.calls[1].malformed or "")


def test_arguments_that_came_in_pieces_alone_are_the_calls(server: FakeProvider) -> None:
    done = function_call(1, "")
    events = response_events([done], status="completed")
    piece = {"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "fc_1"}
    at = next(n for n, each in enumerate(events) if each["type"] == "response.output_item.done")
    pieces = [{**piece, "delta": '{"path": '}, {**piece, "delta": '"a"}'}]
    server.queue(*map(sse, [*events[:at], *pieces, *events[at:]]), headers=SSE)

    assert [call.input for call in ask(server).calls] == [{"path": "a"}]


@pytest.mark.parametrize("announced", [True, False])
@pytest.mark.parametrize("told", [True, False])
def test_items_that_all_have_the_index_0_are_kept_apart_by_their_ids(
    server: FakeProvider, announced: bool, told: bool
) -> None:
    items = [message("So."), function_call(1, '{"path": "a"}'), function_call(2, '{"path": "b"}')]
    events = response_events(items, status="completed", output=items if told else [])
    for event in events:
        event |= {"output_index": 0} if "output_index" in event else {}
    if not announced:
        events = [event for event in events if "item" not in event or event["type"].endswith("done")]
    twice = [event for event in events for _ in range(1 + (event["type"] == "response.output_item.done"))]
    server.queue(*map(sse, twice), headers=SSE)

    reply = ask(server)

    assert (reply.text, [call.input for call in reply.calls]) == ("So.", [{"path": "a"}, {"path": "b"}])


def test_a_call_whose_item_is_incomplete_is_not_run(server: FakeProvider) -> None:
    queue(server, function_call(1, '{"path": "a"}', status="incomplete"), **CUT)

    assert ask(server).calls[0].input is None


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"code": "server_error", "message": SECRET_TEXT}, StreamBroken),
        ({"code": "rate_limit_exceeded", "message": SECRET_TEXT}, StreamBroken),
        ({"code": "insufficient_quota", "message": SECRET_TEXT}, ProviderQuotaExceeded),
        ({"code": "invalid_prompt", "message": SECRET_TEXT}, ProviderRejected),
        ({"code": "never_heard_of", "message": SECRET_TEXT}, StreamBroken),
        (None, StreamBroken),
    ],
)
@pytest.mark.parametrize("how", ["failed", "error"])
def test_an_error_inside_a_stream_is_recognised_by_its_name(
    server: FakeProvider, how: str, error: dict[str, str] | None, expected: type[ActaError]
) -> None:
    if how == "failed":
        server.queue(*map(sse, response_events([message("Half")], status="failed", error=error)), headers=SSE)
    else:
        blank = {"message": "", "code": None}
        last: dict[str, Any] = {"type": "error", "sequence_number": 9, **(error or blank)}
        server.queue(*map(sse, [*response_events([message("Half")]), last]), headers=SSE)

    with pytest.raises(ActaError) as caught:
        ask(server)

    assert type(caught.value) is expected
    assert SECRET_TEXT not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("code", "expected"),
    [("server_error", ProviderUnavailable), ("rate_limit_exceeded", ProviderOverloaded)],
)
@pytest.mark.parametrize("how", ["failed", "error"])
def test_a_response_that_fails_before_any_text_has_not_begun(
    server: FakeProvider, how: str, code: str, expected: type[ActaError]
) -> None:
    error = {"code": code, "message": SECRET_TEXT}
    if how == "failed":
        server.queue(*map(sse, response_events([], status="failed", error=error)), headers=SSE)
    else:
        last = {"type": "error", "sequence_number": 9, **error}
        server.queue(*map(sse, [*response_events([]), last]), headers=SSE)

    with pytest.raises(expected):
        ask(server)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("bio_policy", "no"),
        ("misalignment_policy_violation", "no"),
        ("invalid_prompt", "Invalid prompt: your prompt was flagged as potentially violating our usage policy."),
    ],
)  # fmt: skip
def test_a_response_that_failed_for_a_policy_was_refused(server: FakeProvider, code: str, said: str) -> None:
    queue(server, message("So"), status="failed", error={"code": code, "message": said})

    assert ask(server).stop == "refusal"


@pytest.mark.parametrize("broken", [True, False])
@pytest.mark.parametrize("items", [(), (message("All."),), (function_call(1, '{"path": "a"}'),)])
def test_a_stream_without_a_final_event_is_broken_even_if_its_text_is_complete(
    server: FakeProvider, items: tuple[dict[str, Any], ...], broken: bool
) -> None:
    server.queue(*map(sse, response_events(items)), broken=broken, headers=SSE)

    with pytest.raises(StreamBroken):
        ask(server)


def test_a_stream_that_is_not_json_is_broken(server: FakeProvider) -> None:
    server.queue(*map(sse, response_events([message("Half")])), b"data: {not json\n\n", headers=SSE)

    with pytest.raises(StreamBroken):
        ask(server)


def test_the_text_is_passed_on_as_it_comes_and_nothing_else_is(server: FakeProvider) -> None:
    queue(server, reasoning(1, summary="Hm."), message("Hello."), function_call(1, "{}"))
    texts: list[str] = []

    ask(server, user("go"), model="gpt-6-sol")
    queue(server, reasoning(1, summary="Hm."), message("Hello."), function_call(1, "{}"))
    asked = request(user("go"))._replace(stream_options=StreamOptions(on_text=texts.append))
    OpenAIResponsesModel(KEY, server.url).complete(asked, timeout=TIMEOUT)

    assert texts == ["Hello."]
