"""The only source of time, random numbers and ids, so that tests can replace it.

Ids are opaque and sort by time: 48 bits of milliseconds and 80 random bits in Crockford's base 32, as in ULID. Ids made
in the same millisecond sort at random. Only listings with the newest first rely on the order.
"""

import hashlib
import os
import time
from datetime import UTC, datetime
from typing import Protocol

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

SESSION, RUN, MESSAGE, CALL, EFFECT, INTERVENTION = "ses", "run", "msg", "call", "eff", "int"
AGENT, MEMORY, ATTEMPT, AUDIT, SCHEDULE = "agt", "mem", "att", "aud", "sch"


def make_id(prefix: str, milliseconds: int, randomness: bytes) -> str:
    """Returns `prefix_` and 26 characters. `milliseconds`: since 1970. `randomness`: 10 random bytes."""
    value = (milliseconds << 80) | int.from_bytes(randomness[:10])
    digits = "".join(_ALPHABET[(value >> shift) & 31] for shift in range(125, -1, -5))
    return f"{prefix}_{digits}"


LAST_MILLISECOND = 253_402_300_799_999
"""Of the year 9999. No calendar here has a later time."""


def made_at(made_id: str) -> int | None:
    """The milliseconds since 1970 in an id. None: it is no id of this form."""
    digits = made_id.partition("_")[2]
    if len(digits) != 26 or any(digit not in _ALPHABET for digit in digits):
        return None
    value = 0
    for digit in digits:
        value = value << 5 | _ALPHABET.index(digit)
    made = value >> 80
    return made if made <= LAST_MILLISECOND else None


def derived_id(prefix: str, of: str, name: str = "") -> str:
    """The id that belongs to another id: whoever makes it again makes the same one. `name`: which of several with this
    prefix.
    """
    return make_id(prefix, made_at(of) or 0, hashlib.sha256(f"{of}/{name or prefix}".encode()).digest())


def is_id(prefix: str, text: str) -> bool:
    """Whether the text has the form of an id with this prefix, and so says nothing else."""
    return text.startswith(f"{prefix}_") and made_at(text) is not None


class Clock(Protocol):
    def now(self) -> datetime:
        """The current time, with time zone UTC."""

    def new_id(self, prefix: str) -> str:
        """A new opaque id that sorts by time (`make_id`)."""

    def sleep(self, seconds: float) -> None:
        """Waits, between two reads of a long poll."""

    def back_off(self, max_seconds: float) -> None:
        """Waits a random time of at most `max_seconds`, after another writer was faster: so that both do not collide
        again.
        """


class SystemClock:
    """The clock and the random numbers of the operating system."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def new_id(self, prefix: str) -> str:
        return make_id(prefix, time.time_ns() // 1_000_000, os.urandom(10))

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def back_off(self, max_seconds: float) -> None:
        time.sleep(max_seconds * int.from_bytes(os.urandom(4)) / 2**32)
