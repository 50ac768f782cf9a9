"""Text from outside, fenced as data with its origin (design §7).

    --- file: notes.md (812 bytes) ---
    …
    --- end of file: notes.md ---

Content that has anything like a fence in it gets fences with a mark that does not occur in it, so no file can
pretend to end and go on as somebody else.
"""

import hashlib
import re

_LIKE_A_FENCE = re.compile(r"[-‐-―−]{2,}\s*(?:end\s+of\s+)?file", re.IGNORECASE)


def fenced_file(path: str, text: str, size: int) -> str:
    """`size` in bytes. The text is unchanged; a line break is added where its last line has none."""
    mark = f" #{_mark(text)}" if _LIKE_A_FENCE.search(text) else ""
    end = "" if text.endswith("\n") or not text else "\n"
    unit = "byte" if size == 1 else "bytes"
    return f"--- file: {path} ({size} {unit}){mark} ---\n{text}{end}--- end of file: {path}{mark} ---"


def _mark(text: str) -> str:
    """Eight hex digits made from the content that are not in it; it can hold only so many of them."""
    seed = text.encode("utf-8", "surrogatepass")
    while True:
        seed = hashlib.sha256(seed).digest()
        mark = seed.hex()[:8]
        if mark not in text.lower():
            return mark
