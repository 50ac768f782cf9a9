"""Entries as input items of the Responses API."""

import json
import re
from typing import Any

import pytest

from acta.engine.log.conversation import ToolCall
from acta.engine.models.openai import responses as responses_request
from tests.models.wires.conversations import (
    READ_FILE,
    assistant,
    call,
    request,
    result,
    user,
)
from tests.models.wires.stream_formats import reasoning


def _body(*entries: Any, official: bool = True, **more: Any) -> dict[str, Any]:
    asked = request(*entries, **{"model": "gpt-5.2", **more})
    return responses_request.to_body(asked, official=official)


def _kinds(body: dict[str, Any]) -> list[str]:
    return [item.get("type") or item["role"] for item in body["input"]]


def test_every_call_has_its_result_before_any_other_text() -> None:
    body = _body(
        user("go"),
        assistant("Reading.", call("c1", path="ä"), call("c2")),
        user("hurry"),
        result("c2", ""),
        result("c1", "A"),
    )

    assert _kinds(body) == [
        "system", "user", "message", "function_call", "function_call", "function_call_output",
        "function_call_output", "user", "user",
    ]  # fmt: skip
    assert [item["arguments"] for item in body["input"][3:5]] == ['{"path":"ä"}', "{}"]
    assert [(i["call_id"], i["output"]) for i in body["input"][5:7]] == [
        ("000001000", "A"), ("000001001", "(no output)"),
    ]  # fmt: skip
    assert body["input"][-1]["content"][0]["text"] == "Plan: step 1 of 2."


def test_a_call_left_without_a_result_gets_one() -> None:
    items = _body(user("go"), assistant("", call("c1")), assistant("Well."))["input"]

    assert items[3] == {
        "type": "function_call_output",
        "call_id": "000001000",
        "output": "Error: this call has no result.",
    }


def test_a_call_that_was_malformed_is_shown_with_an_empty_input() -> None:
    broken = ToolCall(call_id="c1", effect_id="e", name="read_file", input=None, malformed="not JSON")
    items = _body(user("go"), assistant("", broken), result("c1", "Error: not JSON", ok=False))["input"]

    assert items[2]["arguments"] == "{}"


def test_the_last_item_is_never_the_models_own() -> None:
    assert _kinds(_body(user("go"), assistant("One."), suffix=""))[-1] == "user"
    assert _kinds(_body(user(" "), suffix="", system=""))[-1] == "user"
    assert _kinds(_body(user("go"), assistant("", call("c1")), result("c1", "A"), suffix=""))[-1] == (
        "function_call_output"
    )


def test_names_and_ids_of_the_models_own_invention_are_made_acceptable() -> None:
    odd = ToolCall(call_id="c" * 80, effect_id="e", name="run shell! " * 9, input={})
    items = _body(user("go"), assistant("", odd), result("c" * 80, "Error: unknown tool", ok=False))["input"]

    assert items[2]["call_id"] == items[3]["call_id"]
    assert re.fullmatch("[a-z0-9]{9}", items[2]["call_id"]), "Mistral's models take no other ids"
    assert len(items[2]["name"]) <= 64


def test_an_id_the_provider_gave_twice_is_used_once() -> None:
    def reply(number: int) -> Any:
        kept = [reasoning(number), {"type": "function_call", "id": f"fc_{number}", "call_id": "call_0"}]
        raw = {"api": "responses", "model": "gpt-5.2", "items": kept}
        return assistant("", call(f"c{number}"), provider="openai", raw=raw)

    items = _body(user("go"), reply(1), result("c1", "A"), reply(2), result("c2", "B"))["input"]

    called = [item["call_id"] for item in items if item.get("type") == "function_call"]
    answered = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    assert called == answered == ["call_0", "000004000"]


@pytest.mark.parametrize(
    "items",
    [
        [reasoning(1)],
        [reasoning(1), {"type": "message", "chars": 0, "id": "msg_1"}],
        [reasoning(1), reasoning(2)],
    ],
)
def test_reasoning_that_nothing_follows_is_left_out(items: list[dict[str, Any]]) -> None:
    raw = {"api": "responses", "model": "gpt-5.2", "items": items}

    body = _body(user("go"), assistant("", provider="openai", raw=raw), user("and?"))

    assert _kinds(body) == ["system", "user", "user", "user"]


def test_tools_are_offered_without_strictness_that_their_schemas_could_not_keep() -> None:
    tools = _body()["tools"]

    assert tools[0] == {
        "type": "function",
        "name": "read_file",
        "description": "Read a file.",
        "parameters": READ_FILE.input_schema,
        "strict": False,
    }


def test_the_model_chooses_among_its_tools() -> None:
    assert _body()["tool_choice"] == "auto"
    assert "tool_choice" not in _body(tools=())


@pytest.mark.parametrize(
    ("model", "max_tokens", "effort"),
    [
        ("gpt-6-sol", 4_096, "low"),
        ("gpt-6.2-astra", 4_096, "low"),
        ("o3", 4_096, "low"),
        ("gpt-6-sol", 32_000, None),
        ("gpt-4.1", 4_096, None),
        ("gpt-5.2-pro", 4_096, None),
        ("gpt-5.3-chat-latest", 4_096, None),
        ("llama-4", 4_096, None),
    ],
)
def test_a_small_output_limit_leaves_little_room_to_reason(
    model: str, max_tokens: int, effort: str | None
) -> None:
    body = _body(model=model, max_tokens=max_tokens)

    assert body.get("reasoning") == ({"effort": effort} if effort else None)
    assert body["max_output_tokens"] == max_tokens


def test_an_output_limit_is_raised_to_the_least_that_the_api_accepts() -> None:
    assert _body(max_tokens=3)["max_output_tokens"] == 16


def test_encrypted_reasoning_is_asked_of_those_that_reason() -> None:
    assert _body(model="gpt-6-sol")["include"] == ["reasoning.encrypted_content"]
    assert "include" not in _body(model="gpt-4.1")
    assert "include" not in _body(model="gpt-5-chat-latest")


def test_a_compatible_server_is_sent_nothing_only_openai_knows() -> None:
    entries = (user("go"), assistant("", call("c1")), result("c1", "A"))

    body = _body(*entries, official=False, model="gpt-6-sol")

    assert "prompt_cache" not in json.dumps(body)
    assert body["input"][3]["output"] == "A"
    assert _body(*entries, model="gpt-6-sol")["input"][3]["output"][0]["text"] == "A"
