"""Builds a reply from the events of a Messages API stream.

The SDK's own accumulator is not used: it takes a truncated stream for a complete one, and it parses half a JSON object
into something that looks right.

A later request may send thinking back only byte for byte as the API signed it. `ModelReply.raw` keeps what that takes:
`{"model", "blocks"}`, the blocks in their order. A thinking block is kept whole. Of a text block only its length in
characters is kept, of a tool call only its place, because the entry holds their contents already.
"""

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from acta.engine.errors import StreamBroken
from acta.engine.models.calls import ReplyBuilder
from acta.engine.models.model import ModelReply, RequestedCall, TokenUsage
from acta.engine.models.wire import (
    ANTHROPIC_STOPS,
    category_of,
    estimate_tokens,
    joined,
    joined_exactly,
    json_text,
    paragraphs,
    parse_call,
    stop_reason,
    token_usage,
    told_tokens,
    utf8_size,
)

Block = dict[str, Any]
_INPUT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


class MessagesReplyBuilder(ReplyBuilder):
    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._pieces: dict[tuple[int, str], list[str]] = {}
        self._finished: set[int] = set()
        self._position_of: dict[int, int] = {}
        self._blocks: dict[int, Block] = {}
        self._input = dict.fromkeys(_INPUT, 0)
        self._output = 0
        self._has_final_output_count = False
        self._stop: str | None = None
        self._category = ""
        self._ended = False

    def has_content(self, event: Any) -> bool:
        return str(event.type).startswith("content_block")

    def add(self, event: Any) -> None:
        match event.type:
            case "message_start":
                self._count(event.message.usage)
                # A server that does not stream sends the content here.
                for whole in getattr(event.message, "content", None) or ():
                    self._finished.add(self._open(whole))
                self._stop = getattr(event.message, "stop_reason", None)
                self._ended = self._has_final_output_count = self._stop is not None
            case "content_block_start":
                # Some servers send every block with index 0. A block that begins is another one.
                self._position_of[event.index] = self._open(event.content_block)
            case "content_block_delta":
                if event.index not in self._position_of and event.delta.type == "text_delta":
                    # Some servers leave out the beginning of a block of text.
                    self._position_of[event.index] = self._open(SimpleNamespace(type="text", text=""))
                self._extend(self._position_of[event.index], event.delta)
                if self._on_text is not None and event.delta.type == "text_delta":
                    self._on_text(event.delta.text or "")
            case "content_block_stop":
                self._finished.add(self._position_of[event.index])
            case "message_delta":
                self._stop = event.delta.stop_reason or self._stop
                details = getattr(event.delta, "stop_details", None)
                self._category = category_of(getattr(details, "category", None)) or self._category
                self._count(event.usage)
                self._has_final_output_count = told_tokens(getattr(event.usage, "output_tokens", None)) > 0
            case "message_stop":
                self._ended = True

    def _open(self, sent: Any) -> int:
        """Returns the block's position."""
        position = len(self._blocks)
        self._blocks[position] = _opened(sent)
        self.size += len(json.dumps(self._blocks[position]))
        return position

    def _extend(self, position: int, delta: Any) -> None:
        """The pieces are put together once, in `reply`: adding each to the text would copy all of it each time."""
        part, piece = "", ""
        match delta.type:
            case "text_delta":
                part, piece = "text", delta.text
            case "thinking_delta":
                part, piece = "thinking", delta.thinking
            case "signature_delta":
                part, piece = "signature", delta.signature
            case "input_json_delta":
                part, piece = "json", delta.partial_json
        if part in self._blocks[position] and piece:
            piece = json_text(piece)  # a server may send an object in place of its text
            self._pieces.setdefault((position, part), []).append(piece)
            self.size += len(piece)

    @property
    def parts(self) -> int:
        return len(self._blocks)

    @property
    def is_complete(self) -> bool:
        return self._ended

    def reply(self) -> ModelReply:
        # Some servers leave `message_stop` out. With a reason to stop and every block closed, nothing is missing.
        is_whole = self._ended or len(self._finished) == len(self._blocks)
        if self._stop is None or not is_whole:
            raise StreamBroken(f"{self._provider}: the answer ended before it was complete")
        for (position, part), pieces in self._pieces.items():
            self._blocks[position][part] += "".join(pieces)
        self._pieces.clear()
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        for block, text in zip(blocks, paragraphs(block.get("text") for block in blocks), strict=True):
            block |= {} if text is None else {"text": text}
        has_calls = any(block["type"] == "tool_use" for block in blocks)
        stop = stop_reason(ANTHROPIC_STOPS, self._stop, calls=has_calls)
        return ModelReply(
            text=_concatenated(blocks, "text"),
            calls=_calls(blocks, cut=stop == "max_tokens"),
            stop=stop,
            usage=self._token_usage(blocks),
            thinking=_concatenated(blocks, "thinking"),
            raw=self._raw(),
            category=self._category if stop == "refusal" else "",
        )

    def _count(self, usage: Any) -> None:
        """Counts in later events are totals, not increments. One that is smaller says nothing: a proxy may end with
        zeros. Of the input all three parts count together, because a later event may say how much of it was cached.
        """
        told = ((name, getattr(usage, name, None)) for name in _INPUT)
        told_input = {
            **self._input,
            **{name: told_tokens(value) for name, value in told if value is not None},
        }
        if sum(told_input.values()) >= sum(self._input.values()):
            self._input = told_input
        self._output = max(self._output, told_tokens(getattr(usage, "output_tokens", None)))

    def _token_usage(self, blocks: list[Block]) -> TokenUsage:
        prompt, output = sum(self._input.values()), self._output
        _, cached, written = self._input.values()
        if not self._has_final_output_count or not output:
            # The first event counts only the beginning of the output.
            output = max(output, estimate_tokens(sum(map(_size, blocks))))
        return token_usage(prompt or estimate_tokens(self._request_bytes()), output, cached, written)

    def _raw(self) -> Any:
        """None: there is no thinking that could go back."""
        kept: list[Block] = []
        for index, block in sorted(self._blocks.items()):
            if block["type"] == "text":
                kept.append({"type": "text", "chars": len(joined(block["text"]))})
            elif block["type"] == "tool_use":
                kept.append({"type": "tool_use"})
            elif _is_thinking(block):
                kept.append(block if index in self._finished else {**block, "signature": ""})
        kept = with_signed_thinking(kept)
        return {"model": self._model, "blocks": kept} if any(map(_is_thinking, kept)) else None


