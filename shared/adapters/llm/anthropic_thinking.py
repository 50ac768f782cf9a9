"""Thinking blocks that the Messages API takes back: those that are byte for byte what it signed.

A block that was cut off has no signature, one that could not be stored as it came no longer fits its own, and a
request with either is refused for good. Of blocks in a row all go back or none.
"""

from collections.abc import Sequence
from typing import Any

from shared.adapters.llm.tool_input import storable

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
