"""What is done to a whole tree of sessions: the end of a run goes down it, and a pause holds it (ADR 217).

Both are commits of each session, made from the top to the bottom, and `align` makes those that are missing. So a
request that was cut short is finished by repeating it, and by the session's own engine if nobody does: recovery finds a
session whose family has yet to follow it (`Head.owes_family`), and its next turn begins with `align`.

A session that is paused holds its children: each has a pause of its own, which no person has asked for and nobody is
asked about (`held_by`). A child that people have paused as well stays paused when its parent goes on.
"""

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta

from acta.engine.errors import CommitContention, Fenced, PoisonedSession, SessionNotFound, TreeBusy
from acta.engine.log.head import Child, OpenCall
from acta.engine.log.repository import Session
from acta.engine.people.effects import lift_hold
from acta.engine.people.intervention import holder, is_hold, is_pause
from acta.engine.people.opening import open_hold
from acta.engine.recovery.recover import wake_engine
from acta.engine.sessions.control import commit_cancel
from acta.engine.subagents.family import Family, make_child, note_told, tell_parent
from acta.engine.subagents.money import child_id
from acta.engine.turn.engine import next_decision, position

REQUEST_SECONDS = 20.0
"""What a person's request may take for the sessions below. A request to the API may take 29 seconds in all."""


def align(deps: Family, session: Session, seconds: float | None = None) -> None:
    """Brings the sessions below into line with this one: they end with its run, and are held while it is paused. If its
    run is over, its parent is told. May be repeated.

    `seconds`: how long this may take; None: as long as it takes. Raises TreeBusy where that is too short, and what the
    stores and the engine raise; then some of it has been done.
    """
    until = None if seconds is None else deps.repository.clock.now() + timedelta(seconds=seconds)
    if not session.head.is_over:
        _hold_below(deps, session, until)
        return
    end_children(deps, session, until)
    head = session.head
    if head.parent is not None and not head.parent.told:
        above = head.parent
        tell_parent(deps, head.tenant, above.session_id, above.run_id, above.call_id, {above.item: head})
        note_told(deps, session)


def _check_time(deps: Family, until: datetime | None) -> None:
    if until is not None and deps.repository.clock.now() >= until:
        raise TreeBusy("Sessions below this one are still being changed. Send the request again.")


def _at_work(calls: Iterable[OpenCall]) -> list[tuple[OpenCall, Child]]:
    return [(call, child) for call in calls if call.children is not None for child in call.children.working]


# ---- the end


def end_children(
    deps: Family, session: Session, until: datetime | None = None, call_id: str | None = None
) -> None:
    """Cancels every session below. Afterwards no call with an effect starts in any of them. `call_id`: only below this
    call.
    """
    head = session.head
    at_work = _at_work(call for call in head.calls if call_id in (None, call.call_id))
    if not at_work:
        return
    at = position(head)
    whole = deps.repository.with_calls(at)
    ended: dict[str, dict[int, Session | None]] = {}
    late: TreeBusy | None = None
    try:
        for call, child in at_work:
            _check_time(deps, until)
            ended.setdefault(call.call_id, {})[child.item] = _ended(deps, whole, call, child, until)
    except TreeBusy as busy:  # what has ended need not be looked at again by whoever goes on
        late = busy
    for name, sessions in ended.items():
        heads = {item: None if each is None else each.head for item, each in sessions.items()}
        tell_parent(deps, head.tenant, head.session_id, at.run_id, name, heads)
        for each in sessions.values():
            if each is not None:
                note_told(deps, each)
    deps.repository.refresh(session)
    if late is not None:
        raise late


def _ended(
    deps: Family, parent: Session, call: OpenCall, child: Child, until: datetime | None
) -> Session | None:
    """The child after its end, and after that of its own children. It is created where it is not there yet, so that
    nobody can start it any more. None: it cannot be read.
    """
    try:
        session = make_child(deps, parent, call, child, start=False)
    except (PoisonedSession, CommitContention):  # the latter: it was erased, and its place is taken
        return None
    is_new_end = commit_cancel(deps.repository, session, None, deps.attempts)
    end_children(deps, session, until)
    head, run = session.head, session.head.run
    if is_new_end and run is not None:  # for tidiness, and so that providers and servers are told
        deps.workflow.stop(head.session_id, run.run_id, run.generation - 1)
        if head.background is not None or head.tasks:
            deps.workflow.start(next_decision(head, deps.repository.clock.now()))
    return session


# ---- the pause


def _hold_below(deps: Family, session: Session, until: datetime | None) -> None:
    """Pauses the children if the session is paused, else lets them go on. Whoever changes the session meanwhile does
    the same after that, and the last one to look at it here is right.
    """
    while session.head.children_at_work and not session.head.is_over:
        head = session.head
        pauses = [one for one in head.interventions if is_pause(one)]
        whole = deps.repository.with_calls(position(head)) if pauses else session
        for call, child in _at_work(head.calls):
            _check_time(deps, until)
            assert call.children is not None
            with suppress(SessionNotFound, PoisonedSession, Fenced):
                if pauses:  # also one that nobody has created yet
                    below = make_child(deps, whole, call, child, start=False)
                else:
                    below = deps.repository.newest(head.tenant, child_id(call.children, child.item))
                _hold(deps, below, holder(pauses[0]) if pauses else "", until)
        deps.repository.refresh(session)
        for change in deps.repository.attempts(session, f"followed/{deps.repository.clock.new_id('try')}"):
            if bool(pauses) != any(map(is_pause, change.head.interventions)):
                break
            if not change.head.leads_family:
                return
            change.set(leads_family=False)
            change.commit()
        else:
            return


def _hold(deps: Family, session: Session, held_by: str, until: datetime | None) -> None:
    """`held_by`: the id of the session that people have paused; empty: none above is paused."""
    changed = False
    for change in deps.repository.attempts(session, f"hold/{deps.repository.clock.new_id('try')}"):
        held = next(filter(is_hold, change.head.interventions), None)
        if change.head.is_over or (held is not None) == bool(held_by):
            break
        if held is None:
            open_hold(change, held_by, deps.repository.clock)
        else:
            lift_hold(change, held)
        changed = True
        change.commit()
    _hold_below(deps, session, until)
    if changed and not held_by:
        wake_engine(deps.repository, deps.workflow, session)
