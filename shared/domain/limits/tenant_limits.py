"""What a tenant may use: runs it starts, sessions that are open, requests and long polls (ADR 65).

A start is whatever begins a run or makes a session: `POST /v1/sessions`, a fork, and a message to a session that is
idle or over. A session is open from the commit that begins its run to the one that ends it, waits for people included;
an idle one is not.
"""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from shared.domain.definitions.function_names import EVERY_TENANT
from shared.domain.errors import LimitReached, Quota, TooManyOpenSessions

MINUTE = 60
OPEN_RETRY_SECONDS = 15
"""Nobody knows when a session ends, so this is what who has too many open is told."""
STARTS, OPEN, REQUESTS, LONG_POLLS = "starts", "open-sessions", "requests", "long-polls"
"""Names of the limits in the `RateLimit` headers."""


class TenantLimits(NamedTuple):
    """None: no such limit. `starts_per_minute`: of a minute of the clock. The first two hold exactly, the others to a
    bound that `leased_rate.py` states.
    """

    starts_per_minute: int | None = None
    open_sessions: int | None = None
    requests_per_second: int | None = None
    long_polls: int | None = None


NO_LIMITS = TenantLimits()


class LimitsByTenant:
    """`limits`: by the tenant's name; `*`: of every tenant that has none of its own."""

    def __init__(self, limits: Mapping[str, TenantLimits] | None = None) -> None:
        self._limits = dict(limits or {})

    def of(self, tenant: str) -> TenantLimits:
        return self._limits.get(tenant) or self._limits.get(EVERY_TENANT, NO_LIMITS)

    @property
    def any(self) -> bool:
        """Whether any tenant has a limit."""
        return any(limit is not None for each in self._limits.values() for limit in each)

    @property
    def any_open(self) -> bool:
        """Whether any tenant's open sessions are limited."""
        return any(each.open_sessions is not None for each in self._limits.values())


class TenantCounts(NamedTuple):
    """`open`: sessions that are counted as open. `starts`: in `minute`, which is counted since 1970."""

    open: int = 0
    minute: int = 0
    starts: int = 0


class Start(NamedTuple):
    """A start, and the limits that it is refused for. `minute`: the one it is made in, since 1970."""

    minute: int
    most_starts: int | None = None
    most_open: int | None = None

    def refusal(self, counts: TenantCounts, opened: int, now: datetime) -> LimitReached | None:
        """Why it may not be, after what the tenant has already. `opened`: 1 where it makes an open session more."""
        if self.most_open is not None and opened > 0 and counts.open >= self.most_open:
            return TooManyOpenSessions(
                f"Your tenant has {counts.open} open sessions and may have {self.most_open}. Wait until one ends, "
                "cancel one, or decide what one waits for.",
                Quota(OPEN, self.most_open),
                OPEN_RETRY_SECONDS,
            )
        if self.most_starts is None or counts.minute < self.minute or counts.starts < self.most_starts:
            return None
        seconds = max(1, math.ceil((counts.minute + 1) * MINUTE - now.timestamp()))
        return LimitReached(
            f"Your tenant has started {counts.starts} runs in this minute, as many as it may. Send this again in "
            f"{seconds} seconds.",
            Quota(STARTS, self.most_starts, MINUTE),
            seconds,
        )


def minute_of(now: datetime) -> int:
    """Minutes since 1970."""
    return int(now.timestamp() // MINUTE)
