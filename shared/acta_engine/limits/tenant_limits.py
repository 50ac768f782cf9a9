"""What a tenant may use: runs it starts, sessions that are open, requests and long polls (ADR 65).

A start is whatever begins a run or makes a session: `POST /v1/sessions`, a fork, and a message to a session that is
idle or over. A session is open from the commit that begins its run to the one that ends it, waits for people included;
an idle one is not.
"""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from acta_engine.errors import LimitReached, Quota, TooManyOpenSessions
from acta_engine.tools.tool import EVERY_TENANT

MINUTE = 60
OPEN_RETRY_SECONDS = 15
"""Nobody knows when a session ends, so this is what who has too many open is told."""
STARTS, OPEN, REQUESTS, LONG_POLLS = "starts", "open-sessions", "requests", "long-polls"
"""Names of the limits in the `RateLimit` headers."""


class TenantLimits(NamedTuple):
    """None: no such limit. `starts_per_minute`: of a minute of the clock. The first two hold exactly, the others to a
    bound that `WINDOW` states.
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


WINDOW = 10
"""Seconds. Short, because who has used it up waits for its end; long enough that writes are few.

Of each window a tenant has `limit * WINDOW` requests. A worker takes some of them, under numbers that nobody else gets,
and spends them while its clock is in that window. Numbers beyond the budget are not spent. So however many workers
there are, in any `t` seconds a tenant makes at most

    limit * (t + 2 * WINDOW + 2 * skew)  requests,

where no clock is further off than `skew`. Long polls that wait are not among them, for they are bounded by their
places: at most `long_polls` at once. One that does not wait after all is paid for afterwards; where that cannot be, its
worker refuses the next. These are at most one for each place and window more.
"""
POLL_WINDOW = 60
"""Seconds for which a worker keeps a place for a long poll. A poll ends long before the window after its own does."""
WAITED_SECONDS = 1.0
"""A poll that took at least so long has waited."""
FIRST_PART, LARGEST_PART = 100, 4
"""Of the budget, the part that a worker without a history takes first, and the most that any takes at once."""


def window_of(seconds: float, length: int = WINDOW) -> int:
    return int(seconds // length)


def budget(per_second: int) -> int:
    """Requests of a window."""
    return per_second * WINDOW


def seconds_left(window: int, now: float) -> int:
    """Whole seconds until the window has ended, at least 1."""
    return max(1, math.ceil((window + 1) * WINDOW - now))


class Share(NamedTuple):
    """One worker's, of one tenant and window. `size`: what it takes next. `spent`: in this window. `rest`: what was
    left to others when it took last; None: it has not taken yet. `used_up`: there was less than it wanted.
    """

    window: int
    size: int
    left: int = 0
    spent: int = 0
    rest: int | None = None
    used_up: bool = False

    @classmethod
    def in_window(cls, window: int, most: int, before: "Share | None") -> "Share":
        """What to begin a window with: as much as was spent in the one before, so that it is one write."""
        if before is not None and before.window >= window:
            return before
        recent = before is not None and before.window == window - 1
        wanted = before.spent if before is not None and recent else most // FIRST_PART
        return cls(window, max(1, min(wanted, most // LARGEST_PART)))

    def taken(self, window: int, first: int, most: int) -> "Share":
        """With the requests from number `first` on, as far as the budget goes. The next share is twice as large."""
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
        """Nothing is left here, and nothing to take."""
        return self.used_up and not self.left

    def spend(self) -> "Share":
        return self._replace(left=self.left - 1, spent=self.spent + 1)
