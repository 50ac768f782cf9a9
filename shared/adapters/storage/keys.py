"""Parts of storage keys made of strings that come from outside: a tenant's name, a session's id.

A part never contains `#`, `/` or any other separator, and no two strings give the same part, so nothing
under one tenant's prefix can be reached with another tenant's name, however it is spelled.
"""

import hashlib
from functools import lru_cache
from urllib.parse import quote

MAX_PART_BYTES = 200
"""S3 keys end at 1,024 bytes, DynamoDB's sort keys too; a longer part is named by its hash."""


@lru_cache(maxsize=1_024)
def key_part(text: str) -> str:
    """Percent-encoded, reversible by eye. ValueError where the text is empty: a prefix without a tenant is
    everyone's.

    The two exceptions cannot collide with an encoding: that one never writes `%2E`, and never `%` before an
    `s`.
    """
    if not text:
        raise ValueError("a key needs a tenant and a session")
    part = quote(text, safe="", errors="surrogatepass")
    if part.startswith("."):
        part = "%2E" + part[1:]
    if len(part) > MAX_PART_BYTES:
        return "%sha256-" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return part
