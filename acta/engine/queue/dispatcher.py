"""The dispatcher admits sessions from the lines of providers as their buckets carry it, fairly by tenant (ADR 106).

Tenants take turns, and of a tenant the session that has waited longest comes first. One place is served like this:

    pay for the call -> commit the admission -> start the session's next generation -> remove the place

If a dispatcher dies between two of these steps, the place is still there, and the session's head says how far it came.
Recovery's scan finds a session that was admitted and not started.

If few sessions wait, the dispatcher serves them itself. If many wait (`Sharing`), it pays for as many places as the
bucket carries at once and hands them to other workers, while other dispatchers leave that line alone. Two dispatchers
at once do no harm: an admission is a commit, and it is made once.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import groupby
from threading import Lock
from typing import Literal, NamedTuple

from acta.engine.clock import Clock
from acta.engine.errors import Fenced, SchemaUnknown, SessionNotFound, TransientError
from acta.engine.log.repository import Session, SessionRepository
from acta.engine.queue.places import (
    LEARN,
    LINE,
    PASSED_OVER_FOR,
    AdmissionStore,
    CallSize,
    GrantPrice,
    ProviderBucket,
    ProviderLimits,
    QueuePlace,
    in_milliseconds,
)
from acta.engine.recovery.recover import restart, try_now
from acta.engine.recovery.store import SHARE, PaidPlaces, RecoveryWorkers
from acta.engine.turn.engine import Workflow, next_decision, position

SESSIONS_PER_SECOND = 25.0
"""Admissions of one invocation. They need half of its CPU (ADR 108)."""
Outcome = Literal["admitted", "dropped", "passed_over", "full"]
"""`passed_over`: the place stays and may be served later. `full`: the bucket does not carry the call yet."""
PAGE = 100
"""Places that one request reads."""
SHORTEST, LONGEST = 0.5, 5.0
"""Seconds between two looks at a line."""
WORK = timedelta(seconds=10)
"""Workers admit what they were handed within this time. It includes the start of their invocations."""
SETTLED = timedelta(seconds=2)
"""An admission that has begun is over after this. Together with `WORK` this is less than a burst, so the bucket loses
nothing while other dispatchers leave the line alone.
"""


class Pace:
    """Waits until the next session may be looked at, at so many `per_second`, whichever thread asks."""

    def __init__(self, clock: Clock, per_second: float = SESSIONS_PER_SECOND) -> None:
        self._clock = clock
        self._seconds = 1 / per_second
        self._lock = Lock()
        self._next = clock.now().timestamp()

    def __call__(self) -> None:
        with self._lock:
            now = self._clock.now().timestamp()
            wait = self._next - now
            self._next = max(self._next, now) + self._seconds
        if wait > 0:
            self._clock.sleep(wait)


class Sharing(NamedTuple):
    """When a dispatcher has other workers admit the places of a line."""

    min_places: int = 100
    """A dispatcher serves a shorter line alone."""
    min_affordable: int = 50
    """The fewest places that the bucket has to carry at once. A dispatcher admits so many alone in about four
    seconds."""
    batch_size: int = 100
    """Places that one worker gets. It admits them in four seconds (`SESSIONS_PER_SECOND`)."""


class AdmitDeps(NamedTuple):
    repository: SessionRepository
    workflow: Workflow
    store: AdmissionStore
    limits: Mapping[str, ProviderLimits]
    """By provider."""
    time_is_left: Callable[[], bool]
    """Whether there is time for one more session."""
    on_error: Callable[[str, Exception], None] = lambda subject, error: None
    """Is called with each error, and the id of the session that met it."""
    workers: RecoveryWorkers | None = None
    """Other workers, which admit places of a long line. None: there are none."""
    threads: int = 1
    """Sessions that one worker admits at once."""
    pace: Callable[[], None] = lambda: None
    """Waits until a worker may admit the next session."""
    sharing: Sharing = Sharing()


class AdmissionCounts(NamedTuple):
    admitted: int = 0
    dropped: int = 0
    """Places that were removed without an admission."""
    unanswered: int = 0
    """Sessions that could not be read or moved on."""
    shared: int = 0
    """Places that were handed to other workers."""

    def plus(self, name: str, count: int = 1) -> "AdmissionCounts":
        return self._replace(**{name: getattr(self, name) + count})


class DispatchResult(NamedTuple):
    counts: AdmissionCounts
    waited: dict[str, int]
    """By provider, the most places that were seen in its line at once. A long line is not read to its end."""


def admit(deps: AdmitDeps) -> DispatchResult:
    """Runs until no session waits or the time is over. Raises what the store of the line raises."""
    return _Dispatcher(deps).run()


def admit_paid(deps: AdmitDeps, paid: PaidPlaces) -> AdmissionCounts:
    """Admits what a dispatcher has paid for, until `paid.until`."""
    clock, admitter = deps.repository.clock, Admitter(deps, lambda place: True, is_paid_ahead=True)

    def serve(place: QueuePlace) -> None:
        if clock.now() < paid.until and deps.time_is_left():
            deps.pace()
            admitter.serve(place)

    for place in paid.places[:1]:  # alone at first, to make the clients that all threads use
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
        """The value of the bucket's `shared` that this dispatcher has set."""
        self.handed_over = SharedPlaces()
        self.not_before = now
        """When the line is looked at again."""
        self.waited = 0


