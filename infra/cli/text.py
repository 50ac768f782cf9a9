"""Text that came from a model, a file or another person, made safe to show on a terminal."""

import json
import unicodedata
from typing import Any

# Controls, invisible formatting (bidirectional overrides among it), surrogates, private use, separators other
# than space and newline: everything that can move the cursor or make text look like other text.
HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
NUMBER_FORMATS = ((0xFF, "\\x{:02x}"), (0xFFFF, "\\u{:04x}"), (0x10FFFF, "\\U{:08x}"))


def visible(text: str, *, keep_newlines: bool = True) -> str:
    """Every character that would not show as itself becomes its escape, as in `\\x1b`."""
    return "".join(escape(char) if is_hidden(char, keep_newlines) else char for char in text)


def is_hidden(char: str, keep_newlines: bool) -> bool:
    if char == "\n":
        return not keep_newlines
    if " " <= char <= "~":
        return False
    return unicodedata.category(char) in HIDDEN_CATEGORIES


def escape(char: str) -> str:
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char)
    number = ord(char)
    return named or next(form.format(number) for top, form in NUMBER_FORMATS if number <= top)


def one_line(value: Any, limit: int = 100) -> str:
    """`value` on one line, cut at `limit` characters."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    shown = visible(" ".join(text.split()), keep_newlines=False)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def exact_json(value: Any) -> str:
    """The whole of `value`, indented, nothing cut."""
    return visible(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def encodable(text: str, encoding: str | None) -> str:
    """`text` with what a terminal of this encoding cannot show replaced, so that printing never fails."""
    return text.encode(encoding or "utf-8", "replace").decode(encoding or "utf-8", "replace")
