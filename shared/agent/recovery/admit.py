"""Sessions in the line of a provider are admitted, fairly between tenants, as its bucket carries them (ADR 106).

One session of each tenant in turn, of a tenant the one that has waited longest. A short line is admitted by the
dispatcher, one after the other. Of a long one it pays for as many as the bucket carries at once, and other invocations
admit them; meanwhile other dispatchers leave the line alone. Two of these at once do no harm: what admits a session is
a commit, and it is made once.
"""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import NamedTuple

from shared.agent.recovery.admit_one import AdmitDeps, Admitting, Tally
from shared.agent.recovery.turns_of_line import Passed, Turns
from shared.domain.limits.admission import (
    LEARN,
    LINE,
    Bucket,
    InLine,
    Price,
    ProviderLimits,
    Wanted,
    in_milliseconds,
)
from shared.ports.deployment.recovery_workers import SHARE, PaidPlaces, RecoveryWorkers

SHORTEST, LONGEST = 0.5, 5.0
"""Seconds between two looks at a line."""
WORK = timedelta(seconds=10)
"""Within which they are admitted, with the start of an invocation."""
SETTLED = timedelta(seconds=2)
"""Within which an admission that was begun is over. With `WORK` less than a burst, so what the bucket gains while a
line is left alone is not lost.
"""


def admit(deps: AdmitDeps) -> "Dispatched":
    """Until no session waits, or there is no more time. Raises what the store of the line raises."""
    return _Dispatch(deps).made()


class Dispatched(NamedTuple):
    """`waited`: by provider, how many sessions were seen in its line at once. Of a long line not all are looked at."""

    tally: Tally
    waited: dict[str, int]


def admit_paid(deps: AdmitDeps, paid: PaidPlaces) -> Tally:
    """Admits what a dispatcher has paid for, as long as it may. The first alone: it makes the clients that all use."""
    clock, admitting = deps.repository.clock, Admitting(deps, lambda one: True, once=True)

    def tried(one: InLine) -> None:
        if clock.now() >= paid.until or not deps.time_is_left():
            return
        deps.pace()
        admitting.tried(one)

    for one in paid.places[:1]:
        tried(one)
    if deps.threads == 1:
        for one in paid.places[1:]:
            tried(one)
        return admitting.tally
    with ThreadPoolExecutor(deps.threads) as threads:
        for _ in threads.map(tried, paid.places[1:]):
            pass
    return admitting.tally


class _Line:
    """What a dispatcher remembers of one provider's. `shared`: the bucket's, as this dispatcher has set it.
    `not_before`: when it may be looked at again.
    """

    def __init__(self, now: datetime) -> None:
        self.shared = 0
        self.passed = Passed()
        self.not_before = now
        self.waited = 0


