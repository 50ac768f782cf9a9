"""One turn of a session: what the Plan and Think states do (docs/design/turn.md 1). `take_turn` shows the way
through:

1. `load` decides whether a model has to be asked, and gathers what the turn needs.
2. `prepare` makes the request fit the model's window and the budgets, and writes the call down.
3. `ask` asks the model.
4. `commit` appends what follows to the log, under the turn's key. `apply` fills that commit: it turns the reply into
   changes of the session, and says what the engine does next.

A turn is made once, however often it is tried. Whoever tries it again finds what the attempt before has stored: the
commit, the reply that could not be committed, or the call that was written down before it was made.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple, assert_never

from acta.engine.agents.agent import AgentDefinition, Purpose, agent_of_session, policies_of
from acta.engine.errors import (
    AgentMissing,
    AnswerWithheld,
    ContextTooLong,
    ModelRefused,
    PriceUnknown,
    ProviderKeyRefused,
    ProviderOverloaded,
    ProviderQuotaExceeded,
    SessionError,
    TransientError,
    TreeBusy,
)
from acta.engine.log.beside import Attempt
from acta.engine.log.commit import Change, Decision, Position
from acta.engine.log.conversation import ToolCall
from acta.engine.log.events import AnswerJudged, HintInjected, PlanRejected, PlanStepChanged
from acta.engine.log.head import Ending, Failure, Head, Result, Verdict
from acta.engine.log.repository import Session
from acta.engine.models.model import ModelReply, in_background
from acta.engine.models.providers import is_priced
from acta.engine.people.intervention import is_pause
from acta.engine.people.opening import (
    MAX_SAID_CHARS,
    AskingRules,
    ends,
    open_approval,
    open_budget_question,
    open_question,
    open_review,
    wait_for_people,
)
from acta.engine.plans.plan import MAX_RESULT_CHARS
from acta.engine.recovery.outage import cause_of_error
from acta.engine.recovery.wait_out import (
    ask_after_waiting,
    asks_after_waiting,
    wait_for_tokens,
    wait_out,
)
from acta.engine.tools.builtin.search import FIND_TOOLS, offered_tools
from acta.engine.turn.announcement import words_before_call
from acta.engine.turn.background import begin, count_looks, end_for_good, forget, look
from acta.engine.turn.budget import (
    PendingCharges,
    attempts_so_far,
    calibrated,
    charge_attempts,
    fits_new_window,
    lacks_money,
    needed_limits,
    renewed,
    settle_call,
    tokens_left,
    warn,
)
from acta.engine.turn.compaction import compact, leave_out_declined, max_request_bytes
from acta.engine.turn.context import Turn, TurnDeps, TurnKind
from acta.engine.turn.endings import ANSWERS, FINAL_MODEL_FAILED, ended
from acta.engine.turn.engine import (
    check_run,
    check_turn,
    end_decision,
    next_decision,
    next_turn,
    next_turn_kind,
    or_roll_over,
    outage_wait,
    position,
    turn_again,
    wait_decision,
    wait_or_go_on,
)
from acta.engine.turn.final_answer import ANSWER_RETRIES, FinalAnswer, final_answer
from acta.engine.turn.judge import NO_VERDICT, READINGS, judge_request, may_go_back, returned, verdict_in
from acta.engine.turn.model_call import (
    BudgetTooLow,
    ModelCall,
    complete,
    failed,
    kept_call,
    mark_call,
    patient_attempts,
    raise_for_retry,
    reply_kept,
    request_bytes,
)
from acta.engine.turn.next_action import (
    Act,
    AskPerson,
    CallAndResult,
    Complete,
    Facts,
    Fail,
    Stuck,
    ThinkAgain,
    answer_reason,
    detect_loop,
    next_action,
)
from acta.engine.turn.reply import (
    ReplyOutcome,
    TurnReply,
    answer_in_text,
    apply_reply,
    cut_off_advice,
    is_first_half,
    own_result,
    with_ids,
)
from acta.engine.turn.request import hint, system_prompt, turn_request

WRITE_ANSWER = (
    "The work is done. Write the final answer for the user now: what they wanted to have, and what was skipped or "
    "failed. All of your text is the answer, so call nothing."
)
NOT_RUN = (
    "Error: not run, because the run seemed to go in circles. A person has been asked; read what they say."
)


class TurnResult(NamedTuple):
    decision: Decision
    """What the engine does next."""
    session: Session
    """The session, up to the last commit that this worker has seen."""
    turn: Turn | None = None
    """Set only if this worker committed the model's reply; only then may it make the next turn too."""


