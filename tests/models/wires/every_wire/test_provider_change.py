"""A conversation moves from one provider to another. Each accepts the requests that it gets."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from acta.engine.log.conversation import AssistantEntry, Content, Entry, ToolCall
from acta.engine.models.anthropic import request as anthropic_request
from acta.engine.models.model import Model, ModelRequest
from acta.engine.models.openai import chat as chat_request
from acta.engine.models.openai import responses as responses_request
from acta.engine.models.react import UNREADABLE, to_inner
from tests.models.wires.conversations import TIMEOUT, assistant, call, request, result, user
from tests.models.wires.every_wire import request_rules

Body = dict[str, Any]
CLAUDE, GPT, CLAUDE_THERE = "claude-sonnet-4-6", "gpt-6-sol", "eu.anthropic.claude-sonnet-4-6-v1:0"


def _chat(asked: ModelRequest) -> Body:
    return chat_request.to_body(asked, official=True)


def _chat_elsewhere(asked: ModelRequest) -> Body:
    return chat_request.to_body(asked, official=False)


def _responses(asked: ModelRequest) -> Body:
    return responses_request.to_body(asked, official=True)


def _responses_elsewhere(asked: ModelRequest) -> Body:
    return responses_request.to_body(asked, official=False)


def _bedrock(asked: ModelRequest) -> Body:
    return anthropic_request.to_body(asked, "bedrock")


TARGETS: dict[str, tuple[Callable[[ModelRequest], Body], Callable[[Body], None], str]] = {
    "anthropic": (anthropic_request.to_body, request_rules.check_messages, CLAUDE),
    "bedrock": (_bedrock, request_rules.check_messages, CLAUDE_THERE),
    "chat": (_chat, request_rules.check_chat, GPT),
    "chat elsewhere": (_chat_elsewhere, request_rules.check_chat, "llama-4"),
    "responses": (_responses, request_rules.check_responses, GPT),
    "responses, another model": (_responses, request_rules.check_responses, "gpt-4.1"),
    "responses elsewhere": (_responses_elsewhere, request_rules.check_responses, GPT),
}


def _by_claude(model: str = CLAUDE, provider: str = "anthropic", call_id: str = "call_a") -> AssistantEntry:
    blocks = [
        {"type": "thinking", "thinking": "Let me see.", "signature": "sig=="},
        {"type": "text", "chars": 5},
        {"type": "redacted_thinking", "data": "hidden=="},
        {"type": "tool_use"},
        {"type": "tool_use"},
    ]
    calls = (call(call_id, path="a"), call(f"{call_id}_2", path="b"))
    return assistant("Look.", *calls, provider=provider, raw={"model": model, "blocks": blocks})


def _by_gpt(number: int, *calls: ToolCall, text: str = "") -> AssistantEntry:
    message = (
        [{"type": "message", "chars": len(text), "id": f"msg_{number}", "phase": "commentary"}]
        if text
        else []
    )
    items = [
        {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": f"gAAA{number}=="},
        *message,
        *(
            {
                "type": "function_call",
                "id": f"fc_{number}_{n}",
                "call_id": f"call_{n}",
            }  # some servers count from 0 in each reply
            for n, _ in enumerate(calls)
        ),
    ]
    raw = {"api": "responses", "model": GPT, "items": items}
    return assistant(text, *calls, provider="openai", raw=raw)


def _conversation() -> list[Entry]:
    """Everything a stored conversation can hold, from all providers."""
    unreadable = ToolCall(call_id="r1", effect_id="e", name=UNREADABLE, malformed="no JSON")
    malformed = ToolCall(call_id="m1", effect_id="e", name="run shell! " * 9, malformed="cut off")
    return [
        user("Do it."),
        user("Please.", 2),
        _by_claude(),
        result("call_a_2", "B"),
        user("Hurry.", 3),
        result("call_a", "Error: none", ok=False),
        _by_gpt(1, call("call_b", path="c"), call("c" * 60, path="d"), text="Reading."),
        result("call_b", ""),
        result("c" * 60, "D"),
        _by_gpt(2, call("call_d", path="e")),
        result("call_d", "E"),
        _by_gpt(3, text=""),  # only reasoning
        _by_gpt(4, text="Thinking aloud."),
        user("Go on.", 4),
        AssistantEntry(
            message_id="x", content=Content.of(""), calls=(unreadable,), thinking="{", provider="openai"
        ),
        result("r1", "Error: your reply could not be read", ok=False),
        assistant("", malformed, provider="anthropic"),
        result("m1", "Error: the input was cut off", ok=False),
        _by_claude(CLAUDE_THERE, "bedrock", "call_e"),
        result("call_e", "A"),
        assistant("One.", provider="offline"),
        assistant("Two.", provider="offline"),
        result("gone", "of a call that is no longer there"),
        assistant("", call("call_f", path="f"), provider="anthropic"),
    ]


@pytest.mark.parametrize("react", [False, True])
@pytest.mark.parametrize("target", TARGETS)
def test_every_provider_accepts_a_conversation_of_all_the_others_at_every_turn(
    target: str, react: bool
) -> None:
    to_body, check, model = TARGETS[target]
    entries = _conversation()

    for end in range(1, len(entries) + 1):
        asked = request(*entries[:end], model=model)
        check(to_body(to_inner(asked) if react else asked))


@pytest.mark.parametrize("target", TARGETS)
def test_a_providers_own_parts_go_back_only_to_the_model_they_came_from(target: str) -> None:
    to_body, _, model = TARGETS[target]

    sent = json.dumps(to_body(request(*_conversation(), model=model)))

    from_claude = sent.count('"sig=="') + sent.count('"hidden=="')
    assert from_claude == (2 if target in ("anthropic", "bedrock") else 0)
    from_gpt = sent.count('"encrypted_content"')
    assert from_gpt == (3 if target in ("responses", "responses elsewhere") else 0)


def test_on_the_same_provider_nothing_of_a_reply_is_lost() -> None:
    there = anthropic_request.to_messages(request(user("go"), _by_claude(), model=CLAUDE))[1]["content"]
    assert [block["type"] for block in there] == [
        "thinking", "text", "redacted_thinking", "tool_use", "tool_use",
    ]  # fmt: skip

    reply = _by_gpt(1, call("c1", path="a"), text="Reading.")
    asked = request(user("go"), reply, result("c1", "A"), model=GPT)
    items = responses_request.to_items(asked, in_blocks=False)
    assert [item.get("type", "message") for item in items[1:]] == [
        "reasoning", "message", "function_call", "function_call_output",
    ]  # fmt: skip
    assert items[2]["phase"] == "commentary"
    assert [items[2]["id"], items[3]["id"]] == ["msg_1", "fc_1_0"]


def test_texts_calls_and_results_go_to_every_other_provider() -> None:
    for to_body, _, model in TARGETS.values():
        sent = json.dumps(to_body(request(*_conversation(), model=model)))
        for words in (
            "Do it.",
            "Look.",
            "Hurry.",
            "Error: none",
            "Reading.",
            "Thinking aloud.",
            "no longer there",
        ):
            assert words in sent
        assert sent.count("has no result") == 2, "a call left without one, and the last one"


@pytest.mark.contract
def test_a_conversation_of_all_providers_is_accepted_over_the_wire(
    wire: str, model: Model, llmock: Any
) -> None:
    target = {"openai": "chat elsewhere", "openai-responses": "responses elsewhere"}.get(wire, wire)
    _, check, name = TARGETS[target]
    llmock.reply("Done.")

    reply = model.complete(request(*_conversation(), model=name), timeout=TIMEOUT)

    assert reply.text == "Done."
    check(llmock.last_request.body)
