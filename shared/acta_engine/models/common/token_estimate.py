"""Estimates of a call's tokens, for servers that report no usage: a call that counts as nothing would have no limit."""

import json
from typing import Any

_BYTES_PER_TOKEN = 4


def estimate_tokens(byte_count: int) -> int:
    return byte_count // _BYTES_PER_TOKEN


def utf8_size(*texts: str) -> int:
    """Bytes of all texts together."""
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


def body_size(body: dict[str, Any]) -> int:
    """Bytes of a whole request. Tools and system prompt count: they are paid for too. Encodes all of it:
    not for a call whose server reports its usage.
    """
    return utf8_size(json.dumps(body, ensure_ascii=False))
