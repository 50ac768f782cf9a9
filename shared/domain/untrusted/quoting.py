"""Text from outside, fenced as data with its origin (design §7): the one form in which any of it reaches a model.

    --- file: notes.md (812 bytes) ---
    …
    --- end of file: notes.md ---

Content that has anything like a fence in it gets fences with a mark that does not occur in it, so nothing can pretend
to end and go on as somebody else.
"""

import hashlib
import re
from itertools import groupby
from typing import NamedTuple

MAX_BLANK_LINES = 2
"""More of them in a row become one: padding may not push what comes before it out of sight."""

_LIKE_A_FENCE = re.compile(r"[-‐-―−]{2,}\s*(?:end\s+of\s|[a-z]{2,16}\s*:)", re.IGNORECASE)


class OutsideText(NamedTuple):
    """What a tool brings in from outside. `kind`: one word for what it is (`file`, `weather`); `name`: which one.
    `exact`: the agent may have to copy it to the letter, so its blank lines stay. `note`: the tool's own words,
    told behind the fence.
    """

    kind: str
    name: str
    text: str
    exact: bool = False
    note: str = ""

    @property
    def plain(self) -> str:
        """The text as it is fenced: valid Unicode, and without padding where it need not be exact."""
        text = self.text.encode("utf-8", "replace").decode()
        return text if self.exact else squeezed(text)


def quoted(kind: str, name: str, text: str, size: int | None = None) -> str:
    """`size`: bytes of the whole, where `text` is only its beginning. The text is unchanged; a line break is added
    where its last line has none.
    """
    count = len(text.encode()) if size is None else size
    mark = f" #{unused_mark(text)}" if _LIKE_A_FENCE.search(text) else ""
    end = "" if text.endswith("\n") or not text else "\n"
    unit = "byte" if count == 1 else "bytes"
    label = f"{kind}: {_one_line(name)}"
    return f"--- {label} ({count} {unit}){mark} ---\n{text}{end}--- end of {label}{mark} ---"


def squeezed(text: str) -> str:
    """Blank lines in a row, more than `MAX_BLANK_LINES`, as one."""
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
