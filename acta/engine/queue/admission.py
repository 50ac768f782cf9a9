"""Whether a provider takes one more call now: what this worker has of the provider's bucket, and what it takes from it
before a call (ADR 106).

A call needs one write before it, or none where the worker has kept enough from earlier calls. Afterwards it needs none,
or one that gives back the tokens that a large call did not use (ADR 122). If the provider takes no call, the session
waits in the line until it is admitted. Its place is stored before the commit that begins the wait. A place without that
commit is left alone for a while and then dropped. A session that waits and has no place takes one again after
`ASKS_AGAIN`.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress

from acta.engine.clock import Clock
from acta.engine.errors import SessionError, TransientError
from acta.engine.log.beside import Attempt
from acta.engine.log.commit import Decision
from acta.engine.log.head import Head
from acta.engine.models.model import ModelReply
from acta.engine.models.providers import NamedModel, charged_tokens
from acta.engine.queue.places import (
    ASKS_AGAIN,
    LEARN,
    LINE,
    MORE,
    AdmissionStore,
    CallSize,
    GrantPrice,
    Holding,
    ProviderBucket,
    ProviderLimits,
    QueuePlace,
    in_milliseconds,
)
from acta.engine.recovery.outage import QUEUED, Delay
from acta.engine.recovery.recover import begin_next_generation
from acta.engine.recovery.wait_out import wait_through
from acta.engine.turn.budget import charge_attempts
from acta.engine.turn.context import Turn
from acta.engine.turn.engine import check_turn, is_worth_parking


class Admission:
    """One worker's view of the buckets. `limits`: by provider; a provider that is not named takes every call, and
    nothing is read or written for it. `call_dispatcher`: starts a dispatcher for the line at once. It does not wait for
    it and raises nothing.
    """

    def __init__(
        self,
        store: AdmissionStore,
        clock: Clock,
        limits: Mapping[str, ProviderLimits],
        call_dispatcher: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._call_dispatcher = call_dispatcher
        self._clock = clock
        self._limits = limits
        self._held: dict[str, Holding] = {}
        self._buckets: dict[str, ProviderBucket] = {}
        """Of providers whose limits are learnt, the buckets as they were seen last."""
        self._named: dict[str, ProviderLimits] = {}
        """Limits that answers have named and that are not stored yet."""
        self._is_idle: dict[str, bool] = {}
        """Whether everything granted was paid for when the provider's bucket was seen last."""

    def admits(self, provider: str, tokens: int, head: Head | None = None) -> bool:
        """Takes what the call may use. Returns False if it has to wait in the line. `head`: the session's; None if the
        provider is a fallback, for which the session does not wait. Raises what the store raises.
        """
        limits = self._limits_of(provider)
        if limits is None:
            return True
        queued = head.delay if head is not None else None
        if queued is not None and queued.admitted:
            self._is_idle[provider] = False  # others wait in the line
            return True
        wanted, now = CallSize(tokens), self._clock.now()
        held = self._held.get(provider, Holding()).at(now, limits)
        lacks = held.lacks(wanted)
        if any(GrantPrice.of(limits, lacks)):
            taken = self._take(provider, limits, lacks)
            if taken is None:
                return False
            held = held.plus(taken.tokens, taken.requests, now)
        self._held[provider] = held.plus(-wanted.tokens, -wanted.requests, now)
        return True

    def _limits_of(self, provider: str) -> ProviderLimits | None:
        """None: there are none, or they are not known yet. What other workers have learnt is read once."""
        limits = self._limits.get(provider)
        if limits != LEARN:
            return limits
        if provider not in self._buckets:
            self._buckets[provider] = self._store.bucket(provider)
        learnt = self._buckets[provider].limits
        return learnt if learnt != LEARN else None

    def named(self, provider: str, limits: ProviderLimits) -> None:
        """An answer has begun, and its headers name what the provider takes. Another thread may call this."""
        if self._limits.get(provider) == LEARN:
            self._named[provider] = limits

    def _learn(self, provider: str) -> None:
        """Stores the limits that an answer has named, if they are new."""
        limits, now = self._named.pop(provider, None), self._clock.now()
        before = self._buckets.get(provider, ProviderBucket())
        if limits is None or not before.has_to_learn(limits, in_milliseconds(now)):
            return
        with suppress(TransientError):
            self._store.learn(provider, limits, now)
            self._buckets[provider] = before._replace(limits=limits, learnt=in_milliseconds(now))

    def _take(self, provider: str, limits: ProviderLimits, lacks: CallSize) -> CallSize | None:
        """What was taken. None: the bucket does not have enough, or there is a line."""
        now, wanted = self._clock.now(), lacks
        if self._is_idle.get(provider) and GrantPrice.of(limits, lacks).is_small:
            wanted = CallSize(lacks.tokens * MORE, lacks.requests * MORE)
        price = GrantPrice.of(limits, wanted)
        took = self._store.take(provider, price, now)
        at = in_milliseconds(now)
        if provider in self._buckets:
            self._buckets[provider] = took.bucket
        before = max(took.bucket.tokens - price.tokens, took.bucket.requests - price.requests)
        self._is_idle[provider] = took.granted and before <= at
        if not took.granted and wanted != lacks:
            return self._take(provider, limits, lacks)
        return wanted if took.granted else None

    def ended(
        self, asked: NamedModel, reserved: int, answer: ModelReply | SessionError | TransientError
    ) -> None:
        """Keeps what a call did not use for the next one, or gives it back. `reserved`: the tokens that were taken from
        the bucket for this call.

        A provider's request to wait (429) concerns only the session that met it: each model may have a limit of its
        own, so it says nothing about the calls of others.
        """
        provider = asked.provider
        limits = self._limits.get(provider)
        if limits is None:
            return
        if limits == LEARN:  # use the limits of when the tokens were taken; the answer may have named others
            limits = self._buckets.get(provider, ProviderBucket()).limits
        self._learn(provider)
        if not isinstance(answer, ModelReply) or limits == LEARN:
            return
        used, now = charged_tokens(asked, answer.usage), self._clock.now()
        held = self._held.get(provider, Holding()).at(now, limits).plus(reserved - used, 0, now)
        price = GrantPrice.of(limits, CallSize(held.tokens, requests=0))
        if price.is_worth_returning(is_idle=self._is_idle.get(provider, False)):
            # The worker drops the tokens whatever the store answers, so an unclear answer loses tokens and counts none
            # twice.
            held = held._replace(tokens=0)
            with suppress(TransientError):
                self._store.give_back(provider, price.tokens, now)
        self._held[provider] = held

    def join(self, provider: str, tokens: int, head: Head) -> Delay:
        """Puts the session in the line, or finds its earlier place, and returns the wait to commit. Raises what the
        store raises.
        """
        now, queued = self._clock.now(), head.delay
        since = queued.since if queued is not None and queued.is_queued else now
        one = QueuePlace(provider, head.tenant, head.session_id, since, tokens)
        place = self._store.join(one, now, now + LINE)
        if place.begins_line:
            self._call_dispatcher()
        return Delay(
            reason="queued", code=QUEUED, since=since, until=now + ASKS_AGAIN, position=place.position
        )


def wait_in_line(
    turn: Turn, admission: Admission, provider: str, tokens: int, attempts: tuple[Attempt, ...]
) -> Decision:
    """Puts the session in the line and commits the wait. `tokens`: what the call may use. `attempts`: earlier attempts
    that are not charged yet; the commit charges them. Raises Fenced, and what the stores raise."""
    deps = turn.deps
    wait = admission.join(provider, tokens, turn.session.head)
    for change in deps.repository.attempts(turn.session, turn.key):
        check_turn(change.head, turn.at)
        charge_attempts(change, attempts, deps.settings.token_window_seconds)
        decision, run = wait_through(change, wait, deps.outage_rules), change.head.run
        if run is not None and is_worth_parking(change.head, change.now, deps.timeouts.warn):
            # Parked here and not by the engine, because a queued session costs this commit and no execution.
            begin_next_generation(change, run, run.restarts, parked=True)
            decision = Decision(next="done", at=turn.at)
        change.commit(decision)
    return turn.session.decided(turn.key)
