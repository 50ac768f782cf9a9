"""Entries on the wire: what the providers insist on."""

import json
from typing import Any

from shared.adapters.llm.anthropic import request as anthropic_request
from shared.adapters.llm.openai import chat_request as openai_request
from shared.domain.session.conversation import AssistantEntry, Content, ToolCall
from tests.contracts.llm.conversations import UPDATE_PLAN, assistant, call, request, result, user

THINKING = {"type": "thinking", "thinking": "Let me see.", "signature": "sig=="}


def _anthropic(*entries: Any, **more: Any) -> dict[str, Any]:
    return anthropic_request.to_body(request(*entries, **more))


def _openai(*entries: Any, official: bool = True, **more: Any) -> dict[str, Any]:
    return openai_request.to_body(request(*entries, **more), official=official)


def test_anthropic_answers_every_call_in_the_very_next_message_results_first() -> None:
    messages = _anthropic(
        user("go"),
        assistant("Reading.", call("c1", path="a"), call("c2", path="b")),
        result("c2", "B"),
        user("hurry up"),
        result("c1", "Error: no", ok=False),
    )["messages"]

    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert [(b["type"], b.get("id")) for b in messages[1]["content"]] == [
        ("text", None), ("tool_use", "c1"), ("tool_use", "c2"),
    ]  # fmt: skip
    blocks = messages[2]["content"]
    assert [b["type"] for b in blocks] == ["tool_result", "tool_result", "text", "text"]
    assert [(b["tool_use_id"], b.get("is_error", False)) for b in blocks[:2]] == [("c1", True), ("c2", False)]
    assert [b["text"] for b in blocks[2:]] == ["hurry up", "Plan: step 1 of 2."]


def test_openai_answers_every_call_before_anyone_speaks() -> None:
    messages = _openai(
        user("go"),
        assistant("", call("c1", path="ä"), call("c2")),
        user("hurry"),
        result("c1", "A"),
        result("c2", ""),
    )["messages"]

    assert [m["role"] for m in messages] == ["system", "user", "assistant", "tool", "tool", "user"]
    assert messages[2]["content"] is None
    assert [c["function"]["arguments"] for c in messages[2]["tool_calls"]] == ['{"path":"ä"}', "{}"]
    assert messages[5]["content"] == "hurry\n\nPlan: step 1 of 2."


def test_a_call_that_was_malformed_is_shown_with_an_empty_input() -> None:
    broken = ToolCall(call_id="c1", effect_id="e", name="read_file", input=None, malformed="not JSON")
    entries = (user("go"), assistant("", broken), result("c1", "Error: the input is not JSON", ok=False))

    assert _anthropic(*entries)["messages"][1]["content"][0]["input"] == {}
    assert _openai(*entries)["messages"][2]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_a_call_left_without_a_result_gets_one() -> None:
    entries = (user("go"), assistant("", call("c1")), assistant("Well."))

    result_block = _anthropic(*entries)["messages"][2]["content"][0]
    assert (result_block["type"], result_block["tool_use_id"], result_block["is_error"]) == (
        "tool_result",
        "c1",
        True,
    )
    assert [m["role"] for m in _openai(*entries)["messages"]][3] == "tool"


def test_replies_in_a_row_and_a_reply_at_the_end_are_never_prefilled() -> None:
    entries = (user("go"), assistant("One."), assistant("Two."))

    for messages in (
        _anthropic(*entries, suffix="")["messages"],
        _openai(*entries, suffix="", system="")["messages"],
    ):
        assert [m["role"] for m in messages] == ["user", "assistant", "user", "assistant", "user"]


def test_names_and_ids_of_the_models_own_invention_are_made_acceptable() -> None:
    odd = ToolCall(call_id="c" * 60, effect_id="e", name="run shell! " * 9, input={})
    entries = (user("go"), assistant("", odd), result("c" * 60, "Error: unknown tool", ok=False))

    block = _anthropic(*entries)["messages"][1]["content"][0]
    called = _openai(*entries)["messages"][2]["tool_calls"][0]
    assert block["id"] == called["id"] == _openai(*entries)["messages"][3]["tool_call_id"]
    assert len(called["id"]) <= 40
    assert block["name"] == called["function"]["name"]
    assert len(block["name"]) <= 64


