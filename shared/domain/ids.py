"""Opaque ids that sort by time: 48 bits of milliseconds and 80 random bits in Crockford's base 32, as in ULID.

Ids made in the same millisecond sort at random. Only listings with the newest first rely on the order.
"""

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

SESSION, RUN, MESSAGE, CALL, EFFECT, INTERVENTION = "ses", "run", "msg", "call", "eff", "int"
AGENT, MEMORY, ATTEMPT, AUDIT = "agt", "mem", "att", "aud"


def make_id(prefix: str, milliseconds: int, randomness: bytes) -> str:
    """Returns `prefix_` and 26 characters. `milliseconds`: since 1970. `randomness`: 10 random bytes."""
    value = (milliseconds << 80) | int.from_bytes(randomness[:10])
    digits = "".join(_ALPHABET[(value >> shift) & 31] for shift in range(125, -1, -5))
    return f"{prefix}_{digits}"
