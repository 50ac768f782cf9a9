"""Whether a tenant may make one more request, as this worker knows it (ADR 65).

A worker takes a share of the tenant's rate, once in a window as a rule, and spends it without asking anybody. Where the
store does not answer, requests are let through: limits protect tenants from one another, and an outage is nobody's
fault.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress

from acta.engine.api.error_answers import limit_headers
from acta.engine.api.operation import Operation
from acta.engine.clock import Clock
from acta.engine.errors import LimitReached, Quota, TooManyOpenSessions, TransientError
from acta.engine.limits.store import RateLeases
from acta.engine.limits.tenant_limits import (
    LONG_POLLS,
    MINUTE,
    OPEN,
    POLL_WINDOW,
    REQUESTS,
    STARTS,
    WAITED_SECONDS,
    WINDOW,
    LimitsByTenant,
    Share,
    TenantLimits,
    budget,
    seconds_left,
    window_of,
)

TENANTS_KEPT = 500
MAKE_SESSIONS = ("session.start", "session.fork")
"""Actions that always count as starts, whatever state a session is in."""
REFUSED_SECONDS = 5
"""After no place was left, no poll of the tenant asks for one again for this long."""
GIVE_WAY_MS = 5_000
"""When a poll that had no place may come again."""
FULL_SECONDS = 1
"""After too many sessions were open, no start is tried again for this long."""


class _Known:
    """What this worker knows of a tenant. Times are seconds since 1970."""

    def __init__(self) -> None:
        self.share: Share | None = None
        """What it has of the tenant's requests."""
        self.polls = -1
        """The window in which it holds a place for a long poll."""
        self.no_place_until = 0.0
        self.full: LimitReached | None = None
        """Why a start was refused last, good until `full_until`."""
        self.full_until = 0.0