def take_turn(
    deps: TurnDeps, kind: TurnKind, at: Position, attempt: int, timeout: float, *, fused: bool = False
) -> TurnResult:
    """Makes the turn. It may be called again: only one attempt's reply is ever committed.

    `attempt`: the engine's retry count. `timeout`: the seconds that all models of the turn may take together
    (`acta/functions/step/handler.py`). `fused`: as in `Turn.is_fused`. Raises Fenced where another run, generation or
    turn has taken over, and everything that the engine retries.
    """
    session = deps.repository.conversation(at)
    turn = load(deps, session, kind, at, attempt, timeout)
    if isinstance(turn, Decision):
        _log_turn(deps, at, session, turn)
        return TurnResult(turn, session)
    if fused:
        if turn.seconds_left < turn.seconds_for(turn.max_output_tokens):
            return TurnResult(Decision(next=kind, at=at), session)
        turn = replace(turn, is_fused=True)
    call = _ask_if_open(turn, prepare(turn))
    if isinstance(call, Decision):
        _log_turn(deps, at, session, call)
        return TurnResult(call, session)
    result = commit(turn, call)
    _log_turn(deps, at, session, result.decision, call)
    return result


def _log_turn(
    deps: TurnDeps, at: Position, session: Session, decision: Decision, call: ModelCall | None = None
) -> None:
    """Counts for the line that each turn writes. `call`: None where no model was asked."""
    counts: dict[str, object] = {"commit": session.number, "next": decision.next}
    if call is not None:
        counts |= {"attempts": len(call.attempts), "request_bytes": call.bytes}
        if isinstance(call.answer, ModelReply):
            usage = call.answer.usage
            counts |= {"tokens_in": usage.input, "tokens_out": usage.output, "stop": call.answer.stop}
        elif call.answer is not None:
            counts["error"] = type(call.answer).__name__
    deps.on_turn(at, counts)


# ---- load


def load(
    deps: TurnDeps, session: Session, kind: TurnKind, at: Position, attempt: int, timeout: float
) -> Turn | Decision:
    """Returns the Turn, or a Decision if no model has to be asked. It may have committed that decision."""
    head, now = session.head, deps.clock.now()
    if head.owes_family and deps.family is not None:
        from acta.engine.subagents.control import align  # few sessions have a family

        check_run(head, at)
        try:
            align(deps.family(), session, timeout)
        except TreeBusy:
            return Decision(next=kind, at=at)
        head = session.head
        if head.is_over and head.background is None:
            return end_decision(head)
    if head.is_over and head.background is not None:
        return end_for_good(deps, session, at)
    decision = _decide_without_model(deps, session, kind, at, now)
    if decision is not None:
        return decision
    try:
        return _new_turn(deps, session, kind, at, attempt, now + timedelta(seconds=timeout))
    except SessionError as error:
        failure = Failure(code=error.code, message=error.explained)
        uncharged = attempts_so_far(deps.attempts, head)
        for change in deps.repository.attempts(session, at.key(kind)):
            check_turn(change.head, at)
            charge_attempts(change, uncharged, deps.settings.token_window_seconds, with_running=True)
            change.commit(_end_without_reply(deps, change, failure))
        return session.decided(at.key(kind))


def _decide_without_model(
    deps: TurnDeps, session: Session, kind: TurnKind, at: Position, now: datetime
) -> Decision | None:
    """The stored decision, where this turn was made already, or the one that follows from the head alone. None: a model
    has to be asked. Raises Fenced where another run, generation or turn has taken over.
    """
    done = session.recorded(at.key(kind))
    if done is not None and done.decision is not None:
        return done.decision
    head, roll_over_events = session.head, deps.settings.roll_over_events
    check_turn(head, at)
    if head.is_over:
        return next_decision(head, now)
    if head.interventions:
        return wait_decision(head, deps.timeouts)
    if head.delay_at(now):
        return or_roll_over(head, roll_over_events, outage_wait(head, now))
    if head.outage is not None and asks_after_waiting(head.outage, now, deps.settings.outage_limits):
        agent = agent_of_session(head, deps.definitions.snapshot(at.tenant).agent)
        asking = AskingRules(deps.clock, policies_of(agent, head))
        for change in deps.repository.attempts(session, at.key(kind)):
            check_turn(change.head, at)
            change.commit(ask_after_waiting(change, deps.outage_rules, asking))
        return session.decided(at.key(kind))
    if head.unfinished_calls:  # a pause or an outage held these calls back; it is over, so they run first
        return or_roll_over(head, roll_over_events, next_decision(head, now))
    return None


def _new_turn(
    deps: TurnDeps, session: Session, kind: TurnKind, at: Position, attempt: int, deadline: datetime
) -> Turn:
    """Raises AgentMissing where the session's agent has been deleted, PriceUnknown where a cost budget could not be
    kept, and what the choice of a model raises.
    """
    head, definitions = session.head, deps.definitions.snapshot(session.head.tenant)
    agent = agent_of_session(head, definitions.agent)
    if agent is None:
        raise AgentMissing("The session's agent has been deleted.")
    if head.budget.cost_budget_usd is not None:
        _check_prices(deps, agent)
    purpose, final, judging = _purpose(head, agent, kind)
    model, model_name = deps.choose_model(agent, purpose)
    # No more tokens than fit into a call: an agent may have been stored before that was checked, or for a deployment
    # with more time.
    max_output_tokens = min(
        agent.limits.max_output_tokens or deps.settings.max_output_tokens,
        deps.settings.cap_max_output_tokens,
        deps.settings.answer_time.most_tokens(agent.asked_in_turn(model_name)),
    )
    approval = agent.limits.approval_timeout_seconds or deps.timeouts.approval
    specs = agent.toolset(deps.registry.specs(head.tenant, head.agent_id))
    named = (*(each.tool_name for each in agent.agents), *agent.named_tools)
    offered = offered_tools(specs, named, deps.settings.direct_tools)
    return Turn(
        deps=deps,
        session=session,
        kind=kind,
        at=at,
        attempt=attempt,
        deadline=deadline,
        agent=agent,
        model=model,
        model_name=model_name,
        system=system_prompt(agent, definitions, head),
        specs=specs if FIND_TOOLS in offered else offered,
        offered=offered,
        notes=deps.memories_of_run.notes(head),
        timeouts=deps.timeouts._replace(approval=approval),
        max_output_tokens=max_output_tokens,
        final=final,
        judging=judging,
    )


