"""Opaque cursors: the position at which a listing goes on. A cursor is valid only in the listing that issued it.

The checksum in a cursor finds cursors that are mistaken or made up. It protects no data, and need not: keys are always
built with the caller's own tenant.
"""

import base64
import binascii
import hashlib

_CHECK_BYTES = 6


def to_cursor(scope: str, position: str) -> str:
    """`scope`: the name of the listing (kind, tenant, prefix). `position`: the last thing that was listed."""
    raw = position.encode("utf-8", "surrogatepass")
    return base64.urlsafe_b64encode(_check(scope, raw) + raw).decode().rstrip("=")


def from_cursor(scope: str, cursor: str) -> str:
    """The position in the cursor. Raises ValueError where the cursor is not one of this listing."""
    try:
        data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        check, raw = data[:_CHECK_BYTES], data[_CHECK_BYTES:]
        position = raw.decode("utf-8", "surrogatepass")
    except (binascii.Error, ValueError):
        raise ValueError("not a cursor of this listing") from None
    if check != _check(scope, raw) or cursor != to_cursor(scope, position):
        raise ValueError("not a cursor of this listing")
    return position


def _check(scope: str, raw: bytes) -> bytes:
    return hashlib.sha256(scope.encode("utf-8", "surrogatepass") + b"\0" + raw).digest()[:_CHECK_BYTES]
