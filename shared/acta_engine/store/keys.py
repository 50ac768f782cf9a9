"""Makes parts of storage keys from strings that come from outside, such as a tenant's name or a session's id.

A part has no `#`, `/` or other separator, and two different strings never give the same part. So no name of a tenant,
however it is spelled, reaches data under another tenant's prefix.
"""

import hashlib
from functools import lru_cache
from urllib.parse import quote, unquote

PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_.-")
MAX_PLAIN_CHARS = 64
"""A tenant's name that is longer, or has other characters, is a hash in names of secrets."""

MAX_PART_BYTES = 200
"""A longer part is replaced by its hash, because keys of S3 and sort keys of DynamoDB have at most 1,024 bytes."""
HASHED = "%sha256-"
TENANT = "T#"
RECEIVERS_SECRET = "webhook"
"""The name of the one secret under `notification_secrets_prefix`."""
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


def tool_secrets_prefix(environment: str, tenant: str) -> str:
    """Of the names in Secrets Manager of all secrets of the tenant's tools."""
    return _secrets_prefix(environment, "tools", tenant)


def notification_secrets_prefix(environment: str, tenant: str) -> str:
    """Of the names of what notifications to the tenant's webhooks are signed with."""
    return _secrets_prefix(environment, "notify", tenant)


def _secrets_prefix(environment: str, kind: str, tenant: str) -> str:
    """No two tenants have the same one: a name that would not stand as it is becomes `=` and its hash, and no name that
    stands as it is has a `=`. Source of the characters: Secrets Manager API Reference, CreateSecret. Capitals are
    hashed, too, so that case never decides.
    """
    if not tenant:
        raise ValueError("the name of a secret needs a tenant")
    is_plain = len(tenant) <= MAX_PLAIN_CHARS and PLAIN.issuperset(tenant)
    hashed = hashlib.sha256(tenant.encode("utf-8", "surrogatepass")).hexdigest()
    return f"acta/{environment}/{kind}/{tenant if is_plain else '=' + hashed}/"
