"""A model call that cannot be forgotten: it is written down with its reservation before it is made (design §5).

One write in the ordinary case, to an item beside the log. What vanished before is found by it, counts before the model
is asked, and is charged by the commit that follows. A fallback model is another attempt, with a write of its own.

A reply is committed for as long as there is time, and kept elsewhere where the store does not take it (`commit_reply`).
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import NamedTuple

from acta_engine.errors import CommitContention, Fenced, SessionError, TransientError
from acta_engine.ids import ATTEMPT
from acta_engine.log.attempt import Attempt, Marker, open_attempts
from acta_engine.log.attempts import AttemptsChanged
from acta_engine.log.commit import Decision
from acta_engine.log.head import Head
from acta_engine.log.repository import Build
from acta_engine.log.session import Recorded
from acta_engine.models.model import ModelReply, ModelRequest
from acta_engine.models.prices import NamedModel
from acta_engine.people.options_and_defaults import NO_POLICIES, Policies
from acta_engine.turn.budget import Pending, Reservation, carries, renewed
from acta_engine.turn.engine_decision import is_at
from acta_engine.turn.kept_replies import KeptReply, is_next, keep, kept
from acta_engine.turn.session_budget import Bill, SizedRequest, affordable, charge_attempts, with_outcome
from acta_engine.turn.turn_context import Turn, TurnContext

RACES = 12
"""Other workers that were faster, in a row, before the engine is asked to try again later."""
WRITES = 4
"""Tries to write the marker."""
PAUSE_SECONDS = 0.1


class MarkedCall(NamedTuple):
    """A call that is paid for and written down, and may be made. `attempts`, `window`: as in `Bill`."""

    request: ModelRequest
    attempts: tuple[Attempt, ...]
    bytes: int
    window: float

    @property
    def bill(self) -> Bill:
        return Bill(self.attempts, self.bytes, self.window)


class KeptCall(NamedTuple):
    """A call that an earlier attempt has made. Its reply could not be committed and was kept."""

    marked: MarkedCall
    kept: KeptReply
    bill: Bill


class Completed(NamedTuple):
    """What came of a call, and its bill with the outcome in it."""

    answer: ModelReply | SessionError | TransientError
    bill: Bill


class NotAffordable(NamedTuple):
    """The budget carries no call. `attempts`: earlier ones that are not charged yet."""

    attempts: tuple[Attempt, ...]


def mark_call(
    turn: Turn, context: TurnContext, asked: SizedRequest, key: str, policies: Policies = NO_POLICIES
) -> MarkedCall | KeptCall | NotAffordable | Decision:
    """Reserves what the call may cost and writes it down. A decision: the tenant's hour is waited for, or the provider
    takes no more calls now.

    `context`: with the model that is asked. `key`: of the commit that its answer goes into. Raises Fenced,
    CommitContention, and what the stores raise.
    """
    session = turn.session
    before: tuple[Attempt, ...] = ()
    after = _last_settled(session.head)
    provider, admission = context.first_model.provider, turn.deps.admission
    for race in range(RACES):
        afforded = affordable(_in_window(turn), asked, context.models, before)
        if afforded is None:
            return NotAffordable(before)
        request, reservation = afforded
        if admission is not None:
            if not admission.admits(provider, reservation.tokens, session.head):
                from acta_engine.queue.admission import wait_in_line

                return wait_in_line(turn, admission, provider, reservation.tokens, before)
            admission = None  # once, however many races are lost
        # after the line, in which a session holds no tokens of its tenant's hour
        decision = turn.deps.tenant_hour.ensure(
            session,
            turn.at,
            reservation.tokens + Pending.of(before).tokens,
            policies,
            partial(charge_attempts, attempts=before, window=turn.deps.token_window),
        )
        if decision is not None:
            return decision
        attempts = (*before, _attempt(turn, context, reservation, key))
        try:
            _write(turn, attempts, after)
        except AttemptsChanged as changed:
            before, after = open_attempts(session.head, changed.marker.attempts), changed.marker.last_id
            found = kept(turn.deps.repository, session.head, key.rpartition("/")[2], changed.marker)
            if found is not None:
                return _kept_call(turn, found, before, asked)
            turn.deps.clock.back_off(PAUSE_SECONDS * race)
        else:
            return MarkedCall(request, attempts, asked.bytes, turn.deps.token_window)
    raise CommitContention(f"lost {RACES} races for the marker of the session's model calls")


def kept_call(turn: Turn, asked: SizedRequest) -> KeptCall | None:
    """The turn's reply, where an earlier attempt has it. It was paid for, so neither a budget nor a summary may come
    before it. Nothing is read where nothing tells of an earlier attempt. Raises what the stores raise.
    """
    deps, session, at = turn.deps, turn.session, turn.at
    run = session.head.run
    is_restarted = run is not None and run.restarts.turn == run.turn and run.restarts.count > 0
    if not turn.attempt and session.head.outage is None and not is_restarted:
        return None
    marker = deps.attempts.read(at.tenant, at.session_id)
    before = open_attempts(session.head, marker.attempts)
    try:
        found = kept(deps.repository, session.head, turn.kind, marker)
    except TransientError:
        if before:
            raise
        return None  # all are charged: only a worker that was late could have kept one
    return None if found is None else _kept_call(turn, found, before, asked)


def complete(turn: Turn, context: TurnContext, call: MarkedCall, timeout: float) -> Completed:
    """Asks the model, and its fallbacks. Of a failure it is noted at once whether it may have to be paid for.

    `timeout`: seconds that there are; a call of few tokens has less.
    """
    seconds = min(timeout, context.seconds_for(call.request))
    asked = _AskedModels(turn, call.attempts)
    answer: ModelReply | SessionError | TransientError
    request = call.request._replace(fallbacks=asked)
    if turn.deps.admission is not None:
        options = request.stream_options._replace(on_limits=turn.deps.admission.named)
        request = request._replace(stream_options=options)
    try:
        answer = context.model.complete(request, timeout=seconds)
    except (SessionError, TransientError) as error:
        answer = error
    if not asked.attempts[-1].outcome:  # else it is known already, and the answer is one for all models
        asked.ended(answer)
    if not isinstance(answer, ModelReply):
        asked.note()
    return Completed(answer, call._replace(attempts=asked.attempts).bill)


def not_begun(turn: Turn, call: MarkedCall, error: SessionError | TransientError) -> Completed:
    """A call in the background that could not be made, or of which nobody knows whether it was."""
    asked = _AskedModels(turn, call.attempts)
    asked.ended(error)
    asked.note()
    return Completed(error, call._replace(attempts=asked.attempts).bill)


class _AskedModels:
    """The models that one call goes to, one after the other: each is an attempt with a whole reservation (`Fallbacks`
    in `shared/acta_engine/models/model.py`).
    """

    def __init__(self, turn: Turn, attempts: tuple[Attempt, ...]) -> None:
        self.attempts = attempts
        self._turn = turn
        delay = turn.session.head.delay
        # The dispatcher paid for one call. Who comes after a lost one calls again for the same money.
        self._was_paid_before = len(attempts) > 1 and delay is not None and delay.admitted
        self._written = attempts[-1].attempt_id

    def ended(self, answer: ModelReply | SessionError | TransientError) -> None:
        last = with_outcome(self.attempts[-1], answer, self._turn.deps.clock.now())
        self.attempts = (*self.attempts[:-1], last)
        if self._turn.deps.admission is not None:
            asked, reserved = NamedModel(last.provider, last.model), last.input_tokens + last.output_tokens
            self._turn.deps.admission.ended(asked, 0 if self._was_paid_before else reserved, answer)
            self._was_paid_before = False  # a fallback pays for itself

    def may_ask(self, provider: str, model: str) -> bool:
        """Whether the budgets and the tenant's hour carry one more reservation, and it could be written down."""
        turn, last = self._turn, self.attempts[-1]
        own = _next_attempt(turn, last, provider, model)
        # what cost nothing needs no row of its own: the reply's `llm.retried` tells it
        attempts = (*(self.attempts if last.billed else self.attempts[:-1]), own)
        pending = Pending.of(attempts)
        if not carries(_in_window(turn), pending):
            return False
        try:
            if not turn.deps.tenant_hour.carries(turn.session, turn.at, pending.tokens):
                return False
            admission = turn.deps.admission
            if admission is not None and not admission.admits(provider, own.input_tokens + own.output_tokens):
                return False
            after, self._written = self._written, own.attempt_id
            _write(turn, attempts, after)
        except (AttemptsChanged, Fenced, TransientError):
            return False
        self.attempts = attempts
        return True

    def note(self) -> None:
        """Writes down how the last one went. It would be taken for vanished, and charged at its reservation."""
        with suppress(AttemptsChanged, Fenced, TransientError):
            _write(self._turn, self.attempts, self._written)


