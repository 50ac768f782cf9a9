"""Text that came from a model, a file or a person, made safe to look at: nothing in it can hide or pose as other text.

Whoever decides on an agent's call must see what is there (design §8). Exact data, such as a call's input, is left
alone; who shows that escapes it there.
"""

import unicodedata
from typing import Any

NUMBER_FORMATS = ((0xFF, "\\x{:02x}"), (0xFFFF, "\\u{:04x}"), (0x10FFFF, "\\U{:08x}"))
NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zs", "Zl", "Zp"})
"""Categories of controls, formatting, surrogates and separators."""
BLANK_LETTERS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)
"""Letters and marks by their category, blank by their looks; variation selectors can carry a hidden message."""


def visible(text: str, *, keep_newlines: bool = True) -> str:
    """Every character that would not show as itself becomes its escape, as in `\\x1b` or `\\u202e`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(escape(char) if is_hidden(char, keep_newlines) else char for char in text)


def visible_throughout(value: Any) -> Any:
    """The same of every text in a JSON value, the names of its fields included."""
    match value:
        case str():
            return visible(value)
        case list() | tuple():
            return [visible_throughout(item) for item in value]
        case dict():
            return {
                visible(str(name), keep_newlines=False): visible_throughout(item)
                for name, item in value.items()
            }
        case _:
            return value


def is_hidden(char: str, keep_newlines: bool) -> bool:
    """Controls, invisible formatting (bidirectional overrides among it), surrogates, private use, separators other
    than space: everything that can move the cursor or make text look like other text.
    """
    if char == "\n":
        return not keep_newlines
    return not char.isprintable() or char in BLANK_LETTERS


def is_blank(text: str) -> bool:
    """Nothing in it can be seen: spaces, controls, invisible formatting, letters that look blank. What only this
    Python does not know yet (a new emoji, say) can.
    """
    return not any(_shows(char) for char in text)


def _shows(char: str) -> bool:
    return unicodedata.category(char) not in UNSEEN and char not in BLANK_LETTERS


def escape(char: str) -> str:
    number = ord(char)
    return NAMED.get(char) or next(form.format(number) for top, form in NUMBER_FORMATS if number <= top)