class Limiter:
    def __init__(self, limits: LimitsByTenant, leases: RateLeases, clock: Clock) -> None:
        self._limits = limits
        self._leases = leases
        self._clock = clock
        self.on_error: Callable[[Exception], None] = lambda error: None
        """Is called with each error of the store, after which the request is let through."""
        self._tenants: OrderedDict[str, _Known] = OrderedDict()

    def admit(self, tenant: str, route: Operation) -> None:
        """Takes one request of the tenant's. Raises LimitReached.

        Routes that stop something are never refused. A poll is let in here, and counts as a request only if it does not
        wait (`polled`).
        """
        if route.rated == "request":
            self.spend(tenant)

    def admit_start(self, tenant: str, route: Operation) -> None:
        """Raises LimitReached where the tenant was refused a start a moment ago. Asks nobody."""
        known = self._of(tenant)
        if route.action not in MAKE_SESSIONS or known.full is None or self._now >= known.full_until:
            return
        is_open = isinstance(known.full, TooManyOpenSessions)
        seconds = known.full.retry_after if is_open else max(1, round(known.full_until - self._now))
        raise type(known.full)(str(known.full), known.full.quota, seconds)

    def spend(self, tenant: str) -> None:
        """Raises LimitReached."""
        share = self._share(tenant)
        if share is None:
            return
        if not share.left and not share.used_up:
            share = self._more(tenant, share)
        if share.is_empty:
            raise self._refusal(tenant, share)
        if share.left:
            self._of(tenant).share = share.spend()

    def check(self, tenant: str) -> None:
        """Raises LimitReached where this worker knows that nothing is left. Takes nothing."""
        share = self._share(tenant)
        if share is not None and share.is_empty:
            raise self._refusal(tenant, share)

    def may_wait(self, tenant: str) -> bool:
        """Whether a poll that begins now may wait."""
        most = self._limits.of(tenant).long_polls
        known, now = self._of(tenant), self._now
        window = window_of(now, POLL_WINDOW)
        if most is None or known.polls == window:
            return True
        if now < known.no_place_until:
            return False
        try:
            held = self._leases.hold(tenant, window, most, renews=known.polls == window - 1)
        except TransientError as error:
            self.on_error(error)
            return True
        if held:
            known.polls = window
        else:
            known.no_place_until = now + REFUSED_SECONDS
        return held

    def polled(self, tenant: str, seconds: float) -> None:
        """Called after a poll that was allowed to wait. If it did not wait, it is a request like any other. If nothing
        is left for it, this worker refuses the tenant's next request."""
        if seconds < WAITED_SECONDS:
            with suppress(LimitReached):
                self.spend(tenant)

    def pause_ms(self, tenant: str, usual: int, *, waited: bool) -> int:
        """Milliseconds after which a client comes again. `waited`: its poll had a place, or asked for none."""
        pause = usual if waited else max(usual, GIVE_WAY_MS)
        share = self._share(tenant)
        if share is None or not share.is_empty:
            return pause
        return max(pause, self._left_of(share) * 1_000)

    def reached(self, tenant: str, error: LimitReached) -> None:
        """Notes that a start was refused. Until `full_until`, requests that make a session are refused without a try,
        and leave no record."""
        if error.quota.name not in (STARTS, OPEN):
            return
        known = self._of(tenant)
        is_open = isinstance(error, TooManyOpenSessions)
        known.full, known.full_until = error, self._now + (FULL_SECONDS if is_open else error.retry_after)

    def headers(self, tenant: str, route: Operation) -> Mapping[str, str]:
        """The `RateLimit` headers, from what is known without asking anybody."""
        policies = _policies(self._limits.of(tenant), route)
        share = self._share(tenant) if route.rated != "never" else None
        if share is None or share.rest is None:
            return limit_headers(policies)
        return limit_headers(policies, {REQUESTS: (share.left + share.rest, self._left_of(share))})

    def _budget(self, tenant: str) -> int | None:
        """The requests of one window. None: the tenant has no such limit."""
        per_second = self._limits.of(tenant).requests_per_second
        return None if per_second is None else budget(per_second)

    def _share(self, tenant: str) -> Share | None:
        """What this worker has of the tenant's requests in the present window. None: they have no limit."""
        most = self._budget(tenant)
        if most is None:
            return None
        known = self._of(tenant)
        known.share = Share.in_window(window_of(self._now), most, known.share)
        return known.share

    def _more(self, tenant: str, share: Share) -> Share:
        try:
            window, first = self._leases.take(tenant, share.window, share.size)
        except TransientError as error:
            self.on_error(error)
            return share
        share = self._of(tenant).share = share.taken(window, first, self._budget(tenant) or 0)
        return share

    def _refusal(self, tenant: str, share: Share) -> LimitReached:
        most = self._budget(tenant) or 0
        return LimitReached(
            f"Your tenant has made the {most} requests that it may make in {WINDOW} seconds. Send this again "
            "after the seconds that Retry-After says, and poll no oftener than poll_after_ms says.",
            Quota(REQUESTS, most, WINDOW),
            self._left_of(share),
        )

    def _left_of(self, share: Share) -> int:
        return seconds_left(share.window, self._now)

    @property
    def _now(self) -> float:
        return self._clock.now().timestamp()

    def _of(self, tenant: str) -> _Known:
        known = self._tenants.get(tenant)
        if known is None:
            known = self._tenants[tenant] = _Known()
        self._tenants.move_to_end(tenant)
        if len(self._tenants) > TENANTS_KEPT:
            self._tenants.popitem(last=False)
        return known


def limiter_of(limits: LimitsByTenant, leases: RateLeases, clock: Clock) -> Limiter | None:
    """None if no tenant has limits."""
    return Limiter(limits, leases, clock) if limits.any else None


def _policies(limits: TenantLimits, route: Operation) -> list[Quota]:
    """The tenant's limits that concern this route."""
    found: list[tuple[str, int | None, int | None]] = []
    if route.rated != "never" and limits.requests_per_second is not None:
        found.append((REQUESTS, budget(limits.requests_per_second), WINDOW))
    if route.action in (*MAKE_SESSIONS, "session.message"):
        found += [(STARTS, limits.starts_per_minute, MINUTE), (OPEN, limits.open_sessions, None)]
    if route.rated == "poll":
        found.append((LONG_POLLS, limits.long_polls, None))
    return [Quota(name, most, window) for name, most, window in found if most is not None]
