"""One model turn, for Plan and Think alike: look, ask the model once, commit what it said (design §2)."""

from collections.abc import Callable, Container
from datetime import datetime
from typing import Literal, NamedTuple

from shared.agent.budget.session_budget import (
    Bill,
    affordable,
    ask_for_budget,
    charge_lease,
    charge_vanished,
    learn,
    lost,
    record_call,
    warn_if_due,
)
from shared.agent.model_call.context import Mind, Worker
from shared.agent.model_call.request import BuildRequest, ask, make_room, reader_of, request_of
from shared.agent.session.endings import failed
from shared.agent.session.position import check_turn, next_decision, wait_decision
from shared.agent.session.repository import CommitDraft
from shared.agent.session.session import Session
from shared.agent.turn.loop_detection import PreviousCall
from shared.agent.turn.next_state import going_on, next_turn, wait_for_provider
from shared.agent.turn.reply import AppliedReply, ReplyReader
from shared.domain.definitions.agent import Purpose
from shared.domain.errors import (
    ContextTooLong,
    Fenced,
    ModelRefused,
    ProviderOverloaded,
    SessionError,
)
from shared.domain.session.change import Change
from shared.domain.session.commit import Decision, Position
from shared.domain.session.conversation import ToolEntry
from shared.ports.model import ModelReply


class Stage(NamedTuple):
    """`kind` names the engine's state and its commit key; `settle` adds state and decision to a change that has
    taken in the reply, and is told how the calls before it went.
    """

    kind: Literal["plan", "think"]
    step_kind: Literal["plan", "llm"]
    request: BuildRequest
    settle: Callable[[Mind, Change, AppliedReply, ModelReply, tuple[PreviousCall, ...]], CommitDraft]


def take_turn(
    worker: Worker,
    stage: Stage,
    purpose: Purpose,
    session: Session,
    at: Position,
    attempt: int,
    timeout: float,
) -> Decision:
    """`attempt`: the engine's retry count; `timeout`: seconds the model has. Raises Fenced and what is retried."""
    began, key = worker.clock.now(), at.key(stage.kind)
    try:
        mind = worker.mind(session.head, purpose)
    except SessionError as unfit:
        return _end(worker, session, key, at, unfit)
    asked, number = request_of(mind, stage.request, session), session.number

    def room(left: float, *, refused: bool = False) -> Decision | None:
        waits = make_room(mind, session, at, key, attempt, left, asked, refused=refused)
        return (
            _wait(worker, stage, session, key, at, waits) if isinstance(waits, ProviderOverloaded) else waits
        )

    waits = room(timeout)
    instead = waits or decided(session, at, stage.kind, worker)  # something may have come meanwhile
    if instead is not None:
        return instead
    started, orphans = worker.clock.now(), session.orphans()
    timeout = _left(worker, timeout, began)
    seen = Seen(started, attempt, orphans, tuple(session.waiting), session.outcomes())
    if session.number != number:
        asked = request_of(mind, stage.request, session)
    afforded = affordable(session.head, asked)
    if afforded is None:
        return ask_for_budget(mind, session, at, asked)
    request, reservation = afforded
    out_of_hour = worker.hourly.ensure(session, at, reservation.tokens, mind.agent.interventions)
    if out_of_hour is not None:
        return out_of_hour
    answer = ask(mind, at, key, request, timeout)
    if isinstance(answer, ContextTooLong):
        # Windows are estimates; what a model refuses is shortened once a turn, before a person is told.
        number = session.number
        waits = room(_left(worker, timeout, started), refused=True)
        if waits is not None:
            return waits
        if session.number != number:
            return take_turn(worker, stage, purpose, session, at, attempt, _left(worker, timeout, started))
    bill = Bill(reservation, asked.bytes, worker.attempts.vanished(key, attempt) + lost(answer))
    if isinstance(answer, SessionError):
        return _end(worker, session, key, at, answer, bill)
    # Ids are issued once, however often the commit is built again after a lost race.
    reader = reader_of(mind, session, answer) if isinstance(answer, ModelReply) else None

    def build(now: Session, change: Change) -> CommitDraft:
        check_turn(change.head, at)
        charge_vanished(change, bill)
        if reader is not None:
            learn(change, bill, reader.reply.usage.input)
            return _take_in(mind, stage, change, reader, seen.but_for(now.results))
        assert isinstance(answer, ProviderOverloaded)
        return wait_for_provider(change, answer, stage.kind)

    return _commit(worker, session, key, build)


