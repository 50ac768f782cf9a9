"""What a call came to where the server does not say: an estimate, because a call that counts nothing has no limit."""

import json
from typing import Any

_BYTES_PER_TOKEN = 4


def size(*texts: str) -> int:
    """Bytes as UTF-8."""
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


def size_of_body(body: dict[str, Any]) -> int:
    """Bytes of a whole request: tools and system prompt are paid for too."""
    return size(json.dumps(body, ensure_ascii=False))


def tokens(count: int) -> int:
    """Of so many bytes."""
    return count // _BYTES_PER_TOKEN
