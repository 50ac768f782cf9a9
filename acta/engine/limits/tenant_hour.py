"""A tenant's hourly tokens and its dollars of a day: leased to a session in chunks before a call is made
(docs/design/budgets.md 20)."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple

from acta.engine.errors import CommitContention
from acta.engine.limits.shares import (
    Lease,
    LeaseChange,
    day_of,
    draw_size,
    end_of,
    grant_size,
    hour_of,
    parts_of,
    shares_in_turn,
    shares_of,
    tokens_missing,
    with_grant,
)
from acta.engine.log.beside import Attempt
from acta.engine.log.commit import Decision, Position
from acta.engine.log.head import Head
from acta.engine.log.repository import Session, SessionRepository
from acta.engine.log.store import GrantChanged, SessionIndex
from acta.engine.people.opening import AskingRules, open_tenant_limit, wait_for_people
from acta.engine.settings import EVERY_TENANT, NOTHING
from acta.engine.turn.budget import PendingCharges, charge_attempts
from acta.engine.turn.engine import Timeouts, check_turn, wait_or_go_on

ATTEMPTS = 20
"""Races against other sessions of the tenant for the same hour, lost in a row."""
PAUSE_SECONDS = 0.1


class Pool(NamedTuple):
    """What sessions of a tenant lease from: the tokens of its hour or the dollars of its day."""

    limit: int
    """Tokens, or parts of a dollar (`PER_DOLLAR`)."""
    needed: int
    """What the next call may use."""
    of_day: bool = False

    def hour(self, now: datetime) -> int:
        return day_of(now) if self.of_day else hour_of(now)

    def lease(self, head: Head) -> Lease | None:
        return head.day_lease if self.of_day else head.lease

    def missing(self, head: Head, now: datetime, calls: int = 1) -> int:
        """What has to be granted before so many such calls are made; 0: the lease has enough."""
        return tokens_missing(self.lease(head), self.hour(now), calls * self.needed)


class TenantHour:
    """`limit`: tokens a tenant may use in an hour (`Settings.tenant_tokens_per_hour`), 0: no limit. `usd_per_day`: by
    tenant, `*` for every other; a tenant that neither names has no limit.
    """

    def __init__(
        self,
        repository: SessionRepository,
        session_index: SessionIndex,
        timeouts: Timeouts,
        limit: int,
        usd_per_day: Mapping[str, float] = NOTHING,
    ) -> None:
        self._repository = repository
        self._session_index = session_index
        self._timeouts = timeouts
        self._limit = limit
        self._usd_per_day = usd_per_day

    def ensure(
        self,
        session: Session,
        at: Position,
        needed: PendingCharges,
        rules: Callable[[], AskingRules],
        attempts: tuple[Attempt, ...] = (),
        window: float = 0,
    ) -> Decision | None:
        """None: the session's leases carry what is `needed`. Otherwise the run waits for the next hour or day, or for
        the people who may decide by the agent's `rules`.

        `attempts`: earlier calls, which the commit that begins to wait charges, because a session that waits for long
        gives its leases back. `window`: the token budget's window, in seconds. Raises what `carries` does.
        """
        clock = self._repository.clock
        now = clock.now()
        pool = self._too_small(session, at, needed)
        if pool is None:
            return None
        limit = {"usd_per_day": self._usd_of(at.tenant)} if pool.of_day else {"tokens_per_hour": self._limit}
        # It asks again if somebody lets the session go on within the hour, so one key for the hour is not enough.
        key = at.key(f"hour-{hour_of(now)}-{session.head.last_seq}")
        for change in self._repository.attempts(session, key):
            check_turn(change.head, at)
            if change.head.interventions or change.head.is_over:
                break
            charge_attempts(change, attempts, window)
            open_tenant_limit(change, end_of(pool.hour(now), of_day=pool.of_day), limit, rules())
            wait_for_people(change)
            change.commit()
        return wait_or_go_on(session.head, clock.now(), self._timeouts)

    def carries(self, session: Session, at: Position, needed: PendingCharges) -> bool:
        """Whether the session's leases carry what is `needed`, with further chunks where the hour and the day have some
        left. False also where the run has ended meanwhile.

        Chunks are granted in one transaction with the commit that has them in the head. Raises CommitContention, and
        Fenced where another run, generation or turn has taken over.
        """
        return self._too_small(session, at, needed) is None

    def _usd_of(self, tenant: str) -> float:
        return self._usd_per_day.get(tenant, self._usd_per_day.get(EVERY_TENANT, 0))

    def _too_small(self, session: Session, at: Position, needed: PendingCharges) -> Pool | None:
        """The pool that has too little left, or any where the run has ended; None: the leases carry it."""
        of_hour = Pool(self._limit, needed.tokens)
        of_day = Pool(parts_of(self._usd_of(at.tenant)), parts_of(needed.day_usd), of_day=True)
        pools = [pool for pool in (of_hour, of_day) if pool.limit]
        for attempt in range(ATTEMPTS):
            head, now = session.head, self._repository.clock.now()
            if not any(pool.missing(head, now) for pool in pools):
                return None
            grants: dict[bool, LeaseChange] = {}
            for pool in pools:
                missing = pool.missing(head, now)
                # A lease that does not carry two such calls gets its chunk in the same commit as the other one.
                wanted = missing or pool.missing(head, now, calls=2)
                grant = next_grant(self._session_index, pool, at, pool.hour(now), wanted) if wanted else None
                if grant is None and missing:
                    return pool
                if grant is not None:
                    grants[pool.of_day] = grant
            try:
                for change in self._repository.attempts(session, at.key(f"lease-{session.number}")):
                    check_turn(change.head, at)
                    if change.head.is_over:
                        return pools[0]  # a run that is over needs no lease
                    change.set(
                        lease=with_grant(change.head.lease, grants.get(False)),
                        day_lease=with_grant(change.head.day_lease, grants.get(True)),
                    )
                    change.commit(leases=tuple(grants.values()))
            except GrantChanged:
                self._repository.clock.back_off(PAUSE_SECONDS * (attempt + 1))
        raise CommitContention(f"lost {ATTEMPTS} races for the tenant's hour")


def next_grant(
    session_index: SessionIndex, pool: Pool, at: Position, hour: int, wanted: int
) -> LeaseChange | None:
    """What to grant a session that needs `wanted` tokens more. None: the hour has too little left. `hour`: of the pool.

    A small hour is one item. In a large hour a session gets tokens from its own share, which draws more from the hour
    when it has too few. If the hour has no more, the session gets them from another share.
    """
    limit, of_day = pool.limit, pool.of_day
    shares = shares_of(limit)
    if shares == 1:
        size = grant_size(limit - session_index.granted_tokens(at.tenant, hour, of_day=of_day), wanted)
        return None if size is None else LeaseChange(at.tenant, hour, size, limit, of_day=of_day)
    left: int | None = None
    for number in shares_in_turn(at.session_id, shares):
        free, drawn = session_index.free_tokens_of_share(at.tenant, hour, number, of_day=of_day), 0
        size = grant_size(free, wanted)
        if size is None:
            if left is None:
                left = limit - session_index.granted_tokens(at.tenant, hour, of_day=of_day)
            drawn = draw_size(left, wanted - free, limit)
            size = grant_size(free + drawn, wanted)
        if size is not None:
            return LeaseChange(at.tenant, hour, size, limit, number, drawn, of_day)
    return None