def _purpose(head: Head, agent: AgentDefinition, kind: TurnKind) -> tuple[Purpose, str, Ending | None]:
    """What a model is asked for, with `Turn.final` and `Turn.judging`."""
    # A message that came meanwhile is the agent's to read, before anybody writes the answer or judges it.
    ending = None if head.undelivered else head.ending
    if ending is not None and ending.awaits == "verdict" and agent.judge is not None:
        return "judge", "", ending
    if ending is not None and ending.awaits == "answer" and ending.result is not None:
        reason = ending.result.reason
    elif head.progress.final_failed:
        return kind, "", None
    elif head.plan is not None and head.plan.is_live and not head.plan.open_steps and not head.has_left_plan:
        reason = "goal_complete"  # all that is left to do is the answer
    else:
        return kind, "", None
    return "final", reason if agent.models.final is not None else "", None


def _check_prices(deps: TurnDeps, agent: AgentDefinition) -> None:
    """Checks the models of all purposes first, so that nothing is paid for before a model without a price is met.
    Fallbacks need no price: they are charged at the first model's.
    """
    for purpose in agent.purposes:
        model, name = deps.choose_model(agent, purpose)
        if not is_priced(model.provider, name):
            raise PriceUnknown(
                f"The session has a cost budget, and the price of {name[:64]} at {model.provider} is not known."
            )


# ---- prepare


def prepare(turn: Turn) -> ModelCall | Decision:
    """Makes the request fit the model's window and the budgets, and writes the call down. Returns the call, with its
    answer if an earlier attempt has it already. A decision: the session waits for people or the provider, or something
    else was committed meanwhile.
    """
    session, number = turn.session, turn.session.number
    call = _new_call(turn)
    kept = kept_call(turn, call)
    if kept is not None:
        return kept
    looked = _look(turn, call)
    if isinstance(looked, Decision):
        return looked
    if looked is not None and not isinstance(looked.answer, ContextTooLong):
        return looked
    decision = _make_room(turn, call, refused=looked is not None)
    if decision is not None:
        return decision
    if looked is not None:
        if session.number == number:
            return looked  # nothing could be shortened, so the refusal is committed
        assert isinstance(looked.answer, ContextTooLong)
        failed(turn, looked, looked.answer)  # noted, so that the next call does not count it as vanished
    if session.number != number:  # the conversation is shorter now, and other commits may have come as well
        decision = _decide_without_model(turn.deps, session, turn.kind, turn.at, turn.deps.clock.now())
        if decision is not None:
            return decision
        call = _new_call(turn)
    marked = mark_call(turn, call, turn.call_key)
    if isinstance(marked, BudgetTooLow):
        return _decide_without_budget(turn, call, marked.attempts)
    return marked


def _look(turn: Turn, call: ModelCall) -> ModelCall | Decision | None:
    """The call with its answer, if the provider makes one in the background. None: it makes none for this turn."""
    running = turn.session.head.background
    if running is None:
        return None
    try:
        return look(turn, call, running)
    except (SessionError, AnswerWithheld) as error:
        # The provider does not let the answer be fetched. Nothing is charged, and the run goes on waiting for it.
        return _commit_failure(turn, error)


def _new_call(turn: Turn) -> ModelCall:
    if turn.judging is not None:
        judged = judge_request(turn, turn.judging)
        return ModelCall(judged, request_bytes(judged))
    request, session = turn_request(turn), turn.session
    return ModelCall(request, request_bytes(request), tuple(session.waiting), session.outcomes())


def _make_room(turn: Turn, call: ModelCall, *, refused: bool = False) -> Decision | None:
    """Shortens the conversation where the request does not fit the model's window (docs/design/turn.md 31). `refused`:
    the model said that it does not fit. A decision: the session waits for the tenant's hour, or the summariser failed
    in a way in which the turn's own model can fail too, and the same was decided.
    """
    window = turn.deps.context_tokens(turn.agent, *turn.first_model)
    per_token = turn.session.head.budget.bytes_per_token
    fits = not refused and call.bytes <= max_request_bytes(window, call.request.max_tokens, per_token)
    if not window or fits or turn.judging is not None:  # what a judge is shown has a bound of its own
        return None
    if turn.is_fused:  # a summary and the turn's call need a whole invocation, and this one is partly used
        return Decision(next=turn.kind, at=turn.at)
    failure = compact(turn, call, window, refused=refused)
    if failure is None or isinstance(failure, Decision):
        return failure
    assert isinstance(failure.answer, SessionError | TransientError)
    return _commit_failure(turn, failure.answer, failure.attempts)


