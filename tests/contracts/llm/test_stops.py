"""Every way an answer can end, on every wire, in Acta's terms (`shared/adapters/llm/common/stops.py`)."""

import pytest

from shared.adapters.llm.common.stops import (
    ANTHROPIC_STOPS,
    CHAT_STOPS,
    RESPONSES_STOPS,
    StopTable,
    stop_reason,
)
from shared.adapters.llm.react.model import ReActModel
from shared.adapters.llm.react.request import UNREADABLE
from shared.domain.errors import StreamBroken
from tests.contracts.llm.conftest import MODELS
from tests.contracts.llm.conversations import PATIENCE, request
from tests.contracts.llm.served import Served
from tests.contracts.llm.wires import answer

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
def test_every_end_of_an_answer_has_a_meaning_and_keeps_what_was_said(
    wire: str, word: str, meant: str, served: Served
) -> None:
    served.tell(*answer(wire, "The beginning of", word), headers=_stream(wire))

    reply = MODELS[wire](served.url).complete(request(), timeout=PATIENCE)

    assert (reply.text, reply.stop) == ("The beginning of", meant)


@pytest.mark.parametrize("wire", ["anthropic", "openai", "openai-responses", "bedrock"])
@pytest.mark.parametrize("word", ["because", "abort", "error", "insufficient_system_resource"])
def test_a_word_nobody_knows_breaks_the_answer(wire: str, word: str, served: Served) -> None:
    served.tell(*answer(wire, "GOAL_COMPLETE half of", word), headers=_stream(wire))

    with pytest.raises(StreamBroken):
        MODELS[wire](served.url).complete(request(), timeout=PATIENCE)


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
    ],
)
def test_words_of_compatible_servers_are_known(word: str, meant: str) -> None:
    for table in (CHAT_STOPS, ANTHROPIC_STOPS):
        assert stop_reason(table, word, calls=False) == meant


def test_an_answer_that_pauses_is_not_read_as_an_action(served: Served) -> None:
    written = '{"thought": "t", "action": "read_file", "action_input": {"path": "a"}}'
    served.tell(*answer("anthropic", written, "pause_turn"), headers=_stream("anthropic"))

    reply = ReActModel(MODELS["anthropic"](served.url)).complete(request(), timeout=PATIENCE)

    assert (reply.calls[0].name, reply.calls[0].input) == (UNREADABLE, None)


@pytest.mark.parametrize("table", [ANTHROPIC_STOPS, CHAT_STOPS, RESPONSES_STOPS])
def test_only_an_end_turns_into_calls(table: StopTable) -> None:
    for word, meant in table.items():
        expected = "tools" if meant == "end" else meant
        assert stop_reason(table, word, calls=True) == expected


def _stream(wire: str) -> dict[str, str]:
    amazons = "application/vnd.amazon.eventstream"
    return {"content-type": amazons if wire == "bedrock" else "text/event-stream"}
