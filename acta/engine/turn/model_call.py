"""One call of a model: written down with its reservation before it is made, so that it cannot be forgotten
(docs/design/budgets.md 8).

In the ordinary case that is one write, to an item beside the log. Where a worker died during a call, the next one finds
the call there: it counts before the model is asked again, and the commit that follows charges it. A fallback model is
another attempt, with a write of its own.

A reply is committed for as long as there is time. Where the log's store does not take it, the reply is kept elsewhere,
so that the next attempt at its turn commits it and does not buy it again: as an object of the session, or in the marker
of its model calls where it is small. While one store is away the other one may be there.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Literal, NamedTuple

from pydantic import ValidationError

from acta.engine.clock import ATTEMPT
from acta.engine.errors import (
    CommitContention,
    EngineError,
    Fenced,
    PoisonedSession,
    ProviderOverloaded,
    SessionError,
    StopUnknown,
    TransientError,
)
from acta.engine.log.beside import Attempt, AttemptsChanged, AttemptStore, BlobMissing, Marker, open_attempts
from acta.engine.log.commit import Change, Decision, Position
from acta.engine.log.conversation import EndedTurns, total_bytes
from acta.engine.log.head import Head, RunningResponse
from acta.engine.log.repository import SessionRepository
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.models.providers import NamedModel
from acta.engine.store.schema import StoredModel
from acta.engine.turn.budget import CallReservation, PendingCharges, carries, renewed, reserve, with_outcome
from acta.engine.turn.context import Turn
from acta.engine.turn.engine import is_at
from acta.engine.turn.next_action import CallAndResult

SUMMARY = "compact"
"""The kind of a summary's call: its commit key ends with this."""
KINDS: Mapping[str, Literal["plan", "judge"]] = {"plan": "plan", "judge": "judge"}
"""How the step log calls a call, by the end of its key. All others are `llm`."""
MOST_BYTES_IN_MARKER = 200_000
"""A larger reply is not kept in the marker: an item of DynamoDB has at most 400 KB."""


class KeptReply(StoredModel):
    """`place`: see `place_of`. `attempt`: the attempt that was answered, as it began. `ended`: when it was answered.
    `delivered`: ids of the users' messages that its request showed.
    """

    place: str
    attempt: Attempt
    ended: datetime
    delivered: tuple[str, ...]
    reply: ModelReply


def place_of(head: Head, kind: str) -> str:
    """Where in the session a reply belongs: after all replies that were committed before. Waits and restarts in between
    do not change it. `kind`: what the commit key of the reply ends with.
    """
    run_id = head.run.run_id if head.run is not None else ""
    return f"{run_id}/{head.usage.llm_calls}/{kind}"


def keep(
    repository: SessionRepository,
    attempts: AttemptStore,
    at: Position,
    reply: KeptReply,
    open_ones: tuple[Attempt, ...],
) -> bool:
    """Keeps the reply, and returns whether one of the stores took it. `open_ones`: the attempts that the marker holds;
    the reply's own is the last."""
    text = reply.model_dump_json()
    with suppress(EngineError):
        repository.keep_named(at, _name(reply.place), text)
        return True
    if len(text.encode()) > MOST_BYTES_IN_MARKER:
        return False
    marker = Marker(attempts=open_ones, reply=text)
    with suppress(EngineError, AttemptsChanged):
        attempts.write(at.tenant, at.session_id, marker, after=marker.last_id)
        return True
    return False


def kept(repository: SessionRepository, head: Head, kind: str, marker: Marker) -> KeptReply | None:
    """The session's next reply, where it was kept; None: there is none. `marker`: as it is now. Raises what the blob
    store raises; it is not asked where the marker has the reply, or where every attempt is known to have failed.
    """
    place = place_of(head, kind)
    if not any(place.startswith(f"{one.run_id}/") and not one.outcome for one in marker.attempts):
        return None
    found = _read(marker.reply) if marker.reply else None
    if found is not None and found.place == place:
        return found
    with suppress(BlobMissing, PoisonedSession):  # a damaged reply is bought again, too
        return _read(repository.text(head, _name(place)))
    return None


def is_next(head: Head, reply: KeptReply) -> bool:
    """Whether the run still waits for this reply: no other one was committed in its place."""
    is_live = head.run is not None and not head.is_over and not head.deleted
    return is_live and reply.place == place_of(head, reply.place.rpartition("/")[2])


def _read(text: str) -> KeptReply | None:
    """None: it is damaged, or of another release. The model is asked again."""
    try:
        return KeptReply.model_validate_json(text)
    except ValidationError:
        return None


