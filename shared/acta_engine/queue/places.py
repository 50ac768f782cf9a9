"""How many model calls a provider takes from us: a bucket for each provider's key (ADR 106). Pure functions.

A bucket has two values, of tokens and of requests. Each is the time up to which what was granted is paid for. A grant
moves it on by what it costs at the limit's rate, and may be made as long as it stays within `BURST` of now. So in any
`t` seconds at most `limit / 60 * (t + BURST)` are granted. A grant larger than that fits where nothing is owed.

A worker takes what its call may cost at most, and takes more at once where the bucket is nearly full. What the call did
not use it keeps for its next calls, or gives back where that is worth a write (`is_worth_returning`). What it keeps
longer than `HOLD` is lost: less is used, never more. So the bound above is passed by at most what calls did not use.
"""

import math
from datetime import datetime, timedelta
from typing import NamedTuple

MINUTE = 60_000
"""Milliseconds: whole ones are what is stored."""
BURST = 15_000
HOLD = timedelta(seconds=30)
LINE = timedelta(minutes=3)
"""A line that no dispatcher looks after stops nobody for longer. Each look renews it; joining it does not."""
ASKS_AGAIN = timedelta(minutes=11)
"""After which a session that waits in a line asks for its call again. Where there still is a line it keeps its place.
"""
PASSED_OVER_FOR = timedelta(minutes=2)
"""The dispatcher drops a place this long after it first had to pass it over, for whatever reason. Recovery starts a
waiting session `ASKS_AGAIN` after its wait was committed, and its next call joins the line again with the same `since`.
"""
RETURNED_PART = 100
"""Where others take from the bucket too, less than this fraction (1/100) of a burst is not given back."""
LARGEST_PART, MORE = 10, 4
"""A worker takes so many times what its call needs, if that is at most this fraction (1/10) of a burst."""


LEARNT_FOR = timedelta(minutes=30)
"""A lower limit is believed at once, a higher one once the lower one is so old: each model may have its own."""
LEARN_AGAIN = timedelta(minutes=10)
"""The same limits are written down again after this."""


class ProviderLimits(NamedTuple):
    """What a provider takes in a minute. None: no such limit, or nobody knows it yet."""

    tokens_per_minute: int | None = None
    requests_per_minute: int | None = None


LEARN = ProviderLimits()
"""What the provider takes is what its answers say."""


class Wanted(NamedTuple):
    """What a call may use: input and output together, as its reservation has it."""

    tokens: int = 0
    requests: int = 1


class Price(NamedTuple):
    """Of a grant, in milliseconds of the limits' time. 0: no such limit."""

    tokens: int = 0
    requests: int = 0

    @classmethod
    def of(cls, limits: ProviderLimits, wanted: Wanted) -> "Price":
        return cls(
            _price(wanted.tokens, limits.tokens_per_minute),
            _price(wanted.requests, limits.requests_per_minute),
        )

    def plus(self, more: "Price") -> "Price":
        return Price(self.tokens + more.tokens, self.requests + more.requests)

    @property
    def is_small(self) -> bool:
        """Whether it is little beside what a full bucket has."""
        return max(self) * LARGEST_PART <= BURST

    def is_worth_returning(self, *, is_idle: bool) -> bool:
        """Whether unused tokens of this price are given back. `is_idle`: nothing was owed when the worker took them."""
        return not self.is_small or (not is_idle and max(self) * RETURNED_PART >= BURST)


def _price(amount: int, per_minute: int | None) -> int:
    return math.ceil(max(0, amount) * MINUTE / per_minute) if per_minute else 0


class Bucket(NamedTuple):
    """All in milliseconds since 1970. `tokens`, `requests`: what was granted is paid for up to then. `line`: until then
    a line is taken to exist. `last`: the tenant that was admitted from
    the line last. `limits`: what the provider's answers say that it takes, as of `learnt`. `shared`: until then
    workers admit what one dispatcher has paid for, and other dispatchers leave the line alone.
    """

    tokens: int = 0
    requests: int = 0
    line: int = 0
    last: str = ""
    limits: ProviderLimits = LEARN
    learnt: int = 0
    shared: int = 0

    def after(self, price: Price, now: int) -> "Bucket | None":
        """The bucket once the price was taken; None: it has not enough."""
        if not _carries(self.tokens, price.tokens, now) or not _carries(self.requests, price.requests, now):
            return None
        tokens, requests = _moved(self.tokens, price.tokens, now), _moved(self.requests, price.requests, now)
        return self._replace(tokens=tokens, requests=requests)

    def given_back(self, tokens: int, now: int) -> "Bucket":
        """`tokens`: the price of those that were taken and not used. A bucket that owes nothing is as full as it can
        be, so it is never moved to before now.
        """
        return self._replace(tokens=max(now, self.tokens - tokens)) if self.tokens > now else self

    def has_to_learn(self, named: ProviderLimits, now: int) -> bool:
        """Whether these limits, which an answer has named, take the place of the ones before."""
        age = timedelta(milliseconds=now - self.learnt)
        if named == self.limits:
            return age >= LEARN_AGAIN
        pairs = zip(named, self.limits, strict=True)
        is_lower = any(new is not None and (old is None or new < old) for new, old in pairs)
        return is_lower or age >= LEARNT_FOR

    def has_line(self, now: int) -> bool:
        return self.line > now

    def is_shared(self, now: int, mine: int = 0) -> bool:
        """Whether a dispatcher shares the line out, another one than the one that has said so with `mine`."""
        return self.shared > now and self.shared != mine

    def carries_all(self, price: Price, now: int) -> bool:
        """Whether it carries the price of several calls. What is above a burst fits for one call alone."""
        return max(price) <= BURST and self.after(price, now) is not None

    def seconds_until(self, price: Price, now: int) -> float:
        """When it will carry the price, if nobody else takes anything before."""
        waits = [_wait(self.tokens, price.tokens, now), _wait(self.requests, price.requests, now)]
        return max(0, *waits) / 1_000


def _moved(paid: int, price: int, now: int) -> int:
    return max(paid, now) + price if price else paid


def _carries(paid: int, price: int, now: int) -> bool:
    return not price or paid <= now or paid + price <= now + BURST


def _wait(paid: int, price: int, now: int) -> int:
    return paid - now - max(0, BURST - price) if price else 0


def in_milliseconds(at: datetime) -> int:
    return int(at.timestamp() * 1_000)


class Held(NamedTuple):
    """What a worker has taken and not used, of one provider. It is good until `until`."""

    tokens: int = 0
    requests: int = 0
    until: datetime | None = None
    limits: ProviderLimits = LEARN
    """Of the provider when they were taken. At other limits they would have another price, so they are lost then."""

    def at(self, now: datetime, limits: ProviderLimits) -> "Held":
        is_good = self.until is not None and self.until > now and self.limits == limits
        return self if is_good else Held(limits=limits)

    def lacks(self, wanted: Wanted) -> Wanted:
        """What has to be taken before the call."""
        return Wanted(max(0, wanted.tokens - self.tokens), max(0, wanted.requests - self.requests))

    def plus(self, tokens: int, requests: int, now: datetime) -> "Held":
        """Never less than nothing: what a call used beyond its reservation is not made good."""
        return Held(max(0, self.tokens + tokens), max(0, self.requests + requests), now + HOLD, self.limits)


class InLine(NamedTuple):
    """A session that waits until its provider's bucket carries its call. `since`: when it began to wait; it keeps its
    place where it comes again.
    """

    provider: str
    tenant: str
    session_id: str
    since: datetime
    tokens: int
