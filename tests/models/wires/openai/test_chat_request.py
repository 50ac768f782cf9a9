"""Entries as messages of Chat Completions: what OpenAI and compatible servers insist on."""

from typing import Any

from acta_engine.models.openai.chat import to_body
from tests.models.wires.conversations import UPDATE_PLAN, assistant, call, request, result, user


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


def test_openai_forces_the_only_tool_as_required() -> None:
    assert _body(tool_choice="update_plan", tools=(UPDATE_PLAN,))["tool_choice"] == "required"
    assert _body(tool_choice="update_plan")["tool_choice"] == {
        "type": "function",
        "function": {"name": "update_plan"},
    }
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
