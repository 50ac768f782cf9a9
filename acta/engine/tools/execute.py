"""One tool call: its start is logged, it runs, its finish is logged (docs/design/tools.md 10, log.md 29).

The effect ledger, which is the second half of this file, says whether a call may start, start again, or has to be asked
about. Nothing that has an effect starts before the log says so, in every attempt. A call that may have had its effect
already runs again only if its tool is `idempotent`. If its tool runs `once`, a person is asked, unless the call
certainly reached no tool: then its start is taken back.
"""

from typing import Literal

from acta.engine.errors import Refused, ToolAsks, ToolLater, ToolNotRun, ToolWaits
from acta.engine.log.commit import Change, Position
from acta.engine.log.conversation import ToolCall
from acta.engine.log.events import ToolStarted
from acta.engine.log.head import Children, Head, OpenCall
from acta.engine.log.repository import Session
from acta.engine.people.policies import approval_reason
from acta.engine.recovery.outage import EXECUTION_LOST, Cause, cause_of_lost_call
from acta.engine.recovery.wait_out import wait_or_ask
from acta.engine.tools.later import begin_wait, end_wait
from acta.engine.tools.mcp.server_tasks import begin_task, look
from acta.engine.tools.runtime import (
    CallResult,
    HeldCall,
    ToolRuntime,
    as_it_runs,
    ask_for_server,
    ask_whether_it_happened,
    finish,
    record_finish,
    run_tool,
)
from acta.engine.tools.tool import Effect, ToolSpec
from acta.engine.turn.engine import check_run, count_again

LOST = (
    "Error: the tool did not answer ({error}). Whether it had an effect is unknown; check before you repeat it, or "
    "try another way."
)


REPLANNED = (
    "Error: a person has changed the plan after this call of {name} was asked for, so it was not run. Read what they "
    "changed; make the call again if it is still right."
)
UNASKED = (
    "Error: the server of {name} asks for something that nobody can be asked about now, so the call did not come to an "
    "end. Try another way, or ask the user."
)
CHANGED = (
    "Error: the tool {name} was changed after this call was asked for, so the call was not run, approved or not. Make "
    "it again if it is still right; a person is asked where the tool wants that now."
)


def run_call(runtime: ToolRuntime, at: Position, call_id: str, attempt: int, deadline_seconds: float) -> None:
    """Runs the call unless its finish is logged already.

    `attempt`: the engine's retry count. `deadline_seconds`: what the invocation leaves the tool (`seconds_for_work` in
    `acta/engine/turn/engine.py`). Raises what the engine retries.
    """
    run_held_call(runtime, runtime.repository.turn(at), at, call_id, attempt, deadline_seconds)


def run_held_call(
    runtime: ToolRuntime,
    session: Session,
    at: Position,
    call_id: str,
    attempt: int,
    deadline_seconds: float,
    *,
    fused: bool = False,
) -> None:
    """Does what `run_call` does, in a process that has held the session at least since the reply that made the call.

    `fused`: the worker that committed the reply makes the call itself.
    """
    repository = runtime.repository
    if session.recorded(at.call_key(call_id, "finish")) is not None:
        return
    call, open_call = session.call(call_id), session.head.open_call(call_id)
    if call is None or open_call is None or open_call.state == "withheld":
        return
    call = as_it_runs(repository, session, call, open_call)
    spec = _present_tool(runtime, session, call.name)
    held = HeldCall(runtime, session, at, call, spec, attempt, fused)
    has_children = open_call.children is not None  # they go on whatever becomes of their tool
    is_other_tool = not has_children and spec is not None and _is_changed_since(spec, call, open_call)
    effect = spec.effect if spec is not None and not is_other_tool else None
    if open_call.later is not None:
        end_wait(held, open_call.later)
        return
    if has_children:
        effect = "idempotent"
    if open_call.task is not None:
        look(held._replace(spec=spec if effect is not None else None), deadline_seconds)
        return
    if effect is None and is_in_doubt(open_call, effect):
        ask_whether_it_happened(held)
        return
    started = repository.clock.now()
    start_is_logged = effect not in (None, "read")
    children: Children | None = None
    if has_children or (effect is not None and spec is not None and spec.kind == "agent"):
        from acta.engine.subagents.family import asked_children, start_children  # few agents call others

        asked = asked_children(held)
        if isinstance(asked, CallResult):
            record_finish(held, asked, started, start_is_logged=open_call.state == "started")
            return
        children = asked
    match log_start(held, effect, children):
        case "withdrawn":
            return
        case "replanned":
            _leave_out(held)
            return
        case "ask":
            ask_whether_it_happened(held)
            return
        case "first" | "again" as start:
            try:
                rerun = start == "again"
                if is_other_tool:
                    result = held.refused(CHANGED)
                elif children is not None:
                    result = start_children(held)
                else:
                    result = run_tool(held, deadline_seconds, rerun=rerun)
            except ToolNotRun as turned_away:
                if effect == "once":
                    take_back_start(held)
                raise turned_away.reason from None
            except ToolAsks as asks:
                if ask_for_server(held, asks.question):
                    return
                result = held.refused(UNASKED)
            except ToolLater as answered:
                begin_wait(held, answered.later, start_is_logged=start_is_logged)
                return
            except ToolWaits as waits:
                ended = begin_task(held, waits.news, started, start_is_logged=start_is_logged)
                if ended is None:
                    return
                result = ended
    record_finish(held, result, started, start_is_logged=start_is_logged)