def _decide_without_budget(turn: Turn, call: ModelCall, uncharged: tuple[Attempt, ...]) -> Decision:
    """The budget carries no further call: the session waits until the budget renews, or asks a person
    (docs/design/budgets.md 17). What happens when a reply reaches a limit is decided in
    `acta/engine/turn/next_action.py`.

    `uncharged`: attempts of earlier calls; the commit charges them. Raises Fenced.
    """
    deps, session, models = turn.deps, turn.session, turn.models
    window = deps.settings.token_window_seconds
    head, most = session.head, call.request.max_tokens
    # A new window helps where it is the tokens that are short, and the call fits into one.
    helps = turn.waits_for_tokens and fits_new_window(head, call.bytes, most)
    if not helps or lacks_money(head, call.bytes, most, models, PendingCharges.of(uncharged)):
        # People are asked again after each answer that does not help, so one key for the turn is not enough.
        for change in deps.repository.attempts(session, turn.at.key(f"budget-{head.last_seq}")):
            check_turn(change.head, turn.at)
            if change.head.interventions or change.head.is_over:
                break
            charge_attempts(change, uncharged, window)
            change.set(budget=renewed(change.head.budget, change.now, window))
            needed = needed_limits(change.head, call.bytes, most, models)
            if any(needed):  # otherwise the budget renewed in the meantime, and the call fits now
                warn(change)
                open_budget_question(change, turn.rules, needed, _giver(turn, change.head))
            change.commit()
        return wait_or_go_on(session.head, deps.clock.now(), turn.timeouts)
    for change in deps.repository.attempts(session, turn.key):
        check_turn(change.head, turn.at)
        window_ends = change.head.budget.window_ends
        charge_attempts(change, uncharged, window)
        change.set(budget=renewed(change.head.budget, change.now, window))
        if window_ends is None or window_ends > change.now:
            warn(change)
            needed = needed_limits(change.head, call.bytes, most, models)
            change.commit(wait_for_tokens(change, deps.outage_rules, needed.token_budget))
        else:  # the budget has renewed meanwhile: the turn is made again with the new window's tokens
            if not change.head.is_over:
                turn_again(change)
            decision = next_decision(change.head, change.now)
            change.commit(or_roll_over(change.head, deps.settings.roll_over_events, decision))
    return session.decided(turn.key)


def _giver(turn: Turn, head: Head) -> dict[str, Any]:
    """Whose money a raise of the session's budget would be; empty: its own."""
    if head.parent is None:
        return {}
    from acta.engine.subagents.money import whose_money  # few sessions have a parent

    return whose_money(turn.deps.repository, head)


# ---- ask


def ask(turn: Turn, call: ModelCall) -> ModelCall | Decision:
    """Asks the model. Returns the call with its reply, or with an error for `commit` to record. A decision: the
    model answers in the background, and the engine waits. Raises what the engine retries.
    """
    deps, number = turn.deps, turn.session.number
    is_wanted = turn.agent.background and deps.settings.background_seconds and turn.judging is None
    background = in_background(turn.model) if is_wanted else None
    if background is not None:
        begun = begin(turn, background, call)
        if isinstance(begun, Decision):
            return begun
        call = begun
    else:
        if deps.running_text is not None and turn.judging is None:
            on_text = deps.running_text.listener(turn.at, turn.key)
            options = call.request.stream_options._replace(on_text=on_text)
            call = replace(call, request=call.request._replace(stream_options=options))
        call = complete(turn, call, turn.seconds_left)
    raise_for_retry(call.answer)
    if isinstance(call.answer, ContextTooLong):
        # Our estimate of the request's length can be wrong. If the model says that it is too long, it is shortened
        # once and asked again, before the failure is committed.
        decision = _make_room(turn, call, refused=True)
        if decision is not None:
            return decision
        if turn.session.number != number:
            # This happens once: `compact` shortens at most once a turn, so the second time the number stays.
            return _ask_if_open(turn, prepare(turn))
    return call


def _ask_if_open(turn: Turn, prepared: ModelCall | Decision) -> ModelCall | Decision:
    """Asks the model, unless the call has its answer already or something else was decided."""
    if isinstance(prepared, Decision) or prepared.answer is not None:
        return prepared
    return ask(turn, prepared)


# ---- commit


def commit(turn: Turn, call: ModelCall) -> TurnResult:
    """Commits what came of the call under the turn's key, and returns the decision that stands there, which an earlier
    attempt may have made.
    """
    session, answer = turn.session, call.answer
    running = session.head.background or call.kept
    if not isinstance(answer, ModelReply):
        assert answer is not None
        decision = _commit_failure(turn, answer, call.attempts, ends_call=True)
        if running is not None:
            forget(turn.deps, running, turn.seconds_left)
        return TurnResult(decision, session)
    reply, key = with_ids(turn, answer), turn.key
    with reply_kept(turn, call, turn.call_key) as keep_elsewhere:
        for change in patient_attempts(turn, key, keep_elsewhere):
            apply(turn, call, reply, change)
    if running is not None:
        forget(turn.deps, running, turn.seconds_left)
    is_ours = session.last_reply == reply.message_id
    return TurnResult(session.decided(key), session, turn if is_ours else None)


