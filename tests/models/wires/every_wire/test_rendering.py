"""Entries that no provider would accept as they are, in the Messages API and in Chat Completions."""

import re
from typing import Any

from acta.engine.log.conversation import ToolCall
from acta.engine.models.anthropic import request as anthropic_request
from acta.engine.models.openai import chat as chat_request
from tests.models.wires.conversations import assistant, call, request, result, user


def _anthropic(*entries: Any, **more: Any) -> dict[str, Any]:
    return anthropic_request.to_body(request(*entries, **more))


def _chat(*entries: Any, official: bool = True, **more: Any) -> dict[str, Any]:
    return chat_request.to_body(request(*entries, **more), official=official)


def test_a_call_that_was_malformed_is_shown_with_an_empty_input() -> None:
    broken = ToolCall(call_id="c1", effect_id="e", name="read_file", input=None, malformed="not JSON")
    entries = (user("go"), assistant("", broken), result("c1", "Error: the input is not JSON", ok=False))

    assert _anthropic(*entries)["messages"][1]["content"][0]["input"] == {}
    assert _chat(*entries)["messages"][2]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_a_call_left_without_a_result_gets_one() -> None:
    entries = (user("go"), assistant("", call("c1")), assistant("Well."))

    result_block = _anthropic(*entries)["messages"][2]["content"][0]
    assert (result_block["type"], result_block["tool_use_id"], result_block["is_error"]) == (
        "tool_result",
        "000001000",
        True,
    )
    assert [m["role"] for m in _chat(*entries)["messages"]][3] == "tool"


def test_replies_in_a_row_and_a_reply_at_the_end_are_never_prefilled() -> None:
    entries = (user("go"), assistant("One."), assistant("Two."))

    for messages in (
        _anthropic(*entries, suffix="")["messages"],
        _chat(*entries, suffix="", system="")["messages"],
    ):
        assert [m["role"] for m in messages] == ["user", "assistant", "user", "assistant", "user"]


def test_names_and_ids_of_the_models_own_invention_are_made_acceptable() -> None:
    odd = ToolCall(call_id="c" * 60, effect_id="e", name="run shell! " * 9, input={})
    entries = (user("go"), assistant("", odd), result("c" * 60, "Error: unknown tool", ok=False))

    block = _anthropic(*entries)["messages"][1]["content"][0]
    called = _chat(*entries)["messages"][2]["tool_calls"][0]
    assert block["id"] == called["id"] == _chat(*entries)["messages"][3]["tool_call_id"]
    assert len(called["id"]) <= 40
    assert block["name"] == called["function"]["name"]
    assert len(block["name"]) <= 64


def test_a_request_without_tools_has_no_tool_choice() -> None:
    assert "tool_choice" not in _anthropic(tools=())
    assert "tool_choice" not in _chat(tools=())


def test_the_id_of_a_call_is_nine_digits_of_its_own_and_stays_when_the_conversation_grows() -> None:
    def ids(turns: int) -> tuple[list[str], list[str]]:
        asked: list[Any] = [user("go")]
        for turn in range(turns):
            calls = [call(f"{turn}-{number}") for number in range(2)]
            asked += [assistant("", *calls), *(result(one.call_id, "ok") for one in calls)]
        said = [message.get("tool_calls", ()) for message in _chat(*asked)["messages"]]
        blocks = [block for message in _anthropic(*asked)["messages"] for block in message["content"]]
        return [one["id"] for each in said for one in each], [one["id"] for one in blocks if "id" in one]

    for before, after in zip(ids(3), ids(5), strict=True):
        assert len(set(after)) == 10
        assert all(re.fullmatch("[0-9]{9}", each) for each in after), "Mistral's models take no longer ones"
        assert after[:6] == before
