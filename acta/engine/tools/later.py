"""A call whose answer comes later: from a callback, from another agent, or with the time (ADR 209).

The tool has answered that it works on, and its worker is gone. What the call waits for is in the head (`Later`), and
the session waits like one that waits for the end of an outage: it has no execution, and costs its storage. Whoever has
the answer commits the call's result (`answer_call`) and wakes the engine. If nobody does in time, the engine runs the
call once more, and `end_wait` settles it.
"""

from acta.engine.log.events import ToolStarted
from acta.engine.log.head import EndedCall, Later
from acta.engine.log.repository import Session
from acta.engine.recovery.recover import wake_engine
from acta.engine.tools.runtime import CallResult, HeldCall, ToolRuntime, as_it_runs, record_finish
from acta.engine.turn.engine import Workflow, check_run, position

NO_ANSWER = (
    "Error: no answer to this call of {name} came in its time, which ended at {until}. Whether the work was done is "
    "unknown; check before you ask for it again."
)
TIME_IS_OVER = "The wait is over. It is now {now:%Y-%m-%d %H:%M:%S} UTC."


def begin_wait(held: HeldCall, later: Later, *, start_is_logged: bool) -> None:
    """Commits what the call waits for. If the answer was faster than the tool's own reply, there is nothing to commit.
    Raises Fenced, and what the stores raise.
    """
    for change in held.attempts(f"later/{held.new_try()}"):
        check_run(change.head, held.at)
        open_call = change.head.open_call(held.call.call_id)
        if change.head.is_over or open_call is None or open_call.state not in ("ready", "started"):
            return
        if not start_is_logged:
            change.event(ToolStarted(**held.call.event_data))
        change.set_call(open_call, state="started", later=later)
        if change.head.wait_for_calls is not None:
            change.tell_wait(change.head.wait_for_calls)
        change.commit()


def end_wait(held: HeldCall, later: Later) -> None:
    """Settles the call once its time is over, or lets children begin that had to wait. Raises Fenced, and what the
    stores raise.
    """
    session, now = held.session, held.runtime.repository.clock.now()
    check_run(session.head, held.at)
    if session.head.is_over or session.head.interventions or now < later.next_look:
        return
    if later.kind == "agent" and held.runtime.family is not None:
        from acta.engine.subagents.control import end_children  # few agents call others
        from acta.engine.subagents.family import begin_waiting

        if now < later.until:
            begin_waiting(held.runtime.family(), session, held.call.call_id)
        else:
            end_children(held.runtime.family(), session, call_id=held.call.call_id)
        return
    if later.kind == "time":
        result = CallResult(TIME_IS_OVER.format(now=now), ok=True)
    elif later.default is not None:
        result = CallResult(later.default, ok=True)
    else:
        text = NO_ANSWER.format(name=held.call.name, until=f"{later.until:%Y-%m-%d %H:%M:%S} UTC")
        result = CallResult(text, ok=False)
    if later.kind == "callback":
        result = result._replace(by="deadline")
    record_finish(held, result, later.began, start_is_logged=True)


def answer_call(
    runtime: ToolRuntime, workflow: Workflow, session: Session, call_id: str, result: CallResult
) -> EndedCall | None:
    """Commits the answer to a call that has started, and wakes the engine. Returns what is recorded of the call's end:
    the answer counts only if that has its `answer_id`. None: nothing is recorded. May be repeated. Raises what the
    stores and the engine raise.
    """
    open_call = session.head.open_call(call_id)
    if session.head.run is not None and open_call is not None and open_call.state != "done":
        repository, at = runtime.repository, position(session.head)
        session = repository.turn(at)
        call = session.call(call_id)
        if call is not None:
            held = HeldCall(runtime, session, at, as_it_runs(repository, session, call, open_call))
            began = open_call.later.began if open_call.later is not None else repository.clock.now()
            start_is_logged = open_call.state == "started" or open_call.starter != ""
            record_finish(held, result, began, start_is_logged=start_is_logged)
            wake_engine(repository, workflow, session)
    return session.head.answered_call(call_id)
