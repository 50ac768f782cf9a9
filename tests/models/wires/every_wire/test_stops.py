"""Every way that an answer can end, on every wire (`acta/engine/models/wire.py`)."""

import json
from typing import Any

import pytest

from acta.engine.errors import ActaError, ProviderKeyRefused, ProviderRejected, StopUnknown, StreamBroken
from acta.engine.models.model import TokenUsage
from acta.engine.models.react import UNREADABLE, ReActModel
from acta.engine.models.wire import ANTHROPIC_STOPS, CHAT_STOPS, RESPONSES_STOPS, StopTable, stop_reason
from tests.models.wires.anthropic.event_stream import chunk
from tests.models.wires.conftest import MODELS
from tests.models.wires.conversations import TIMEOUT, request
from tests.models.wires.fake_provider import FakeProvider
from tests.models.wires.stream_formats import answer, messages_events, response_events, sse

MESSAGES = {
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "pause_turn": "pause",
    "refusal": "refusal",
}
MEANT = {
    "anthropic": MESSAGES,
    "bedrock": MESSAGES,
    "openai": {"stop": "end", "length": "max_tokens", "content_filter": "refusal"},
    "openai-responses": {
        "completed": "end",
        "max_output_tokens": "max_tokens",
        "content_filter": "refusal",
        "max_messages": "pause",
    },
}

pytestmark = pytest.mark.contract


@pytest.mark.parametrize(
    ("wire", "word", "meant"),
    [(wire, word, meant) for wire, words in MEANT.items() for word, meant in words.items()],
)
def test_every_stop_word_has_a_meaning_and_the_text_is_kept(
    wire: str, word: str, meant: str, server: FakeProvider
) -> None:
    server.queue(*answer(wire, "The beginning of", word), headers=_stream(wire))

    reply = MODELS[wire](server.url).complete(request(), timeout=TIMEOUT)

    assert (reply.text, reply.stop) == ("The beginning of", meant)


def declined(wire: str, told: object) -> list[bytes]:
    """An empty answer whose provider says why it was declined."""
    if wire == "openai":
        return answer(wire, "", str(told))
    if wire == "openai-responses":
        ends: dict[str, Any] = {"status": "failed", "error": {"code": told, "message": "no"}}
        return [sse(event) for event in response_events([], **ends)]
    events = messages_events("", "refusal")
    events[-2]["delta"]["stop_details"] = told
    return [sse(event) if wire == "anthropic" else chunk(json.dumps(event).encode()) for event in events]


@pytest.mark.parametrize(
    ("wire", "told", "category"),
    [
        *(
            (wire, told, category)
            for wire in ("anthropic", "bedrock")
            for told, category in (
                ({"type": "refusal", "category": "reasoning_extraction"}, "reasoning_extraction"),
                ({"type": "refusal", "category": "new_one", "explanation": "Because."}, "new_one"),
                ({"type": "refusal", "category": None}, ""),
                ({"type": "refusal", "category": "words of\nsomebody"}, ""),
                ({"type": "refusal", "category": 5}, ""),
                (None, ""),
            )
        ),
        ("openai", "content_filter", "content_filter"),
        ("openai", "SAFETY", "safety"),
        ("openai", "content_filter: PROHIBITED_CONTENT", "prohibited_content"),
        ("openai", "content_filter: SOMETHING_NEW", "something_new"),
        ("openai", "LANGUAGE", "language"),
        *(
            ("openai-responses", code, code)
            for code in ("bio_policy", "cyber_policy", "tomorrows_policy_violation")
        ),
    ],
)
def test_a_refusal_has_the_category_that_its_provider_names(
    wire: str, told: object, category: str, server: FakeProvider
) -> None:
    server.queue(*declined(wire, told), headers=_stream(wire))

    reply = MODELS[wire](server.url).complete(request(), timeout=TIMEOUT)

    assert (reply.text, reply.stop, reply.category) == ("", "refusal", category)


FILTERED = [
    ("openai", {"code": "content_filter", "message": "The prompt was filtered."}),
    (
        "openai-responses",
        {"code": "content_policy_violation", "message": "no", "type": "invalid_request_error"},
    ),
    (
        "anthropic",
        {"type": "invalid_request_error", "message": "Output blocked by content filtering policy"},
    ),
]


@pytest.mark.parametrize(("wire", "error"), FILTERED)
@pytest.mark.parametrize("status", [400, 200])
def test_a_filter_that_is_reported_as_an_error_is_a_refusal(
    wire: str, error: dict[str, str], status: int, server: FakeProvider
) -> None:
    body = json.dumps({"type": "error", "error": error}).encode()
    server.queue(body, status=status, headers={"content-type": "application/json"})

    reply = MODELS[wire](server.url).complete(request(), timeout=TIMEOUT)

    assert (reply.stop, reply.usage) == ("refusal", TokenUsage())
    assert reply.category in ("content_filter", "content_policy_violation")


