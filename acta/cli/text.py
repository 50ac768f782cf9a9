"""Text that came from a model, a file or another person, made safe to show on a terminal."""

import json
from typing import Any

from shared.domain.untrusted.visible import visible

__all__ = ["encodable", "exact_json", "one_line", "visible"]


def one_line(value: Any, limit: int = 100) -> str:
    """`value` on one line, cut at `limit` characters."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    shown = visible(" ".join(text.split()), keep_newlines=False)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def exact_json(value: Any) -> str:
    """The whole of `value`, indented, nothing cut."""
    return visible(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def encodable(text: str, encoding: str | None) -> str:
    """`text` with what a terminal of this encoding cannot show escaped, so that printing never fails and no two
    texts look the same.
    """
    return text.encode(encoding or "utf-8", "backslashreplace").decode(encoding or "utf-8", "replace")
