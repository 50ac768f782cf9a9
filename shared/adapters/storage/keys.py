"""Makes parts of storage keys from strings that come from outside, such as a tenant's name or a session's id.

A part has no `#`, `/` or other separator, and two different strings never give the same part. So no name of a tenant,
however it is spelled, reaches data under another tenant's prefix.
"""

import hashlib
from functools import lru_cache
from urllib.parse import quote

MAX_PART_BYTES = 200
"""A longer part is replaced by its hash, because keys of S3 and sort keys of DynamoDB have at most 1,024 bytes."""


@lru_cache(maxsize=1_024)
def key_part(text: str) -> str:
    """The text, percent-encoded. Raises ValueError where it is empty: a prefix without a tenant would hold everyone's
    data.

    A leading dot becomes `%2E`, and a long text `%sha256-…`. Percent-encoding produces neither, so these cannot be
    mistaken for another text.
    """
    if not text:
        raise ValueError("a key needs a tenant and a session")
    part = quote(text, safe="", errors="surrogatepass")
    if part.startswith("."):
        part = "%2E" + part[1:]
    if len(part) > MAX_PART_BYTES:
        return "%sha256-" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return part