def test_blank_texts_are_left_out_because_anthropic_refuses_them() -> None:
    messages = _anthropic(user(" "), user("go"), assistant("\n", call("c1")), result("c1", ""), suffix=" ")[
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
    blocks = _anthropic(user("go"), _thought(model), result("c1", "A"), model=model)["messages"][1]["content"]

    assert [b["type"] for b in blocks] == ["thinking", "text", "thinking", "tool_use", "text"]
    assert blocks[0] == THINKING
    assert [blocks[1]["text"], blocks[4]["text"]] == ["One.", "Two.!"]


def test_thinking_goes_to_no_other_provider_or_model_nor_where_it_is_bound_to_the_suffix() -> None:
    for model, thought in (
        ("claude-sonnet-4-6", _thought("claude-opus-4-6")),
        ("claude-sonnet-4-6", _thought("claude-sonnet-4-6", provider="openai")),
        ("claude-sonnet-5-5", _thought("claude-sonnet-5-5")),
    ):
        blocks = _anthropic(user("go"), thought, result("c1", "A"), model=model)["messages"][1]["content"]
        assert [b["type"] for b in blocks] == ["text", "tool_use"]
    assert "sig==" not in json.dumps(_openai(user("go"), _thought("gpt-6-sol"), result("c1", "A")))


def test_stored_thinking_without_a_signature_never_goes_back_nor_does_a_message_of_thinking_alone() -> None:
    model = "claude-sonnet-4-6"
    for blocks in ([{**THINKING, "signature": ""}], [THINKING], [THINKING, {"type": "text", "chars": 0}]):
        reply = assistant("", provider="anthropic", raw={"model": model, "blocks": blocks})
        messages = _anthropic(user("go"), reply, user("and?"), model=model)["messages"]
        assert [message["role"] for message in messages] == ["user"]


def test_thinking_at_the_end_of_a_message_is_left_out() -> None:
    model = "claude-sonnet-4-6"
    kept = [THINKING, {"type": "text", "chars": 4}, THINKING]
    reply = assistant("One.", provider="anthropic", raw={"model": model, "blocks": kept})

    blocks = _anthropic(user("go"), reply, user("and?"), model=model)["messages"][1]["content"]

    assert [block["type"] for block in blocks] == ["thinking", "text"]


def test_a_models_lowest_setting_is_found_by_every_name_it_has() -> None:
    for name in (
        "claude-sonnet-5-5",
        "claude-sonnet-5-5-20260901",
        "global.anthropic.claude-sonnet-5-5-20260901-v1:0",
        "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-sonnet-5-5",
    ):
        assert _anthropic(model=name)["thinking"] == {"type": "between_tools"}
    for name in ("claude-sonnet-5", "claude-sonnet-5-50", "claude-opus-5-5"):
        assert "thinking" not in _anthropic(model=name)


def test_one_named_tool_is_forced_where_the_model_allows_it_and_else_ordered_in_words() -> None:
    forced = _anthropic(model="claude-sonnet-4-6", tool_choice="update_plan")
    ordered = _anthropic(model="claude-sonnet-5-5", tool_choice="update_plan")

    assert forced["tool_choice"] == {"type": "tool", "name": "update_plan"}
    assert ordered["tool_choice"] == {"type": "auto"}
    assert "calling the tool `update_plan`" in ordered["messages"][-1]["content"][-1]["text"]
    assert _anthropic()["tool_choice"] == {"type": "auto"}


def test_openai_forces_the_only_tool_as_required() -> None:
    assert _openai(tool_choice="update_plan", tools=(UPDATE_PLAN,))["tool_choice"] == "required"
    assert _openai(tool_choice="update_plan")["tool_choice"] == {
        "type": "function",
        "function": {"name": "update_plan"},
    }
    assert _openai()["tool_choice"] == "auto"


def test_without_tools_nothing_is_said_about_choosing_one() -> None:
    assert "tool_choice" not in _anthropic(tools=())
    assert "tool_choice" not in _openai(tools=())


def test_the_output_limit_is_named_as_the_server_knows_it() -> None:
    assert _openai(model="gpt-6-sol")["max_completion_tokens"] == 500
    assert _openai(model="llama-4", official=False)["max_tokens"] == 500
    assert _openai(model="openai/gpt-6-sol", official=False)["max_completion_tokens"] == 500
    assert "max_tokens" not in _openai(model="gpt-6-sol")


def test_reasoning_models_get_tools_in_chat_completions_only_without_reasoning() -> None:
    assert _openai(model="gpt-6-sol")["reasoning_effort"] == "none"
    assert "reasoning_effort" not in _openai(model="gpt-6-sol", tools=())
    assert "reasoning_effort" not in _openai(model="gpt-4.1")
    assert "reasoning_effort" not in _openai(model="gpt-6.2-sol", official=False), "it would be refused"
    assert "reasoning_effort" not in _openai(model="llama-4", official=False)