def _opened(block: Any) -> Block:
    match block.type:
        case "text":
            return {"type": "text", "text": block.text or ""}
        case "thinking":
            return {"type": "thinking", "thinking": block.thinking or "", "signature": block.signature or ""}
        case "redacted_thinking":
            return {"type": "redacted_thinking", "data": block.data}
        case "tool_use":
            return {"type": "tool_use", "name": block.name, "input": block.input, "json": ""}
    return {"type": str(block.type)}


def _calls(blocks: list[Block], *, cut: bool) -> tuple[RequestedCall, ...]:
    """`cut`: the reply was cut off, and so its last block. Each block before it had ended before the next one began."""
    calls = []
    for block in blocks:
        if block["type"] != "tool_use":
            continue
        if not block["json"] and block["input"]:  # sent whole, not streamed
            calls.append(parse_call(block["name"], block["input"], cut=False))
        else:
            calls.append(parse_call(block["name"], block["json"], cut=cut and block is blocks[-1]))
    return tuple(calls)


def _size(block: Block) -> int:
    whole = json_text(block["input"]) if block.get("input") and not block["json"] else ""
    return utf8_size(whole, *(block.get(part, "") for part in ("text", "thinking", "json")))


def _concatenated(blocks: list[Block], kind: str) -> str:
    return "".join(joined(block[kind]) for block in blocks if block["type"] == kind)


def with_signed_thinking(blocks: Sequence[Block]) -> list[Block]:
    """The blocks with as much of their thinking as may go back: all up to the first block that is not signed or cannot
    be stored as it came, without the thinking directly before that block. Other blocks stay.
    """
    kept: list[Block] = []
    usable = True
    for block in blocks:
        if not _is_thinking(block):
            kept.append(block)
        elif usable and (signed := _as_signed(block)) is not None:
            kept.append(signed)
        elif usable:
            usable = False
            drop_last_thinking(kept)
    return kept


def drop_last_thinking(blocks: list[Block]) -> None:
    """Removes thinking from the end of the list: the API refuses a message that ends with it."""
    while blocks and _is_thinking(blocks[-1]):
        blocks.pop()


def _is_thinking(block: Block) -> bool:
    return "thinking" in block["type"]


def _as_signed(block: Block) -> Block | None:
    """The block with halves of surrogate pairs joined. None: it may not go back."""
    signature = "data" if block["type"] == "redacted_thinking" else "signature"
    parts = {name: joined_exactly(value) for name, value in block.items()}
    return parts if parts.get(signature) and None not in parts.values() else None
