"""Opaque cursors: where a listing goes on, usable only in the listing that handed it out.

Keys are always built under the caller's own tenant, so the check protects no data: it tells a mistaken or
made-up cursor from a real one, which is the caller's error and gets ValueError.
"""

import base64
import binascii
import hashlib

_CHECK_BYTES = 6


def to_cursor(scope: str, position: str) -> str:
    """`scope` names the listing (kind, tenant, prefix), `position` the last thing seen."""
    raw = position.encode("utf-8", "surrogatepass")
    return base64.urlsafe_b64encode(_check(scope, raw) + raw).decode().rstrip("=")


def from_cursor(scope: str, cursor: str) -> str:
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