def apply(turn: Turn, call: ModelCall, reply: TurnReply, change: Change) -> None:
    """Fills the turn's commit. This runs again each time another worker takes the commit's number, so it has no effect
    outside `change`. The reply's own ids come from `with_ids` and are the same each time; ids made here go with the
    change that lost.
    """
    deps, answer = turn.deps, reply.answer
    check_turn(change.head, turn.at)
    change.is_fused = turn.is_fused
    if change.head.background is not None:
        count_looks(change, change.head.background)
    if turn.judging is None:  # a judge may count tokens in another way
        change.set(budget=calibrated(change.head.budget, call.bytes, answer.usage.input))
    settle_call(change, call.attempts, deps.settings.token_window_seconds, turn.first_model, answer)
    if change.head.is_over:
        # The run ended while the model thought: charge the reply, and ignore what it says.
        change.commit(next_decision(change.head, change.now))
        return
    change.end_outage()
    delivered = call.delivered
    if turn.judging is not None:
        decision = _after_judging(turn, change, turn.judging, verdict_in(turn, answer))
    elif answer.stop == "refusal":
        if not turn.final:  # else the agent's own model answers
            leave_out_declined(turn, call, change)
        why, delivered = f" ({answer.category})" if answer.category else "", ()
        declined = f"The model declined to go on{why}. {ModelRefused.remedy}"
        failure = Failure(code=ModelRefused.code, message=declined, category=answer.category)
        decision = _end_without_reply(deps, change, failure)
    else:
        decision = _take_reply(turn, call, reply, change)
    change.commit(or_roll_over(change.head, deps.settings.roll_over_events, decision), delivered=delivered)


def _take_reply(turn: Turn, call: ModelCall, reply: TurnReply, change: Change) -> Decision | None:
    """Makes the reply's own changes, moves the run to its next turn, and does what follows."""
    for orphan in turn.session.orphans():  # except those whose own result has come while the model thought
        change.entry(orphan)
    head, is_cut_off = change.head, reply.answer.stop == "max_tokens"
    cut_offs = head.progress.cut_offs + 1 if is_cut_off else 0
    change.set(
        undelivered=tuple(id_ for id_ in head.undelivered if id_ not in call.delivered),
        progress=head.progress.model_copy(update={"hint": "", "continues": "", "cut_offs": cut_offs}),
        read_outside=head.read_outside or turn.notes.outside,
        ending=None,
    )
    if head.state == "waiting_for_tool":  # a result was lost for good; the model goes on without it
        change.to_state("executing")
    outcome = apply_reply(turn, reply, change)
    has_calls = bool(outcome.to_run)
    thought = turn.kind == "think" or has_calls or outcome.has_searched
    next_turn(change, thought=thought, calls=len(outcome.to_run))
    run = change.head.run
    if run is not None and run.left_plan and (outcome.plan_changed or has_calls):
        change.set(run=run.model_copy(update={"left_plan": 0}))
    is_first = run is not None and run.goal_id in call.delivered  # the calls before it are another run's
    return _after_reply(turn, change, reply, outcome, () if is_first else call.previous)


def _after_reply(
    turn: Turn, change: Change, reply: TurnReply, outcome: ReplyOutcome, previous: tuple[CallAndResult, ...]
) -> Decision | None:
    """Finds the next action by the rules of docs/design/turn.md 16 (`acta/engine/turn/next_action.py`), and
    does it. `previous`: the calls before this reply and how they went.
    """
    stuck = _count(turn, change, reply, outcome, previous)
    facts, final = _facts(turn, change, reply, outcome, stuck)
    action = next_action(facts)
    if stuck is not None and stuck.reaction == "hint":
        if stuck.was_told:
            change.event(HintInjected(hint=stuck.hint))
        else:
            hint(change, stuck.hint)
    if final is not None and outcome.answer is None and not isinstance(action, Complete | Fail):
        hint(change, final.problem)  # an answer that completes the plan is explained in the call's result
    advice = cut_off_advice(reply.answer, change.head.progress.cut_offs)
    match action:
        case Complete():
            return _complete(turn, change, reply, facts, final, action)
        case Fail(code=code, reason=reason):
            return _end_run(turn.deps, change, Ending(error=Failure(code=code, message=reason[:1_000])))
        case Act():
            hint(change, advice)
            _open_questions(turn, change, reply, outcome)
            # None of the reply's calls runs until every approval among them is decided.
            if change.head.interventions:
                return _wait(turn, change)
            change.to_state("waiting_for_tool")
            ready = tuple(call.call_id for call in outcome.to_run)
            return Decision(next="act", at=position(change.head), calls=ready)
        case AskPerson():
            return _ask_person(turn, change, reply, outcome, facts, action)
        case ThinkAgain(hint=following):
            hint(change, advice or ("" if reply.answer.stop == "pause" else following))
            return _think_again(turn, change, reply)
        case other:
            assert_never(other)