def _name(place: str) -> str:
    return "reply-" + hashlib.sha256(place.encode()).hexdigest()


RACES = 12
"""Races for the marker lost in a row, before the engine is asked to try again later."""
WRITES = 4
"""Tries to write the marker."""
PAUSE_SECONDS = 0.1


@dataclass(frozen=True, eq=False, repr=False)
class ModelCall:
    """A request to a model, and what is known of it so far. Each step of the turn adds its part."""

    request: ModelRequest
    bytes: int
    """The length of the request, from which its tokens are estimated."""
    delivered: tuple[str, ...] = ()
    """Ids of the users' messages that the request shows for the first time."""
    previous: tuple[CallAndResult, ...] = ()
    """The tool calls of the last reply with their results, as the request shows them."""
    attempts: tuple[Attempt, ...] = ()
    """The attempts that no commit had charged when this call was written down; its own is the last. Empty: it is not
    written down yet."""
    answer: ModelReply | SessionError | TransientError | None = None
    """None: nobody has answered yet."""
    kept: RunningResponse | None = None
    """What the provider keeps of an answer in the background that was there at once."""


class BudgetTooLow(NamedTuple):
    """The session's budget carries no call."""

    attempts: tuple[Attempt, ...]
    """Earlier attempts that no commit has charged yet."""


def request_bytes(request: ModelRequest) -> int:
    """The bytes that the request's tokens are estimated from."""
    tools = sum(len(tool.description) + len(str(tool.input_schema)) for tool in request.tools)
    entries = (request.ended_turns or EndedTurns()).made(
        "bytes", request.entries, 0, lambda before, turns: before + sum(map(total_bytes, turns))
    )
    return len(request.system) + len(request.answer_schema) + tools + entries + len(request.suffix)


def mark_call(turn: Turn, call: ModelCall, key: str) -> ModelCall | BudgetTooLow | Decision:
    """Reserves what the call may cost and writes it down. Returns the call with its attempts, and with its answer if an
    earlier worker had kept one. A decision: the session waits for the tenant's hour, or because the provider takes no
    more calls now.

    `key`: of the commit that the answer goes into. Raises Fenced, CommitContention, and what the stores raise.
    """
    deps, session = turn.deps, turn.session
    models, window = turn.models, deps.settings.token_window_seconds
    before: tuple[Attempt, ...] = ()
    # The last attempt in the marker, known from the head without a read. A late worker may have written one since.
    after = session.head.budget.settled[-1] if session.head.budget.settled else None
    provider, admission = models[0].provider, deps.admission
    for race in range(RACES):
        most = call.request.max_tokens
        reservation = reserve(_in_window(turn), call.bytes, most, models, PendingCharges.of(before))
        if reservation is None:
            return BudgetTooLow(before)
        if admission is not None:
            if not admission.admits(provider, reservation.tokens, session.head):
                from acta.engine.queue.admission import wait_in_line

                return wait_in_line(turn, admission, provider, reservation.tokens, before)
            admission = None  # the call needs to be admitted once, however many races are lost
        # This comes after the provider's line, in which a session holds no tokens of its tenant's hour.
        pending = PendingCharges.of(before)
        wanted = PendingCharges(
            reservation.tokens + pending.tokens, day_usd=reservation.day_usd + pending.day_usd
        )
        decision = deps.tenant_hour.ensure(session, turn.at, wanted, lambda: turn.rules, before, window)
        if decision is not None:
            return decision
        attempts = (*before, _attempt(turn, reservation, key))
        try:
            _write(turn, attempts, after)
        except AttemptsChanged as changed:
            before, after = open_attempts(session.head, changed.marker.attempts), changed.marker.last_id
            found = kept(deps.repository, session.head, key.rpartition("/")[2], changed.marker)
            if found is not None:
                return _answered(call, found, before)
            deps.clock.back_off(PAUSE_SECONDS * race)
        else:
            request = call.request._replace(max_tokens=reservation.output)
            return replace(call, request=request, attempts=attempts)
    raise CommitContention(f"lost {RACES} races for the marker of the session's model calls")


