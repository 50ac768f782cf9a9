"""A tenant's hourly tokens: leased to a session in chunks before a call is made (docs/design/budgets.md 20)."""

from collections.abc import Callable

from acta_engine.errors import CommitContention
from acta_engine.limits.shares import (
    LeaseChange,
    draw_size,
    end_of_hour,
    grant_size,
    hour_of,
    shares_in_turn,
    shares_of,
    tokens_missing,
    with_grant,
)
from acta_engine.log.beside import Attempt
from acta_engine.log.commit import Decision, Position
from acta_engine.log.repository import Session, SessionRepository
from acta_engine.log.store import GrantChanged, SessionIndex
from acta_engine.people.opening import AskingRules, open_hourly_limit, wait_for_people
from acta_engine.turn.budget import charge_attempts
from acta_engine.turn.engine import Timeouts, check_turn, wait_or_go_on

ATTEMPTS = 20
"""Races against other sessions of the tenant for the same hour, lost in a row."""
PAUSE_SECONDS = 0.1


class TenantHour:
    """`limit`: tokens a tenant may use in an hour (`Settings.tenant_tokens_per_hour`), 0: no limit."""

    def __init__(
        self, repository: SessionRepository, session_index: SessionIndex, timeouts: Timeouts, limit: int
    ) -> None:
        self._repository = repository
        self._session_index = session_index
        self._timeouts = timeouts
        self._limit = limit

    def ensure(
        self,
        session: Session,
        at: Position,
        tokens: int,
        rules: Callable[[], AskingRules],
        attempts: tuple[Attempt, ...] = (),
        window: float = 0,
    ) -> Decision | None:
        """None: the session's lease carries `tokens`. Otherwise the run waits for the next hour, or for the people who
        may decide by the agent's `rules`.

        `attempts`: earlier calls, which the commit that begins to wait charges, because a session that waits for long
        gives its lease back. `window`: the token budget's window, in seconds. Raises what `carries` does.
        """
        clock = self._repository.clock
        hour = hour_of(clock.now())
        if self.carries(session, at, tokens):
            return None
        # It asks again if somebody lets the session go on within the hour, so one key for the hour is not enough.
        key = at.key(f"hour-{hour}-{session.head.last_seq}")
        for change in self._repository.attempts(session, key):
            check_turn(change.head, at)
            if change.head.interventions or change.head.is_over:
                break
            charge_attempts(change, attempts, window)
            open_hourly_limit(change, end_of_hour(hour), self._limit, rules())
            wait_for_people(change)
            change.commit()
        return wait_or_go_on(session.head, clock.now(), self._timeouts)

    def carries(self, session: Session, at: Position, tokens: int) -> bool:
        """Whether the session's lease carries `tokens`, with a further chunk where the hour has one left. False also
        where the run has ended meanwhile.

        A chunk is granted in one transaction with the commit that has it in the head. Raises CommitContention, and
        Fenced where another run, generation or turn has taken over.
        """
        if not self._limit:
            return True
        for attempt in range(ATTEMPTS):
            hour = hour_of(self._repository.clock.now())
            wanted = tokens_missing(session.head.lease, hour, tokens)
            if not wanted:
                return True
            lease = next_grant(self._session_index, self._limit, at, hour, wanted)
            if lease is None:
                return False
            try:
                for change in self._repository.attempts(session, at.key(f"lease-{session.number}")):
                    check_turn(change.head, at)
                    if change.head.is_over:
                        return False  # a run that is over needs no lease
                    change.set(lease=with_grant(change.head.lease, lease.hour, lease.tokens, lease.share))
                    change.commit(lease=lease)
            except GrantChanged:
                self._repository.clock.back_off(PAUSE_SECONDS * (attempt + 1))
        raise CommitContention(f"lost {ATTEMPTS} races for the tenant's hour")


def next_grant(
    session_index: SessionIndex, limit: int, at: Position, hour: int, wanted: int
) -> LeaseChange | None:
    """What to grant a session that needs `wanted` tokens more. None: the hour has too little left.

    A small hour is one item. In a large hour a session gets tokens from its own share, which draws more from the hour
    when it has too few. If the hour has no more, the session gets them from another share.
    """
    shares = shares_of(limit)
    if shares == 1:
        size = grant_size(limit - session_index.granted_tokens(at.tenant, hour), wanted)
        return None if size is None else LeaseChange(at.tenant, hour, size, limit)
    left: int | None = None
    for number in shares_in_turn(at.session_id, shares):
        free, drawn = session_index.free_tokens_of_share(at.tenant, hour, number), 0
        size = grant_size(free, wanted)
        if size is None:
            if left is None:
                left = limit - session_index.granted_tokens(at.tenant, hour)
            drawn = draw_size(left, wanted - free, limit)
            size = grant_size(free + drawn, wanted)
        if size is not None:
            return LeaseChange(at.tenant, hour, size, limit, number, drawn)
    return None