def _left(worker: Worker, timeout: float, since: datetime) -> float:
    """Seconds of `timeout` that are left now; never less than a call can be made with."""
    return max(1.0, timeout - (worker.clock.now() - since).total_seconds())


def _commit(
    worker: Worker, session: Session, key: str, build: Callable[[Session, Change], CommitDraft]
) -> Decision:
    worker.repository.commit(session, key, build)
    done = session.recorded(key)
    if done is None or done.decision is None:
        raise Fenced("the turn was committed without a decision")
    return done.decision


def _end(
    worker: Worker, session: Session, key: str, at: Position, error: SessionError, bill: Bill | None = None
) -> Decision:
    """The run fails with the error's code."""

    def build(_: Session, change: Change) -> CommitDraft:
        check_turn(change.head, at)
        if bill is not None:
            charge_vanished(change, bill)
        if change.head.is_over:
            return CommitDraft(change, next_decision(change.head))
        return failed(change, error.code, error.explained)

    return _commit(worker, session, key, build)


def _wait(
    worker: Worker, stage: Stage, session: Session, key: str, at: Position, error: ProviderOverloaded
) -> Decision:
    """What the turn needs first has to be waited for."""

    def build(_: Session, change: Change) -> CommitDraft:
        check_turn(change.head, at)
        return wait_for_provider(change, error, stage.kind)

    return _commit(worker, session, key, build)


class Seen(NamedTuple):
    """What the turn started from: the commit is about this, whatever has come meanwhile."""

    started: datetime
    attempt: int
    orphans: tuple[ToolEntry, ...]
    delivered: tuple[str, ...]
    outcomes: tuple[PreviousCall, ...]

    def but_for(self, results: Container[str]) -> "Seen":
        """Without the orphans whose own result has come while the model thought: a call has one result."""
        return self._replace(orphans=tuple(one for one in self.orphans if one.call_id not in results))


def _take_in(mind: Mind, stage: Stage, change: Change, reader: ReplyReader, seen: Seen) -> CommitDraft:
    reply = reader.reply
    record_call(change, mind, reply, kind=stage.step_kind, attempt=seen.attempt, started=seen.started)
    charge_lease(change, reply.usage.input + reply.usage.output)
    warn_if_due(change)
    if change.head.is_over:  # it was paid for, so it is counted; it changes nothing else
        return CommitDraft(change, next_decision(change.head))
    if reply.stop == "refusal":
        return failed(change, ModelRefused.code, f"The model declined to go on. {ModelRefused.remedy}")
    for orphan in seen.orphans:
        change.entry(orphan)
    undelivered = tuple(id_ for id_ in change.head.undelivered if id_ not in seen.delivered)
    progress = change.head.progress
    cut_offs = progress.cut_offs + 1 if reply.stop == "max_tokens" else 0
    progress = progress.model_copy(
        update={"hint": "", "continues": "", "provider_waits": 0, "cut_offs": cut_offs}
    )
    change.set(undelivered=undelivered, progress=progress)
    if change.head.state == "waiting_for_tool":  # a result was lost for good; the model goes on without it
        change.to_state("executing")
    absorbed = reader.absorb(change, mind.registry, mind.specs, planning=stage.kind == "plan")
    next_turn(change, thought=stage.kind == "think", calls=len(absorbed.calls))
    draft = stage.settle(mind, change, absorbed, reply, seen.outcomes)
    return CommitDraft(change, going_on(change.head, mind.worker, draft.decision), seen.delivered)


def decided(session: Session, at: Position, kind: str, worker: Worker) -> Decision | None:
    """The stored decision where this step was made already, or the one that follows from the head alone.

    None: the model has to be asked. Raises Fenced where another run, generation or turn has taken over.
    """
    done = session.recorded(at.key(kind))
    if done is not None and done.decision is not None:
        return done.decision
    head = session.head
    check_turn(head, at)
    if head.is_over:
        return next_decision(head)
    if head.interventions:
        return wait_decision(head, worker.timeouts)
    if head.unfinished_calls:  # a pause kept them from starting and has been lifted
        return next_decision(head)
    return None
