"""How a call ends, or what people are asked about it before it does.

What becomes of a result that comes after a cancel is decided in `finish`.
"""

from datetime import datetime
from typing import Any

from acta_engine.log.change import Change
from acta_engine.log.commit import Position, StepRecord, milliseconds
from acta_engine.log.conversation import Content, ToolCall, ToolEntry
from acta_engine.log.events import ToolFinished, ToolStarted
from acta_engine.log.session import Session
from acta_engine.people.opening import (
    AskingRules,
    amended_note,
    open_doubt,
    open_tool_question,
    wait_for_people,
)
from acta_engine.tools.mcp.server_task import ServerTask, ToolQuestion
from acta_engine.tools.runtime import CallResult, ToolRuntime
from acta_engine.tools.tool import ToolSpec
from acta_engine.turn.engine import check_run


def record_finish(
    runtime: ToolRuntime,
    session: Session,
    at: Position,
    call: ToolCall,
    result: CallResult,
    started: datetime,
    attempt: int,
    *,
    start_is_logged: bool,
    amended: bool,
    fused: bool = False,
) -> None:
    """`start_is_logged`: then the finish is recorded whatever came meanwhile (docs/design/log.md 8). `amended`: it ran
    with an input of a person's.
    """
    said = result._replace(text=result.text + amended_note(call.input)) if amended else result
    for change in runtime.repository.attempts(session, at.call_key(call.call_id, "finish")):
        change.is_fused = fused
        if not start_is_logged:
            check_run(change.head, at)
            change.event(ToolStarted(**call.event_data))
        took = milliseconds(started, change.now)
        change.step(
            StepRecord(
                step_number=change.next_step,
                kind="tool",
                name=call.name,
                started_at=started,
                completed_at=change.now,
                duration_ms=took,
                attempt=attempt,
                error=None if result.ok else "TOOL_ERROR",
            )
        )
        finish(session, change, call, said, took)
        change.commit()


def finish(session: Session, change: Change, call: ToolCall, result: CallResult, duration_ms: int) -> None:
    """Records the result and moves the session on.

    Where the run is over it only records what happened. The same holds where the call has its one result already: a
    person said what came of it, or the model was told that nobody knows.
    """
    content = Content.of(result.text)
    answered = session.call(call.call_id) is None or call.call_id in session.results
    if not answered:
        change.entry(
            ToolEntry(call_id=call.call_id, name=call.name, content=content, ok=result.ok, whole=result.whole)
        )
    if result.outside:
        change.set(read_outside=True)
    size = (result.whole or content).bytes
    head = change.head
    open_call = head.open_call(call.call_id)
    if open_call is None or open_call.state != "done":  # else a person ended it, and it has its event
        finished: dict[str, Any] = {"ok": result.ok, "duration_ms": duration_ms, "bytes": size}
        if result.written_path is not None:
            finished["path"] = result.written_path
        change.event(ToolFinished(**call.event_data, **finished))
    change.set(usage=head.usage.model_copy(update={"tool_calls": head.usage.tool_calls + 1}))
    if answered or open_call is None:
        return
    over = {"state": "done", "amended": None, "starter": "", "asked": None, "task": None}
    change.set(calls=head.with_call(open_call.model_copy(update=over)).calls)
    if head.is_over:
        return
    if result.ok and head.plan is not None and head.plan.is_live:
        change.set(plan=head.plan.with_evidence(call.call_id, change.now))
    if not change.head.unfinished_calls and change.head.state == "waiting_for_tool":
        change.end_outage()
        change.to_state("executing")


def ask_whether_it_happened(
    runtime: ToolRuntime, session: Session, at: Position, call: ToolCall, spec: ToolSpec | None
) -> None:
    """Asks a person about a `once` call that died between its start and its finish: it is never repeated blindly. A
    task of its server is not looked for any more.
    """
    repository = runtime.repository
    rules = AskingRules(repository.clock, runtime.policies(session.head))
    mine = session.head.open_call(call.call_id)
    key = at.call_key(call.call_id, f"doubt/{repository.clock.new_id('try')}")
    for change in repository.attempts(session, key):
        check_run(change.head, at)
        open_call = change.head.open_call(call.call_id)
        if change.head.is_over or open_call is None or open_call != mine or open_call.state != "started":
            return
        withheld = open_call.model_copy(update={"state": "withheld", "asked": None, "task": None})
        change.set(calls=change.head.with_call(withheld).calls)
        open_doubt(change, call, spec, rules)
        wait_for_people(change)
        change.commit()


def ask_for_server(
    runtime: ToolRuntime,
    session: Session,
    at: Position,
    call: ToolCall,
    spec: ToolSpec | None,
    question: ToolQuestion,
    looked: ServerTask | None = None,
) -> bool:
    """Asks a person what the tool's server asks; the call is made again with the answer, or its task gets it. False: it
    cannot be asked, because the run is over.

    `looked`: the task as the look has left it that found the question; None: the answer of the call is the question.
    """
    repository = runtime.repository
    rules = AskingRules(repository.clock, runtime.policies(session.head))
    mine = session.head.open_call(call.call_id)
    key = at.call_key(call.call_id, f"asked/{repository.clock.new_id('try')}")
    for change in repository.attempts(session, key):
        open_call = change.head.open_call(call.call_id)
        if change.head.is_over or open_call is None or open_call != mine:
            return not session.head.is_over
        check_run(change.head, at)
        withheld = open_call.model_copy(update={"state": "withheld", "asked": question, "task": looked})
        change.set(calls=change.head.with_call(withheld).calls, read_outside=True)
        open_tool_question(change, call, spec, question, rules)
        wait_for_people(change)
        change.commit()
    return True