def _count(
    turn: Turn, change: Change, reply: TurnReply, outcome: ReplyOutcome, previous: tuple[CallAndResult, ...]
) -> Stuck | None:
    """Moves the counters of `Progress`. Returns whether the run is stuck."""
    progress, plan, stuck = change.head.progress, change.head.plan, None
    failed_plans = progress.planning_attempts
    if outcome.plan_failed:
        # What the model is told of it, and when a person is asked, is not a matter of loops.
        failed_plans += 1
    else:
        # The calls beside a plan that was refused were not tried.
        tried = () if failed_plans else previous
        if outcome.to_run or outcome.question is not None or (plan is not None and plan.is_live):
            failed_plans = 0
        progress, stuck = detect_loop(
            turn.specs,
            progress,
            tried,
            reply.answer.text,
            reply.calls,
            plan_changed=outcome.plan_changed,
        )
    # The text of a paused reply is kept and is no answer yet. A cut-off reply and its other half are one reply.
    is_half = reply.answer.stop == "pause" or progress.cut_offs == 1
    text_replies = 0 if reply.calls else progress.text_replies + (not is_half)
    change.set(
        progress=progress.model_copy(update={"text_replies": text_replies, "planning_attempts": failed_plans})
    )
    return stuck


def _facts(
    turn: Turn, change: Change, reply: TurnReply, outcome: ReplyOutcome, stuck: Stuck | None
) -> tuple[Facts, FinalAnswer | None]:
    """What the rules look at, and the final answer that the reply gives for the session's schema, if it has one."""
    run = change.head.run
    assert run is not None
    if change.head.undelivered and run.iteration >= run.max_steps:
        # A message that comes at the step limit gets as many steps as the first message of a new run (ADR 4).
        run = run.model_copy(update={"max_steps": run.iteration + change.head.max_steps})
        change.set(run=run)
    head, progress = change.head, change.head.progress
    refusal = change.newest(PlanRejected) if outcome.plan_failed else None
    text = "" if progress.cut_offs or reply.answer.stop == "pause" else reply.text
    facts = Facts(
        plan=head.plan,
        is_left=head.has_left_plan,
        planning=turn.agent.planning,
        text=text,
        before_call=None if outcome.to_run else words_before_call(text, turn.specs),
        calls=len(outcome.to_run),
        calls_refused=outcome.calls_refused,
        undelivered=len(head.undelivered),
        iteration=run.iteration,
        max_steps=run.max_steps,
        over_budget=tokens_left(head) == 0 and not turn.waits_for_tokens,
        text_replies=progress.text_replies,
        cut_offs=progress.cut_offs,
        has_worked=bool(progress.succeeded),
        failed_plans=progress.planning_attempts if outcome.plan_failed else 0,
        refusal=ends(refusal.message, MAX_SAID_CHARS) if refusal is not None else "",
        question=outcome.question,
        closing=outcome.closing,
        stuck=stuck,
        final=turn.final,
    )
    final = outcome.answer
    if final is None and not facts.calls and not facts.open_steps:
        called, ends_run = bool(reply.calls), bool(answer_reason(facts))
        final = answer_in_text(
            turn.deps.check_answer, head, facts.text or "", called=called, ends_run=ends_run
        )
    if final is None or not final.problem:
        return facts._replace(answer="" if final is None else "fits"), final
    wrong = progress.wrong_answers + 1
    change.set_progress(wrong_answers=wrong)
    return facts._replace(answer="wrong", answers_left=max(0, ANSWER_RETRIES + 1 - wrong)), final


def _complete(
    turn: Turn,
    change: Change,
    reply: TurnReply,
    facts: Facts,
    final: FinalAnswer | None,
    ending: Complete,
) -> Decision | None:
    """Ends the run with its answer. Where another model of the agent comes first, the ending awaits it: its model for
    final answers, where the agent's own would complete the run, and then its judge. Neither is asked about talk: only
    about a run that had a plan or calls.
    """
    agent, progress, plan = turn.agent, change.head.progress, facts.plan
    check, schema = turn.deps.check_answer, change.head.output_schema
    given = final or final_answer(check, schema, reply.text, facts.closing)
    message = (reply.answered or reply).message_id
    reason = FINAL_MODEL_FAILED if progress.final_failed and ending.reason in ANSWERS else ending.reason
    result = Result.of(
        given.text, goal_met=ending.goal_met, reason=reason, message_id=message, data=given.data
    )
    has_plan = plan is not None and plan.is_live and not facts.is_left
    has_called = progress.succeeded or progress.failed
    if has_plan or has_called or progress.not_met or facts.closing is not None or facts.final:
        has_written = bool(turn.final) or progress.final_failed
        is_drafted = agent.models.final not in (None, agent.named_for(turn.kind)[1]) and not has_written
        may_go_on = facts.iteration < facts.max_steps and not facts.over_budget
        if is_drafted and may_go_on and ending.reason in ANSWERS:
            change.set(ending=Ending(result=result, awaits="answer"))
            hint(change, WRITE_ANSWER)
            return _think_again(turn, change, reply)
        if agent.judge is not None and ending.goal_met:
            change.set(ending=Ending(result=result, awaits="verdict"))
            return _think_again(turn, change, reply)
    if ending.reason in ANSWERS:
        _settle_plan_of_acta(change, result)
    return _end_run(turn.deps, change, Ending(result=result))


