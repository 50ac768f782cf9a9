"""The dispatcher admits sessions from the lines of providers as their buckets carry it, fairly by tenant (ADR 106).

Tenants take turns, and of a tenant the session that has waited longest comes first. The dispatcher serves a short line
by itself. Of a long one it pays for as many places as the bucket carries at once and hands them to other workers;
meanwhile other dispatchers leave that line alone. Two dispatchers at once do no harm: an admission is a commit, and it
is made once.
"""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import groupby
from typing import NamedTuple

from acta_engine.queue.admit_one import AdmissionCounts, AdmitDeps, Admitter
from acta_engine.queue.places import LEARN, LINE, Bucket, InLine, Price, Wanted, in_milliseconds
from acta_engine.queue.store import AdmissionStore
from acta_engine.recovery.workers import SHARE, PaidPlaces, RecoveryWorkers

PAGE = 100
"""Places of one read."""


class Passed:
    """Places of one line that a dispatcher has paid for and that may still be in it."""

    def __init__(self) -> None:
        self._places: set[InLine] = set()
        self._furthest: dict[str, InLine] = {}

    def __contains__(self, one: object) -> bool:
        return one in self._places

    def add(self, one: InLine) -> None:
        self._places.add(one)
        self._furthest[one.tenant] = one

    def furthest_of(self, one: InLine) -> InLine:
        """Of its tenant; itself where nothing of that was passed."""
        return self._furthest.get(one.tenant, one)


class Turns:
    """The places of a line that were not passed, from the tenant after `last` on: one of each tenant, then another one
    of each. It reads no further than it is asked. `read`: places that it has seen.
    """

    def __init__(
        self, store: AdmissionStore, provider: str, last: str, passed: Passed, page: int = PAGE
    ) -> None:
        self._store, self._provider, self._last, self._passed = store, provider, last, passed
        self._page = page
        self.read = 0

    def __iter__(self) -> Iterator[InLine]:
        turns: list[Iterator[InLine]] = []
        for own, is_cut in self._tenants():
            turn = self._of_tenant(own, is_cut=is_cut)
            if (one := next(turn, None)) is not None:
                turns.append(turn)
                yield one
        while turns:
            left = []
            for turn in turns:
                if (one := next(turn, None)) is not None:
                    left.append(turn)
                    yield one
            turns = left

    def _tenants(self) -> Iterator[tuple[list[InLine], bool]]:
        """Each tenant's first places, and whether it may have more: once around the line."""
        seen: set[str] = set()
        after, is_around = self._last, not self._last
        while True:
            page = self._counted(self._store.page_after(self._provider, after, self._page))
            is_cut = len(page) == self._page
            for tenant, own in groupby(page, lambda one: one.tenant):
                if tenant in seen:
                    return
                seen.add(tenant)
                yield list(own), is_cut and tenant == page[-1].tenant
            if is_cut:
                after = page[-1].tenant
            elif is_around:
                return
            else:
                after, is_around = "", True

    def _of_tenant(self, own: list[InLine], *, is_cut: bool) -> Iterator[InLine]:
        places, furthest, may_jump = deque(own), own[-1], True
        while True:
            while places:
                one = places.popleft()
                if one not in self._passed:
                    may_jump = False
                    yield one
            if not is_cut:
                return
            behind = self._passed.furthest_of(furthest) if may_jump else furthest
            may_jump = False
            page = self._counted(self._store.page_behind(behind, self._page))
            is_cut = len(page) == self._page
            places.extend(page)
            furthest = page[-1] if page else behind

    def _counted(self, page: list[InLine]) -> list[InLine]:
        self.read += len(page)
        return page


SHORTEST, LONGEST = 0.5, 5.0
"""Seconds between two looks at a line."""
WORK = timedelta(seconds=10)
"""Workers admit what they were handed within this time, which includes the start of an invocation."""
SETTLED = timedelta(seconds=2)
"""An admission that was begun is over after this. `WORK` and this are less than a burst, so nothing is lost of what the
bucket gains while a line is left alone.
"""


