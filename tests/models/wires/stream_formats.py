"""Answers in each provider's streaming format, for what llmock does not script."""

import json
from collections.abc import Sequence
from typing import Any

from tests.models.wires.anthropic.event_stream import chunk

Event = dict[str, Any]
USAGE = {
    "input_tokens": 90,
    "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 20},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 4},
    "total_tokens": 97,
}


def answer(wire: str, text: str, stop: str) -> list[bytes]:
    """The pieces of an answer with one text. `stop`: the provider's word for why it ended."""
    if wire == "anthropic":
        return [sse(event) for event in messages_events(text, stop)]
    if wire == "bedrock":
        return [chunk(json.dumps(event).encode()) for event in messages_events(text, stop)]
    if wire == "openai":
        return [*(sse(piece) for piece in chat_chunks(text, stop)), b"data: [DONE]\n\n"]
    return [sse(event) for event in response_events([message(text)], **final_fields(stop))]


def sse(event: Event) -> bytes:
    head = f"event: {event['type']}\n" if "type" in event else ""
    return f"{head}data: {json.dumps(event)}\n\n".encode()


def messages_events(text: str, stop: str) -> list[Event]:
    usage = {"input_tokens": 10, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "m", "usage": usage}
    delta = {"type": "text_delta", "text": text}
    return [
        {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 7}},
        {"type": "message_stop"},
    ]


def chat_chunks(text: str, stop: str) -> list[Event]:
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    return [
        {**base, "choices": [choice]},
        {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}]},
    ]


def final_fields(stop: str) -> Event:
    """The final fields of a response: a status, or `incomplete` with the stop word as its reason."""
    if stop in ("completed", "failed"):
        return {"status": stop}
    return {"status": "incomplete", "incomplete_details": {"reason": stop}}


def message(text: str, **more: Any) -> Event:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": content,
        **more,
    }


def refusal(text: str) -> Event:
    return message("") | {"content": [{"type": "refusal", "refusal": text}]}


def function_call(number: int, arguments: str, status: str = "completed") -> Event:
    ids = {"id": f"fc_{number}", "call_id": f"call_{number}"}
    return {"type": "function_call", **ids, "name": "read_file", "arguments": arguments, "status": status}


def reasoning(number: int, encrypted: str | None = "gAAA==", summary: str = "") -> Event:
    parts = [{"type": "summary_text", "text": summary}] if summary else []
    item = {"type": "reasoning", "id": f"rs_{number}", "summary": parts}
    return {**item, "encrypted_content": encrypted} if encrypted else item


def response_events(items: Sequence[Event], open_item: Event | None = None, **final: Any) -> list[Event]:
    """`open_item`: one that begins and never completes. `final`: the fields of the response in the final event; none:
    the stream has no final event.
    """
    events: list[Event] = [{"type": "response.created", "response": _response(status="in_progress")}]
    for index, item in enumerate(items):
        events += _item(index, item)
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    if open_item is not None:
        events += _item(len(items), open_item)
    if final:
        kind = f"response.{final['status']}"
        events.append(
            {"type": kind, "response": _response(**{"output": list(items), "usage": USAGE, **final})}
        )
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def _response(**fields: Any) -> Event:
    base: Event = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "output": [],
        "tools": [],
    }
    return {**base, "error": None, "incomplete_details": None, "usage": None, **fields}


def _item(index: int, item: Event) -> list[Event]:
    at = {"output_index": index, "item_id": item["id"]}
    opened = {
        key: value for key, value in item.items() if key not in ("content", "arguments", "encrypted_content")
    }
    blanks: dict[str, Event] = {"message": {"content": []}, "function_call": {"arguments": ""}}
    events = [
        {
            "type": "response.output_item.added",
            "output_index": index,
            "item": {**opened, **blanks.get(item["type"], {}), "status": "in_progress"},
        }
    ]
    for part in item.get("content") or ():
        part_name = "output_text" if part["type"] == "output_text" else "refusal"
        text = part.get("text") or part.get("refusal") or ""
        events.append({"type": f"response.{part_name}.delta", **at, "content_index": 0, "delta": text})
    if "arguments" in item:
        kind = "response.function_call_arguments.delta"
        events.append({"type": kind, **at, "delta": item["arguments"]})
    return events