def _leave_out(held: HeldCall) -> None:
    """Settles a call that does not run because the plan was changed. Where a turn has told the model of that in the
    meantime, or the run has ended, nothing is settled here.
    """
    for change in held.attempts("finish"):
        check_run(change.head, held.at)
        head = change.head
        if head.is_over or head.interventions or not is_replanned(head, held.call.call_id):
            return
        change.is_fused = held.fused
        finish(held, change, held.refused(REPLANNED))
        change.commit()


def abandon_call(runtime: ToolRuntime, at: Position, call_id: str, error: str) -> None:
    """Settles a call whose Lambda died or timed out for good.

    The model gets an error as the call's result, so that every call has one. Where the tool may run only once and may
    have run, a person is asked instead. Where an outage is the reason, nothing is settled: the call stays open and is
    tried again after a wait. `error`: the name of the error class that was left.
    """
    repository = runtime.repository
    session = repository.turn(at)
    call, open_call = session.call(call_id), session.head.open_call(call_id)
    if call is None or open_call is None or open_call.state in ("withheld", "done"):
        return
    if open_call.later is not None:  # what was lost is only the look at its time
        return
    held = HeldCall(runtime, session, at, call)
    if session.head.is_over and open_call.task is not None:  # a run that is over waits for no server
        look(held)
        return
    cause = cause_of_lost_call(error)
    if cause is None and open_call.children is not None:
        cause = EXECUTION_LOST  # they work, or wait to be created: the call runs again
    if cause is not None:
        _wait_for_call(held, cause)
        return
    spec = runtime.registry.specs(at.tenant, session.head.agent_id).get(call.name)
    held = held._replace(call=as_it_runs(repository, session, call, open_call), spec=spec)
    if open_call.task is not None:
        look(held)
        return
    if is_in_doubt(open_call, spec.effect if spec is not None else None):
        ask_whether_it_happened(held)
        return
    for change in held.attempts("finish"):
        check_run(change.head, at)  # another worker that has the session settles the call
        known = change.head.open_call(call_id)
        if known is None or known.state != open_call.state:  # its worker is alive: the next turn looks again
            return
        finish(held, change, CallResult(LOST.format(error=error), ok=False))
        change.commit()


def _wait_for_call(held: HeldCall, cause: Cause) -> None:
    """Begins the wait, once for all calls of the reply that are lost together. The next turn waits and runs them
    again; a call that may have had its effect is treated then as after any other lost worker.
    """
    rules, call_id = held.asking_rules, held.call.call_id
    for change in held.attempts(f"outage/{held.new_try()}"):
        check_run(change.head, held.at)
        head, open_call = change.head, change.head.open_call(call_id)
        if head.is_over or open_call is None or open_call.state in ("withheld", "done"):
            return
        if head.run is None or head.run.turn != held.at.turn:
            return
        if not head.delay_at(change.now):
            wait_or_ask(change, cause, held.runtime.outage_limits, rules)
            count_again(change, len(change.head.unfinished_calls))
            _joins(change, call_id)
            change.commit()
        elif _joins(change, call_id):
            change.commit()


def _joins(change: Change, call_id: str) -> bool:
    """Adds the call to those that wait. False: it waits already, or no wait of calls has begun."""
    outage = change.head.outage
    if outage is None or call_id in outage.lost_calls:
        return False
    change.set(outage=outage.model_copy(update={"lost_calls": (*outage.lost_calls, call_id)}))
    return True


def _present_tool(runtime: ToolRuntime, session: Session, name: str) -> ToolSpec | None:
    """The tool as it is now. None: it was deleted. An admin's change takes effect at the next turn, so also for a call
    that has waited past that: it gets the tool as the present agent has it, or none.
    """
    head = session.head
    spec = runtime.registry.specs(head.tenant, head.agent_id).get(name)
    if spec is None or not session.has_waited:
        return spec
    agent = runtime.agent_of(head)
    return agent.toolset({name: spec}).get(name) if agent is not None else None


def _is_changed_since(spec: ToolSpec, call: ToolCall, open_call: OpenCall) -> bool:
    """Whether the call is not for the tool as it is now (docs/design/people.md 16): an admin has written the tool after
    the turn read it, or nobody has approved the call although it would need an approval now. Permissions of plans do
    not count here: they are known since the reply.
    """
    if open_call.approval == "" and approval_reason(None, spec, call.input or {}) is not None:
        return True
    return spec.written != open_call.tool_written


