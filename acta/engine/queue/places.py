"""How many model calls a provider takes from us: a bucket for each provider's key, and a line of the sessions that wait
for it (ADR 106). The rules are pure; `AdmissionStore` is where buckets and lines are kept.

A bucket holds two points in time, one for tokens and one for requests. What was granted is paid for up to that point. A
grant moves the point forward by what the call costs at the limit's rate, and is made as long as the point stays within
`BURST` of now. So in any `t` seconds at most `limit / 60 * (t + BURST)` are granted. A call that is larger than a burst
is granted if nothing is owed.

A worker takes the most that its call may cost, and takes more at once where the bucket is nearly full. It keeps what
the call did not use for its next calls, or gives it back where that is worth a write (`is_worth_returning`). What it
keeps for longer than `HOLD` is lost, so less is used and never more. The bound above is therefore exceeded by at most
what calls did not use.
"""

import math
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

MINUTE = 60_000
"""A minute in milliseconds. Times are stored as whole milliseconds."""
BURST = 15_000
"""Milliseconds of the limit's rate that a bucket grants at once."""
HOLD = timedelta(seconds=30)
"""For so long a worker may use what it took for an earlier call."""
LINE = timedelta(minutes=3)
"""A line that no dispatcher looks after holds nobody up for longer than this. Each look of a dispatcher renews it; a
session that joins does not.
"""
ASKS_AGAIN = timedelta(minutes=11)
"""A session that has waited in a line for this long asks for its call again. If the line is still there, it keeps its
place.
"""
PASSED_OVER_FOR = timedelta(minutes=2)
"""The dispatcher drops a place this long after it first had to pass it over, for whatever reason. Recovery starts a
waiting session `ASKS_AGAIN` after its wait was committed, and its next call joins the line again with the same `since`.
"""
RETURNED_PART = 100
"""While others take from the bucket too, less than 1/100 of a burst is not given back."""
LARGEST_PART, MORE = 10, 4
"""A worker takes four times what its call needs, if the call needs at most 1/10 of a burst."""
LEARNT_FOR = timedelta(minutes=30)
"""A lower limit is believed at once. A higher one is believed only when the lower one is this old, because each model
may have a limit of its own.
"""
LEARN_AGAIN = timedelta(minutes=10)
"""Limits that have not changed are stored again after this."""


class ProviderLimits(NamedTuple):
    """What a provider takes in a minute. None: no such limit, or nobody knows it yet."""

    tokens_per_minute: int | None = None
    requests_per_minute: int | None = None


LEARN = ProviderLimits()
"""The limits are not configured: they are taken from the provider's answers."""


class CallSize(NamedTuple):
    """What a call may use at most."""

    tokens: int = 0
    """Input and output together."""
    requests: int = 1


class GrantPrice(NamedTuple):
    """What a grant costs, in milliseconds at the limit's rate. 0: there is no such limit."""

    tokens: int = 0
    requests: int = 0

    @classmethod
    def of(cls, limits: ProviderLimits, wanted: CallSize) -> "GrantPrice":
        return cls(
            _price(wanted.tokens, limits.tokens_per_minute),
            _price(wanted.requests, limits.requests_per_minute),
        )

    def plus(self, more: "GrantPrice") -> "GrantPrice":
        return GrantPrice(self.tokens + more.tokens, self.requests + more.requests)

    @property
    def is_small(self) -> bool:
        """Whether it is a small part of what a full bucket grants."""
        return max(self) * LARGEST_PART <= BURST

    def is_worth_returning(self, *, is_idle: bool) -> bool:
        """Whether unused tokens of this price are given back. `is_idle`: nothing was owed when the worker took them."""
        return not self.is_small or (not is_idle and max(self) * RETURNED_PART >= BURST)


def _price(amount: int, per_minute: int | None) -> int:
    return math.ceil(max(0, amount) * MINUTE / per_minute) if per_minute else 0


class ProviderBucket(NamedTuple):
    """What a provider has granted. Times are milliseconds since 1970."""

    tokens: int = 0
    """The time up to which granted tokens are paid for."""
    requests: int = 0
    """The time up to which granted requests are paid for."""
    line: int = 0
    """The time until which a line is taken to exist."""
    last: str = ""
    """The tenant whose session was admitted from the line last."""
    limits: ProviderLimits = LEARN
    """The limits that the provider's answers named at the time `learnt`."""
    learnt: int = 0
    shared: int = 0
    """Until this time workers admit what one dispatcher has paid for, and other dispatchers leave the line alone."""

    def after(self, price: GrantPrice, now: int) -> "ProviderBucket | None":
        """The bucket after a grant of this price. None: it does not have enough."""
        if not _carries(self.tokens, price.tokens, now) or not _carries(self.requests, price.requests, now):
            return None
        tokens, requests = _moved(self.tokens, price.tokens, now), _moved(self.requests, price.requests, now)
        return self._replace(tokens=tokens, requests=requests)

    def given_back(self, tokens: int, now: int) -> "ProviderBucket":
        """`tokens`: the price of those that were taken and not used. A bucket that owes nothing is as full as it can
        be, so it is never moved to before now.
        """
        return self._replace(tokens=max(now, self.tokens - tokens)) if self.tokens > now else self

    def has_to_learn(self, named: ProviderLimits, now: int) -> bool:
        """Whether these limits, which an answer has named, replace the known ones."""
        age = timedelta(milliseconds=now - self.learnt)
        if named == self.limits:
            return age >= LEARN_AGAIN
        pairs = zip(named, self.limits, strict=True)
        is_lower = any(new is not None and (old is None or new < old) for new, old in pairs)
        return is_lower or age >= LEARNT_FOR

    def has_line(self, now: int) -> bool:
        return self.line > now

    def is_shared(self, now: int, mine: int = 0) -> bool:
        """Whether another dispatcher shares the line out. `mine`: what `shared` was when the caller did so itself."""
        return self.shared > now and self.shared != mine

    def carries_all(self, price: GrantPrice, now: int) -> bool:
        """Whether it can grant the price of several calls. Only a single call may cost more than a burst."""
        return max(price) <= BURST and self.after(price, now) is not None

    def seconds_until(self, price: GrantPrice, now: int) -> float:
        """The seconds until the bucket can grant the price, if nobody else takes anything before."""
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


