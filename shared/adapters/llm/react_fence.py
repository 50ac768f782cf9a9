"""Messages of a conversation in plain text, each between two lines that only the runtime can have written.

    [user #3f9a01c2]
    …
    [end #3f9a01c2]

The mark is made from the content and does not occur in it, so no file, page or user can end its own message and
go on in another's name; and it is the same each turn, so that the prompt's prefix is.
"""

import hashlib

MARK_DIGITS = 8


def fenced(origin: str, text: str) -> str:
    """`origin` is the runtime's word for who speaks, without brackets or line breaks. The text is unchanged."""
    mark = _mark(text)
    return f"[{origin} #{mark}]\n{text}\n[end #{mark}]"


def _mark(text: str) -> str:
    seed, known = text.encode("utf-8", "surrogatepass"), text.lower()
    while True:
        seed = hashlib.sha256(seed).digest()
        mark = seed.hex()[:MARK_DIGITS]
        if mark not in known:
            return mark
