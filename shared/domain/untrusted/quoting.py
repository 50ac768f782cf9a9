"""Text from outside reaches a model only as a quotation: between two marker lines that name its origin (design §7).

    --- file: notes.md (812 bytes) ---
    …
    --- end of file: notes.md ---

So the model can tell data from instructions. Where the text itself has something like a marker line, both lines get a
mark that does not occur in the text. So no text can pretend that the quotation ends.
"""

import hashlib
import re
from itertools import groupby
from typing import NamedTuple

MAX_BLANK_LINES = 2
"""More blank lines in a row become one, so that padding cannot push the text before it out of sight."""

_LIKE_A_MARKER = re.compile(r"[-‐-―−]{2,}\s*(?:end\s+of\s|[a-z]{2,16}\s*:)", re.IGNORECASE)


class OutsideText(NamedTuple):
    """A text that a tool brings from outside. `kind`: one word for what it is (`file`, `weather`). `name`: which one.
    `exact`: the agent may have to copy the text, so all blank lines stay. `note`: a sentence by the tool itself, which
    stands after the quotation.
    """

    kind: str
    name: str
    text: str
    exact: bool = False
    note: str = ""

    @property
    def cleaned(self) -> str:
        """The text to be quoted: valid Unicode, and without padding unless it is `exact`."""
        text = self.text.encode("utf-8", "replace").decode()
        return text if self.exact else without_padding(text)


def quoted(kind: str, name: str, text: str, size: int | None = None) -> str:
    """The text between its marker lines. A line break is added where the last line has none.

    `size`: the bytes of the complete text, where `text` is only its beginning.
    """
    count = len(text.encode()) if size is None else size
    mark = f" #{unused_mark(text)}" if _LIKE_A_MARKER.search(text) else ""
    end = "" if text.endswith("\n") or not text else "\n"
    unit = "byte" if count == 1 else "bytes"
    label = f"{kind}: {_one_line(name)}"
    return f"--- {label} ({count} {unit}){mark} ---\n{text}{end}--- end of {label}{mark} ---"


def without_padding(text: str) -> str:
    """Replaces more than `MAX_BLANK_LINES` blank lines in a row by one."""
    kept: list[str] = []
    for blank, lines in groupby(text.splitlines(), key=lambda line: not line.strip()):
        run = list(lines)
        kept += [""] if blank and len(run) > MAX_BLANK_LINES else run
    return "\n".join(kept) + ("\n" if text.endswith("\n") and kept else "")


def _one_line(name: str) -> str:
    return "".join(char if char.isprintable() else " " for char in name)


def unused_mark(text: str) -> str:
    """Eight hex digits that do not occur in the text, in either case. The same text always gets the same mark, whatever
    process makes it.
    """
    seed, lowered = text.encode("utf-8", "surrogatepass"), text.lower()
    while True:
        seed = hashlib.sha256(seed).digest()
        mark = seed.hex()[:8]
        if mark not in lowered:
            return mark