def kept_call(turn: Turn, call: ModelCall) -> ModelCall | None:
    """The call with the reply that an earlier worker has bought and could not commit. It was paid for, so neither a
    budget nor a summary may come before it. Nothing is read where nothing hints at an earlier worker. Raises what the
    stores raise.
    """
    deps, session = turn.deps, turn.session
    run = session.head.run
    is_restarted = run is not None and run.restarts.turn == run.turn and run.restarts.count > 0
    if not turn.attempt and session.head.outage is None and not is_restarted:
        return None
    marker = deps.attempts.read(turn.at.tenant, turn.at.session_id)
    before = open_attempts(session.head, marker.attempts)
    try:
        found = kept(deps.repository, session.head, turn.call_key.rpartition("/")[2], marker)
    except TransientError:
        if before:
            raise
        return None  # every attempt is charged, so only a worker that was late could have kept a reply
    return None if found is None else _answered(call, found, before)


def _answered(call: ModelCall, found: KeptReply, before: tuple[Attempt, ...]) -> ModelCall:
    others = tuple(one for one in before if one.attempt_id != found.attempt.attempt_id)
    own = with_outcome(found.attempt, found.reply, found.ended)
    return replace(call, attempts=(*others, own), delivered=found.delivered, answer=found.reply)


def complete(turn: Turn, call: ModelCall, timeout: float) -> ModelCall:
    """Asks the model, and then its fallbacks. If one fails, it is noted at once whether it may have to be paid for.

    `timeout`: the seconds that are left. A call with few output tokens gets fewer.
    """
    models = _ModelsOfCall(turn, call.attempts)
    request = call.request._replace(fallbacks=models)
    if turn.deps.admission is not None:
        options = request.stream_options._replace(on_limits=turn.deps.admission.named)
        request = request._replace(stream_options=options)
    answer: ModelReply | SessionError | TransientError
    try:
        answer = turn.model.complete(request, timeout=min(timeout, turn.seconds_for(request.max_tokens)))
    except (SessionError, TransientError) as error:
        answer = error
    # If the last model's outcome is noted already, `answer` is one error for all models.
    if not models.attempts[-1].outcome:
        models.ended(answer)
    if not isinstance(answer, ModelReply):
        models.note()
    return replace(call, attempts=models.attempts, answer=answer)


def failed(turn: Turn, call: ModelCall, error: SessionError | TransientError) -> ModelCall:
    """Notes the failure of a background call that could not be made, or that may or may not have been made."""
    models = _ModelsOfCall(turn, call.attempts)
    models.ended(error)
    models.note()
    return replace(call, attempts=models.attempts, answer=error)


def raise_for_retry(answer: ModelReply | SessionError | TransientError | None) -> None:
    """Raises an error that the engine retries. Committed instead is one whose provider names a time to wait, and one
    that more tries would only meet again.
    """
    is_overload = isinstance(answer, ProviderOverloaded) and answer.retry_after is not None
    if isinstance(answer, TransientError) and not is_overload and not isinstance(answer, StopUnknown):
        raise answer


class _ModelsOfCall:
    """The models that one call asks, one after the other. Each is an attempt with a whole reservation (`Fallbacks` in
    `acta/engine/models/model.py`).
    """

    def __init__(self, turn: Turn, attempts: tuple[Attempt, ...]) -> None:
        self.attempts = attempts
        self._turn = turn
        delay = turn.session.head.delay
        # The dispatcher paid for one call. If that call was lost, this one is made for the same payment.
        self._was_paid_before = len(attempts) > 1 and delay is not None and delay.admitted
        self._first = attempts[-1]
        self._written = self._first.attempt_id

    def ended(self, answer: ModelReply | SessionError | TransientError) -> None:
        deps, last = self._turn.deps, self.attempts[-1]
        last = with_outcome(last, answer, deps.clock.now())
        self.attempts = (*self.attempts[:-1], last)
        if deps.admission is not None:
            reserved = 0 if self._was_paid_before else last.reserved_tokens
            deps.admission.ended(NamedModel(last.provider, last.model), reserved, answer)
            self._was_paid_before = False  # a fallback pays for itself

    def may_ask(self, provider: str, model: str) -> bool:
        """Whether the budgets, the tenant's hour and the provider carry one more attempt, and it could be written
        down."""
        turn, deps, last = self._turn, self._turn.deps, self.attempts[-1]
        # The first reservation was made at the price of the dearest model that the agent names.
        changes = {"attempt_id": deps.clock.new_id(ATTEMPT), "provider": provider, "model": model}
        afresh = {"started": deps.clock.now(), "ended": None, "outcome": "", "billed": 1}
        own = self._first.model_copy(update=changes | afresh)
        # An attempt that cost nothing needs no row of its own: `llm.retried` of the reply tells of it.
        attempts = (*(self.attempts if last.billed else self.attempts[:-1]), own)
        pending = PendingCharges.of(attempts)
        if not carries(_in_window(turn), pending):
            return False
        try:
            if not deps.tenant_hour.carries(turn.session, turn.at, pending):
                return False
            if deps.admission is not None and not deps.admission.admits(provider, own.reserved_tokens):
                return False
            after, self._written = self._written, own.attempt_id
            _write(turn, attempts, after)
        except (AttemptsChanged, Fenced, TransientError):
            return False
        self.attempts = attempts
        return True

    def note(self) -> None:
        """Writes down how the last attempt went. Otherwise it would be taken for vanished, and charged at its
        reservation.
        """
        with suppress(AttemptsChanged, Fenced, TransientError):
            _write(self._turn, self.attempts, self._written)


