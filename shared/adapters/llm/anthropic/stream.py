"""A Messages API stream, event by event, as one reply.

The SDK's own accumulator is not used: it takes a truncated stream for a whole one and parses half a JSON object into
something that looks right. Thinking blocks go back only where they are byte for byte what the API signed.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

from shared.adapters.llm.common import stops
from shared.adapters.llm.common import tokens as estimate
from shared.adapters.llm.common.tool_arguments import readable, requested, storable
from shared.domain.errors import StreamBroken
from shared.ports.model import ModelReply, RequestedCall, TokenUsage


class Reading:
    """What has arrived so far. `feed` each event, then `reply`. `on_text` is given the text as it comes."""

    def __init__(self, model: str, asked_bytes: int, on_text: Callable[[str], None] | None = None) -> None:
        """`asked_bytes`: of the request, for an estimate where a compatible server reports no usage."""
        self._model = model
        self._asked_bytes = asked_bytes
        self._on_text = on_text
        self._finished: set[int] = set()
        self._blocks: dict[int, dict[str, Any]] = {}
        self._usage: dict[str, int] = {}
        self._told_output = False
        self._stop: str | None = None
        self._ended = False

    def says(self, event: Any) -> bool:
        return str(event.type).startswith("content_block")

    def feed(self, event: Any) -> None:
        match event.type:
            case "message_start":
                self._count(event.message.usage)
            case "content_block_start":
                self._blocks[event.index] = _opened(event.content_block)
            case "content_block_delta":
                _extend(self._blocks[event.index], event.delta)
                if self._on_text is not None and event.delta.type == "text_delta":
                    self._on_text(event.delta.text)
            case "content_block_stop":
                self._finished.add(event.index)
            case "message_delta":
                self._stop = event.delta.stop_reason or self._stop
                self._count(event.usage)
                self._told_output = getattr(event.usage, "output_tokens", None) is not None
            case "message_stop":
                self._ended = True

    @property
    def is_whole(self) -> bool:
        return self._ended

    def reply(self) -> ModelReply:
        if not self._ended or self._stop is None:
            raise StreamBroken("anthropic: the answer ended before it was complete")
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        called = any(block["type"] == "tool_use" for block in blocks)
        stop = stops.meaning(stops.ANTHROPIC, self._stop, calls=called)
        return ModelReply(
            text=_joined(blocks, "text"),
            calls=_calls(blocks, cut=stop == "max_tokens"),
            stop=stop,
            usage=self._counted(blocks),
            thinking=_joined(blocks, "thinking"),
            raw=self._raw(),
        )

    def _count(self, usage: Any) -> None:
        """Counts in later events are totals, not increments."""
        for name in (
            "input_tokens",
            "output_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
        ):
            value = getattr(usage, name, None)
            if value is not None:
                self._usage[name] = int(value)

    def _counted(self, blocks: list[dict[str, Any]]) -> TokenUsage:
        """What was told; the first event's count of the output is of its beginning only."""
        cached = self._usage.get("cache_read_input_tokens", 0)
        written = self._usage.get("cache_creation_input_tokens", 0)
        prompt = self._usage.get("input_tokens", 0) + cached + written
        output = self._usage.get("output_tokens", 0)
        if not self._told_output or not output:
            output = max(output, estimate.tokens(sum(map(_size, blocks))))
        return TokenUsage(prompt or estimate.tokens(self._asked_bytes), output, cached, written)

    def _raw(self) -> Any:
        """Thinking in its place among the other blocks, whose contents the entry holds already."""
        kept: list[dict[str, Any]] = []
        for index, block in sorted(self._blocks.items()):
            if block["type"] == "text":
                kept.append({"type": "text", "chars": len(readable(block["text"]))})
            elif block["type"] == "tool_use":
                kept.append({"type": "tool_use"})
            elif is_thinking(block):
                kept.append(block if index in self._finished else {**block, "signature": ""})
        kept = only_signed(kept)
        return {"model": self._model, "blocks": kept} if any(map(is_thinking, kept)) else None


def _opened(block: Any) -> dict[str, Any]:
    match block.type:
        case "text":
            return {"type": "text", "text": block.text or ""}
        case "thinking":
            return {"type": "thinking", "thinking": block.thinking or "", "signature": block.signature or ""}
        case "redacted_thinking":
            return {"type": "redacted_thinking", "data": block.data}
        case "tool_use":
            return {"type": "tool_use", "name": block.name, "whole": block.input, "json": ""}
    return {"type": str(block.type)}


def _extend(block: dict[str, Any], delta: Any) -> None:
    match delta.type:
        case "text_delta":
            block["text"] += delta.text
        case "thinking_delta":
            block["thinking"] += delta.thinking
        case "signature_delta":
            block["signature"] += delta.signature
        case "input_json_delta":
            block["json"] += delta.partial_json


def _calls(blocks: list[dict[str, Any]], *, cut: bool) -> tuple[RequestedCall, ...]:
    """`cut` concerns the last block only: the ones before it were finished before it began."""
    calls = []
    for block in blocks:
        if block["type"] != "tool_use":
            continue
        if not block["json"] and isinstance(block["whole"], dict) and block["whole"]:
            calls.append(RequestedCall(readable(block["name"]), block["whole"]))  # sent whole, not streamed
        else:
            calls.append(requested(block["name"], block["json"], cut=cut and block is blocks[-1]))
    return tuple(calls)


def _size(block: dict[str, Any]) -> int:
    whole = json.dumps(block["whole"]) if block.get("whole") and not block["json"] else ""
    return estimate.size(whole, *(block.get(part, "") for part in ("text", "thinking", "json")))


def _joined(blocks: list[dict[str, Any]], kind: str) -> str:
    return "".join(readable(block[kind]) for block in blocks if block["type"] == kind)


Block = dict[str, Any]


def is_thinking(block: Block) -> bool:
    return "thinking" in block["type"]


def as_signed(block: Block) -> Block | None:
    """The block with the halves of its characters joined; None: it cannot go back."""
    sign = "data" if block["type"] == "redacted_thinking" else "signature"
    parts = {name: storable(value) for name, value in block.items()}
    return parts if parts.get(sign) and None not in parts.values() else None


def only_signed(blocks: Sequence[Block]) -> list[Block]:
    """The blocks in their order, with thinking up to the first that cannot go back and without those next to it."""
    kept: list[Block] = []
    usable = True
    for block in blocks:
        if not is_thinking(block):
            kept.append(block)
        elif usable and (signed := as_signed(block)) is not None:
            kept.append(signed)
        elif usable:
            usable = False
            without_last_thinking(kept)
    return kept


def without_last_thinking(blocks: list[Block]) -> None:
    """Thinking that nothing follows is refused as the end of a message."""
    while blocks and is_thinking(blocks[-1]):
        blocks.pop()
