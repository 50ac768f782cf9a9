"""One model turn, for Plan and Think alike, as five calls: load, prepare, ask, apply, commit (design §2).

What follows from a reply differs between the two states and stands in `after_planning.py` and `after_thinking.py`.
"""

from collections.abc import Container
from datetime import timedelta
from typing import NamedTuple

from acta_engine.agents.agent import Purpose, policies_of
from acta_engine.errors import ContextTooLong, ModelRefused, SessionError
from acta_engine.log.change import Change
from acta_engine.log.commit import Decision, Position
from acta_engine.log.conversation import ToolEntry
from acta_engine.log.head import Ending, Failure, Head
from acta_engine.log.repository import CommitDraft, decision_of
from acta_engine.log.session import Session
from acta_engine.models.model import ModelReply, ModelRequest
from acta_engine.people.opening import AskingRules
from acta_engine.recovery.wait_out import OutageRules, ask_after_waiting, asks_after_waiting
from acta_engine.turn.after_planning import after_planning
from acta_engine.turn.after_thinking import after_thinking
from acta_engine.turn.apply_reply import Answers, IdentifiedReply, apply_reply, with_ids
from acta_engine.turn.ask_model import ask_model, sized
from acta_engine.turn.background import Ended, count_looks, end_for_good, forget, look
from acta_engine.turn.compaction import max_request_bytes
from acta_engine.turn.cut_off_replies import first_half
from acta_engine.turn.detect_loop import PreviousCall, repeated_failure
from acta_engine.turn.engine_decision import check_turn, next_decision, outage_wait, wait_decision
from acta_engine.turn.kept_replies import KeptReply, place_of
from acta_engine.turn.marked_call import (
    KeptCall,
    MarkedCall,
    NotAffordable,
    commit_reply,
    kept_call,
    mark_call,
    not_begun,
)
from acta_engine.turn.next_turn import next_turn, or_roll_over
from acta_engine.turn.outcomes import end_run
from acta_engine.turn.prompt import planning_request, thinking_request
from acta_engine.turn.session_budget import (
    Bill,
    SizedRequest,
    attempts_so_far,
    calibrate,
    charge_attempts,
    settle_call,
)
from acta_engine.turn.turn_context import Turn, TurnDeps, TurnKind
from acta_engine.turn.without_reply import (
    CommittedError,
    commit_failure,
    failed_turn,
    wait_or_ask,
    without_reply,
)


class Taken(NamedTuple):
    """What the engine does after a turn. `session`: as it was read, and what has come since. `replied`: the turn, where
    it has committed its reply itself; None: another worker has made it, or it has none.
    """

    decision: Decision
    session: Session
    replied: Turn | None = None


def take_turn(
    deps: TurnDeps, kind: TurnKind, at: Position, attempt: int, timeout: float, *, fused: bool = False
) -> Taken:
    """Makes the turn, once whatever attempt this is.

    `attempt`: the engine's retry count. `timeout`: seconds that all models of the turn may take together
    (`functions/step/handler.py`). `fused`: as in `Turn.is_fused`. Raises Fenced where another run, generation or turn
    has taken over, and everything that the engine retries.
    """
    session = deps.repository.conversation(at)
    turn = load(deps, session, kind, at, attempt, timeout)
    if isinstance(turn, Decision):
        return Taken(turn, session)
    if fused:
        if turn.seconds_left < turn.context.seconds_of_whole_call:
            return Taken(Decision(next=kind, at=at), session)
        turn = turn._replace(is_fused=True)
    call = prepare(turn)
    if isinstance(call, Decision):
        return Taken(call, session)
    answer = ask(call) if isinstance(call, ModelCall) else call
    if isinstance(answer, Decision):
        return Taken(answer, session)
    decision = commit(answer)
    is_ours = isinstance(answer.result, IdentifiedReply) and session.last_reply == answer.result.message_id
    return Taken(decision, session, turn if is_ours else None)


