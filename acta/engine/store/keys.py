"""What storage keys and cursors are made of.

Parts of keys are made from strings that come from outside, such as a tenant's name or a session's id. A part has no
`#`, `/` or other separator, and two different strings never give the same part. So no name of a tenant, however it is
spelled, reaches data under another tenant's prefix.

A cursor is opaque: the position at which a listing goes on. It is valid only in the listing that issued it. The
checksum in a cursor finds mistakes, but no forgery: anybody can make one up. It need not protect data, because keys are
always built with the caller's own tenant. A position that a store would refuse as a key, because it is too long or no
text, is not accepted.
"""

import base64
import binascii
import hashlib
from datetime import UTC, datetime
from functools import lru_cache
from urllib.parse import quote, unquote

from acta.engine.clock import made_at

PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_.-")
MAX_PLAIN_CHARS = 64
"""In names of secrets, a tenant's name that is longer, or has other than plain characters, is replaced by its hash."""

MAX_PART_BYTES = 200
"""A longer part is replaced by its hash, because keys of S3 and sort keys of DynamoDB have at most 1,024 bytes."""
MAX_TENANT_BYTES = 64
"""The same for a tenant's part, which is in a session policy six times. AWS bounds their packed size (ADR 203)."""
HASHED = "%sha256-"
TENANT = "T#"
RECEIVERS_SECRET = "webhook"
"""The name of the one secret under `notification_secrets_prefix`."""
FILES, SESSIONS = "files", "sessions"
"""The kinds of tenants' objects, which their keys begin with: files, and texts of sessions."""


@lru_cache(maxsize=1_024)
def key_part(text: str, most: int = MAX_PART_BYTES) -> str:
    """The text, percent-encoded. Raises ValueError where it is empty: a prefix without a tenant would hold everyone's
    data. `most`: the bytes of a part that is not hashed.

    A leading dot becomes `%2E`, and a long text `%sha256-…`. Percent-encoding produces neither, so these cannot be
    mistaken for another text.
    """
    if not text:
        raise ValueError("a key needs a tenant and a session")
    part = quote(text, safe="", errors="surrogatepass")
    if part.startswith("."):
        part = "%2E" + part[1:]
    if len(part) > most:
        return HASHED + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return part


def tenant_part(tenant: str) -> str:
    """How a tenant is named in every key."""
    return key_part(tenant, MAX_TENANT_BYTES)


def tenant_pk(tenant: str) -> str:
    """The partition of a tenant's items. Its other partitions begin with this and a `#`."""
    return f"{TENANT}{tenant_part(tenant)}"


def tenant_prefix(kind: str, tenant: str) -> str:
    """The prefix of the keys of all the tenant's objects of a kind, `FILES` or `SESSIONS`."""
    return f"{kind}/{tenant_part(tenant)}/"


def part_text(part: str) -> str | None:
    """The text that `key_part` made the part of. None: it was too long, and the part is its hash."""
    return None if part.startswith(HASHED) else unquote(part, errors="surrogatepass")


def tool_secrets_prefix(environment: str, tenant: str) -> str:
    """The prefix of the names in Secrets Manager of all secrets of the tenant's tools."""
    return _secrets_prefix(environment, "tools", tenant)


def notification_secrets_prefix(environment: str, tenant: str) -> str:
    """The prefix of the names of the secrets that sign notifications to the tenant's webhooks."""
    return _secrets_prefix(environment, "notify", tenant)


def _secrets_prefix(environment: str, kind: str, tenant: str) -> str:
    """The prefix of a tenant's secrets. No two tenants have the same one: a name that cannot stay as it is becomes `=`
    and its hash, and no name that stays as it is has a `=`. Source of the characters: Secrets Manager API Reference,
    CreateSecret. Names with capitals are hashed too, so that two names never differ only in case."""
    if not tenant:
        raise ValueError("the name of a secret needs a tenant")
    is_plain = len(tenant) <= MAX_PLAIN_CHARS and PLAIN.issuperset(tenant)
    hashed = hashlib.sha256(tenant.encode("utf-8", "surrogatepass")).hexdigest()
    return f"acta/{environment}/{kind}/{tenant if is_plain else '=' + hashed}/"


_CHECK_BYTES = 6
_SECOND_CHARS, _ID_CHARS = 8, 26
"""The characters of an id (`acta/engine/clock.py`), after its kind: those characters that tell its time to about
a second, and all. All of them would name the item."""
MAX_POSITION_BYTES = 512
"""The longest position that is an id or a number. A sort key with it stays below 1,024 bytes."""


def to_cursor(scope: str, position: str) -> str:
    """`scope`: the name of the listing (kind, tenant, prefix). `position`: the last thing that was listed."""
    raw = position.encode("utf-8", "surrogatepass")
    return base64.urlsafe_b64encode(_check(scope, raw) + raw).decode().rstrip("=")


def from_cursor(scope: str, cursor: str, most: int = MAX_POSITION_BYTES) -> str:
    """The position in the cursor, at most `most` bytes. Raises ValueError if the cursor is not of this listing."""
    try:
        data = _raw(cursor)
        check, raw = data[:_CHECK_BYTES], data[_CHECK_BYTES:]
        position = raw.decode()
    except (binascii.Error, ValueError):
        raise ValueError("not a cursor of this listing") from None
    if len(raw) > most or check != _check(scope, raw) or cursor != to_cursor(scope, position):
        raise ValueError("not a cursor of this listing")
    return position


def position_near(key: str) -> str:
    """A position near `key` in a listing, newest first, for a page that ended on an item that the caller may not see.
    It names no item, so items that were made in the same second are looked at again."""
    kind, _, rest = key.partition("_")
    return f"{kind}_{rest[:_SECOND_CHARS]}~"


def time_of(cursor: str) -> datetime | None:
    """When, or about when, the item was made at which the cursor stands. None: its position is no id with a time."""
    kind, _, digits = _raw(cursor)[_CHECK_BYTES:].decode(errors="replace").rstrip("~").partition("_")
    if len(digits) == _SECOND_CHARS:  # of `position_near`
        digits = digits.ljust(_ID_CHARS, "0")
    made = made_at(f"{kind}_{digits}")
    return None if made is None else datetime.fromtimestamp(made / 1_000, UTC)


def _raw(cursor: str) -> bytes:
    return base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)


def _check(scope: str, raw: bytes) -> bytes:
    return hashlib.sha256(scope.encode("utf-8", "surrogatepass") + b"\0" + raw).digest()[:_CHECK_BYTES]
