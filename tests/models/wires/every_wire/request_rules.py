"""The rules of providers for a request, as they document them. An assertion's message says the rule."""

import json
import re
from itertools import pairwise
from typing import Any

Body = dict[str, Any]

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ANTHROPIC_ID = re.compile(r"[a-zA-Z0-9_-]+")
_MESSAGES_PARTS = {"text", "tool_use", "tool_result", "thinking", "redacted_thinking"}
_INPUT_PARTS: dict[str, set[str]] = {
    "message": {"type", "role", "content", "id", "status", "phase"},
    "reasoning": {"type", "id", "summary", "encrypted_content", "content", "status"},
    "function_call": {"type", "id", "call_id", "name", "arguments", "status"},
    "function_call_output": {"type", "id", "call_id", "output", "status"},
}
MAX_OPENAI_ID = 64
MAX_CHAT_ID = 40


def check_messages(body: Body) -> None:
    """Rules of Anthropic's Messages API, also on Bedrock."""
    messages = body["messages"]
    roles = [message["role"] for message in messages]
    assert roles[0] == "user", "the first message is the user's"
    assert roles[-1] == "user", "an answer may not be prefilled"
    assert all(role != following for role, following in pairwise(roles)), "roles alternate"
    seen: set[str] = set()
    waiting: list[str] = []
    for message in messages:
        blocks = message["content"]
        assert blocks, "a message has content"
        assert {block["type"] for block in blocks} <= _MESSAGES_PARTS, "foreign block"
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert answered == waiting, "each tool_use is answered once, in the very next message"
        assert all(block["type"] == "tool_result" for block in blocks[: len(answered)]), "results come first"
        assert all(block["text"].strip() for block in blocks if block["type"] == "text"), "no blank text"
        waiting = [_used(block, seen) for block in blocks if block["type"] == "tool_use"]
        if message["role"] == "user":
            assert not waiting, "users call no tools"
            assert all("thinking" not in block["type"] for block in blocks), "users do not think"
        for block in blocks:
            if block["type"] == "thinking":
                assert block.keys() == {"type", "thinking", "signature"}, "thinking goes back as it came"
                assert block["signature"], "thinking is signed"
    assert not waiting, "each tool_use has a result"
    marks = json.dumps(body).count('"cache_control"')
    assert marks <= 4, "at most four breakpoints"


def check_chat(body: Body) -> None:
    """Rules of OpenAI's Chat Completions."""
    seen: set[str] = set()
    waiting: list[str] = []
    for message in body["messages"]:
        assert message.keys() <= {"role", "content", "tool_calls", "tool_call_id"}, "foreign part"
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting, "a result follows its call, once"
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting, "every call is answered before anyone speaks"
        calls = message.get("tool_calls", [])
        assert message["content"] or calls, "a message has content"
        for call in calls:
            json.loads(call["function"]["arguments"])
            assert _TOOL_NAME.fullmatch(call["function"]["name"]), "tool name"
            waiting.append(_fresh(call["id"], seen, MAX_CHAT_ID))
    assert not waiting, "every call is answered"
    assert body["messages"][-1]["role"] in ("user", "tool"), "somebody else has the last word"


def check_responses(body: Body) -> None:
    """Rules of OpenAI's Responses API for requests that store nothing."""
    seen: set[str] = set()
    waiting: list[str] = []
    ids: list[str] = []
    pending_reasoning = False
    for item in body["input"]:
        kind = item.get("type", "message")
        assert item.keys() <= _INPUT_PARTS[kind], "foreign part"
        ids += [item["id"]] if "id" in item else []
        if kind == "reasoning":
            assert item["encrypted_content"], "reasoning that is stored nowhere has to be sent"
            pending_reasoning = True
            continue
        if pending_reasoning:
            own = kind == "function_call" or item.get("role") == "assistant"
            assert own, "reasoning is followed by what it led to"
        pending_reasoning = False
        if kind == "function_call":
            json.loads(item["arguments"])
            assert _TOOL_NAME.fullmatch(item["name"]), "tool name"
            waiting.append(_fresh(item["call_id"], seen, MAX_OPENAI_ID))
        elif kind == "function_call_output":
            assert item["call_id"] in waiting, "an output follows its call, once"
            waiting.remove(item["call_id"])
        else:
            assert not waiting or item["role"] == "assistant", "every call is answered before anyone speaks"
            assert item["content"], "a message has content"
    assert not pending_reasoning, "reasoning is followed by what it led to"
    assert not waiting, "every call is answered"
    assert len(ids) == len(set(ids)), "no item comes twice"


def _used(block: Body, seen: set[str]) -> str:
    assert _TOOL_NAME.fullmatch(block["name"]), "tool name"
    assert isinstance(block["input"], dict), "input is an object"
    assert _ANTHROPIC_ID.fullmatch(block["id"]), "id"
    return _fresh(block["id"], seen, MAX_OPENAI_ID)


def _fresh(call_id: str, seen: set[str], most: int) -> str:
    assert 0 < len(call_id) <= most, "an id's length"
    assert call_id not in seen, "an id is used once"
    seen.add(call_id)
    return call_id
