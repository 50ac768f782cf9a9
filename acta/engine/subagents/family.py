"""A session's children, and its parent: how a call of an agent starts sessions, what it gives them of its budget, and
how their answers come back (docs/design/sub-agents.md, ADR 210).

A child is a session like any other. Its id is made from the effect id of the call, so whoever repeats the call finds
it. The parent's commit comes first: it reserves the budgets and says which items work now (`grant`). Then those
sessions are created. While they work, the call is answered later (ADR 209) and the parent has no execution.

A child whose run is over owes that to its parent (`Head.owes_family`). The worker that ended it tells the parent: one
commit there charges what the child has used, gives back the rest and lets the next items begin. The last child's worker
commits the call's result and wakes the parent. Then the child commits that it has told. If the worker dies in between,
recovery finds the child, and all of this may be repeated.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any, NamedTuple

from acta.engine.agents.agent import (
    DEFAULT_CHILDREN,
    DEFAULT_CHILDREN_AT_ONCE,
    DEFAULT_DEPTH,
    built_in,
    require_start_role,
)
from acta.engine.agents.store import Definitions
from acta.engine.clock import MESSAGE, RUN, derived_id
from acta.engine.errors import (
    LimitReached,
    ModelFeedback,
    PoisonedSession,
    SessionNotFound,
    StartRoleMissing,
    StoreThrottled,
    ToolFailed,
    ToolLater,
)
from acta.engine.files.given import given_path, is_given
from acta.engine.limits.caps import DEFAULT_MAX_STEPS, NO_CAPS, LimitValues, chosen, usual
from acta.engine.log.beside import AttemptStore, BlobStore
from acta.engine.log.commit import Change
from acta.engine.log.head import (
    MAX_GOAL_CHARS,
    Child,
    Children,
    Head,
    Later,
    OpenCall,
    Parent,
    SessionSettings,
)
from acta.engine.log.repository import Session, SessionRepository
from acta.engine.log.store import SessionLog
from acta.engine.people.intervention import Asker
from acta.engine.people.requester import Requester
from acta.engine.recovery.recover import wake_engine
from acta.engine.sessions.history import whole_answer
from acta.engine.sessions.start import begin_run, empty_head, new_session
from acta.engine.settings import Settings
from acta.engine.subagents.money import call_of, child_id, grant, is_complete, settle
from acta.engine.subagents.tool import AgentTool, child_tasks
from acta.engine.tools.runtime import (
    CallResult,
    HeldCall,
    ToolRuntime,
    as_it_runs,
    record_finish,
    result_of,
)
from acta.engine.tools.tool import ToolSpec
from acta.engine.turn.engine import Workflow, next_decision, position
from acta.engine.untrusted.path import PathRefused
from acta.engine.untrusted.quoting import OutsideText, clipped_name
from acta.engine.untrusted.visible import visible

LONGEST = timedelta(days=30)
"""How long a parent waits for its children. Then they are cancelled."""
SHOWN_CHARS = 200
"""Of a goal and of an item that people are shown with a child."""
LOOK_AGAIN = timedelta(minutes=11)
"""Until children are tried again that the tenant's limits have not let begin: so long that the parent is parked. One
that ends before gives its place to the next at once."""
NO_BUDGET = "not started: the session's budget has nothing left for it"
NO_TIME = "not started: the call's time was over"
ANY_TOOL = ToolSpec(name="agent", description="", input_schema={"type": "object"})
"""Its limits hold for the result of a call whose tool was taken away while its children worked."""


class Family(NamedTuple):
    """What the use cases of this file need. `settings`: the deployment's. `tools`: what calls of tools need."""

    repository: SessionRepository
    workflow: Workflow
    definitions: Definitions
    settings: Settings
    attempts: AttemptStore
    log: SessionLog
    blobs: BlobStore
    tools: Callable[[], ToolRuntime]


# ---- a call of an agent


