"""Entries as messages of Chat Completions: what OpenAI and compatible servers insist on."""

from typing import Any

from acta.engine.models.openai.chat import to_body
from tests.models.wires.conversations import assistant, call, request, result, user


def _body(*entries: Any, official: bool = True, **more: Any) -> dict[str, Any]:
    return to_body(request(*entries, **more), official=official)


def test_every_call_has_its_result_before_any_other_text() -> None:
    messages = _body(
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


def test_the_model_chooses_among_its_tools() -> None:
    assert _body()["tool_choice"] == "auto"


def test_the_output_limit_is_named_as_the_server_knows_it() -> None:
    assert _body(model="gpt-6-sol")["max_completion_tokens"] == 500
    assert _body(model="llama-4", official=False)["max_tokens"] == 500
    assert _body(model="openai/gpt-6-sol", official=False)["max_completion_tokens"] == 500
    assert "max_tokens" not in _body(model="gpt-6-sol")


def test_reasoning_models_get_tools_in_chat_completions_only_without_reasoning() -> None:
    assert _body(model="gpt-6-sol")["reasoning_effort"] == "none"
    assert "reasoning_effort" not in _body(model="gpt-6-sol", tools=())
    assert "reasoning_effort" not in _body(model="gpt-4.1")
    assert "reasoning_effort" not in _body(model="gpt-6.2-sol", official=False), "it would be refused"
    assert "reasoning_effort" not in _body(model="llama-4", official=False)