def _after_judging(turn: Turn, change: Change, ending: Ending, verdict: Verdict | None) -> Decision | None:
    """What follows from a judge's reply, or from the lack of one. `verdict` None: there is none in its reply."""
    head, result = change.head, ending.result
    # A run whose work was judged is past its planning.
    next_turn(change, thought=head.run is not None and not head.run.iteration)
    if verdict is None and ending.unread + 1 < READINGS and not head.undelivered:
        change.set(ending=ending.model_copy(update={"unread": ending.unread + 1}))
        return _go_on(turn, change)
    verdict = verdict or Verdict(met=None, reason=NO_VERDICT, model=turn.model_name)
    said = {} if verdict.met is None else {"met": verdict.met}
    change.event(AnswerJudged(reason=verdict.reason, model=verdict.model, **said))
    change.set(ending=None)
    goes_back = verdict.met is False and may_go_back(turn, head)
    if goes_back:
        change.set_progress(not_met=head.progress.not_met + 1)
        hint(change, returned(verdict))
    if goes_back or head.undelivered:
        return _go_on(turn, change)
    assert result is not None
    ends: dict[str, Any] = {"verdict": verdict}
    if verdict.met is False:
        ends |= {"goal_met": False, "reason": "judged_not_met"}
    else:
        _settle_plan_of_acta(change, result)
    return _end_run(turn.deps, change, Ending(result=result.model_copy(update=ends)))


def _settle_plan_of_acta(change: Change, result: Result) -> None:
    """The run ends with its answer, and with it the one step of a plan that Acta made for it: failed, if the goal is
    not met (`next_action`)."""
    head, status = change.head, "completed" if result.goal_met else "failed"
    plan, said = head.plan, (result.answer or "")[:MAX_RESULT_CHARS]
    if plan is None or not plan.is_live or not plan.made_by_acta or head.has_left_plan:
        return
    for step in plan.open_steps:
        changed = step.model_copy(update={"status": status, "result": said, "completed_at": change.now})
        change.event(PlanStepChanged(plan_step=step.step_number, before=step.status, status=status))
        plan = plan.with_step(changed, change.now)
    change.set(plan=plan)


def _ask_person(
    turn: Turn, change: Change, reply: TurnReply, outcome: ReplyOutcome, facts: Facts, action: AskPerson
) -> Decision:
    """Asks a person how the work is to go on."""
    if action.type == "budget_exceeded":
        # The next request will be at least as long as this one and its reply. The reply's calls are kept, and run once
        # the budget is raised.
        usage = reply.answer.usage
        bytes_so_far = int((usage.input + usage.output) * change.head.budget.bytes_per_token)
        needed = needed_limits(change.head, bytes_so_far, turn.max_output_tokens, turn.models)
        open_budget_question(change, turn.rules, needed, _giver(turn, change.head))
        _open_questions(turn, change, reply, outcome)
        return _wait(turn, change)
    # Each call has one result. This is the result of a call that does not run.
    for call in outcome.to_run:
        change.entry(own_result(call, NOT_RUN, ok=False))
    change.set(calls=())
    context = {"reason": action.reason}
    if action.reason == "no_plan":
        change.set_progress(planning_attempts=0)
        context["cause"] = facts.refusal
    open_question(
        change,
        action.type,
        action.question,
        turn.rules,
        asked_by="agent" if action.reason in ("wait_for_user", "question") else "acta",
        said=reply.text,
        message_id=reply.message_id,
        **context,
    )
    return _wait(turn, change)


def _think_again(turn: Turn, change: Change, reply: TurnReply) -> Decision:
    """A model is asked again, unless a person reviews first."""
    if is_first_half(reply.answer, change.head.progress.cut_offs):
        change.set_progress(continues=reply.message_id)
    _open_review_if_due(turn, change, reply)
    return _go_on(turn, change)


def _go_on(turn: Turn, change: Change) -> Decision:
    """The next turn follows, once nobody is asked any more."""
    if change.head.interventions:
        return _wait(turn, change)
    kind = next_turn_kind(change.head)
    change.to_state("planning" if kind == "plan" else "executing")
    return Decision(next=kind, at=position(change.head))


def _open_questions(turn: Turn, change: Change, reply: TurnReply, outcome: ReplyOutcome) -> None:
    """Opens what a person has to decide before the reply's calls run: approvals and the review."""
    for call in outcome.to_run:
        reason = outcome.approvals.get(call.call_id)
        if reason is not None:
            tool, seconds = turn.specs[call.name], turn.timeouts.approval
            open_approval(change, call, turn.rules, seconds, tool=tool, why=reason, said=reply.text)
    _open_review_if_due(turn, change, reply, outcome.to_run)


