"""A call that its tool's server has answered with a task: the server works on by itself, and the engine looks for what
comes of it, at no compute cost between the looks (ADR 101).

The task's id is in the head before the engine waits, so whatever worker, execution or generation comes next looks for
this task and makes no second call. A look changes nothing outside, except that it brings the server a person's answers,
which may be repeated. Each look that finds the task at work is committed with the time of the next one.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from acta_engine.errors import ActaError, Fenced, ToolAsks, ToolNotRun, ToolUnanswered, ToolWaits
from acta_engine.log.commit import Position
from acta_engine.log.conversation import ToolCall
from acta_engine.log.events import ToolStarted
from acta_engine.log.head import OpenCall
from acta_engine.log.repository import Session
from acta_engine.tools.mcp.server_task import ServerTask, TaskNews
from acta_engine.tools.port import CallContext, ServerTasks
from acta_engine.tools.runtime import (
    CallResult,
    ToolRuntime,
    ask_for_server,
    ask_whether_it_happened,
    context_of,
    record_finish,
    result_of,
)
from acta_engine.tools.tool import ToolSpec
from acta_engine.turn.engine import check_run, count_again
from acta_engine.untrusted.quoting import OutsideText

END_SECONDS = 10.0
"""For telling a server that nobody waits for its task any more."""
NOBODY_WAITS = "Error: the run was over before the server of {name} was done, so the server was told to stop."
TOO_LATE = "Error: {name} was not done in its time, and its server was told to stop. Try again later, or do without it."
GONE = "Error: what came of this call of {name} is not known: its server knows it no more. Try another way."
OTHER_TOOL = (
    "Error: the tool {name} was changed while its server worked on this call, so what came of it is not known. Make it "
    "again if it is still right."
)


def begin_task(
    runtime: ToolRuntime,
    session: Session,
    at: Position,
    call: ToolCall,
    spec: ToolSpec,
    news: TaskNews,
    began: datetime,
    *,
    start_is_logged: bool,
) -> CallResult | None:
    """Commits the task's id; the engine then waits. A result: nobody waits for the call any more, and the server was
    told so. Raises Fenced, and what the stores raise.
    """
    repository = runtime.repository
    key = at.call_key(call.call_id, f"task/{repository.clock.new_id('try')}")
    try:
        for change in repository.attempts(session, key):
            check_run(change.head, at)
            open_call = change.head.open_call(call.call_id)
            if change.head.is_over or open_call is None or open_call.state not in ("ready", "started"):
                break
            if open_call.task is not None:  # another worker was faster
                break
            task = ServerTask.begun(news, began, spec.timeout_seconds, change.now)
            started = open_call.model_copy(update={"state": "started", "asked": None, "task": task})
            change.set(calls=change.head.with_call(started).calls)
            if not start_is_logged:
                change.event(ToolStarted(**call.event_data))
            count_again(change, 1)
            change.commit()
        else:
            return None
    except Fenced:
        _end(runtime, session, call, spec, news.task_id)
        raise
    known = session.head.open_call(call.call_id)
    if known is None or known.task is None or known.task.task_id != news.task_id:
        _end(runtime, session, call, spec, news.task_id)
    if known is not None and known.task is not None and not session.head.is_over:
        return None
    return CallResult(NOBODY_WAITS.format(name=call.name), ok=False)


def look(
    runtime: ToolRuntime,
    session: Session,
    at: Position,
    call: ToolCall,
    spec: ToolSpec | None,
    attempt: int = 0,
    deadline_seconds: float | None = None,
) -> None:
    """Looks for the call's task, once its time has come. `spec`: the tool that was called; None: it is another one by
    now, or none. `deadline_seconds`: what the server has for its answer; None: the worker of a look has died, so the
    server is not asked now and the task is looked for again. Raises Fenced, and what the stores raise.
    """
    check_run(session.head, at)
    open_call, now = session.head.open_call(call.call_id), runtime.repository.clock.now()
    if open_call is None or open_call.task is None:
        return
    task = open_call.task

    def finished(result: CallResult) -> None:
        record_finish(
            runtime, session, at, call, result, task.began, attempt,
            start_is_logged=True, amended=open_call.amended is not None,
        )  # fmt: skip

    if session.head.is_over:
        if spec is not None and deadline_seconds is not None:
            _end(runtime, session, call, spec, task.task_id)
        finished(CallResult(NOBODY_WAITS.format(name=call.name), ok=False))
        return
    if session.head.interventions or not task.is_due(now):
        return
    if deadline_seconds is None:
        if task.is_late(now):
            _lost(runtime, session, at, call, spec, open_call, finished, TOO_LATE)
        else:
            _look_again(runtime, session, at, call.call_id, task, None, ())
        return
    if spec is None:
        _lost(runtime, session, at, call, spec, open_call, finished, OTHER_TOOL)
        return
    context = context_of(runtime, spec, call, session.head, deadline_seconds)
    told = tuple(context.answered.responses or {}) if context.answered is not None else ()
    try:
        finished(result_of(runtime, spec, session.head, lambda: _looked(runtime, spec, context, task)))
    except (ToolAsks, ToolWaits) as working:
        if task.is_late(now):
            _end(runtime, session, call, spec, task.task_id)
            _lost(runtime, session, at, call, spec, open_call, finished, TOO_LATE)
        elif isinstance(working, ToolAsks):
            looked = task.looked(runtime.repository.clock.now(), told=told)
            ask_for_server(runtime, session, at, call, spec, working.question, looked)
        else:
            _look_again(runtime, session, at, call.call_id, task, working.news, told)
    except ToolUnanswered:
        _lost(runtime, session, at, call, spec, open_call, finished, GONE)


def _looked(
    runtime: ToolRuntime, spec: ToolSpec, context: CallContext, task: ServerTask
) -> str | OutsideText:
    """Where the server cannot be asked now, it is looked for again later."""
    try:
        return _tasks(runtime).look(spec, context, task)
    except ToolNotRun:
        raise ToolWaits(TaskNews(task.task_id, is_told=False)) from None


def _look_again(
    runtime: ToolRuntime,
    session: Session,
    at: Position,
    call_id: str,
    task: ServerTask,
    news: TaskNews | None,
    told: tuple[str, ...],
) -> None:
    """`told`: keys of questions whose answers were to reach the server with this look."""
    is_told = news is not None and news.is_told
    key = at.call_key(call_id, f"look/{runtime.repository.clock.new_id('try')}")
    for change in runtime.repository.attempts(session, key):
        check_run(change.head, at)
        open_call = change.head.open_call(call_id)
        if change.head.is_over or open_call is None or open_call.task != task:
            return
        later = task.looked(change.now, news, told if is_told else ())
        asked = None if is_told else open_call.asked
        changed = open_call.model_copy(update={"task": later, "asked": asked})
        change.set(calls=change.head.with_call(changed).calls)
        count_again(change, 1)
        change.commit()


def _lost(
    runtime: ToolRuntime,
    session: Session,
    at: Position,
    call: ToolCall,
    spec: ToolSpec | None,
    open_call: OpenCall,
    finished: Callable[[CallResult], None],
    said: str,
) -> None:
    """Nobody knows what came of the call. About one that may have had an effect a person is asked; of any other the
    model is told `said`.
    """
    if open_call.starter:
        ask_whether_it_happened(runtime, session, at, call, spec)
    else:
        finished(CallResult(said.format(name=call.name), ok=False))


def _end(runtime: ToolRuntime, session: Session, call: ToolCall, spec: ToolSpec, task_id: str) -> None:
    """Best effort: what is not ended ends by itself, and its server forgets it."""
    context = context_of(runtime, spec, call, session.head, END_SECONDS)
    with suppress(ActaError):
        _tasks(runtime).end(spec, context, task_id)


def _tasks(runtime: ToolRuntime) -> ServerTasks:
    if runtime.server_tasks is None:
        raise ToolUnanswered("nothing looks for tasks here")
    return runtime.server_tasks()
