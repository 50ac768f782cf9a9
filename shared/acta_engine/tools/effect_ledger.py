"""The effect ledger: whether a call may start, start again, or has to be asked about (docs/design/tools.md 10,
log.md 29).

Nothing that has an effect starts before the log says so, in every attempt. A call that may have had its effect already
runs again only if its tool is `idempotent`. About one whose tool runs `once` a person is asked, except where it reached
no tool for certain: then its start is taken back.
"""

from typing import Literal

from acta_engine.errors import Refused
from acta_engine.log.commit import Position
from acta_engine.log.conversation import ToolCall
from acta_engine.log.events import ToolStarted
from acta_engine.log.head import Head, OpenCall
from acta_engine.log.repository import SessionRepository
from acta_engine.log.session import Session
from acta_engine.tools.tool import Effect
from acta_engine.turn.engine import check_run

Start = Literal["first", "again", "ask", "withdrawn", "replanned"]
"""`first`: no attempt before this one can have had the effect. `again`: one may have, and the tool may run again under
the same effect id. `ask`: one may have, and only a person can say. `withdrawn`: the session was cancelled, paused or
has moved on, so the call must not start. `replanned`: a person has changed the plan since the call was asked for.
"""


def log_start(
    repository: SessionRepository,
    session: Session,
    at: Position,
    call: ToolCall,
    effect: Effect | None,
    *,
    fused: bool = False,
) -> Start:
    """Logs the start of a call that is not `read`, before anything outside is reached.

    `effect` None: the tool is not there any more. `fused`: as in `run_held_call`. Raises Fenced where another run or
    generation has the session, and Refused where the call needs an approval and has none.
    """
    if effect is None or effect == "read":
        return "first" if _may_start(session.head, at, call.call_id) else "withdrawn"
    start = _log_first(repository, session, at, call, fused)
    if start == "again":
        return _log_again(repository, session, at, call) if effect == "idempotent" else "ask"
    return start


def take_back_start(repository: SessionRepository, session: Session, at: Position, call: ToolCall) -> None:
    """The call did not reach its tool, so that the next attempt finds nothing to ask about. After `log_start` said
    `first`, of a tool that runs `once`: any other one runs again in any case.
    """
    logged = session.head.open_call(call.call_id)
    if logged is None or logged.state != "started":
        return
    key = at.call_key(call.call_id, f"not-run/{repository.clock.new_id('try')}")
    for change in repository.attempts(session, key):
        open_call = change.head.open_call(call.call_id)
        if open_call != logged or change.head.is_over:  # a person is asked, or has said what came of it
            return
        ready = logged.model_copy(update={"state": "ready", "tries": logged.tries + 1})
        change.set(calls=change.head.with_call(ready).calls)
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


def _log_first(
    repository: SessionRepository, session: Session, at: Position, call: ToolCall, fused: bool
) -> Start:
    """Appends the start. After the 2xx of a cancel no call gets past this (docs/design/log.md 31).

    `again`: an earlier attempt has logged it, and may have had the effect.
    """
    mine = repository.clock.new_id("try")
    for change in repository.attempts(session, at.call_key(call.call_id, f"start/{mine}")):
        open_call, may_start = change.head.open_call(call.call_id), _may_start(change.head, at, call.call_id)
        if open_call is not None and open_call.state == "started":
            # Also while a person is asked about another call: whether this one has happened is asked at once, too.
            return "again"
        if open_call is None or not may_start:
            return "withdrawn"
        if is_replanned(change.head, call.call_id):
            return "replanned"
        change.is_fused = fused
        started = open_call.model_copy(update={"state": "started", "starter": mine})
        change.set(calls=change.head.with_call(started).calls)
        if not open_call.starter:  # else it was told, and taken back because nothing had run
            change.event(ToolStarted(**call.event_data))
        change.commit()
    return "first"


def _log_again(repository: SessionRepository, session: Session, at: Position, call: ToolCall) -> Start:
    """The logged start is another attempt's, and what came after it may forbid this attempt. So this one has to win a
    commit number of its own, with nothing to say, before it reaches out.
    """
    key = at.call_key(call.call_id, f"again/{repository.clock.new_id('try')}")
    for change in repository.attempts(session, key):
        if not _may_start(change.head, at, call.call_id):
            return "withdrawn"
        change.commit()
    return "again"


def _may_start(head: Head, at: Position, call_id: str) -> bool:
    """False: the run is over, a person is asked, or the call is done. Raises Fenced, Refused."""
    check_run(head, at)
    open_call = head.open_call(call_id)
    if head.is_over or head.interventions or open_call is None or open_call.state == "done":
        return False
    if open_call.approval == "needed":  # however it came here, the model is told that the call was not run
        raise Refused("a call that needs an approval has none")
    return True