def asked_children(held: HeldCall) -> Children | CallResult:
    """The children that the call asks for, or why there can be none."""
    spec, head, family = held.spec, held.session.head, held.runtime.family
    open_call = held.open_call
    if open_call is not None and open_call.children is not None:
        return open_call.children
    assert isinstance(spec, AgentTool)
    assert family is not None
    deps, arguments = family(), held.call.input or {}

    def refused(why: str) -> CallResult:
        return CallResult(f"Error: {held.call.name} was not called: {why}", ok=False)

    try:
        held.runtime.registry.check(spec, arguments, private=head.private_to is not None)
    except ModelFeedback as wrong:
        return refused(str(wrong))
    definitions = deps.definitions.snapshot(head.tenant)
    own, agent = definitions.agent(head.agent_id), definitions.agent(spec.entry.agent)
    if own is None or agent is None:
        return refused("there is no such agent any more.")
    try:
        require_start_role(agent, frozenset(head.roles))
    except StartRoleMissing:
        return refused("the people of this session may not start sessions of that agent.")
    tasks, seen = child_tasks(arguments), head.seen_files
    try:
        paths = [given_path(each) for task in tasks for each in task.files]
    except PathRefused as refusal:
        return refused(f"{refusal}.")
    unseen = [] if seen is None else [path for path in paths if not is_given(path, seen)]
    if unseen:
        return refused(
            f"{clipped_name(unseen[0])} is not among the files that this session was given, so it cannot be given on."
        )
    levels = own.limits.depth or DEFAULT_DEPTH
    if head.parent is not None:
        levels = min(levels, head.parent.levels)
    if levels < 1:
        return refused("agents may not be called any deeper than this. Do the work yourself.")
    count, most = len(tasks), own.limits.children or DEFAULT_CHILDREN
    if head.children_made + count > most:
        return refused(f"the session may have {most} sub-agents in all, and has had {head.children_made}.")
    settings = deps.settings
    deployment = LimitValues(DEFAULT_MAX_STEPS, settings.token_budget, settings.cost_budget_usd or None)
    limits = chosen(LimitValues(), usual(agent.limits, deployment), agent.caps, settings.caps)
    limits = chosen(LimitValues(), limits, spec.entry.caps, NO_CAPS)
    at_once = own.limits.children_at_once or DEFAULT_CHILDREN_AT_ONCE
    return Children(
        effect_id=held.call.effect_id,
        agent_id=agent.agent_id,
        count=count,
        at_once=min(arguments.get("at_once", at_once), at_once),
        session_at_once=at_once,
        tokens=limits.token_budget or settings.token_budget,
        usd=limits.cost_budget_usd,
        max_steps=limits.max_steps,
        given_files=spec.entry.files == "given",
        levels=levels - 1,
    )


def children_to_come(held: HeldCall, head: Head) -> int:
    """How many children the calls of the reply may have at work of which none has begun."""
    registry, count = held.runtime.registry, 0
    specs = registry.specs(head.tenant, head.agent_id)
    calls = [held.session.call(each.call_id) for each in head.unfinished_calls if each.children is None]
    for call in filter(None, calls):
        if isinstance(spec := specs.get(call.name), AgentTool):
            arguments = call.input or {}
            with suppress(ModelFeedback):  # a call that does not fit will have no children
                registry.check(spec, arguments, private=head.private_to is not None)
                places = len(child_tasks(arguments))
                count += min(places, arguments.get("at_once", places))
    return count


def start_children(held: HeldCall) -> CallResult:
    """Creates the sessions that the commits of this call have given a budget, as far as the tenant's limits allow it
    now. They may be there already. Raises ToolLater, unless no child works and none will.
    """
    open_call, family = held.open_call, held.runtime.family
    assert family is not None
    assert open_call is not None
    assert open_call.children is not None
    deps, of = family(), open_call.children
    all_began = _make_children(deps, held.session, open_call, of.working)
    if is_complete(held.session.head, of):
        return _result(deps, held, of)
    now = held.runtime.repository.clock.now()
    again = None if all_began else now + LOOK_AGAIN
    raise ToolLater(Later(kind="agent", began=now, until=now + LONGEST, again=again))


def _make_children(deps: Family, parent: Session, open_call: OpenCall, children: Iterable[Child]) -> bool:
    """False: the tenant has as many open sessions as it may have, so not all of them could begin."""
    try:
        for child in children:
            make_child(deps, parent, open_call, child)
    except LimitReached:
        return False
    return True


def begin_waiting(deps: Family, parent: Session, call_id: str) -> None:
    """Creates the children of a call that had to wait for the tenant's limits, and commits when the engine has to look
    at the call again. `parent`: holds the reply with the call.
    """
    open_call = parent.head.open_call(call_id)
    if open_call is None or open_call.children is None:
        return
    all_began = _make_children(deps, parent, open_call, open_call.children.working)
    _look_again(deps, parent, call_id, is_needed=not all_began)


