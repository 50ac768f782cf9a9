"""Entries as messages of the Messages API: what Anthropic insists on."""

import json
from typing import Any

from acta.engine.log.conversation import AssistantEntry, Content
from acta.engine.models.anthropic.request import to_body
from acta.engine.models.openai import chat as chat_request
from tests.models.wires.conversations import assistant, call, request, result, user

THINKING = {"type": "thinking", "thinking": "Let me see.", "signature": "sig=="}


def _body(*entries: Any, **more: Any) -> dict[str, Any]:
    return to_body(request(*entries, **more))


def test_every_call_has_its_result_first_in_the_very_next_message() -> None:
    messages = _body(
        user("go"),
        assistant("Reading.", call("c1", path="a"), call("c2", path="b")),
        result("c2", "B"),
        user("hurry up"),
        result("c1", "Error: no", ok=False),
    )["messages"]

    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert [(b["type"], b.get("id")) for b in messages[1]["content"]] == [
        ("text", None), ("tool_use", "000001000"), ("tool_use", "000001001"),
    ]  # fmt: skip
    blocks = messages[2]["content"]
    assert [b["type"] for b in blocks] == ["tool_result", "tool_result", "text", "text"]
    assert [(b["tool_use_id"], b.get("is_error", False)) for b in blocks[:2]] == [
        ("000001000", True), ("000001001", False),
    ]  # fmt: skip
    assert [b["text"] for b in blocks[2:]] == ["hurry up", "Plan: step 1 of 2."]


def test_blank_texts_are_left_out_because_anthropic_refuses_them() -> None:
    messages = _body(user(" "), user("go"), assistant("\n", call("c1")), result("c1", ""), suffix=" ")[
        "messages"
    ]

    texts = [b["text"] for m in messages for b in m["content"] if b["type"] == "text"]
    assert texts == ["go"]
    assert messages[-1]["content"][0]["content"] == "(no output)"


def _thought(model: str, provider: str = "anthropic") -> AssistantEntry:
    blocks = [
        THINKING,
        {"type": "text", "chars": 4},
        THINKING,
        {"type": "tool_use"},
        {"type": "text", "chars": 5},
    ]
    return AssistantEntry(
        message_id="a",
        content=Content.of("One.Two.!"),
        calls=(call("c1"),),
        provider=provider,
        raw={"model": model, "blocks": blocks},
    )


def test_thinking_goes_back_in_its_place_to_the_model_that_thought_it() -> None:
    model = "claude-sonnet-4-6"
    blocks = _body(user("go"), _thought(model), result("c1", "A"), model=model)["messages"][1]["content"]

    assert [b["type"] for b in blocks] == ["thinking", "text", "thinking", "tool_use", "text"]
    assert blocks[0] == THINKING
    assert [blocks[1]["text"], blocks[4]["text"]] == ["One.", "Two.!"]


def test_thinking_goes_to_no_other_provider_or_model_nor_where_it_is_bound_to_the_suffix() -> None:
    for model, thought in (
        ("claude-sonnet-4-6", _thought("claude-opus-4-6")),
        ("claude-sonnet-4-6", _thought("claude-sonnet-4-6", provider="openai")),
        ("claude-sonnet-5-5", _thought("claude-sonnet-5-5")),
    ):
        blocks = _body(user("go"), thought, result("c1", "A"), model=model)["messages"][1]["content"]
        assert [b["type"] for b in blocks] == ["text", "tool_use"]
    assert "sig==" not in json.dumps(
        chat_request.to_body(request(user("go"), _thought("gpt-6-sol"), result("c1", "A")), official=True)
    )


def test_stored_thinking_without_a_signature_never_goes_back_nor_does_a_message_of_thinking_alone() -> None:
    model = "claude-sonnet-4-6"
    for blocks in ([{**THINKING, "signature": ""}], [THINKING], [THINKING, {"type": "text", "chars": 0}]):
        reply = assistant("", provider="anthropic", raw={"model": model, "blocks": blocks})
        messages = _body(user("go"), reply, user("and?"), model=model)["messages"]
        assert [message["role"] for message in messages] == ["user"]


def test_thinking_at_the_end_of_a_message_is_left_out() -> None:
    model = "claude-sonnet-4-6"
    kept = [THINKING, {"type": "text", "chars": 4}, THINKING]
    reply = assistant("One.", provider="anthropic", raw={"model": model, "blocks": kept})

    blocks = _body(user("go"), reply, user("and?"), model=model)["messages"][1]["content"]

    assert [block["type"] for block in blocks] == ["thinking", "text"]


def test_a_models_lowest_setting_is_found_by_every_name_it_has() -> None:
    for name in (
        "claude-sonnet-5-5",
        "claude-sonnet-5-5-20260901",
        "global.anthropic.claude-sonnet-5-5-20260901-v1:0",
        "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-sonnet-5-5",
    ):
        assert _body(model=name)["thinking"] == {"type": "between_tools"}
    for name in ("claude-sonnet-5", "claude-sonnet-5-50", "claude-opus-5-5"):
        assert "thinking" not in _body(model=name)
