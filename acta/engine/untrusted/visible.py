"""Makes hidden characters of a text visible, so that nothing in it can hide or look like other text.

A character that a language or an emoji needs where it stands is no hidden one: the joiner within a Persian word, the
selector after a heart. Everywhere else it is (docs/design/people.md 6). People who decide on an agent's call must see
what is there. Exact data, such as the input of a call, is not changed: the program that shows it escapes it.

`make generate` writes the patterns into the page for people (`console/parts/hidden.ts`).
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
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
message.
"""

# Patterns of what is needed where it stands. They are written in what Python and JavaScript have in common.
_JOINING = (
    "\u0620-\u065f\u066e-\u06d3\u06d5-\u06dc\u06df-\u06ef\u06fa-\u06ff\u0710-\u077f\u07ca-\u07f5\u0840-\u088e\u0898-\u08e1"
    "\u08e3-\u0963\u0971-\u0de5\u0df2\u0df3\u1000-\u109f\u1780-\u17b3\u17b6-\u17d3\u1820-\u18aa\u1a20-\u1aad\u1b00-\u1bff"
    "\ua800-\ua8ff\ua980-\uaadf\ufb50-\ufdff\ufe70-\ufefc\U00010d00-\U00010d3f\U00011000-\U000110bc\U000110c2-\U00011fff"
    "\U0001e900-\U0001e95f"
)
"""Letters and marks of scripts in which a joiner changes a letter's form: Arabic and its relatives, those of India and
South-East Asia, Mongolian (UAX 31, section 2.3; The Unicode Standard, chapter 23.2)."""
_WORDS_UNSPACED = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17b3\u17b6-\u17fa\u1950-\u19ff\u1a20-\u1aad"
"""Thai, Lao, Myanmar, Khmer and their relatives put a space of no width between words (UAX 14, class ZW)."""
_RIGHT_TO_LEFT = (
    "\u0590-\u05ff\u0620-\u06ff\u0710-\u08e1\u08e3-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010d00-\U00010d3f"
    "\U0001e900-\U0001e95f"
)
_PICTURES = (
    "\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297"
    "\u3299\U0001f000-\U0001faff"
)
"""The blocks of symbols that have the emoji, with those that later versions of Unicode add there (UTS 51, 1.4.1)."""
_SPACES = "\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
"""Spaces of other widths, which French, Mongolian, Japanese and typography put into sentences."""
_UNSEEN = (
    "\0-\x20\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800"
    "\u3000\u3164\ud800-\uf8ff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U0010ffff"
)
_NEEDED = (
    # the flags of England, Scotland and Wales, the only ones in tags that UTS 51 recommends (annex B)
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|"
    "\U000e0077\U000e006c\U000e0073)\U000e007f",
    # an emoji, perhaps with a selector or a skin tone, and further ones that are joined to it (UTS 51, ED-16)
    f"[{_PICTURES}][\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]?(?:\u200d[{_PICTURES}][\ufe0f\U0001f3fb-\U0001f3ff]?)*",
    "(?<=[0-9#*])\ufe0f(?=\u20e3)",
    # one joiner behind a letter that it changes, or between a foreign word and its ending
    f"(?<=[{_JOINING}])[\u200c\u200d](?![\u200c\u200d])",
    f"(?<=[0-9A-Za-z\u0660-\u0669\u06f0-\u06f9])\u200c(?=[{_JOINING}])",
    f"(?<=[{_WORDS_UNSPACED}])\u200b(?=[{_WORDS_UNSPACED}])",
    # one selector behind an ideograph (UTS 37), and behind a Mongolian letter
    "(?<=[\u3400-\u9fff\U00020000-\U000323af])[\ufe00-\ufe02\U000e0100-\U000e011f]",
    "(?<=[\u1820-\u18aa])(?:[\u180b-\u180d\u180f]|\u180e(?=[\u1820-\u18aa]))",
    # signs that are drawn around a number, such as the end of a verse
    "[\u0600-\u0605\u06dd\u08e2](?=[\u0660-\u0669\u06f0-\u06f9])",
)
IN_DATA = f"({'|'.join(_NEEDED)})"
"""What a word or an emoji needs. Data is shown with no more than that. It is compiled only where it is needed, because
that takes milliseconds.
"""
_SENTENCES = (
    f"(?<=[^{_UNSEEN}]) *[{_SPACES}][ {_SPACES}]*(?=[^{_UNSEEN}])",
    f"(?<![^\n])\u3000(?=[^{_UNSEEN}])",
    f"(?<=[{_RIGHT_TO_LEFT}])[\u061c\u200e\u200f]|[\u061c\u200e\u200f](?=[{_RIGHT_TO_LEFT}])",
)
IN_PROSE = f"({'|'.join((*_NEEDED, *_SENTENCES))})"
"""What a sentence needs, too: spaces of other widths between what can be seen, and the marks of direction at a letter
that is written from right to left."""


def visible(text: str, *, keep_newlines: bool = True, exact: bool = False) -> str:
    """Replaces each hidden character by its escape, such as `\\x1b` or `\\u202e`. `exact`: the text is data, in which a
    space of another width must not pass for a space.
    """
    if text.isascii() and text.isprintable():
        return text
    escapes = {ord(char): escape(char) for char in set(text) if is_hidden(char, keep_newlines)}
    if not escapes:
        return text
    parts = re.split(IN_DATA, text) if exact else re.split(IN_PROSE, text)
    parts[::2] = [part.translate(escapes) for part in parts[::2]]  # every second one is needed
    return "".join(parts)


def hidden_in(text: str) -> str | None:
    """The first hidden character of a text that is data."""
    rest = "".join(re.split(IN_DATA, text)[::2])
    return next((char for char in rest if is_hidden(char, keep_newlines=False)), None)


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


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a JSON value, names of fields included."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            waiting += [*item, *item.values()]
        elif isinstance(item, list):
            waiting += item


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
    """Whether the character by itself can move the cursor or make text look like other text: controls, invisible
    formatting such as bidirectional overrides, surrogates, private use, separators other than space, and characters
    that are newer than this Python.
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
