"""A tenant's hourly tokens, which are leased to its sessions in chunks (docs/design/budgets.md 20).

The tokens granted in an hour never exceed the tenant's limit, and a session spends only what it was granted. So the
tenant never exceeds its limit. The commit that ends or parks a run gives back what its session has not used, so at most
one chunk per running session stays unused. A lease ends with its hour.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple
from zlib import crc32

from acta_engine.store.schema import StoredModel

CHUNK_TOKENS = 20_000
SHARE_TOKENS = 10_000_000
MOST_SHARES = 32
"""An hour with this many tokens for each share is given out in shares, because one item takes only some tens of grants
a second. A smaller one is a single item."""
DRAWS = 8
"""Parts in which a share is given what is its own, if all shares are used alike."""


class Lease(StoredModel):
    """The tokens that a session was granted in an hour."""

    hour: int
    """Hours since 1970, UTC."""
    granted: int
    used: int = 0
    share: int | None = None
    """The share of a large hour that granted tokens last. What is left goes back there. None: the hour has no shares.
    """

    @property
    def left(self) -> int:
        return self.granted - self.used

    def charged(self, tokens: int) -> "Lease":
        return self.model_copy(update={"used": self.used + tokens})


class LeaseChange(NamedTuple):
    """The tokens of its tenant's hour that a commit takes for its session or gives back. They are changed with the
    commit or not at all. A grant is refused where too little is left; what is given back is always taken.
    """

    tenant: str
    hour: int
    """Hours since 1970, UTC."""
    tokens: int
    """Granted to the session; below 0: given back."""
    limit: int = 0
    """The most that the hour may give out in all. Only a grant needs it."""
    share: int | None = None
    """The share of a large hour that the tokens come from or go back to. None: the hour itself."""
    drawn: int = 0
    """Tokens that the share takes from the hour for this grant."""

    @property
    def of_hour(self) -> int:
        """Tokens that the hour's own item gives out."""
        return self.tokens if self.share is None else self.drawn

    @property
    def of_share(self) -> int:
        """By how much what is free in the share changes."""
        return 0 if self.share is None else self.drawn - self.tokens


def hour_of(now: datetime) -> int:
    """Hours since 1970, UTC."""
    return int(now.timestamp() // 3600)


def end_of_hour(hour: int) -> datetime:
    return datetime.fromtimestamp((hour + 1) * 3600, UTC)


def tokens_missing(lease: Lease | None, hour: int, needed: int) -> int:
    """The tokens that must be granted before `needed` may be spent; 0: the lease has enough."""
    left = lease.left if lease is not None and lease.hour == hour else 0
    return max(0, needed - left)


def grant_size(free: int, wanted: int) -> int | None:
    """The tokens that a session is granted: a chunk, or what it needs where that is more or no chunk is left.

    `free`: what may still be granted. `wanted`: what the session needs. None: too little is left.
    """
    chunk = max(wanted, CHUNK_TOKENS)
    if chunk <= free:
        return chunk
    return wanted if wanted <= free else None


def shares_of(limit: int) -> int:
    """In how many shares an hour of so many tokens is given out; 1: in none, the hour's own item has all of it."""
    return max(1, min(MOST_SHARES, limit // SHARE_TOKENS))


def shares_in_turn(session_id: str, shares: int) -> Iterator[int]:
    """The session's own share, and then the others, each session's from its own on."""
    own = crc32(session_id.encode()) % shares
    return ((own + step) % shares for step in range(shares))


def draw_size(left: int, lacking: int, limit: int) -> int:
    """The tokens that a share takes from the hour when it lacks some for a grant: an eighth of its part, or more where
    that is not enough. `left`: what the hour has not given out yet.
    """
    return max(0, min(max(limit // (shares_of(limit) * DRAWS), lacking), left))


def with_grant(lease: Lease | None, hour: int, tokens: int, share: int | None = None) -> Lease:
    """The lease with `tokens` more. A lease of another hour is replaced."""
    before = lease if lease is not None and lease.hour == hour else Lease(hour=hour, granted=0)
    return before.model_copy(update={"granted": before.granted + tokens, "share": share})
