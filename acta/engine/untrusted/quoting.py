"""Text from outside reaches a model only as a quotation: between two marker lines that name its origin
(docs/design/tools.md 19).

    --- file: notes.md (812 bytes) #530174218 ---
    …
    --- end #530174218 ---

So the model can tell data from instructions. Both lines have the same mark, and the mark does not occur between them,
in whatever characters. It is made from the text and from an id that the text's author does not know. So no text can
pretend that the quotation ends: whether a line looks like a marker line is never asked. All work here grows with the
length of the text and no faster.
"""

import hashlib
import json
import re
import unicodedata
from typing import Any, NamedTuple

from acta.engine.untrusted.visible import is_hidden, visible

MAX_NAME_CHARS = 200
"""The marker lines show only the two ends of a longer name."""


class OutsideText(NamedTuple):
    """A text that a tool brings from outside. `kind`: one word for what it is (`file`, `weather`). `name`: which one.
    `note`: a sentence by the tool itself, which stands after the quotation. `size`: the bytes of the complete text,
    where `text` is only its beginning. `status`: the status of the HTTP answer that the text comes from; no model is
    told.
    """

    kind: str
    name: str
    text: str
    note: str = ""
    size: int | None = None
    status: int | None = None


def quoted(kind: str, name: str, text: str, size: int | None = None, *, key: str) -> str:
    """The text between its marker lines. A line break is added where the last line has none. `name`: empty if the kind
    says enough.

    `size`: the bytes of the complete text, where `text` is only its beginning. `key`: an id that the text's author does
    not know (`unused_mark`).
    """
    count = len(text.encode()) if size is None else size
    label = f"{kind}: {clipped_name(name)}" if name else kind
    mark = unused_mark(f"{label}\n{text}", key)
    end = "" if text.endswith("\n") or not text else "\n"
    unit = "byte" if count == 1 else "bytes"
    return f"--- {label} ({count} {unit}) #{mark} ---\n{text}{end}--- end #{mark} ---"


def quoted_json(kind: str, name: str, value: Any, *, key: str) -> str:
    """A JSON value on one line between its marker lines. A program reads it from the second line: hidden characters are
    escaped as JSON escapes them, so the value is the same.
    """
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    if not (text.isascii() and text.isprintable()):
        text = "".join(
            json.dumps(char)[1:-1] if is_hidden(char, keep_newlines=False) else char for char in text
        )
    return quoted(kind, name, text, key=key)


def unquoted(result: str) -> str:
    """A tool's result without the two marker lines around a text from outside, and without what stands after them."""
    lines = result.split("\n")
    opening = re.fullmatch(r"--- \w+(?:: .*)? \((\d+) bytes?\) (#\d+) ---", lines[0])
    if opening is None:
        return result
    ends = [n for n, line in enumerate(lines) if line == f"--- end {opening[2]} ---"]
    body = "".join(f"{line}\n" for line in lines[1 : ends[-1] if ends else None])
    # `quoted` has added a line break where the text has none at its end.
    return body if len(body.encode()) <= int(opening[1]) else body.removesuffix("\n")


def clipped_name(name: str, most: int = MAX_NAME_CHARS) -> str:
    """A name from outside as it stands in a line of Acta's: hidden characters are escaped, and of a long name only the
    two ends are shown."""
    shown = visible(
        name if len(name) <= most else f"{name[: most // 2]}…{name[-(most // 2) :]}", keep_newlines=False
    )
    return shown if len(shown) <= 2 * most else f"{shown[:most]}…"


def unused_mark(text: str, key: str) -> str:
    """Nine digits, which are three tokens. They do not occur in the text, in whatever characters they are written. The
    same text with the same key always gets the same mark, whatever process makes it.

    `key`: an id that the text's author does not know. Otherwise its author could try out texts until one contains what
    the eye, or a model, takes for the mark.
    """
    seed, plain = f"{key}\n{text}".encode("utf-8", "surrogatepass"), in_plain_characters(text)
    while True:
        seed = hashlib.sha256(seed).digest()
        mark = f"{int.from_bytes(seed[:8]) % 1_000_000_000:09d}"
        if mark not in plain:
            return mark


# What a reader would take for a given text is found by its letters and digits, whatever other characters stand for
# them. Only what looks like a digit is folded: marks of quotations are made of those.
LOOK_ALIKES = {
    "0": "oO\u043e\u041e\u03bf\u039f\u0585\u0555\u1d0f\u2c9e\u2c9f\u2d54\u3007\u05e1",
    "1": "lIi|!\u04cf\u04c0\u0406\u0456\u0399\u03b9\u05c0\u05d5\u05df\u0627\u01c0\u2223\u16c1\u2d4f\ua4f2\u0131",
    "2": "\u01a7\u01a8\u03e8\u03e9\u14bf",
    "3": "\u0417\u0437\u01b7\u0292\u04e0\u04e1\u021c\u021d\u025c\ua7ab\u2ccc\u2ccd",
    "4": "\u0427\u0447\u13ce",
    "5": "\u01bc\u01bd",
    "6": "\u0431\u13ee\u2cd2\u2cd3",
    "8": "\u0222\u0223",
    "9": "\ua76e\ua76f\u2cca\u2ccb",
}
"""By digit, characters that look like it and that Unicode does not call a form of it. Most are in Unicode's table
`confusables.txt` (UTS 39)."""
_FOLDED = {ord(form): digit for digit, forms in LOOK_ALIKES.items() for form in forms}


def in_plain_characters(text: str) -> str:
    """The text without hidden characters and accents, with digits for what looks like them: `３`, `𝟑` and
    `٣` are 3, and so is a Cyrillic `З`. Each character is looked at by itself, because normalising a whole text takes
    time that grows faster than its length.
    """
    if text.isascii():
        return text.translate(_FOLDED)
    return text.translate({ord(char): _plain(char) for char in set(text)})


def _plain(char: str) -> str:
    if is_hidden(char, keep_newlines=True):
        return ""
    parts = char if ord(char) in _FOLDED else unicodedata.normalize("NFKD", char)
    return "".join(map(_folded, parts))


def _folded(char: str) -> str:
    """The plain character. Empty for a mark above, below or around another character."""
    if unicodedata.category(char).startswith("M"):
        return ""
    digit = unicodedata.digit(char, None)
    return _FOLDED.get(ord(char), char) if digit is None else str(digit)
