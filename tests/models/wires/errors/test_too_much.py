"""Servers that send much more than they were asked for."""

import json
from collections.abc import Iterator
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from acta.engine.errors import StreamBroken
from acta.engine.models.calls import CHARS_PER_TOKEN, MORE_BYTES, MORE_CHARS, MOST_PARTS
from acta.engine.models.openai.chat import ChatReplyBuilder
from tests.models.wires.conftest import MODELS
from tests.models.wires.conversations import TIMEOUT, request
from tests.models.wires.fake_provider import CannedAnswer, FakeProvider, ReceivedRequest
from tests.models.wires.stream_formats import answer, sse

pytestmark = pytest.mark.contract

SSE = {"content-type": "text/event-stream"}
ENDS = {"anthropic": "end_turn", "openai": "stop", "openai-responses": "completed"}
ASKED = request(max_tokens=500)
MOST = CHARS_PER_TOKEN * ASKED.max_tokens + MORE_CHARS


@pytest.mark.parametrize("wire", list(ENDS))
def test_an_answer_that_is_much_longer_than_was_asked_for_breaks_off(wire: str, server: FakeProvider) -> None:
    server.queue(*answer(wire, "x" * (MOST + 1), ENDS[wire]), headers=SSE)

    with pytest.raises(StreamBroken):
        MODELS[wire](server.url).complete(ASKED, timeout=TIMEOUT)


@pytest.mark.parametrize("wire", list(ENDS))
def test_an_event_that_does_not_end_breaks_off_and_is_not_collected(wire: str, server: FakeProvider) -> None:
    server.queue(b"data: ", b"x" * (MOST + MORE_BYTES), b"\n\n", headers=SSE)

    with pytest.raises(StreamBroken, match="one event"):
        MODELS[wire](server.url).complete(ASKED, timeout=TIMEOUT)


def test_an_answer_of_very_many_calls_breaks_off(server: FakeProvider) -> None:
    block = {"type": "tool_use", "id": "a", "name": "read_file", "input": {}}
    calls = [
        {"type": "content_block_start", "index": number, "content_block": block}
        for number in range(MOST_PARTS + 1)
    ]
    first, *_, stop, end = answer("anthropic", "", "tool_use")
    server.queue(first, *map(sse, calls), stop, end, headers=SSE)

    with pytest.raises(StreamBroken):
        MODELS["anthropic"](server.url).complete(ASKED, timeout=TIMEOUT)


class GoesOnWithPings(FakeProvider):
    """`left`: the client has closed the connection."""

    def __init__(self) -> None:
        super().__init__()
        self.left = Event()

    def answer(self, request: ReceivedRequest) -> Iterator[CannedAnswer]:
        yield from super().answer(request)
        try:
            while True:
                yield CannedAnswer(200, SSE, (sse({"type": "ping"}),))
        finally:
            self.left.set()


def test_a_server_that_goes_on_after_its_whole_answer_is_left() -> None:
    with GoesOnWithPings() as provider:
        provider.queue(*answer("anthropic", "All of it.", "end_turn"), headers=SSE)

        assert MODELS["anthropic"](provider.url).complete(ASKED, timeout=TIMEOUT).text == "All of it."
        assert provider.left.wait(TIMEOUT)


def part(arguments: str) -> Any:
    function = SimpleNamespace(name=None, arguments=arguments)
    call = SimpleNamespace(index=0, id=None, function=function)
    delta = SimpleNamespace(content=None, refusal=None, tool_calls=[call])
    return SimpleNamespace(choices=[SimpleNamespace(delta=delta, finish_reason=None)], usage=None)


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        (['{"a":', '"}', '{\\"', '"}', '{"b":1}'], [{"a": '}{"'}, {"b": 1}]),
        (['{"a":1}', '{"a":2}', " ", '{"a":3}'], [{"a": 1}, {"a": 2}, {"a": 3}]),
        (["{}", "{}", " ", "{}"], [{}]),
        (['{"a":"}', "}", '"}'], [{"a": "}}"}]),
        (['{"a":1}}', "{}", "{}"], [None]),
    ],
)
def test_calls_without_ids_are_told_apart_by_where_an_object_ends(
    pieces: list[str], calls: list[object]
) -> None:
    builder = ChatReplyBuilder("m", lambda: 1)
    for each in pieces:
        builder.add(part(each))
    finish = SimpleNamespace(delta=None, finish_reason="tool_calls")
    builder.add(SimpleNamespace(choices=[finish], usage=None))

    assert [call.input for call in builder.reply().calls] == calls


def test_arguments_are_parsed_once_however_many_pieces_they_come_in(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def parse(text: str) -> dict[str, Any]:
        parsed.append(text)
        found: dict[str, Any] = json.loads(text)
        return found

    monkeypatch.setattr("acta.engine.models.openai.chat.parse_object", parse)
    builder = ChatReplyBuilder("m", lambda: 1)
    for each in ('{"a":"', *["}}}}"] * 100):
        builder.add(part(each))

    assert parsed == []