class _Dispatch:
    def __init__(self, deps: AdmitDeps) -> None:
        self._deps = deps
        self._clock = deps.repository.clock
        self._admitting = Admitting(deps, self._is_paid)
        self._lines = {provider: _Line(self._clock.now()) for provider in deps.limits}
        self._full = 0.0
        """Seconds until the bucket that was met last carries the session that it did not carry."""
        self._met = Bucket()
        """The bucket that was met last."""

    def made(self) -> Dispatched:
        while self._deps.time_is_left():
            waits = [wait for provider in self._deps.limits if (wait := self._look(provider)) is not None]
            if not waits:
                break
            self._clock.sleep(min(LONGEST, max(SHORTEST, *waits)) if len(waits) == 1 else SHORTEST)
        waited = {provider: line.waited for provider, line in self._lines.items() if line.waited}
        return Dispatched(self._admitting.tally, waited)

    def _look(self, provider: str) -> float | None:
        """Seconds until it is worth looking again; None: nobody waits."""
        store, sharing = self._deps.store, self._deps.sharing
        line, now = self._lines[provider], self._clock.now()
        if line.not_before > now:
            return (line.not_before - now).total_seconds()
        bucket = store.bucket(provider)
        page = store.page_after(provider, "", sharing.long)
        line.waited = max(line.waited, len(page))
        if not page:
            if bucket.line and not store.keep_line(provider, bucket, None):
                return SHORTEST
            # Who joined before the line was ended has seen one, and calls no dispatcher.
            return SHORTEST if bucket.line and store.page_after(provider, "", 1) else None
        store.keep_line(provider, bucket, now + LINE)
        at = in_milliseconds(now)
        if bucket.is_shared(at, line.shared):
            return (bucket.shared - at) / 1_000
        workers, is_long = self._deps.workers, len(page) == sharing.long
        if workers is None or not workers.most:
            return self._one_by_one(provider, bucket, sharing.few)
        if bucket.is_shared(at):  # by this one
            self._share_out(workers, provider, bucket)
            return SHORTEST
        line.passed = Passed()
        if (
            is_long
            and self._carries(provider, bucket, page[: sharing.few])
            and self._share_out(workers, provider, bucket)
        ):
            return SHORTEST
        return self._one_by_one(provider, bucket, sharing.few)

    def _carries(self, provider: str, bucket: Bucket, places: list[InLine]) -> bool:
        price = Price()
        for one in places:
            price = price.plus(self._price(one, bucket))
        return bucket.carries_all(price, in_milliseconds(self._clock.now()))

    def _share_out(self, workers: RecoveryWorkers, provider: str, bucket: Bucket) -> bool:
        """False: the bucket carries too few now, and more wait."""
        line, now, sharing = self._lines[provider], self._clock.now(), self._deps.sharing
        most = workers.most * sharing.batch
        turns = Turns(self._deps.store, provider, bucket.last, line.passed)
        places, price, are_all = list[InLine](), Price(), True
        for one in turns:
            more = price.plus(self._price(one, bucket))
            if len(places) == most or not bucket.carries_all(more, in_milliseconds(now)):
                are_all = False
                break
            places.append(one)
            price = more
        line.waited = max(line.waited, turns.read)
        if not places or (len(places) < sharing.few and not are_all):
            return False
        until = self._clock.now() + WORK
        took = self._deps.store.share_out(
            places[-1].tenant, provider, price, now, until + SETTLED, line.shared
        )
        if not took.granted:
            return False
        line.shared = took.bucket.shared
        for one in places:
            line.passed.add(one)
        line.not_before = now + timedelta(seconds=len(places) / (workers.most * SHARE / 60))
        for start in range(0, len(places), sharing.batch):
            self._hand_over(workers, PaidPlaces(places[start : start + sharing.batch], until))
        return True

    def _hand_over(self, workers: RecoveryWorkers, paid: PaidPlaces) -> None:
        try:
            workers.admit(paid)
        except Exception as error:  # they are paid for: this one admits them
            self._deps.told("workers", error)
            for name, count in admit_paid(self._deps, paid)._asdict().items():
                self._admitting.count(name, count)
            return
        self._admitting.count("shared", len(paid.places))

    def _one_by_one(self, provider: str, bucket: Bucket, most: int) -> float:
        """`most`: after so many the lines of all providers are looked at again: none waits for the end of another."""
        last, early, tries = bucket.last, set[InLine](), 0
        while self._deps.time_is_left():
            one = self._next(provider, last, early) if tries != most else None
            if one is None:
                return SHORTEST  # another look tells whether that was the end
            tries += 1
            match self._admitting.tried(one):
                case "full":
                    return self._full
                case "admitted":
                    last = one.tenant
                    if self._met.is_shared(in_milliseconds(self._clock.now())):  # by another one, since
                        return SHORTEST
                case "early":
                    early.add(one)
                case "dropped":
                    pass
        return SHORTEST

    def _next(self, provider: str, last: str, early: set[InLine]) -> InLine | None:
        """The oldest of the next tenant that has one which may be admitted."""
        first = one = self._after(provider, last)
        while one is not None:
            mine: InLine | None = one
            while mine is not None and mine in early:
                mine = self._deps.store.next_of(mine)
            if mine is not None:
                return mine
            one = self._after(provider, one.tenant)
            if one == first:
                return None
        return None

    def _after(self, provider: str, tenant: str) -> InLine | None:
        store = self._deps.store
        return store.first_after(provider, tenant) or store.first_after(provider, "")

    def _is_paid(self, one: InLine) -> bool:
        now = self._clock.now()
        price = self._price(one, None)
        took = self._deps.store.take_for(one.tenant, one.provider, price, now)
        self._met = took.bucket
        if not took.granted:
            self._full = took.bucket.seconds_until(price, in_milliseconds(now))
        return took.granted

    def _price(self, one: InLine, bucket: Bucket | None) -> Price:
        """`bucket`: of the provider, where it was just read."""
        limits: ProviderLimits = self._deps.limits[one.provider]
        if limits == LEARN:
            limits = (bucket or self._deps.store.bucket(one.provider)).limits
        return Price.of(limits, Wanted(one.tokens))