class Dispatched(NamedTuple):
    counts: AdmissionCounts
    waited: dict[str, int]
    """By provider, the most places that were seen in its line at once. Of a long line not all are read."""


def admit(deps: AdmitDeps) -> Dispatched:
    """Runs until no session waits or the time is over. Raises what the store of the line raises."""
    return _Dispatcher(deps).run()


def admit_paid(deps: AdmitDeps, paid: PaidPlaces) -> AdmissionCounts:
    """Admits what a dispatcher has paid for, until `paid.until`."""
    clock, admitter = deps.repository.clock, Admitter(deps, lambda place: True, is_paid_ahead=True)

    def serve(place: InLine) -> None:
        if clock.now() < paid.until and deps.time_is_left():
            deps.pace()
            admitter.serve(place)

    for place in paid.places[:1]:  # alone: it makes the clients that all threads use
        serve(place)
    if deps.threads == 1:
        for place in paid.places[1:]:
            serve(place)
    else:
        with ThreadPoolExecutor(deps.threads) as threads:
            list(threads.map(serve, paid.places[1:]))  # raises what a thread has raised
    return admitter.counts


class _Line:
    """What a dispatcher remembers of one provider's line."""

    def __init__(self, now: datetime) -> None:
        self.shared = 0
        """The bucket's `shared`, as this dispatcher has set it."""
        self.handed_over = Passed()
        self.not_before = now
        """The next look at it."""
        self.waited = 0