def _in_window(turn: Turn) -> Head:
    """The head with the budget of the window in which the call begins. The call's own commit makes it so."""
    head = turn.session.head
    return head.model_copy(
        update={
            "budget": renewed(head.budget, turn.deps.clock.now(), turn.deps.settings.token_window_seconds)
        }
    )


def _write(turn: Turn, attempts: tuple[Attempt, ...], after: str | None) -> None:
    """Writes the marker. Tries several times, because a write whose answer was lost may leave behind an attempt that
    was never made."""
    marker, at, deps = Marker(attempts=attempts), turn.at, turn.deps
    for failures in range(1, WRITES):
        try:
            return deps.attempts.write(at.tenant, at.session_id, marker, after=after)
        except TransientError:
            deps.clock.back_off(PAUSE_SECONDS * failures)
    return deps.attempts.write(at.tenant, at.session_id, marker, after=after)


def _attempt(turn: Turn, reservation: CallReservation, key: str) -> Attempt:
    first, clock = turn.first_model, turn.deps.clock
    return Attempt(
        attempt_id=clock.new_id(ATTEMPT),
        key=key,
        run_id=turn.at.run_id,
        turn=turn.at.turn,
        kind=KINDS.get(key.rpartition("/")[2], "llm"),
        number=turn.attempt,
        provider=first.provider,
        model=first.model,
        started=clock.now(),
        input_tokens=reservation.input,
        output_tokens=reservation.output,
        cost_usd=reservation.usd,
    )


PATIENCE = timedelta(seconds=20)
"""For so long only the commit is tried. After that the reply is kept elsewhere."""
ROOM = timedelta(seconds=5)
"""How much of the time after the models' deadline may be used. The rest is for the last request's own retries."""
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0
"""Seconds, doubled after each try."""


@contextmanager
def reply_kept(turn: Turn, call: ModelCall, key: str) -> Iterator[Callable[[], bool]]:
    """Surrounds the commit of the call's reply. Yields a function that keeps the reply for the next worker, for when
    the log's store does not take it; it returns whether it could. If the session was moved on without a reply while the
    model thought, the reply is kept in any case: the turn that the session is at now finds it.
    """
    assert isinstance(call.answer, ModelReply)
    deps, at, own = turn.deps, turn.at, call.attempts[-1]
    # The attempt as it was written down when the call began, because that is what the marker holds.
    begun = own.model_copy(update={"outcome": "", "billed": 1, "ended": None})
    reply = KeptReply(
        place=place_of(turn.session.head, key.rpartition("/")[2]),
        attempt=begun,
        ended=own.ended or deps.clock.now(),
        delivered=call.delivered,
        reply=call.answer,
    )
    keep_reply = partial(keep, deps.repository, deps.attempts, at, reply, (*call.attempts[:-1], begun))
    try:
        yield keep_reply
    except Fenced:
        head = turn.session.head
        if not is_at(head, at) and is_next(head, reply):
            keep_reply()
        raise


def patient_attempts(
    turn: Turn, key: str, keep_elsewhere: Callable[[], bool] = lambda: False
) -> Iterator[Change]:
    """The loop of `SessionRepository.attempts`, which also tries again while the store refuses and there is time.

    `keep_elsewhere`: keeps what was to be committed, and returns whether it could; it is called once the commit has
    been tried for `PATIENCE`. Raises what that loop raises.
    """
    clock = turn.deps.clock
    begun, last, pause = clock.now(), turn.deadline + ROOM, FIRST_PAUSE
    while True:
        try:
            yield from turn.deps.repository.attempts(turn.session, key)
            return
        except TransientError:
            now = clock.now()
            is_late = now + timedelta(seconds=pause) >= last
            if is_late or now - begun >= PATIENCE:
                is_kept = keep_elsewhere()
                if is_kept or is_late:
                    raise
        clock.back_off(pause)
        pause = min(LONGEST_PAUSE, 2 * pause)
