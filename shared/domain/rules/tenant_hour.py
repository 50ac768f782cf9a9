"""A tenant's hourly tokens, which are leased to its sessions in chunks (design §6.1).

The tokens granted in an hour never exceed the tenant's limit, and a session spends only what it was granted. So the
tenant never exceeds its limit. At most one chunk per running session stays unused. A lease ends with its hour.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple
from zlib import crc32

from shared.domain.schema.stored_model import StoredModel

CHUNK_TOKENS = 20_000
SHARE_TOKENS = 10_000_000
MOST_SHARES = 32
"""An hour with this many tokens for each share is given out in shares, because one item takes only some tens of grants
a second. A smaller one is a single item."""
DRAWS = 8
"""Parts in which a share is given what is its own, if all shares are used alike."""


class Lease(StoredModel):
    """The tokens that a session was granted in an hour. `hour`: hours since 1970, UTC."""

    hour: int
    granted: int
    used: int = 0

    @property
    def left(self) -> int:
        return self.granted - self.used

    def charged(self, tokens: int) -> "Lease":
        return self.model_copy(update={"used": self.used + tokens})


def hour_of(now: datetime) -> int:
    """Hours since 1970, UTC."""
    return int(now.timestamp() // 3600)


def end_of_hour(hour: int) -> datetime:
    return datetime.fromtimestamp((hour + 1) * 3600, UTC)


def tokens_missing(lease: Lease | None, hour: int, needed: int) -> int:
    """The tokens that must be granted before `needed` may be spent; 0: the lease has enough."""
    left = lease.left if lease is not None and lease.hour == hour else 0
    return max(0, needed - left)


def grant_size(granted: int, wanted: int, limit: int) -> int | None:
    """The tokens that a session is granted: a chunk, or what it needs where that is more or no chunk is left.

    `granted`: to all sessions of the tenant in this hour. `wanted`: what the session needs. `limit`: the tenant's
    (`Settings.tenant_tokens_per_hour`). None: the hour has too little left.
    """
    for size in (max(wanted, CHUNK_TOKENS), wanted):
        if granted + size <= limit:
            return size
    return None


class HourShare(NamedTuple):
    """Tokens of an hour that a share was `given`, and that sessions were `granted` from it."""

    given: int = 0
    granted: int = 0

    def granting(self, size: int, drawn: int = 0) -> "HourShare":
        return HourShare(self.given + drawn, self.granted + size)


def shares_of(limit: int) -> int:
    """In how many shares an hour of so many tokens is given out; 1: in none, the hour's own item has all of it."""
    return max(1, min(MOST_SHARES, limit // SHARE_TOKENS))


def shares_in_turn(session_id: str, shares: int) -> Iterator[int]:
    """The session's own share, and then the others, each session's from its own on."""
    own = crc32(session_id.encode()) % shares
    return ((own + step) % shares for step in range(shares))


def draw_size(granted: int, share: HourShare, wanted: int, limit: int) -> int | None:
    """The tokens that a share takes from the hour, so that a session may be granted `wanted` from it. `granted`: all
    that the hour has given. None: the hour has too little left.
    """
    drawn = min(max(limit // (shares_of(limit) * DRAWS), wanted), limit - granted)
    return drawn if share.given - share.granted + drawn >= wanted and drawn > 0 else None


def with_grant(lease: Lease | None, hour: int, tokens: int) -> Lease:
    """The lease with `tokens` more. A lease of another hour is replaced."""
    if lease is None or lease.hour != hour:
        return Lease(hour=hour, granted=tokens)
    return lease.model_copy(update={"granted": lease.granted + tokens})
