"""What a tenant may use: runs it starts, sessions that are open, requests and long polls (ADR 65).

A start is whatever begins a run or makes a session: `POST /v1/sessions`, a fork, and a message to a session that is
idle or over. A session is open from the commit that begins its run to the one that ends it, waits for people included;
an idle one is not. The numbers of an environment: `USUAL_LIMITS` in `acta/infra/environments.py`.
"""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from acta.engine.errors import LimitReached, Quota, TooManyOpenSessions
from acta.engine.settings import EVERY_TENANT

MINUTE = 60
OPEN_RETRY_SECONDS = 15
"""What `Retry-After` says to a tenant with too many open sessions: nobody knows when one of them ends."""
STARTS, OPEN, REQUESTS, LONG_POLLS = "starts", "open-sessions", "requests", "long-polls"
"""Names of the limits in the `RateLimit` headers."""


class TenantLimits(NamedTuple):
    """What a tenant may use. None: there is no such limit. The first two hold exactly, the others up to a bound that
    `WINDOW` states.
    """

    starts_per_minute: int | None = None
    """Starts in a minute of the clock."""
    open_sessions: int | None = None
    requests_per_second: int | None = None
    long_polls: int | None = None
    """Long polls that wait at the same time."""


NO_LIMITS = TenantLimits()


class LimitsByTenant:
    """`limits`: by tenant. `*` stands for every tenant that is not named."""

    def __init__(self, limits: Mapping[str, TenantLimits] | None = None) -> None:
        self._limits = dict(limits or {})

    def of(self, tenant: str) -> TenantLimits:
        return self._limits.get(tenant) or self._limits.get(EVERY_TENANT, NO_LIMITS)

    @property
    def any(self) -> bool:
        """Whether any tenant has a limit."""
        return any(limit is not None for each in self._limits.values() for limit in each)


class TenantCounts(NamedTuple):
    """What a tenant has used."""

    open: int = 0
    """Sessions that count as open."""
    minute: int = 0
    """Minutes since 1970."""
    starts: int = 0
    """Starts in that minute."""


class Start(NamedTuple):
    """A start, and the limits that may refuse it."""

    minute: int
    """The minute in which it is made, since 1970."""
    most_starts: int | None = None
    """The most starts in that minute. None: no limit."""
    most_open: int | None = None
    """The most open sessions. None: no limit."""

    def refusal(self, counts: TenantCounts, opened: int, now: datetime) -> LimitReached | None:
        """Why it is refused, given what the tenant has used. None: it is allowed. `opened`: 1 if it makes one more open
        session.
        """
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


WINDOW = 10
"""Seconds. A window is short, because a tenant that has used it up waits for its end, and long enough that writes are
few.

Of each window a tenant has `limit * WINDOW` requests. A worker takes some of them, under numbers that nobody else gets,
and spends them while its clock is in that window. Numbers beyond the budget are not spent. So however many workers
there are, in any `t` seconds a tenant makes at most

    limit * (t + 2 * WINDOW + 2 * skew)  requests,

where no clock is off by more than `skew`. Long polls that wait are not among them: they are limited by their places, at
most `long_polls` at once. A poll that does not wait after all is paid for afterwards. If nothing is left for it, its
worker refuses the next request. That adds at most one request for each place and window.
"""
POLL_WINDOW = 60
"""Seconds for which a worker keeps a place for a long poll. A poll ends long before the next window does."""
WAITED_SECONDS = 1.0
"""A poll that took at least this long has waited."""
FIRST_PART, LARGEST_PART = 100, 4
"""A worker that knows nothing of the tenant takes 1/100 of the budget first, and none takes more than 1/4 at once."""


def window_of(seconds: float, length: int = WINDOW) -> int:
    return int(seconds // length)


def budget(per_second: int) -> int:
    """Requests of a window."""
    return per_second * WINDOW


def seconds_left(window: int, now: float) -> int:
    """Whole seconds until the window has ended, at least 1."""
    return max(1, math.ceil((window + 1) * WINDOW - now))


class Share(NamedTuple):
    """What one worker has of a tenant's requests in one window."""

    window: int
    size: int
    """How many requests it takes next."""
    left: int = 0
    """How many it has left."""
    spent: int = 0
    """How many it has spent in this window."""
    rest: int | None = None
    """What was left for others when it took some last. None: it has taken none yet."""
    used_up: bool = False
    """Whether there were fewer than it wanted."""

    @classmethod
    def in_window(cls, window: int, most: int, before: "Share | None") -> "Share":
        """The share to begin a window with. It takes as many as were spent in the window before, so one write is
        usually enough.
        """
        if before is not None and before.window >= window:
            return before
        recent = before is not None and before.window == window - 1
        wanted = before.spent if before is not None and recent else most // FIRST_PART
        return cls(window, max(1, min(wanted, most // LARGEST_PART)))

    def taken(self, window: int, first: int, most: int) -> "Share":
        """The share after the requests from number `first` on were taken, as far as the budget goes. The next one is
        twice as large.
        """
        got = min(self.size, max(0, most - first))
        share = self if window == self.window else Share(window, self.size)
        return share._replace(
            left=got,
            size=max(1, min(self.size * 2, most // LARGEST_PART)),
            rest=max(0, most - first - self.size),
            used_up=got < self.size,
        )

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left, and there is nothing to take."""
        return self.used_up and not self.left

    def spend(self) -> "Share":
        return self._replace(left=self.left - 1, spent=self.spent + 1)
