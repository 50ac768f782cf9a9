"""Opaque, time-ordered ids: 48 bits of milliseconds and 80 of chance in Crockford's base 32 (ULID's layout).

Ids of one millisecond order by chance; nothing relies on their order but the newest-first listing of sessions.
"""

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

SESSION, RUN, MESSAGE, CALL, EFFECT, INTERVENTION = "ses", "run", "msg", "call", "eff", "int"
AGENT, MEMORY = "agt", "mem"


def make_id(prefix: str, milliseconds: int, chance: bytes) -> str:
    """`milliseconds` since 1970 and 10 bytes of chance give `prefix_` and 26 characters."""
    value = (milliseconds << 80) | int.from_bytes(chance[:10])
    digits = "".join(_ALPHABET[(value >> shift) & 31] for shift in range(125, -1, -5))
    return f"{prefix}_{digits}"
