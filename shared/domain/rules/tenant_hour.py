"""A tenant's hourly tokens, leased to its sessions in chunks (design §6.1).

What is granted in an hour never exceeds the tenant's limit, and a session spends only what it was granted: so the
limit is not exceeded, and under-used by at most a chunk per live session. A lease ends with its hour.
"""

from datetime import UTC, datetime

from shared.domain.value import Value

CHUNK_TOKENS = 20_000


class Lease(Value):
    """`hour`: hours since 1970, UTC."""

    hour: int
    granted: int
    used: int = 0

    @property
    def left(self) -> int:
        return self.granted - self.used

    def charged(self, tokens: int) -> "Lease":
        return self.model_copy(update={"used": self.used + tokens})


def hour_of(now: datetime) -> int:
    return int(now.timestamp() // 3600)


def end_of(hour: int) -> datetime:
    return datetime.fromtimestamp((hour + 1) * 3600, UTC)


def missing(lease: Lease | None, hour: int, needed: int) -> int:
    """Tokens that have to be granted before `needed` may be spent; 0: the lease carries them."""
    left = lease.left if lease is not None and lease.hour == hour else 0
    return max(0, needed - left)


def grant(granted: int, wanted: int, limit: int) -> int | None:
    """What the session gets of the tenant's hour: a chunk, or what it needs where no chunk is left; None: too little
    is left for it in this hour."""
    for size in (max(wanted, CHUNK_TOKENS), wanted):
        if granted + size <= limit:
            return size
    return None


def extended(lease: Lease | None, hour: int, tokens: int) -> Lease:
    if lease is None or lease.hour != hour:
        return Lease(hour=hour, granted=tokens)
    return lease.model_copy(update={"granted": lease.granted + tokens})