def _kept_call(turn: Turn, found: KeptReply, before: tuple[Attempt, ...], asked: SizedRequest) -> KeptCall:
    """The call as it was made, its own attempt the last."""
    others = tuple(one for one in before if one.attempt_id != found.attempt.attempt_id)
    answered = with_outcome(found.attempt, found.reply, found.ended)
    marked = MarkedCall(asked.request, (*others, found.attempt), asked.bytes, turn.deps.token_window)
    return KeptCall(marked, found, marked._replace(attempts=(*others, answered)).bill)


def _in_window(turn: Turn) -> Head:
    """The head with the budget of the window in which the call begins. The call's own commit makes it so."""
    head = turn.session.head
    return head.model_copy(update={"budget": renewed(head, turn.deps.clock.now(), turn.deps.token_window)})


def _last_settled(head: Head) -> str | None:
    """The last attempt of the marker, unless something has come between: nothing is read to know it."""
    return head.budget.settled[-1] if head.budget.settled else None


def _write(turn: Turn, attempts: tuple[Attempt, ...], after: str | None) -> None:
    """Tries several times: a write whose answer was lost may leave an attempt behind that was never made."""
    marker, at, deps = Marker(attempts=attempts), turn.at, turn.deps
    for failures in range(1, WRITES):
        try:
            return deps.attempts.write(at.tenant, at.session_id, marker, after=after)
        except TransientError:
            deps.clock.back_off(PAUSE_SECONDS * failures)
    return deps.attempts.write(at.tenant, at.session_id, marker, after=after)