Start = Literal["first", "again", "ask", "withdrawn", "replanned"]
"""`first`: no attempt before this one can have had the effect. `again`: one may have, and the tool may run again under
the same effect id. `ask`: one may have, and only a person can say. `withdrawn`: the session was cancelled, paused or
has moved on, so the call must not start. `replanned`: a person has changed the plan since the call was asked for.
"""


def log_start(held: HeldCall, effect: Effect | None, children: Children | None = None) -> Start:
    """Logs the start of a call that is not `read`, before anything outside is reached.

    `effect` None: the tool is not there any more. `children`: of a call of an agent, none of them started yet. Raises
    Fenced where another run or generation has the session, and Refused where the call needs an approval and has none.
    """
    if effect is None or effect == "read":
        return "first" if _may_start(held, held.session.head) else "withdrawn"
    start = _log_first(held, children)
    if start == "again":
        return _log_again(held) if effect == "idempotent" else "ask"
    return start


def take_back_start(held: HeldCall) -> None:
    """Takes the start back because the call did not reach its tool, so the next attempt has nothing to ask about.
    Called after `log_start` said `first`, and only for a tool that runs `once`: all others run again anyway.
    """
    logged = held.open_call
    if logged is None or logged.state != "started":
        return
    for change in held.attempts(f"not-run/{held.new_try()}"):
        open_call = change.head.open_call(held.call.call_id)
        if open_call != logged or change.head.is_over:  # a person is asked, or has said what came of it
            return
        change.set_call(logged, state="ready", tries=logged.tries + 1)
        change.commit()


def is_in_doubt(open_call: OpenCall, effect: Effect | None) -> bool:
    """Whether only a person can say if a call that got lost has happened: it had started, and its tool runs `once`, or
    is not there any more (`effect` None), so that nobody knows whether it may run twice.
    """
    return open_call.state == "started" and effect in (None, "once")


def is_replanned(head: Head, call_id: str) -> bool:
    """Whether the call has not begun, a person has changed the plan since it was asked for, and nobody has said that
    this very call is to run.
    """
    open_call = head.open_call(call_id)
    if open_call is None or open_call.state != "ready" or not head.has_unread_plan_edit:
        return False
    let_run = open_call.approval == "given" or (open_call.tries > 0 and not open_call.starter)
    return not let_run


def _log_first(held: HeldCall, children: Children | None) -> Start:
    """Appends the start. After the 2xx of a cancel no call gets past this (docs/design/log.md 31).

    `again`: an earlier attempt has logged it, and may have had the effect.
    """
    mine = held.new_try()
    for change in held.attempts(f"start/{mine}"):
        open_call, may_start = change.head.open_call(held.call.call_id), _may_start(held, change.head)
        if open_call is not None and open_call.state == "started":
            # Also while a person is asked about another call: whether this one has happened is asked at once, too.
            return "again"
        if open_call is None or not may_start:
            return "withdrawn"
        if is_replanned(change.head, held.call.call_id):
            return "replanned"
        change.is_fused = held.fused
        change.set_call(open_call, state="started", starter=mine, children=children)
        if children is not None:
            change.set(children_made=change.head.children_made + children.count)
            _grant(held, change)
        if not open_call.starter:  # otherwise the event is there, from a start that was taken back
            change.event(ToolStarted(**held.call.event_data))
        change.commit()
    return "first"


def _log_again(held: HeldCall) -> Start:
    """The logged start is another attempt's, and what came after it may forbid this attempt. So this attempt has to win
    an empty commit of its own before it reaches anything outside.
    """
    for change in held.attempts(f"again/{held.new_try()}"):
        if not _may_start(held, change.head):
            return "withdrawn"
        _grant(held, change)
        change.commit()
    return "again"


def _grant(held: HeldCall, change: Change) -> None:
    """Lets children of the call begin, if it is a call of an agent."""
    open_call = change.head.open_call(held.call.call_id)
    if open_call is None or open_call.children is None or held.runtime.family is None:
        return
    from acta.engine.subagents.family import children_to_come
    from acta.engine.subagents.money import grant

    window, to_come = held.runtime.family().settings.token_window_seconds, children_to_come(held, change.head)
    grant(change, window, call_id=open_call.call_id, to_come=to_come)


def _may_start(held: HeldCall, head: Head) -> bool:
    """False: the run is over, a person is asked, or the call is done. Raises Fenced, Refused."""
    check_run(head, held.at)
    open_call = head.open_call(held.call.call_id)
    if head.is_over or head.interventions or open_call is None or open_call.state == "done":
        return False
    if open_call.approval == "needed":  # however it came here, the model is told that the call was not run
        raise Refused("a call that needs an approval has none")
    return True