class ModelCall(NamedTuple):
    """A call that may be made, and what it is about: the commit is about this, whatever has come meanwhile.

    `delivered`: ids of the users' messages that the request shows. `orphans`: results for calls of the last reply that
    will get none. `previous`: the last reply's calls and how they went.
    """

    turn: Turn
    marked: MarkedCall
    delivered: tuple[str, ...]
    orphans: tuple[ToolEntry, ...]
    previous: tuple[PreviousCall, ...]


class Answer(NamedTuple):
    """What came of the call, and what it and the attempts before it cost."""

    call: ModelCall
    result: IdentifiedReply | CommittedError
    bill: Bill


def load(
    deps: TurnDeps, session: Session, kind: TurnKind, at: Position, attempt: int, timeout: float
) -> Turn | Decision:
    """Reads what the turn works with. A decision: no model has to be asked."""
    if session.head.is_over and session.head.background is not None:
        return end_for_good(deps, session, at)
    decision = _decision_without_model(deps, session, kind, at)
    if decision is not None:
        return decision
    head = session.head
    if kind == "plan" and head.plan is not None and head.plan.is_live and not head.undelivered:
        return next_decision(head, deps.clock.now())  # an open plan goes on, and nobody has said anything new
    deadline = deps.clock.now() + timedelta(seconds=timeout)
    try:
        context = deps.context(head, _purpose(kind, head))
    except SessionError as unfit:
        error = unfit  # the name of an `except` ends with it

        lost = attempts_so_far(deps.attempts, head)

        def build(now: Session, change: Change) -> CommitDraft:
            check_turn(change.head, at)
            charge_attempts(change, lost, deps.token_window, with_running=True)
            return failed_turn(deps, change, error)

        return deps.repository.decided(session, at.key(kind), build)
    return Turn(context, session, kind, at, attempt, deadline)


def prepare(turn: Turn) -> ModelCall | Answer | Decision:
    """Makes the request fit the model's window and the budgets. A decision: a person or the provider is waited for, or
    something has come meanwhile. An answer: an earlier attempt has it already.
    """
    deps, session, number = turn.deps, turn.session, turn.session.number
    asked = sized(_request(turn))
    earlier = kept_call(turn, asked)
    if earlier is not None:
        return _kept_answer(turn, earlier)
    try:
        found = look(turn)
    except SessionError as error:
        return _not_looked(turn, error)
    if isinstance(found, Decision):
        return found
    if found is not None:
        answer = _of_background(turn, asked, found)
        if not isinstance(found.answer, ContextTooLong):
            return answer
        decision = _make_room(turn, asked, refused=True)
        if decision is not None or session.number == number:
            return decision or answer
        not_begun(turn, answer.call.marked, found.answer)
        asked = sized(_request(turn))
    decision = _make_room(turn, asked) or _decision_without_model(deps, session, turn.kind, turn.at)
    if decision is not None:
        return decision
    if session.number != number:
        asked = sized(_request(turn))
    delivered, orphans, previous = tuple(session.waiting), session.orphans(), session.outcomes()
    context = turn.context
    call = mark_call(turn, context, asked, turn.key, context.agent.interventions)
    if isinstance(call, Decision):
        return call
    if isinstance(call, NotAffordable):
        return wait_or_ask(turn, asked, call.attempts)
    if isinstance(call, KeptCall):
        return _kept_answer(turn, call)
    return ModelCall(turn, call, delivered, orphans, previous)


def _not_looked(turn: Turn, error: SessionError) -> Decision:
    """The provider does not let the answer be fetched: nothing is charged, and the run goes on waiting for it."""

    def build(_: Session, change: Change) -> CommitDraft:
        check_turn(change.head, turn.at)
        return without_reply(turn, change, error)

    return commit_failure(turn, error, build)


def _of_background(turn: Turn, asked: SizedRequest, ended: Ended) -> Answer:
    session = turn.session
    marked = MarkedCall(asked.request, ended.bill.attempts, ended.bill.bytes, ended.bill.window)
    about = ModelCall(turn, marked, ended.delivered, session.orphans(), session.outcomes())
    answer = ended.answer
    return Answer(about, _identified(turn, answer) if isinstance(answer, ModelReply) else answer, ended.bill)


