"""Makes parts of storage keys from strings that come from outside, such as a tenant's name or a session's id.

A part has no `#`, `/` or other separator, and two different strings never give the same part. So no name of a tenant,
however it is spelled, reaches data under another tenant's prefix.
"""

import hashlib
from functools import lru_cache
from urllib.parse import quote, unquote

MAX_PART_BYTES = 200
"""A longer part is replaced by its hash, because keys of S3 and sort keys of DynamoDB have at most 1,024 bytes."""
HASHED = "%sha256-"
TENANT = "T#"
FILES, SESSIONS = "files", "sessions"
"""How the keys of tenants' items begin, and of their objects: files, and texts of sessions."""


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
        return HASHED + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return part


def tenant_pk(tenant: str) -> str:
    """The partition of a tenant's items. Its other partitions begin with this and a `#`."""
    return f"{TENANT}{key_part(tenant)}"


def tenant_prefix(kind: str, tenant: str) -> str:
    """Of the keys of all the tenant's objects of a kind, `FILES` or `SESSIONS`."""
    return f"{kind}/{key_part(tenant)}/"


def part_text(part: str) -> str | None:
    """The text that `key_part` made the part of. None: it was too long, and the part is its hash."""
    return None if part.startswith(HASHED) else unquote(part, errors="surrogatepass")
