"""Makes hidden characters of a text visible, so that nothing in it can hide or look like other text.

People who decide on an agent's call must see what is there (docs/design/people.md 6). Exact data, such as the input of
a call, is not changed: the program that shows it escapes it.
"""

import unicodedata
from typing import Any

NUMBER_FORMATS = ((0xFF, "\\x{:02x}"), (0xFFFF, "\\u{:04x}"), (0x10FFFF, "\\U{:08x}"))
"""The escape for code points up to the number."""
SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zs", "Zl", "Zp"})
"""Unicode's categories of controls, formatting, surrogates and separators."""
BLANK_LETTERS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)
"""Characters that Unicode calls letters or marks and that look blank. Variation selectors can carry a hidden
message. `make generate` writes them into the page for people (`console/parts/hidden.ts`) and the library for tools.
"""


def visible(text: str, *, keep_newlines: bool = True) -> str:
    """Replaces each hidden character by its escape, such as `\\x1b` or `\\u202e`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(escape(char) if is_hidden(char, keep_newlines) else char for char in text)


def well_formed(text: str, backslash: str = "\\") -> str:
    """The text as UTF-8 can hold it: halves of surrogate pairs are joined, and a half that is alone becomes its escape,
    such as `\\udce9`. So two names that are not UTF-8 remain two names. `backslash`: as it is written in this text;
    JSON writes it twice.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        return "".join(
            f"{backslash}u{ord(each):04x}" if "\ud800" <= each <= "\udfff" else each for each in joined
        )
    return text


def one_line(text: str) -> str:
    """The text on one line, hidden characters escaped, so that it cannot look like another line."""
    return visible(" ".join(text.split()), keep_newlines=False)


def visible_throughout(value: Any) -> Any:
    """Applies `visible` to every text in a JSON value, names of fields included."""
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
    """Whether the character can move the cursor or make text look like other text: controls, invisible formatting such
    as bidirectional overrides, surrogates, private use, separators other than space, and characters that are newer than
    this Python.
    """
    if char == "\n":
        return not keep_newlines
    return not char.isprintable() or char in BLANK_LETTERS


def is_blank(text: str) -> bool:
    """Whether nothing in the text can be seen. A character that this Python does not know, such as a new emoji, counts
    as visible.
    """
    return all(unicodedata.category(char) in INVISIBLE_CATEGORIES or char in BLANK_LETTERS for char in text)


def escape(char: str) -> str:
    """The escape of one character, as in a Python string."""
    number = ord(char)
    return SHORT_ESCAPES.get(char) or next(
        form.format(number) for top, form in NUMBER_FORMATS if number <= top
    )
