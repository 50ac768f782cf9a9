"""A model call that nobody waits for: the provider makes the answer by itself, and the engine looks again (ADR 60).

The response's id is in the head before the engine waits, with the messages that its request showed. So whatever worker,
execution or generation comes next fetches this answer and buys no second one. A look writes nothing: only the call's
outcome is committed. A worker that dies between the request and the commit leaves an attempt that vanished, as with any
other call, because the provider has no key that a second request could share with the first.
"""

from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from acta.engine.agents.agent import built_in
from acta.engine.errors import (
    ActaError,
    AnswerWithheld,
    Fenced,
    ProviderRejected,
    ProviderTimeout,
    SessionError,
    StreamBroken,
    TransientError,
)
from acta.engine.log.beside import Attempt, open_attempts
from acta.engine.log.commit import Change, Decision, Position
from acta.engine.log.head import Head, RunningResponse
from acta.engine.log.repository import Session
from acta.engine.models.model import BackgroundCalls, BackgroundResponse, ModelReply, in_background
from acta.engine.models.providers import NamedModel, looks, next_wait
from acta.engine.turn.budget import charge_attempts, settle_call, with_outcome
from acta.engine.turn.context import Turn, TurnDeps, TurnKind
from acta.engine.turn.engine import (
    EVENTS_PER_TURN,
    check_run,
    check_turn,
    end_decision,
    or_roll_over,
    position,
    turn_again,
)
from acta.engine.turn.model_call import ModelCall, failed, patient_attempts, place_of

REQUEST_SECONDS = 60.0
"""The time limit of a request to the provider. No request waits until the answer is made."""
END_SECONDS = 10.0
"""The time limit of each of the two requests that end a response that nobody wants."""


def begin(turn: Turn, calls: BackgroundCalls, call: ModelCall) -> ModelCall | Decision:
    """Makes the call and commits the response's id; the engine then waits. Returns the call if its answer was there at
    once, or if it could not be made. If another worker has the turn, the response is ended again. Raises Fenced, and
    what the stores raise."""
    own = call.attempts[-1]
    try:
        started = calls.start(call.request, timeout=min(REQUEST_SECONDS, turn.seconds_left))
    except (SessionError, TransientError) as error:
        return failed(turn, call, error)
    running = RunningResponse(
        response_id=started.response_id if isinstance(started, ModelReply) else started,
        place=place_of(turn.session.head, turn.kind),
        attempt_id=own.attempt_id,
        provider=turn.model.provider,
        model=call.request.model,
        started=own.started,
        delivered=call.delivered,
        bytes=call.bytes,
    )
    if isinstance(started, ModelReply):
        answered = with_outcome(own, started, turn.deps.clock.now())
        kept = running if started.response_id else None
        return replace(call, attempts=(*call.attempts[:-1], answered), answer=started, kept=kept)

    session = turn.session
    try:
        for change in patient_attempts(turn, turn.key):
            check_turn(change.head, turn.at)
            if change.head.is_over:
                break
            change.end_wait()
            change.set(background=running)
            turn_again(change)
            change.commit(_waits(turn.deps, change.head, running, change.now, turn.kind))
    except (Fenced, TransientError):
        _end(calls, running)
        raise
    if session.head.background != running:
        _end(calls, running)
    return session.decided(turn.key) if session.recorded(turn.key) else end_decision(session.head)


def look(turn: Turn, call: ModelCall, running: RunningResponse) -> ModelCall | Decision | None:
    """Looks for the answer that the provider makes, and returns the call with it. A decision: the answer is not there
    yet. None: the response was meant for an earlier reply, and is ended. Raises what the provider and the stores raise,
    and AnswerWithheld: a refused look says nothing of the answer, which has to be paid for. It is given up only once a
    person knows its id and has decided to go on.
    """
    deps, head = turn.deps, turn.session.head
    calls = _calls_to(deps, running)
    if running.place != place_of(head, turn.kind):
        if calls is not None:
            _end(calls, running)
        return None
    now, seconds = deps.clock.now(), min(REQUEST_SECONDS, turn.seconds_left)
    answer: ModelReply | ActaError | None
    try:
        if calls is None:
            raise StreamBroken("the model answers in the background no more")
        answer = calls.result(_named(running), timeout=seconds)
        if answer is None and now - running.started < timedelta(seconds=deps.settings.background_seconds):
            return _waits(deps, head, running, now, turn.kind)
        if answer is None:
            answer = calls.cancel(_named(running), timeout=seconds)
            if not isinstance(answer, ModelReply):
                answer = ProviderTimeout("the answer in the background was not there in time", True)
    except (ProviderRejected, StreamBroken) as refused:
        if not running.told:
            raise AnswerWithheld(str(refused)) from None
        answer = StreamBroken(str(refused))
    assert isinstance(answer, ModelReply | SessionError | TransientError)
    attempts = _attempts(deps, turn.session, running, answer)
    return replace(call, bytes=running.bytes, delivered=running.delivered, attempts=attempts, answer=answer)