def _look_again(deps: Family, parent: Session, call_id: str, *, is_needed: bool) -> None:
    for change in deps.repository.attempts(parent, f"places/{deps.repository.clock.new_id('try')}"):
        open_call = change.head.open_call(call_id)
        if open_call is None or open_call.later is None:
            return
        again = change.now + LOOK_AGAIN if is_needed else None
        change.set_call(open_call, later=open_call.later.model_copy(update={"again": again}))
        change.commit()


def make_child(
    deps: Family, parent: Session, open_call: OpenCall, child: Child, *, start: bool = True
) -> Session:
    """The child with its head alone. It is created and started, unless it is there. `parent`: holds the reply with the
    call. `start` False: it is created to be held or ended, which no limit stops. Raises SessionNotFound if the parent's
    call is gone, LimitReached, and what the stores and the engine raise.
    """
    of, head = open_call.children, parent.head
    call = parent.call(open_call.call_id)
    assert of is not None
    if call is None:
        raise SessionNotFound("The call of this session is over.")
    session_id = child_id(of, child.item)
    with suppress(SessionNotFound):
        there = deps.repository.newest(head.tenant, session_id)
        run = there.head.run
        if start and not there.head.is_over and run is not None and run.generation == 1:
            deps.workflow.start(next_decision(there.head, deps.repository.clock.now()))
        return there
    call = as_it_runs(deps.repository, parent, call, open_call)
    task = child_tasks(call.input or {})[child.item]
    agent = deps.definitions.snapshot(head.tenant).agent(of.agent_id)
    if agent is None:  # its first turn ends with that, and its parent is told
        agent = built_in().model_copy(update={"agent_id": of.agent_id, "name": of.agent_id})
    requester = Requester(head.tenant, head.created_by, frozenset(head.roles))
    settings = SessionSettings(metadata=head.metadata, visibility=head.visibility)
    new = new_session(agent, None, LimitValues(), deps.settings, is_admin=True, settings=settings)
    new = new._replace(
        max_steps=of.max_steps or new.max_steps,
        token_budget=child.tokens,
        cost_budget_usd=child.usd,
    )
    now = deps.repository.clock.now()
    change = Change(empty_head(requester, new, session_id, now), number=1, now=now)
    assert head.run is not None
    given = tuple(map(given_path, task.files)) if of.given_files else head.seen_files
    asker = Asker(
        session_id=head.session_id,
        agent_id=head.agent_id,
        agent_name=head.shown_agent,
        goal=head.goal[:SHOWN_CHARS],
        run_id=head.run.run_id,
    )
    change.set(
        parent=Parent(
            session_id=head.session_id,
            run_id=head.run.run_id,
            call_id=open_call.call_id,
            item=child.item,
            about=task.about[:SHOWN_CHARS],
            chain=(*(head.parent.chain if head.parent is not None else ()), asker),
            files=given,
            levels=of.levels,
        ),
        roles=head.roles,
        writers=head.writers,
        read_outside=head.read_outside,
        budget=change.head.budget.model_copy(update={"renews": False}),
    )
    run_id, message_id = derived_id(RUN, session_id), derived_id(MESSAGE, session_id)
    text = _goal(asker.agent_name, task.goal, task.files)
    change.first_state("planning")
    decision = begin_run(change, run_id, message_id, text, new.max_steps, requester)
    change.set(goal=task.goal[:MAX_GOAL_CHARS])  # without the words around it, which are for the model
    change.commit(decision, starts=start)
    commit = deps.repository.create("start", change)
    if start:
        deps.workflow.start(decision)
    return Session(commit)


def _goal(author: str, goal: str, files: tuple[str, ...]) -> str:
    listed = "".join(f"\n- {path}" for path in files)
    name = visible(author, keep_newlines=False)
    return f"The agent {name} asks this of you:\n\n{goal}" + (f"\n\nFiles:{listed}" if files else "")


# ---- the end of a child