def _kept_answer(turn: Turn, call: KeptCall) -> Answer:
    session, kept = turn.session, call.kept
    about = ModelCall(turn, call.marked, kept.delivered, session.orphans(), session.outcomes())
    return Answer(about, _identified(turn, kept.reply), call.bill)


def ask(call: ModelCall) -> Answer | Decision:
    """Asks the model. Windows are estimates: what a model refuses as too long is shortened, once a turn, and asked
    again before a person hears of it. Raises what the engine retries.
    """
    turn = call.turn
    asked_for = ask_model(turn, call.marked, call.delivered)
    if isinstance(asked_for, Decision):
        return asked_for
    result, bill = asked_for
    if isinstance(result, ContextTooLong):
        number = turn.session.number
        asked = SizedRequest(call.marked.request, call.marked.bytes)
        decision = _make_room(turn, asked, refused=True)
        if decision is not None:
            return decision
        if turn.session.number != number:
            again = prepare(turn)
            return ask(again) if isinstance(again, ModelCall) else again
    if isinstance(result, ModelReply):
        return Answer(call, _identified(turn, result), bill)
    return Answer(call, result, bill)


def _identified(turn: Turn, reply: ModelReply) -> IdentifiedReply:
    first = first_half(turn.session.head, turn.session.entries)
    return with_ids(reply, reply.provider or turn.context.model.provider, turn.context.clock, first)


def apply(answer: Answer, session: Session, change: Change) -> CommitDraft:
    """Fills the turn's commit. It may run several times, so it issues no ids and calls nothing outside."""
    turn = answer.call.turn
    check_turn(change.head, turn.at)
    change.is_fused = turn.is_fused
    count_looks(change)
    match answer.result:
        case IdentifiedReply():
            reply = answer.result.reply
            calibrate(change, answer.bill, reply.usage.input)
            settle_call(change, answer.bill, turn.context.first_model, reply)
            return _apply_reply(answer.call, answer.result, session.results, change)
        case error:
            charge_attempts(change, answer.bill.attempts, answer.bill.window)
            return without_reply(turn, change, error)


def commit(answer: Answer) -> Decision:
    """Commits under the turn's key and returns what that commit decided, this one or an earlier attempt's. A reply is
    kept for the next attempt where the store does not take it.
    """
    call, turn = answer.call, answer.call.turn

    def build(session: Session, change: Change) -> CommitDraft:
        return apply(answer, session, change)

    if not isinstance(answer.result, IdentifiedReply):
        return commit_failure(turn, answer.result, build)
    open_ones, ended = answer.bill.as_begun, answer.bill.own.ended or turn.deps.clock.now()
    reply = KeptReply(
        place=place_of(turn.session.head, turn.kind), attempt=open_ones[-1], ended=ended, delivered=call.delivered,
        reply=answer.result.reply,
    )  # fmt: skip
    running = turn.session.head.background
    decision = decision_of(commit_reply(turn, turn.key, build, reply, open_ones))
    forget(turn, running)
    return decision


def _decision_without_model(
    deps: TurnDeps, session: Session, kind: TurnKind, at: Position
) -> Decision | None:
    """The stored decision, where this turn was made already, or the one that follows from the head alone.

    None: a model has to be asked. Raises Fenced where another run, generation or turn has taken over.
    """
    done = session.recorded(at.key(kind))
    if done is not None and done.decision is not None:
        return done.decision
    head = session.head
    check_turn(head, at)
    now = deps.clock.now()
    if head.is_over:
        return next_decision(head, now)
    if head.interventions:
        return wait_decision(head, deps.timeouts)
    if head.delay_at(now):
        return or_roll_over(head, deps.roll_over_events, outage_wait(head, now))
    if asks_after_waiting(head, now, deps.outage_limits):
        return _ask_after_waiting(deps, session, kind, at)
    if head.unfinished_calls:  # a pause or an outage kept them from running, and is over
        return or_roll_over(head, deps.roll_over_events, next_decision(head, now))
    return None


