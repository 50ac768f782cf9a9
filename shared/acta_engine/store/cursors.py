"""Opaque cursors: the position at which a listing goes on. A cursor is valid only in the listing that issued it.

The checksum in a cursor finds mistakes, and no forgery: anybody can make one up. It protects no data, and need not:
keys are always built with the caller's own tenant. What a store would refuse as a key, too long or no text, is no
position.
"""

import base64
import binascii
import hashlib
from datetime import UTC, datetime

from acta_engine.ids import made_at

_CHECK_BYTES = 6
_SECOND_CHARS, _ID_CHARS = 8, 26
"""Of an id (`shared/acta_engine/ids.py`), after its kind: about a second. The rest would name it."""
MAX_POSITION_BYTES = 512
"""Of a position that is an id or a number. With what stands before it, it is shorter than a sort key may be: 1,024."""


def to_cursor(scope: str, position: str) -> str:
    """`scope`: the name of the listing (kind, tenant, prefix). `position`: the last thing that was listed."""
    raw = position.encode("utf-8", "surrogatepass")
    return base64.urlsafe_b64encode(_check(scope, raw) + raw).decode().rstrip("=")


def from_cursor(scope: str, cursor: str, most: int = MAX_POSITION_BYTES) -> str:
    """The position in the cursor, of at most so many bytes. Raises ValueError where the cursor is not one of this
    listing.
    """
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
    """A position in a listing, newest first, from which it goes on where it ended on something that who asks may not
    see. It names nothing, and what was made in the same second is looked at again.
    """
    kind, _, rest = key.partition("_")
    return f"{kind}_{rest[:_SECOND_CHARS]}~"


def time_of(cursor: str) -> datetime | None:
    """When the thing was made at which the cursor stands, or about. None: its position is no id that says so."""
    kind, _, digits = _raw(cursor)[_CHECK_BYTES:].decode(errors="replace").rstrip("~").partition("_")
    if len(digits) == _SECOND_CHARS:  # of `position_near`
        digits = digits.ljust(_ID_CHARS, "0")
    made = made_at(f"{kind}_{digits}")
    return None if made is None else datetime.fromtimestamp(made / 1_000, UTC)


def _raw(cursor: str) -> bytes:
    return base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)


def _check(scope: str, raw: bytes) -> bytes:
    return hashlib.sha256(scope.encode("utf-8", "surrogatepass") + b"\0" + raw).digest()[:_CHECK_BYTES]