def tell_parent(
    deps: Family,
    tenant: str,
    session_id: str,
    run_id: str,
    call_id: str,
    ended: Mapping[int, Head | None],
) -> None:
    """Commits in the parent's log that children of one call have ended, creates the sessions that may begin now, and
    finishes the calls of which these were the last. May be repeated, until `note_told`. `ended`: the children by their
    items. None: it cannot be read, and is charged with all that was reserved for it.
    """
    try:
        session = deps.repository.newest(tenant, session_id)
    except SessionNotFound:
        return
    first, mine = min(ended), deps.repository.clock.new_id("try")
    for change in deps.repository.attempts(session, f"{run_id}/{call_id}/ended/{mine}"):
        if not settle(change, run_id, call_id, ended):
            break
        grant(change, deps.settings.token_window_seconds, after=first)
        change.commit()
    head = session.head
    if call_of(head, run_id, call_id) is None:
        return
    calls = [(call, call.children) for call in head.unfinished_calls if call.children is not None]
    granted = [
        (call, each) for call, of in calls for each in of.working if each.after == first and not head.is_over
    ]
    complete = [call for call, of in calls if is_complete(head, of)]
    if granted or complete:
        session = deps.repository.with_calls(position(head))
    for call, each in granted:
        if not _make_children(deps, session, call, [each]):
            if call.later is None:
                raise StoreThrottled("the parent does not wait yet, and its child finds no place")
            _look_again(deps, session, call.call_id, is_needed=True)
    for call in complete:
        finish_call(deps, session, call.call_id)
    if not complete and not head.unfinished_calls:
        # the worker that finished the last call may have died before it woke the session
        wake_engine(deps.repository, deps.workflow, session)


def note_told(deps: Family, session: Session) -> None:
    """Commits in the child's log that its parent knows of its end."""
    for change in deps.repository.attempts(session, f"told/{deps.repository.clock.new_id('try')}"):
        parent = change.head.parent
        if parent is None or parent.told or not change.head.is_over:
            return
        change.set(parent=parent.model_copy(update={"told": True}))
        change.commit()


def finish_call(deps: Family, session: Session, call_id: str) -> None:
    """Commits the result of a call whose children have all ended, and wakes the session. `session`: holds the reply
    with the call.
    """
    head = session.head
    call, open_call = session.call(call_id), head.open_call(call_id)
    of = None if open_call is None else open_call.children
    if call is None or open_call is None or of is None or open_call.state == "done":
        return
    runtime = deps.tools()
    spec = runtime.registry.specs(head.tenant, head.agent_id).get(call.name)
    call = as_it_runs(deps.repository, session, call, open_call)
    held = HeldCall(runtime, session, position(head), call, spec)
    began = open_call.later.began if open_call.later is not None else deps.repository.clock.now()
    record_finish(held, _result(deps, held, of), began, start_is_logged=True)
    wake_engine(deps.repository, deps.workflow, session)


def _result(deps: Family, held: HeldCall, of: Children) -> CallResult:
    own, open_call, heads = held.session.head, held.open_call, list[Head | None]()
    for item in range(of.count):
        found: Head | None = None
        if item < of.started:
            with suppress(SessionNotFound, PoisonedSession):
                found = deps.repository.newest(own.tenant, child_id(of, item)).head
        heads.append(found)
    later, now = None if open_call is None else open_call.later, deps.repository.clock.now()
    why_not = NO_TIME if later is not None and later.until <= now else NO_BUDGET
    items = [_item(deps, own, of, number, head, why_not) for number, head in enumerate(heads)]
    name = held.call.name

    def said() -> OutsideText:
        if "map" not in (held.call.input or {}):
            text = _said(items[0], heads[0])
        else:
            text = OutsideText("agents", name, json.dumps(items, ensure_ascii=False))
        if not any(item.get("goal_met") for item in items):
            raise ToolFailed(f"{name} has not reached the goal. {text.note}".strip(), text)
        return text

    return result_of(held, held.spec or ANY_TOOL, said)


def _said(item: dict[str, Any], head: Head | None) -> OutsideText:
    answer, why = item.get("answer"), item.get("reason")
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    name = "" if head is None else head.shown_agent
    note = "" if item.get("goal_met") else f"It ended: {item['state']}{f', {why}' if why else ''}."
    return OutsideText("agent", name, text if answer is not None else "", note=note)


def _item(
    deps: Family, parent: Head, of: Children, place: int, head: Head | None, why_not: str
) -> dict[str, Any]:
    """`why_not`: the reason of an item that has not begun."""
    item: dict[str, Any] = {"item": place + 1}
    if head is None and place < of.started:
        return item | {"state": "deleted"}
    if head is None:
        return item | {"state": "not_started", "reason": why_not}
    item |= {"state": head.state, "session_id": head.session_id}
    if not head.askers <= parent.askers:
        return item | {"reason": "more people wrote to it than can be kept"}
    if head.result is not None:
        item["goal_met"] = head.result.goal_met
        data = head.result.answer_data
        item["answer"] = whole_answer(deps.log, deps.blobs, head) if data is None else data
        if not head.result.goal_met:
            item["reason"] = head.result.reason
    elif head.error is not None:
        item["reason"] = head.error.code
    elif head.state == "cancelled":
        item["reason"] = head.state_reason or "cancelled"
    return item