class _Dispatcher:
    def __init__(self, deps: AdmitDeps) -> None:
        self._deps = deps
        self._store, self._clock = deps.store, deps.repository.clock
        self._admitter = Admitter(deps, self._pay)
        self._lines = {provider: _Line(self._clock.now()) for provider in deps.limits}
        self._seconds_until_paid = 0.0
        """Seconds until the bucket carries the call that it last did not carry."""
        self._bucket = ProviderBucket()
        """As it was after the last attempt to pay for a call."""

    def run(self) -> DispatchResult:
        while self._deps.time_is_left():
            waits = [wait for provider in self._deps.limits if (wait := self._look(provider)) is not None]
            if not waits:
                break
            self._clock.sleep(min(LONGEST, max(SHORTEST, *waits)) if len(waits) == 1 else SHORTEST)
        waited = {provider: line.waited for provider, line in self._lines.items() if line.waited}
        return DispatchResult(self._admitter.counts, waited)

    def _look(self, provider: str) -> float | None:
        """Serves a provider's line once. Returns the seconds until the next look is worthwhile, or None if nobody
        waits."""
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
            # A session that joined just before the line was ended has seen a line, so it calls no dispatcher.
            return SHORTEST if bucket.line and store.page_after(provider, "", 1) else None
        store.keep_line(provider, bucket, now + LINE)
        at = in_milliseconds(now)
        if bucket.is_shared(at, line.shared):  # another dispatcher shares it out
            return (bucket.shared - at) / 1_000
        if workers is not None and workers.most:
            if bucket.is_shared(at):  # this dispatcher does so, and its workers may still be at work
                self._share_out(workers, provider, bucket)
                return SHORTEST
            line.handed_over = SharedPlaces()
            is_worth_sharing = len(page) == sharing.min_places and self._carries(
                bucket, page[: sharing.min_affordable]
            )
            if is_worth_sharing and self._share_out(workers, provider, bucket):
                return SHORTEST
        return self._serve_alone(provider, bucket.last)

    def _carries(self, bucket: ProviderBucket, places: list[QueuePlace]) -> bool:
        price = GrantPrice()
        for place in places:
            price = price.plus(self._price(place, bucket))
        return bucket.carries_all(price, in_milliseconds(self._clock.now()))

    def _share_out(self, workers: RecoveryWorkers, provider: str, bucket: ProviderBucket) -> bool:
        """Pays for as many places as the bucket carries and hands them over. Returns False if the bucket carries too
        few now and more sessions wait.
        """
        line, now, sharing = self._lines[provider], self._clock.now(), self._deps.sharing
        most = workers.most * sharing.batch_size
        turns = RoundRobin(self._store, provider, bucket.last, line.handed_over)
        places, price, are_all = list[QueuePlace](), GrantPrice(), True
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
        except Exception as error:  # the places are paid for, so the dispatcher admits them itself
            self._deps.on_error("workers", error)
            for name, count in admit_paid(self._deps, paid)._asdict().items():
                self._admitter.count(name, count)

    def _serve_alone(self, provider: str, last_tenant: str) -> float:
        """Serves one place after the other. Returns the seconds until the next look."""
        passed_over = set[QueuePlace]()
        # After this many places the other providers' lines are looked at, so none waits until another one is empty.
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

    def _next(self, provider: str, last_tenant: str, passed_over: set[QueuePlace]) -> QueuePlace | None:
        """The oldest place that was not passed over, of the next tenant that has one."""
        first = oldest = self._after(provider, last_tenant)
        while oldest is not None:
            place: QueuePlace | None = oldest
            while place is not None and place in passed_over:
                place = self._store.next_of(place)
            if place is not None:
                return place
            oldest = self._after(provider, oldest.tenant)
            if oldest == first:
                break
        return None

    def _after(self, provider: str, tenant: str) -> QueuePlace | None:
        return self._store.first_after(provider, tenant) or self._store.first_after(provider, "")

    def _pay(self, place: QueuePlace) -> bool:
        now, price = self._clock.now(), self._price(place)
        took = self._store.take_for(place.tenant, place.provider, price, now)
        self._bucket = took.bucket
        if not took.granted:
            self._seconds_until_paid = took.bucket.seconds_until(price, in_milliseconds(now))
        return took.granted

    def _price(self, place: QueuePlace, bucket: ProviderBucket | None = None) -> GrantPrice:
        """`bucket`: of the provider, where it was just read."""
        limits = self._deps.limits[place.provider]
        if limits == LEARN:
            limits = (bucket or self._store.bucket(place.provider)).limits
        return GrantPrice.of(limits, CallSize(place.tokens))