def _ask_after_waiting(deps: TurnDeps, session: Session, kind: TurnKind, at: Position) -> Decision:
    agent = deps.definitions.snapshot(at.tenant).agent(session.head.agent_id)
    asking = AskingRules(deps.clock, policies_of(agent))
    rules = OutageRules(deps.outage_limits, deps.timeouts, deps.roll_over_events)

    def build(_: Session, change: Change) -> CommitDraft:
        check_turn(change.head, at)
        return ask_after_waiting(change, rules, asking)

    return deps.repository.decided(session, at.key(kind), build)


def _purpose(kind: TurnKind, head: Head) -> Purpose:
    """Where no step is open any more, the model for the final answer is asked."""
    if kind == "think" and head.plan is not None and head.plan.is_live and not head.plan.open_steps:
        return "final"
    return kind


def _request(turn: Turn) -> ModelRequest:
    session = turn.session
    entries = (*session.entries, *session.pending(session.orphans()))
    if turn.kind == "plan":
        request = planning_request(turn.context, session.head, entries)
    else:
        failing = repeated_failure(turn.context.specs, session.head.progress, session.outcomes())
        request = thinking_request(turn.context, session.head, entries, failing)
    return request._replace(ended_turns=session.ended_turns)


def _make_room(turn: Turn, asked: SizedRequest, *, refused: bool = False) -> Decision | None:
    """Compacts the conversation where the request does not fit the model's window (design §9).

    `refused`: the model said that it does not fit. A decision: the tenant's hour has to be waited for, or the
    summariser failed as the turn's own model may, and the same follows.
    """
    window, per_token = turn.context.context_window, turn.session.head.budget.bytes_per_token
    fits = not refused and asked.bytes <= max_request_bytes(window, asked.request.max_tokens, per_token)
    if not window or fits:
        return None
    if turn.is_fused:  # two calls need the time of a whole invocation
        return Decision(next=turn.kind, at=turn.at)
    # Few turns need it, so a cold start does not import it.
    from acta_engine.turn.compact import make_room

    made = make_room(turn, asked, refused=refused)
    if made is None or isinstance(made, Decision):
        return made
    error, bill = made

    def build(session: Session, change: Change) -> CommitDraft:
        check_turn(change.head, turn.at)
        charge_attempts(change, bill.attempts, bill.window)
        return without_reply(turn, change, error)

    return commit_failure(turn, error, build)


def _apply_reply(
    call: ModelCall, identified: IdentifiedReply, results: Container[str], change: Change
) -> CommitDraft:
    """`results`: ids of calls whose own result has come while the model thought. A call has one result, so those are no
    orphans any more.
    """
    turn, reply = call.turn, identified.reply
    if change.head.is_over:  # it was paid for, so it is counted; it changes nothing else
        return CommitDraft(change, next_decision(change.head, change.now))
    change.end_outage()
    if reply.stop == "refusal":
        declined = f"The model declined to go on. {ModelRefused.remedy}"
        return end_run(turn.deps, change, Ending(error=Failure(code=ModelRefused.code, message=declined)))
    for orphan in call.orphans:
        if orphan.call_id not in results:
            change.entry(orphan)
    undelivered = tuple(id_ for id_ in change.head.undelivered if id_ not in call.delivered)
    progress = change.head.progress
    cut_offs = progress.cut_offs + 1 if reply.stop == "max_tokens" else 0
    progress = progress.model_copy(update={"hint": "", "continues": "", "cut_offs": cut_offs})
    change.set(undelivered=undelivered, progress=progress)
    if turn.context.notes.outside:
        change.set(read_outside=True)
    if change.head.state == "waiting_for_tool":  # a result was lost for good; the model goes on without it
        change.to_state("executing")
    answers = Answers(turn.deps.check_answer, change.head.output_schema)
    applied = apply_reply(
        identified, change, turn.deps.registry, turn.context.specs, answers, planning=turn.kind == "plan"
    )
    next_turn(change, thought=turn.kind == "think", calls=len(applied.calls))
    if turn.kind == "plan":
        draft = after_planning(turn.context, change, applied, reply)
    else:
        draft = after_thinking(turn.context, change, applied, reply, call.previous)
    decision = or_roll_over(change.head, turn.deps.roll_over_events, draft.decision)
    return CommitDraft(change, decision, call.delivered)