class Holding(NamedTuple):
    """What a worker has taken from a provider's bucket and not used yet."""

    tokens: int = 0
    requests: int = 0
    until: datetime | None = None
    """When what is held is lost."""
    limits: ProviderLimits = LEARN
    """The provider's limits when they were taken. At other limits they would have another price, so they are lost when
    the limits change.
    """

    def at(self, now: datetime, limits: ProviderLimits) -> "Holding":
        is_good = self.until is not None and self.until > now and self.limits == limits
        return self if is_good else Holding(limits=limits)

    def lacks(self, wanted: CallSize) -> CallSize:
        """What the worker still has to take before the call."""
        return CallSize(max(0, wanted.tokens - self.tokens), max(0, wanted.requests - self.requests))

    def plus(self, tokens: int, requests: int, now: datetime) -> "Holding":
        """Adds to the holding, never below zero: what a call used beyond its reservation is not paid for later."""
        return Holding(
            max(0, self.tokens + tokens), max(0, self.requests + requests), now + HOLD, self.limits
        )


class QueuePlace(NamedTuple):
    """The place of a session that waits until its provider's bucket can grant its call."""

    provider: str
    tenant: str
    session_id: str
    since: datetime
    """When it began to wait. A session that joins again keeps its place."""
    tokens: int
    """What its call may use."""


PLACES_COUNTED = 1_000
"""The most sessions that are counted to find a position."""


class Grant(NamedTuple):
    """The answer to a request for a grant."""

    granted: bool
    bucket: ProviderBucket
    """As it is now."""


class QueuePosition(NamedTuple):
    """The position of a session that has joined a line."""

    position: int
    """Sessions of its tenant that are before it, up to `PLACES_COUNTED`."""
    begins_line: bool
    """There was no line, so no dispatcher looks after this one yet."""


class AdmissionStore(Protocol):
    """All raise StoreThrottled, StoreUnavailable and AwsDenied. Reads are strongly consistent."""

    def take(self, provider: str, price: GrantPrice, now: datetime) -> Grant:
        """Takes the price, unless there is a line or too little. A repeated call may take it twice."""

    def take_for(self, tenant: str, provider: str, price: GrantPrice, now: datetime) -> Grant:
        """The same for a session from the line, so it is granted although there is a line. The bucket remembers the
        tenant as the last one that was admitted.
        """

    def share_out(
        self, last: str, provider: str, price: GrantPrice, now: datetime, until: datetime, mine: int = 0
    ) -> Grant:
        """The same for several sessions of the line, which other workers admit by the time `until`. `last`: the tenant
        of the last of them. It is not granted while another dispatcher shares the line out. `mine`: what the bucket's
        `shared` was when this dispatcher did so before.
        """

    def give_back(self, provider: str, tokens: int, now: datetime) -> None:
        """Gives back unused tokens, by their price (`ProviderBucket.given_back`). This happens once or never: a
        request whose answer was lost is not repeated, and the caller must not give the same tokens back twice.
        """

    def learn(self, provider: str, limits: ProviderLimits, now: datetime) -> None:
        """Stores the limits that the provider's answers have named."""

    def bucket(self, provider: str) -> ProviderBucket: ...

    def join(self, one: QueuePlace, now: datetime, line_until: datetime) -> QueuePosition:
        """Puts the session in the line. If there is none, a line begins that lasts until `line_until`. An existing line
        is not renewed, because only a dispatcher knows that it is looked after. May be repeated.
        """

    def first_after(self, provider: str, tenant: str) -> QueuePlace | None:
        """Of the next tenant in the order of names, the session that has waited longest. None: no tenant comes after
        this one. `tenant` empty: the first tenant.
        """

    def next_of(self, one: QueuePlace) -> QueuePlace | None:
        """The next place of the same tenant."""

    def page_after(self, provider: str, tenant: str, most: int) -> list[QueuePlace]:
        """As `first_after`, with the places that follow: tenant after tenant, and of each the longest waiting first."""

    def page_behind(self, one: QueuePlace, most: int) -> list[QueuePlace]:
        """As `next_of`, with the places that follow."""

    def pass_over(self, one: QueuePlace, now: datetime) -> datetime:
        """Notes that the place could not be served. Returns when that happened first since the session joined."""

    def leave(self, one: QueuePlace) -> None:
        """Removes the place. This may be repeated."""

    def keep_line(self, provider: str, seen: ProviderBucket, until: datetime | None) -> bool:
        """Renews the line until then, or ends it (None). Returns False, and changes nothing, where another dispatcher
        has done so since the bucket was read, or a line has begun.
        """