def _attempt(turn: Turn, context: TurnContext, reservation: Reservation, key: str) -> Attempt:
    first, clock = context.first_model, turn.deps.clock
    return Attempt(
        attempt_id=clock.new_id(ATTEMPT),
        key=key,
        run_id=turn.at.run_id,
        turn=turn.at.turn,
        kind="plan" if key == turn.at.key("plan") else "llm",
        number=turn.attempt,
        provider=first.provider,
        model=first.model,
        started=clock.now(),
        input_tokens=reservation.input,
        output_tokens=reservation.output,
        cost_usd=reservation.usd,
    )


def _next_attempt(turn: Turn, last: Attempt, provider: str, model: str) -> Attempt:
    """Of a fallback: all that the agent names have been priced in the first reservation."""
    clock = turn.deps.clock
    asked = {
        "attempt_id": clock.new_id(ATTEMPT),
        "provider": provider,
        "model": model,
        "started": clock.now(),
    }
    return last.model_copy(update={**asked, "ended": None, "outcome": "", "billed": 1})


PATIENCE = timedelta(seconds=20)
"""How long the commit alone is tried. After that the reply is kept elsewhere."""
ROOM = timedelta(seconds=5)
"""What of the time after the models' deadline may be used: the rest is for the last request's own retries."""
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0
"""Seconds, doubled after each try."""


def commit_reply(
    turn: Turn, key: str, build: Build, reply: KeptReply, open_ones: tuple[Attempt, ...]
) -> Recorded | None:
    """Commits, and tries again while the store refuses and there is time; then keeps the reply for the next attempt.

    `open_ones`: as in `keep`. Returns what `SessionRepository.commit` does, and raises that, too. Where the session was
    moved on without a reply while the model thought, the turn that it is at now finds this one.
    """
    deps, at = turn.deps, turn.at

    def kept() -> bool:
        return keep(deps.repository, deps.attempts, at, reply, open_ones)

    try:
        return commit_while_there_is_time(turn, key, build, kept)
    except Fenced:
        head = turn.session.head
        if not is_at(head, at) and is_next(head, reply):
            kept()
        raise


def commit_while_there_is_time(
    turn: Turn, key: str, build: Build, kept: Callable[[], bool] = lambda: False
) -> Recorded | None:
    """Commits, and tries again while the store refuses and there is time. `kept`: keeps elsewhere what is committed,
    and says whether it could; it is asked once the commit has been tried for long. Raises what the commit raises.
    """
    deps = turn.deps
    begun, last, pause = deps.clock.now(), turn.deadline + ROOM, FIRST_PAUSE
    while True:
        try:
            return deps.repository.commit(turn.session, key, build)
        except TransientError:
            now = deps.clock.now()
            is_late = now + timedelta(seconds=pause) >= last
            if is_late or now - begun >= PATIENCE:
                is_kept = kept()
                if is_kept or is_late:
                    raise
        deps.clock.back_off(pause)
        pause = min(LONGEST_PAUSE, 2 * pause)
