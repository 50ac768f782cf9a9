"""Text from outside reaches a model only as a quotation: between two marker lines that name its origin (design §7).

    --- file: notes.md (812 bytes) #3f2a90c1 ---
    …
    --- end of file: notes.md #3f2a90c1 ---

So the model can tell data from instructions. Both lines have the same mark, and the mark does not occur between them,
in whatever characters. It is made from the text and from an id that the text's author does not know. So no text can
pretend that the quotation ends: whether a line looks like a marker line is never asked. All work here grows with the
length of the text and no faster.
"""

import hashlib
import re
from itertools import groupby
from typing import NamedTuple

from shared.domain.untrusted.plain_characters import in_plain_characters
from shared.domain.untrusted.visible import visible

MAX_BLANK_LINES = 2
"""More blank lines in a row become one, so that padding cannot push the text before it out of sight."""
MAX_NAME_CHARS = 200
"""Of a longer name the marker lines have the two ends."""


class OutsideText(NamedTuple):
    """A text that a tool brings from outside. `kind`: one word for what it is (`file`, `weather`). `name`: which one.
    `exact`: the agent may have to copy the text, so all blank lines stay. `note`: a sentence by the tool itself, which
    stands after the quotation. `size`: the bytes of the complete text, where `text` is only its beginning. `status`: of
    the HTTP answer that the text is of; no model is told.
    """

    kind: str
    name: str
    text: str
    exact: bool = False
    note: str = ""
    size: int | None = None
    status: int | None = None

    @property
    def cleaned(self) -> str:
        """The text to be quoted: valid Unicode, and without padding unless it is `exact`."""
        text = self.text.encode("utf-8", "replace").decode()
        return text if self.exact else without_padding(text)


def quoted(kind: str, name: str, text: str, size: int | None = None, *, key: str) -> str:
    """The text between its marker lines. A line break is added where the last line has none.

    `size`: the bytes of the complete text, where `text` is only its beginning. `key`: an id that the text's author does
    not know (`unused_mark`).
    """
    count = len(text.encode()) if size is None else size
    label = f"{kind}: {one_line(name)}"
    mark = unused_mark(f"{label}\n{text}", key)
    end = "" if text.endswith("\n") or not text else "\n"
    unit = "byte" if count == 1 else "bytes"
    return f"--- {label} ({count} {unit}) #{mark} ---\n{text}{end}--- end of {label} #{mark} ---"


def unquoted(result: str) -> str:
    """A tool's result without the two marker lines around a text from outside, and without what stands after them."""
    lines = result.split("\n")
    opening = re.fullmatch(r"--- \w+: .*\((\d+) bytes?\) (#\w+) ---", lines[0])
    if opening is None:
        return result
    closing = f"{opening[2]} ---"
    ends = [n for n, line in enumerate(lines) if line.startswith("--- end of ") and line.endswith(closing)]
    body = "".join(f"{line}\n" for line in lines[1 : ends[-1] if ends else None])
    # `quoted` has added a line break where the text has none at its end.
    return body if len(body.encode()) <= int(opening[1]) else body.removesuffix("\n")


def one_line(name: str, most: int = MAX_NAME_CHARS) -> str:
    """A name from outside as it stands in a line of Acta's: hidden characters escaped, of a long one the two ends."""
    shown = visible(
        name if len(name) <= most else f"{name[: most // 2]}…{name[-(most // 2) :]}", keep_newlines=False
    )
    return shown if len(shown) <= 2 * most else f"{shown[:most]}…"


def without_padding(text: str) -> str:
    """Replaces more than `MAX_BLANK_LINES` blank lines in a row by one."""
    kept: list[str] = []
    for blank, lines in groupby(text.splitlines(), key=lambda line: not line.strip()):
        run = list(lines)
        kept += [""] if blank and len(run) > MAX_BLANK_LINES else run
    return "\n".join(kept) + ("\n" if text.endswith("\n") and kept else "")


def unused_mark(text: str, key: str) -> str:
    """Eight hex digits that do not occur in the text, in whatever characters they are written. The same text with the
    same key always gets the same mark, whatever process makes it.

    `key`: an id that the text's author does not know. Else a text could be tried out until it holds what the eye, or a
    model, takes for its own mark.
    """
    seed, plain = f"{key}\n{text}".encode("utf-8", "surrogatepass"), in_plain_characters(text)
    while True:
        seed = hashlib.sha256(seed).digest()
        mark = seed.hex()[:8]
        if mark not in plain:
            return mark
