"""A call that its tool's server has answered with a task: the server works on by itself, and the engine looks for what
comes of it, at no compute cost between the looks (ADR 101).

The task's id is in the head before the engine waits, so whatever worker, execution or generation comes next looks for
this task and makes no second call. A look changes nothing outside, except that it brings the server a person's answers,
which may be repeated. Each look that finds the task at work is committed with the time of the next one.
"""

from contextlib import suppress
from datetime import datetime

from acta.engine.errors import ActaError, Fenced, ToolAsks, ToolNotRun, ToolUnanswered, ToolWaits
from acta.engine.log.events import ToolStarted
from acta.engine.tools.mcp.server_task import ServerTask, TaskNews
from acta.engine.tools.port import CallContext, ServerTasks
from acta.engine.tools.runtime import (
    CallResult,
    HeldCall,
    ask_for_server,
    ask_whether_it_happened,
    record_finish,
    result_of,
)
from acta.engine.tools.tool import ToolSpec
from acta.engine.turn.engine import check_run, count_again
from acta.engine.untrusted.quoting import OutsideText

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
    held: HeldCall, news: TaskNews, began: datetime, *, start_is_logged: bool
) -> CallResult | None:
    """Commits the task's id; the engine then waits. Returns a result only if nobody waits for the call any more; the
    server was told so. Raises Fenced, and what the stores raise.
    """
    assert held.spec is not None
    try:
        for change in held.attempts(f"task/{held.new_try()}"):
            check_run(change.head, held.at)
            open_call = change.head.open_call(held.call.call_id)
            if change.head.is_over or open_call is None or open_call.state not in ("ready", "started"):
                break
            if open_call.task is not None:  # another worker was faster
                break
            task = ServerTask.begun(news, began, held.spec.timeout_seconds, change.now)
            change.set_call(open_call, state="started", asked=None, task=task)
            if not start_is_logged:
                change.event(ToolStarted(**held.call.event_data))
            count_again(change, 1)
            change.commit()
        else:
            return None
    except Fenced:
        _end(held, news.task_id)
        raise
    known = held.open_call
    if known is None or known.task is None or known.task.task_id != news.task_id:
        _end(held, news.task_id)
    if known is not None and known.task is not None and not held.session.head.is_over:
        return None
    return held.refused(NOBODY_WAITS)


def look(held: HeldCall, deadline_seconds: float | None = None) -> None:
    """Looks for the call's task, once its time has come. Without `held.spec` the tool that was called is another one by
    now, or none. `deadline_seconds`: what the server has for its answer; None: the worker of a look has died, so the
    server is not asked now and the task is looked for again. Raises Fenced, and what the stores raise.
    """
    session, spec, now = held.session, held.spec, held.runtime.repository.clock.now()
    check_run(session.head, held.at)
    open_call = held.open_call
    if open_call is None or open_call.task is None:
        return
    task, may_have_happened = open_call.task, bool(open_call.starter)

    def finished(result: CallResult) -> None:
        record_finish(held, result, task.began, start_is_logged=True)

    def lost(said: str) -> None:
        """Nobody knows what came of the call. About one that may have had an effect a person is asked; of any other the
        model is told `said`.
        """
        if may_have_happened:
            ask_whether_it_happened(held)
        else:
            finished(held.refused(said))

    if session.head.is_over:
        if deadline_seconds is not None:
            _end(held, task.task_id)
        finished(held.refused(NOBODY_WAITS))
        return
    if session.head.interventions or not task.is_due(now):
        return
    if deadline_seconds is None:
        if task.is_late(now):
            lost(TOO_LATE)
        else:
            _look_again(held, task, None, ())
        return
    if spec is None:
        lost(OTHER_TOOL)
        return
    context = held.context(spec, deadline_seconds)
    told = tuple(context.answered.responses or {}) if context.answered is not None else ()
    try:
        finished(result_of(held, spec, lambda: _looked(held, spec, context, task)))
    except (ToolAsks, ToolWaits) as working:
        if task.is_late(now):
            _end(held, task.task_id)
            lost(TOO_LATE)
        elif isinstance(working, ToolAsks):
            looked = task.looked(held.runtime.repository.clock.now(), told=told)
            ask_for_server(held, working.question, looked)
        else:
            _look_again(held, task, working.news, told)
    except ToolUnanswered:
        lost(GONE)


def _looked(held: HeldCall, spec: ToolSpec, context: CallContext, task: ServerTask) -> str | OutsideText:
    """The task's result. If the server cannot be asked now, the task is looked at again later."""
    try:
        return _tasks(held).look(spec, context, task)
    except ToolNotRun:
        raise ToolWaits(TaskNews(task.task_id, is_told=False)) from None


def _look_again(held: HeldCall, task: ServerTask, news: TaskNews | None, told: tuple[str, ...]) -> None:
    """`told`: keys of questions whose answers were to reach the server with this look."""
    is_told = news is not None and news.is_told
    for change in held.attempts(f"look/{held.new_try()}"):
        check_run(change.head, held.at)
        open_call = change.head.open_call(held.call.call_id)
        if change.head.is_over or open_call is None or open_call.task != task:
            return
        later = task.looked(change.now, news, told if is_told else ())
        change.set_call(open_call, task=later, asked=None if is_told else open_call.asked)
        count_again(change, 1)
        change.commit()


def _end(held: HeldCall, task_id: str) -> None:
    """Tells the server to end the task. This may fail: such a task ends by itself, and its server forgets it."""
    if held.spec is not None:
        with suppress(ActaError):
            _tasks(held).end(held.spec, held.context(held.spec, END_SECONDS), task_id)


def _tasks(held: HeldCall) -> ServerTasks:
    if held.runtime.server_tasks is None:
        raise ToolUnanswered("nothing looks for tasks here")
    return held.runtime.server_tasks()