FLAGGED = (
    "Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again."
)
LIMITED = "Invalid prompt: we've limited access to this content for safety reasons."


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"code": "invalid_prompt", "type": "invalid_request_error", "message": FLAGGED}}),
        (400, {"error": {"code": "invalid_prompt", "type": "invalid_request_error", "message": LIMITED}}),
        (400, {"error": {"code": "cyber_policy", "type": "invalid_request", "message": "no"}}),
        (400, {"error": {"code": 400, "type": "content_filter", "message": "considered high risk"}}),
        (400, {"error": {"code": "invalid_request_error", "message": "Content Exists Risk"}}),
        (400, {"detail": "Content Exists Risk"}),
        (400, {"error": {"code": "data_inspection_failed", "message": "It may be inappropriate."}}),
        (400, {"error": {"code": None, "message": "<400> Algo: Input text data may contain inappropriate content."}}),
        (400, {"contentFilter": [{"level": 1}], "error": {"code": "1301", "message": "no"}}),
        (400, {"error": {"code": "sensitive_words_detected", "type": "new_api_error", "message": "no"}}),
        (
            400,
            {
                "error": {
                    "code": "InputTextSensitiveContentDetected",
                    "message": "The request failed because the input text may contain sensitive information.",
                }
            },
        ),
        *((status, {"error": {"message": "input new_sensitive (1026)"}}) for status in (400, 422, 500)),
        (400, {"error": {"code": "400", "message": "litellm: triggering Azure OpenAI's content management policy."}}),
        (403, {"code": "permission-denied", "error": "Content violates usage guidelines. Failed check: X"}),
        (403, {"error": {"code": 403, "message": 'x requires moderation. Your input was flagged for "violence".'}}),
    ],
)  # fmt: skip
def test_a_filter_is_known_as_one_by_the_words_of_every_server(
    status: int, body: dict[str, Any], server: FakeProvider
) -> None:
    server.queue(json.dumps(body).encode(), status=status, headers={"content-type": "application/json"})

    reply = MODELS["openai"](server.url).complete(request(), timeout=TIMEOUT)

    assert (reply.stop, reply.usage) == ("refusal", TokenUsage())


@pytest.mark.parametrize("wire", ["openai", "openai-responses"])
@pytest.mark.parametrize(
    ("status", "code", "message", "kind"),
    [
        (400, "invalid_prompt", "A message has no content.", ProviderRejected),
        (400, "invalid_prompt", "The tool `it was flagged` is unknown.", ProviderRejected),
        (403, "permission-denied", "Access to the chat endpoint is denied", ProviderKeyRefused),
        (403, "unsupported_country_region_territory", "Country not supported", ProviderKeyRefused),
        (403, "account_deactivated", "Your account was flagged.", ProviderKeyRefused),
        (403, "forbidden_error", "Your account was flagged for inappropriate content.", ProviderKeyRefused),
    ],
)
def test_what_no_filter_has_declined_is_no_refusal(
    wire: str, status: int, code: str, message: str, kind: type[ActaError], server: FakeProvider
) -> None:
    error = json.dumps({"error": {"code": code, "message": message}}).encode()
    server.queue(error, status=status, headers={"content-type": "application/json"})

    with pytest.raises(kind):
        MODELS[wire](server.url).complete(request(), timeout=TIMEOUT)


@pytest.mark.parametrize("wire", ["anthropic", "openai", "openai-responses", "bedrock"])
@pytest.mark.parametrize("word", ["because", "abort", "error", "insufficient_system_resource"])
def test_an_unknown_stop_word_breaks_the_answer(wire: str, word: str, server: FakeProvider) -> None:
    server.queue(*answer(wire, "GOAL_COMPLETE half of", word), headers=_stream(wire))

    with pytest.raises(StreamBroken) as caught:
        MODELS[wire](server.url).complete(request(), timeout=TIMEOUT)
    if word == "because":
        assert isinstance(caught.value, StopUnknown)
        assert caught.value.word == word
    else:
        assert type(caught.value) is StreamBroken, "the server gave up, and may answer the next time"


@pytest.mark.parametrize(
    ("told", "word"),
    [
        ("NEW_REASON", "new_reason"),
        ("too-odd", "too_odd"),
        ("function_call_filter: NEW", "new"),
        ("`it` is\nodd", ""),
    ],
)
def test_of_an_unknown_stop_word_one_word_is_kept(told: str, word: str) -> None:
    for calls in (True, False):
        with pytest.raises(StopUnknown) as caught:
            stop_reason(CHAT_STOPS, told, calls=calls)
        assert caught.value.word == word


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("eos", "end"),
        ("eos_token", "end"),
        ("stop_sequence", "end"),
        ("STOP", "end"),
        ("tool_use", "tools"),
        ("function_call", "tools"),
        ("MAX_TOKENS", "max_tokens"),
        ("model_length", "max_tokens"),
        ("SAFETY", "refusal"),
        ("sensitive", "refusal"),
        ("content-filter", "refusal"),
        ("tool-calls", "tools"),
        ("UNEXPECTED_TOOL_CALL", "end"),
        ("MALFORMED_FUNCTION_CALL", "end"),
    ],
)
def test_stop_words_of_compatible_servers_are_known(word: str, meant: str) -> None:
    for table in (CHAT_STOPS, ANTHROPIC_STOPS):
        assert stop_reason(table, word, calls=False) == meant


def test_a_paused_answer_is_not_parsed_as_an_action(server: FakeProvider) -> None:
    written = '{"thought": "t", "action": "read_file", "action_input": {"path": "a"}}'
    server.queue(*answer("anthropic", written, "pause_turn"), headers=_stream("anthropic"))

    reply = ReActModel(MODELS["anthropic"](server.url)).complete(request(), timeout=TIMEOUT)

    assert (reply.calls[0].name, reply.calls[0].input) == (UNREADABLE, None)


@pytest.mark.parametrize("table", [ANTHROPIC_STOPS, CHAT_STOPS, RESPONSES_STOPS])
def test_calls_turn_only_an_end_into_tools(table: StopTable) -> None:
    for word, meant in table.items():
        expected = "tools" if meant == "end" else meant
        assert stop_reason(table, word, calls=True) == expected


def _stream(wire: str) -> dict[str, str]:
    amazons = "application/vnd.amazon.eventstream"
    return {"content-type": amazons if wire == "bedrock" else "text/event-stream"}