def count_looks(change: Change, running: RunningResponse) -> None:
    """Ends the wait for the answer, and counts the entries that the looks have left in the execution's history."""
    counted = _with_looks(change.head, (change.now - running.started).total_seconds())
    change.set(background=None, run=counted.run)


def forget(deps: TurnDeps, running: RunningResponse, timeout: float = END_SECONDS) -> None:
    """Has the provider delete a committed answer. If that fails, the provider keeps it for its usual time."""
    calls = _calls_to(deps, running)
    if calls is not None and not running.told:
        with suppress(SessionError, TransientError):
            calls.forget(_named(running), timeout=min(END_SECONDS, timeout))


def end_for_good(deps: TurnDeps, session: Session, at: Position) -> Decision:
    """After the end of the run: tells its provider once to stop making the answer, and charges what is known of it.
    Raises Fenced, and what the stores raise."""
    running = session.head.background
    assert running is not None
    check_run(session.head, at)
    calls, answer = _calls_to(deps, running), None
    if calls is not None:
        with suppress(SessionError, TransientError):
            answer = calls.cancel(_named(running), timeout=END_SECONDS)
    attempts, window = _attempts(deps, session, running, answer), deps.settings.token_window_seconds

    for change in deps.repository.attempts(session, at.key("background")):
        check_run(change.head, at)
        if change.head.background == running:
            if isinstance(answer, ModelReply):  # it came first; it is paid for and changes nothing else
                asked = NamedModel(running.provider, running.model)
                settle_call(change, attempts, window, asked, answer)
            else:
                charge_attempts(change, attempts, window, with_running=True)
            change.set(background=None)
        change.commit(end_decision(change.head))
    if answer is not None:
        forget(deps, running)
    return end_decision(session.head)


def _waits(deps: TurnDeps, head: Head, running: RunningResponse, now: datetime, kind: TurnKind) -> Decision:
    """The engine waits before the next look, or goes on in its next execution first. An execution that has just begun
    has room for all looks."""
    passed = (now - running.started).total_seconds()
    decision = Decision(next="wait", at=position(head), wait_seconds=next_wait(passed), then=kind)
    counted = _with_looks(head, passed)
    is_new = head.run is not None and not head.run.events
    return decision if is_new else or_roll_over(counted, deps.settings.roll_over_events, decision) or decision


def _with_looks(head: Head, passed: float) -> Head:
    """The head with the history entries of the looks added, because no commit has counted them."""
    if head.run is None:
        return head
    events = head.run.events + EVENTS_PER_TURN * looks(passed)
    return head.model_copy(update={"run": head.run.model_copy(update={"events": events})})


def _calls_to(deps: TurnDeps, running: RunningResponse) -> BackgroundCalls | None:
    """The calls to the provider that makes the answer, whatever provider the agent names by now."""
    named = built_in().model_copy(update={"provider": running.provider, "model": running.model})
    return in_background(deps.choose_model(named, "think")[0])


def _named(running: RunningResponse) -> BackgroundResponse:
    return BackgroundResponse(running.response_id, running.model, running.bytes)


def _end(calls: BackgroundCalls, running: RunningResponse) -> None:
    """Best effort: a response that cannot be ended ends by itself, and is charged at its reservation."""
    with suppress(SessionError, TransientError):
        calls.cancel(_named(running), timeout=END_SECONDS)
        if not running.told:
            calls.forget(_named(running), timeout=END_SECONDS)


def _attempts(
    deps: TurnDeps, session: Session, running: RunningResponse, answer: ModelReply | ActaError | None
) -> tuple[Attempt, ...]:
    """The attempts that no commit has charged, the response's own the last."""
    head = session.head
    marker = deps.attempts.read(head.tenant, head.session_id)
    unsettled = open_attempts(head, marker.attempts)
    own = next((one for one in marker.attempts if one.attempt_id == running.attempt_id), None)
    if own is None:
        # Another run's marker has taken the place of this attempt, which was charged before that run began.
        run = head.run
        own = Attempt(
            attempt_id=running.attempt_id, key="", run_id=run.run_id if run is not None else "", turn=0, kind="llm",
            number=0, provider=running.provider, model=running.model, started=running.started, input_tokens=0,
            output_tokens=0, billed=0,
        )  # fmt: skip
    if isinstance(answer, ModelReply | SessionError | TransientError):
        own = with_outcome(own, answer, deps.clock.now())
    others = tuple(one for one in unsettled if one.attempt_id != running.attempt_id)
    return (*others, own)