def _open_review_if_due(
    turn: Turn, change: Change, reply: TurnReply, calls: list[ToolCall] | None = None
) -> None:
    """Opens a review where `review_every` says so: a person looks at every nth turn before it goes on; 1 is
    single-stepping (docs/design/people.md 11). `calls`: those of the reply that are to run. A pause is no review:
    anybody may end it.
    """
    head = change.head
    iteration = head.run.iteration if head.run is not None else 0
    due = head.review_every and iteration and iteration % head.review_every == 0
    if due and not any(one.type == "checkpoint_review" and not is_pause(one) for one in head.interventions):
        open_review(change, calls or (), turn.rules, said=reply.text)


def _wait(turn: Turn, change: Change) -> Decision:
    """Puts the session into waiting and returns the engine's decision to wait: for a call's approval, a review, or a
    pause that came while the model was thinking."""
    wait_for_people(change)
    return wait_decision(change.head, turn.timeouts)


# ---- no reply


def _commit_failure(
    turn: Turn,
    error: SessionError | TransientError,
    uncharged: tuple[Attempt, ...] = (),
    *,
    ends_call: bool = False,
) -> Decision:
    """Commits what follows if there is no reply, and tells an operator of a key that was refused. `uncharged`: attempts
    that the commit charges. `ends_call`: the turn's own call is over, and was not the summariser's.
    """
    deps = turn.deps
    for change in deps.repository.attempts(turn.session, turn.key):
        check_turn(change.head, turn.at)
        if ends_call:
            change.is_fused = turn.is_fused
            if change.head.background is not None:
                count_looks(change, change.head.background)
        charge_attempts(change, uncharged, deps.settings.token_window_seconds)
        change.commit(_without_reply(turn, change, error))
    if isinstance(error, ProviderKeyRefused | ProviderQuotaExceeded):
        deps.on_key_refused(turn.at, error.code)
    return turn.session.decided(turn.key)


def _without_reply(turn: Turn, change: Change, error: SessionError | TransientError) -> Decision | None:
    """If the provider or a key can come back, wait and make the turn again; otherwise end the run
    (docs/design/recovery.md 5, providers.md)."""
    head = change.head
    # A key that is refused before the run's first reply is a mistake of the set-up. A key that is refused later was
    # good before, and the session waits for its successor. A reply that is still being made in the background counts.
    has_begun = head.run is not None and (
        head.run.goal_id not in head.undelivered or head.background is not None
    )
    is_key = isinstance(error, ProviderKeyRefused | ProviderQuotaExceeded)
    if isinstance(error, TransientError) or (is_key and has_begun):
        # Wait as long as the provider asked, and longer if it has asked before.
        retry_after = error.retry_after if isinstance(error, ProviderOverloaded) else None
        cause, rules = cause_of_error(error), turn.deps.outage_rules
        return wait_out(change, cause, rules, turn.rules, retry_after=retry_after)
    if turn.judging is not None and not head.is_over:
        reason = f"The judge could not be asked, so what the agent said holds. {error.explained}"
        verdict = Verdict(met=None, reason=reason, model=turn.model_name)
        decision = _after_judging(turn, change, turn.judging, verdict)
        return or_roll_over(change.head, turn.deps.settings.roll_over_events, decision)
    return _end_without_reply(turn.deps, change, Failure(code=error.code, message=error.explained))


def _end_without_reply(deps: TurnDeps, change: Change, failure: Failure) -> Decision | None:
    """A model fails for good. If it is the one for final answers, the agent's own words are the answer: the draft that
    waits, which the agent's judge looks at first, or what its own model says next. Otherwise the run fails.
    """
    head, ending = change.head, change.head.ending_after("answer")
    if head.is_over:
        return next_decision(head, change.now)
    agent = deps.definitions.snapshot(head.tenant).agent(head.agent_id)
    if agent is None or agent.models.final is None or _purpose(head, agent, "think")[0] != "final":
        return _end_run(deps, change, Ending(error=failure))
    draft = None if ending is None or head.undelivered else ending.result
    change.set_progress(final_failed=True)
    if draft is not None and draft.answer is not None:
        result = draft.model_copy(update={"reason": FINAL_MODEL_FAILED})
        if agent.judge is None or not result.goal_met:
            _settle_plan_of_acta(change, result)
            return _end_run(deps, change, Ending(result=result))
        change.set(ending=Ending(result=result, awaits="verdict"))
    else:
        change.set(ending=None)
    next_turn(change, thought=False)
    if change.head.interventions:
        wait_for_people(change)
        return wait_decision(change.head, deps.timeouts)
    decision = Decision(next=next_turn_kind(change.head), at=position(change.head))
    return or_roll_over(change.head, deps.settings.roll_over_events, decision)


def _end_run(deps: TurnDeps, change: Change, ending: Ending) -> Decision | None:
    """Ends the run. While a pause is open the ending awaits its end: a paused session does not end by itself, and what
    the reply said is kept.
    """
    if not any(map(is_pause, change.head.interventions)):
        return ended(change, ending)
    run = change.head.run
    has_moved_on = run is not None and run.first == change.number  # `apply` moved the run on, after a reply
    if run is not None and not has_moved_on:
        next_turn(change, thought=False)
    change.set(ending=ending.model_copy(update={"awaits": "resume"}), calls=())
    return wait_decision(change.head, deps.timeouts)
