"""How one worker spends its share of a tenant's rate, and what the tenant's total is bounded by (ADR 65).

Of each window of `WINDOW` seconds a tenant has `limit * WINDOW` requests. A worker takes some of them, under numbers
that nobody else gets, and spends them while its clock is in that window. Numbers beyond the budget are not spent. So
however many workers there are, in any `t` seconds a tenant makes at most

    limit * (t + 2 * WINDOW + 2 * skew)  requests,

where no clock is further off than `skew`. Long polls that wait are not among them, for they are bounded by their
places: at most `long_polls` at once. One that does not wait after all is paid for afterwards; where that cannot be, its
worker refuses the next. These are at most one for each place and window more.
"""

import math
from typing import NamedTuple

WINDOW = 10
"""Seconds. Short, because who has used it up waits for its end; long enough that writes are few."""
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