class _Dispatcher:
    def __init__(self, deps: AdmitDeps) -> None:
        self._deps = deps
        self._store, self._clock = deps.store, deps.repository.clock
        self._admitter = Admitter(deps, self._pay)
        self._lines = {provider: _Line(self._clock.now()) for provider in deps.limits}
        self._seconds_until_paid = 0.0
        """Until the bucket carries the call that it did not carry last."""
        self._bucket = Bucket()
        """As it was after the last call was paid for, or not."""

    def run(self) -> Dispatched:
        while self._deps.time_is_left():
            waits = [wait for provider in self._deps.limits if (wait := self._look(provider)) is not None]
            if not waits:
                break
            self._clock.sleep(min(LONGEST, max(SHORTEST, *waits)) if len(waits) == 1 else SHORTEST)
        waited = {provider: line.waited for provider, line in self._lines.items() if line.waited}
        return Dispatched(self._admitter.counts, waited)

    def _look(self, provider: str) -> float | None:
        """Serves a provider's line once. Returns the seconds until it is worth looking again; None: nobody waits."""
        store, sharing, workers = self._store, self._deps.sharing, self._deps.workers
        line, now = self._lines[provider], self._clock.now()
        if line.not_before > now:
            return (line.not_before - now).total_seconds()
        bucket = store.bucket(provider)
        page = store.page_after(provider, "", sharing.min_places)
        line.waited = max(line.waited, len(page))
        if not page:
            if bucket.line and not store.keep_line(provider, bucket, None):
                return SHORTEST
            # Who joined before the line was ended has seen one, and calls no dispatcher.
            return SHORTEST if bucket.line and store.page_after(provider, "", 1) else None
        store.keep_line(provider, bucket, now + LINE)
        at = in_milliseconds(now)
        if bucket.is_shared(at, line.shared):  # by another dispatcher
            return (bucket.shared - at) / 1_000
        if workers is not None and workers.most:
            if bucket.is_shared(at):  # by this one, and its workers may still be at it
                self._share_out(workers, provider, bucket)
                return SHORTEST
            line.handed_over = Passed()
            is_worth_sharing = len(page) == sharing.min_places and self._carries(
                bucket, page[: sharing.min_affordable]
            )
            if is_worth_sharing and self._share_out(workers, provider, bucket):
                return SHORTEST
        return self._serve_alone(provider, bucket.last)

    def _carries(self, bucket: Bucket, places: list[InLine]) -> bool:
        price = Price()
        for place in places:
            price = price.plus(self._price(place, bucket))
        return bucket.carries_all(price, in_milliseconds(self._clock.now()))

    def _share_out(self, workers: RecoveryWorkers, provider: str, bucket: Bucket) -> bool:
        """Pays for as many places as the bucket carries and hands them over. False: the bucket carries too few now, and
        more wait.
        """
        line, now, sharing = self._lines[provider], self._clock.now(), self._deps.sharing
        most = workers.most * sharing.batch_size
        turns = Turns(self._store, provider, bucket.last, line.handed_over)
        places, price, are_all = list[InLine](), Price(), True
        for place in turns:
            more = price.plus(self._price(place, bucket))
            if len(places) == most or not bucket.carries_all(more, in_milliseconds(now)):
                are_all = False
                break
            places.append(place)
            price = more
        line.waited = max(line.waited, turns.read)
        if not places or (len(places) < sharing.min_affordable and not are_all):
            return False
        until = self._clock.now() + WORK
        took = self._store.share_out(places[-1].tenant, provider, price, now, until + SETTLED, line.shared)
        if not took.granted:
            return False
        line.shared = took.bucket.shared
        for place in places:
            line.handed_over.add(place)
        line.not_before = now + timedelta(seconds=len(places) / (workers.most * SHARE / 60))
        for start in range(0, len(places), sharing.batch_size):
            self._hand_over(workers, PaidPlaces(places[start : start + sharing.batch_size], until))
        return True

    def _hand_over(self, workers: RecoveryWorkers, paid: PaidPlaces) -> None:
        try:
            workers.admit(paid)
            self._admitter.count("shared", len(paid.places))
        except Exception as error:  # they are paid for, so the dispatcher admits them itself
            self._deps.on_error("workers", error)
            for name, count in admit_paid(self._deps, paid)._asdict().items():
                self._admitter.count(name, count)

    def _serve_alone(self, provider: str, last_tenant: str) -> float:
        """Serves one place after the other. Returns the seconds until the next look."""
        passed_over = set[InLine]()
        # After so many places the lines of all providers are looked at: none waits for the end of another.
        for _ in range(self._deps.sharing.min_affordable):
            place = self._next(provider, last_tenant, passed_over) if self._deps.time_is_left() else None
            if place is None:
                break
            match self._admitter.serve(place):
                case "full":
                    return self._seconds_until_paid
                case "admitted":
                    last_tenant = place.tenant
                    if self._bucket.is_shared(
                        in_milliseconds(self._clock.now())
                    ):  # by another dispatcher, since
                        break
                case "passed_over":
                    passed_over.add(place)
                case "dropped":
                    pass
        return SHORTEST

    def _next(self, provider: str, last_tenant: str, passed_over: set[InLine]) -> InLine | None:
        """The oldest place that was not passed over, of the next tenant that has one."""
        first = oldest = self._after(provider, last_tenant)
        while oldest is not None:
            place: InLine | None = oldest
            while place is not None and place in passed_over:
                place = self._store.next_of(place)
            if place is not None:
                return place
            oldest = self._after(provider, oldest.tenant)
            if oldest == first:
                break
        return None

    def _after(self, provider: str, tenant: str) -> InLine | None:
        return self._store.first_after(provider, tenant) or self._store.first_after(provider, "")

    def _pay(self, place: InLine) -> bool:
        now, price = self._clock.now(), self._price(place)
        took = self._store.take_for(place.tenant, place.provider, price, now)
        self._bucket = took.bucket
        if not took.granted:
            self._seconds_until_paid = took.bucket.seconds_until(price, in_milliseconds(now))
        return took.granted

    def _price(self, place: InLine, bucket: Bucket | None = None) -> Price:
        """`bucket`: of the provider, where it was just read."""
        limits = self._deps.limits[place.provider]
        if limits == LEARN:
            limits = (bucket or self._store.bucket(place.provider)).limits
        return Price.of(limits, Wanted(place.tokens))
