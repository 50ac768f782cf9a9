"""Opaque, time-ordered ids: 48 bits of milliseconds and 80 of chance in Crockford's base 32 (ULID's layout).

Ids of one millisecond order by chance; nothing relies on their order but the newest-first listing of sessions.
"""

import re

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PATTERN = re.compile(r"[a-z]{2,4}_[0-9A-HJKMNP-TV-Z]{26}")

SESSION, RUN, MESSAGE, CALL, EFFECT, INTERVENTION = "ses", "run", "msg", "call", "eff", "int"
AGENT, MEMORY = "agt", "mem"


def make_id(prefix: str, milliseconds: int, chance: bytes) -> str:
    """`milliseconds` since 1970 and 10 bytes of chance give `prefix_` and 26 characters."""
    value = (milliseconds << 80) | int.from_bytes(chance[:10])
    digits = "".join(_ALPHABET[(value >> shift) & 31] for shift in range(125, -1, -5))
    return f"{prefix}_{digits}"


def is_id(text: str, prefix: str) -> bool:
    """Whether `text` has the shape of an id with that prefix; anything else is unknown without a look-up."""
    return text.startswith(f"{prefix}_") and _PATTERN.fullmatch(text) is not None