class SharedPlaces:
    """Places of one line that a dispatcher has paid for and handed over. They may still be in the line."""

    def __init__(self) -> None:
        self._places: set[QueuePlace] = set()
        self._furthest: dict[str, QueuePlace] = {}

    def __contains__(self, one: object) -> bool:
        return one in self._places

    def add(self, one: QueuePlace) -> None:
        self._places.add(one)
        self._furthest[one.tenant] = one

    def furthest_of(self, one: QueuePlace) -> QueuePlace:
        """The furthest place of the same tenant that was handed over; the given one if none was."""
        return self._furthest.get(one.tenant, one)


class RoundRobin:
    """The places of a line, one of each tenant, then another one of each, beginning with the tenant after `last`.
    Places in `handed_over` are left out. It reads no further than its reader goes.
    """

    def __init__(
        self, store: AdmissionStore, provider: str, last: str, handed_over: SharedPlaces, page: int = PAGE
    ) -> None:
        self._store, self._provider, self._last = store, provider, last
        self._handed_over = handed_over
        self._page = page
        self.read = 0
        """How many places it has read."""

    def __iter__(self) -> Iterator[QueuePlace]:
        turns: list[Iterator[QueuePlace]] = []
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

    def _tenants(self) -> Iterator[tuple[list[QueuePlace], bool]]:
        """Goes once around the line: each tenant's first places, and whether it may have more."""
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

    def _of_tenant(self, own: list[QueuePlace], *, is_cut: bool) -> Iterator[QueuePlace]:
        places, furthest, may_jump = deque(own), own[-1], True
        while True:
            while places:
                one = places.popleft()
                if one not in self._handed_over:
                    may_jump = False
                    yield one
            if not is_cut:
                return
            behind = self._handed_over.furthest_of(furthest) if may_jump else furthest
            may_jump = False
            page = self._counted(self._store.page_behind(behind, self._page))
            is_cut = len(page) == self._page
            places.extend(page)
            furthest = page[-1] if page else behind

    def _counted(self, page: list[QueuePlace]) -> list[QueuePlace]:
        self.read += len(page)
        return page


