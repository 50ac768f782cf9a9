"""How long polls may wait while the functions' concurrency runs short (design §3, ADR 42).

Load: concurrent executions in use, as a part of those there are. A measure is minutes old when it is used, so what
changes between two measures is little: the share falls fast, rises slowly, and rests in between.

The longest wait without load: `shared/acta_engine/sessions/polling_routes.py`.
"""

from typing import NamedTuple

FULL, HIGH, LOW = 0.8, 0.6, 0.3
SMALLEST = 0.01
RISE = 1.25
"""For each measure. Four rises before the first one shows do not lead from `LOW` to `FULL`."""
MOST_EXTRA_MS = 9_000
"""Added to the usual pause where nothing may wait. Else whoever does not wait would come again at once, and the
requests would be the load."""


class LongPolls(NamedTuple):
    """`share`: of the time that a poll asks for, how much it gets; 0 to 1."""

    share: float = 1.0

    def seconds(self, asked: float) -> float:
        return asked * self.share

    def pause_ms(self, usual: int, asked: float = 0.0) -> int:
        """When to come again. `usual`: without load. `asked`: the seconds that the poll would wait. They are a part of
        that pause: who is held until something happens may come again at once.
        """
        rest = max(0, usual - round(self.seconds(asked) * 1_000))
        return rest + round((1 - self.share) * MOST_EXTRA_MS)


def after_measuring(before: LongPolls, load: float) -> LongPolls:
    """What holds from now on."""
    if load >= FULL:
        return LongPolls(0.0)
    if load >= HIGH:
        return LongPolls(before.share / 2 if before.share > SMALLEST else 0.0)
    if load >= LOW:
        return before
    return LongPolls(min(1.0, max(SMALLEST, before.share * RISE)))