class Admitter:
    """Serves places and counts the outcomes. Several threads may use it.

    `pay`: takes what the call may use from the bucket, and returns whether the bucket carried it. `is_paid_ahead`: the
    places were paid for when they were read. So a place admits only the wait that it was read for.
    """

    def __init__(
        self, deps: AdmitDeps, pay: Callable[[QueuePlace], bool], *, is_paid_ahead: bool = False
    ) -> None:
        self._deps = deps
        self._pay = pay
        self._is_paid_ahead = is_paid_ahead
        self._clock = deps.repository.clock
        self._lock = Lock()
        self._passed_over: dict[QueuePlace, datetime] = {}
        """When each place was first passed over, as the store says. It is stored once, however often the place is
        met."""
        self.counts = AdmissionCounts()

    def serve(self, place: QueuePlace) -> Outcome:
        try:
            outcome = self._serve(place, self._deps.repository.newest(place.tenant, place.session_id))
        except (SessionNotFound, Fenced):  # deleted
            outcome = "dropped"
        except Exception as error:  # whatever it is, it concerns this session alone
            self._deps.on_error(place.session_id, error)
            self.count("unanswered")
            # A release that cannot read the session now will not read it at the next look either.
            is_temporary = isinstance(error, TransientError) and not isinstance(error, SchemaUnknown)
            outcome = "passed_over" if is_temporary else "dropped"
        if outcome == "passed_over" and self._is_too_old(place):
            outcome = "dropped"
        if outcome in ("admitted", "dropped"):
            self._deps.store.leave(place)
            self.count(outcome)
        return outcome

    def count(self, name: str, count: int = 1) -> None:
        with self._lock:
            self.counts = self.counts.plus(name, count)

    def _is_too_old(self, place: QueuePlace) -> bool:
        """Whether the place was passed over for too long. While it stays, the line goes on and everybody else stays in
        it. Dropping it takes nothing from its session for good: the session joins again at its next call, which
        recovery starts at the latest when its wait is over (`ASKS_AGAIN`).
        """
        now = self._clock.now()
        if place not in self._passed_over:
            with suppress(TransientError):
                self._passed_over[place] = self._deps.store.pass_over(place, now)
        return now - self._passed_over.get(place, now) > PASSED_OVER_FOR

    def _serve(self, place: QueuePlace, session: Session) -> Outcome:
        head = session.head
        delay = head.delay
        if head.is_over:
            return "dropped"
        if delay is None or not delay.is_queued:  # the commit that begins the wait comes after the place
            return "passed_over"
        # An earlier dispatcher committed this, and nobody knows whether it started the session.
        if delay.admitted:
            self._start(session)
            return "dropped"
        if delay.until is None:  # somebody resumed it: it is on its way to its call, or asks a person now
            return "dropped" if head.interventions else "passed_over"
        if not delay.is_ahead(self._clock.now()):  # its wait is over, and it goes on by itself
            return "dropped"
        if self._is_paid_ahead and delay.since != place.since:  # meanwhile it waits in another place
            return "dropped"
        if head.interventions:  # a session that waits for a person needs no call now
            self._end_wait(session, is_admitted=False)
            return "dropped"
        if not self._pay(place):
            return "full"
        self._end_wait(session, is_admitted=True)
        return "admitted"

    def _end_wait(self, session: Session, *, is_admitted: bool) -> None:
        for change in self._deps.repository.attempts(session, position(session.head).key("admit")):
            delay = change.head.delay
            if delay is None or not delay.is_queued or not delay.is_ahead(change.now):
                return
            try_now(change, admitted=is_admitted)
            change.commit(next_decision(change.head, change.now))
        self._start(session)

    def _start(self, session: Session) -> None:
        """Starts the session's next generation, which overtakes the execution before. The execution's name makes this
        happen once, however often it is called.
        """
        head = session.head
        if not head.is_over and not self._deps.workflow.start(next_decision(head, self._clock.now())):
            restart(self._deps.repository, self._deps.workflow, session)
