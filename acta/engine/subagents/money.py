"""What a session's children may use of its budget (docs/design/sub-agents.md 13, 14).

A commit of the parent reserves a part of its budget for each child that begins, and that part is the child's budget. So
what the parent is charged, and what is reserved for children at work, is never more than its own limits. When a child
needs more, its parent reserves that first.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from acta.engine.agents.agent import AgentDefinition
from acta.engine.agents.store import Definitions
from acta.engine.clock import SESSION, derived_id
from acta.engine.errors import Conflict, PoisonedSession, SessionNotFound, ValidationFailed
from acta.engine.limits.caps import NO_CAPS, LimitValues, refuse_beyond
from acta.engine.log.commit import Change
from acta.engine.log.events import ChildFinished, ChildStarted
from acta.engine.log.head import MAX_WRITERS, Child, Children, Head, OpenCall
from acta.engine.log.repository import SessionRepository
from acta.engine.people.intervention import is_pause
from acta.engine.people.requester import Requester
from acta.engine.turn.budget import all_tokens, renewed, reserved, spent_usd, tokens_left

LEAST_TOKENS = 2_000
"""A child does not begin with fewer."""
LEAST_USD = 0.001
PARTS_OF_USD = 1_000_000
"""Dollars are given in whole parts of this size, and rounded down."""


def child_id(of: Children, item: int) -> str:
    return derived_id(SESSION, of.effect_id, str(item))


def call_of(head: Head, run_id: str, call_id: str) -> OpenCall | None:
    """The call of the parent that has started a child. None: its run is another one by now."""
    if head.run is None or head.run.run_id != run_id:
        return None
    return head.open_call(call_id)


def free(head: Head) -> tuple[int, float | None]:
    """What is left of the budget and is reserved for no child: tokens and US dollars, both may be negative. None: the
    session has no budget in dollars.
    """
    tokens, usd = reserved(head)
    limit = head.budget.cost_budget_usd
    return tokens_left(head) - tokens, None if limit is None else limit - spent_usd(head) - usd


# ---- the budgets of children that begin


def grant(
    change: Change, window: float, *, call_id: str = "", after: int | None = None, to_come: int = 0
) -> None:
    """Lets the next items of the open calls begin, as many as the limits and the budget carry. Each gets an equal part
    of what is free, and no more than its agent's limits.

    `window`: of the token budget, in seconds. `call_id`: only items of this call, whose worker creates their sessions.
    Empty: of all calls. `after`: as in `Child`. `to_come`: children of other calls that will begin in a moment and work
    beside these, so that as many parts are left for them, if the budget carries all.
    """
    if not _calls_with_more(change, call_id):
        return
    change.set(budget=renewed(change.head.budget, change.now, window))
    while (following := _next_child(change, call_id, after, to_come)) is not None:
        call, child = following
        assert call.children is not None
        began = call.children.model_copy(
            update={"started": call.children.started + 1, "working": (*call.children.working, child)}
        )
        change.set_call(call, children=began)
        change.event(
            ChildStarted(
                call_id=call.call_id,
                name=call.name,
                item=child.item + 1,
                count=began.count,
                session_id=child_id(began, child.item),
                agent_id=began.agent_id,
                tokens=child.tokens,
                usd=child.usd,
            )
        )


def _is_held(head: Head) -> bool:
    """Whether no further child may begin: the run is over, or the session is paused."""
    return head.is_over or any(map(is_pause, head.interventions))


def _calls_with_more(change: Change, call_id: str) -> list[tuple[OpenCall, Children]]:
    """The calls with items that may still begin. `call_id`: as of `grant`."""
    if _is_held(change.head):
        return []
    return [
        (call, call.children)
        for call in change.head.unfinished_calls
        if call_id in ("", call.call_id)
        and call.children is not None
        and call.children.started < call.children.count
        and (call.later is None or call.later.until > change.now)
    ]


def _next_child(
    change: Change, call_id: str, after: int | None, to_come: int
) -> tuple[OpenCall, Child] | None:
    head, calls = change.head, _calls_with_more(change, call_id)
    at_work = len(head.children_at_work)
    open_places = [
        (call, of, min(of.at_once - len(of.working), of.count - of.started, of.session_at_once - at_work))
        for call, of in calls
    ]
    open_places = [each for each in open_places if each[2] > 0]
    if not open_places:
        return None
    call, of, _ = open_places[0]
    most = max(each.session_at_once for _, each in calls) - at_work
    free_tokens, free_usd = free(head)
    now = sum(places for _, _, places in open_places)
    parts = max(1, min(most, now), min(most, now + to_come, free_tokens // LEAST_TOKENS))
    tokens, usd = min(of.tokens, free_tokens // parts), of.usd
    if free_usd is not None:
        share = int(free_usd / parts * PARTS_OF_USD) / PARTS_OF_USD
        usd = share if usd is None else min(usd, share)
    if tokens < min(LEAST_TOKENS, of.tokens) or (usd is not None and usd < LEAST_USD):
        return None
    return call, Child(item=of.started, tokens=tokens, usd=usd, after=after)


def is_complete(head: Head, of: Children) -> bool:
    """Whether no child of the call works and none will: all have ended, or nothing is left for a further one. A pause
    holds further ones back, and they begin when it ends.
    """
    if of.working:
        return False
    if of.started == of.count or head.is_over:
        return True
    return not head.children_at_work and not _is_held(head)


# ---- children that have ended


def settle(change: Change, run_id: str, call_id: str, ended: Mapping[int, Head | None]) -> bool:
    """Charges the parent what children of one call have used, and gives it the rest back. False: it knows of their ends
    already, or its call is over. `ended`: as in `tell_parent`.
    """
    open_call = call_of(change.head, run_id, call_id)
    of = None if open_call is None else open_call.children
    told = [] if of is None else [each for each in of.working if each.item in ended]
    if open_call is None or of is None or not told:
        return False
    head, budget = change.head, change.head.budget
    tokens, usd, writers, roles = budget.children_tokens, budget.children_usd, head.writers, head.roles
    for each in told:
        child = ended[each.item]
        used = (each.tokens, each.usd or 0.0)
        if child is not None:
            used = all_tokens(child.budget), spent_usd(child)
            # Who wrote to a child has asked for what its parent does once it has read the answer. If they are too many
            # to be kept, the answer is left out (`_item` in `family.py`).
            new = sorted(child.askers - {head.created_by, *writers})
            if len(writers) + len(new) <= MAX_WRITERS:
                writers = (*writers, *new)
                roles = tuple(role for role in roles if role in child.roles)
            change.event(
                ChildFinished(
                    call_id=open_call.call_id,
                    name=open_call.name,
                    item=each.item + 1,
                    count=of.count,
                    session_id=child.session_id,
                    agent_id=child.agent_id,
                    state=child.state,
                    goal_met=child.result is not None and child.result.goal_met,
                    tokens=used[0],
                    usd=used[1],
                )
            )
        tokens, usd = tokens + used[0], usd + used[1]
    working = tuple(each for each in of.working if each not in told)
    change.set_call(open_call, children=of.model_copy(update={"working": working}))
    charged = budget.model_copy(update={"children_tokens": tokens, "children_usd": round(usd, 6)})
    change.set(budget=charged, writers=writers, roles=roles)
    return True


def give_up_child(repository: SessionRepository, tenant: str, session_id: str) -> None:
    """Tells the parent of a session that an operator's command is about to delete, if it has one. Nobody knows any more
    what the child has used, so it is charged with all that was reserved for it. The engine then runs the parent's call
    again, which finds that the child is gone.
    """
    with suppress(SessionNotFound, PoisonedSession):
        above = repository.newest(tenant, session_id).head.parent
        if above is None or above.told:
            return
        parent = repository.newest(tenant, above.session_id)
        for change in repository.attempts(parent, f"deleted/{repository.clock.new_id('try')}"):
            if not settle(change, above.run_id, above.call_id, {above.item: None}):
                return
            call = call_of(change.head, above.run_id, above.call_id)
            assert call is not None
            change.set_call(call, later=None)
            change.commit()


# ---- a child that needs more


def whose_money(repository: SessionRepository, head: Head) -> dict[str, Any]:
    """For the question of a session whose budget is used up: the session that its budget is a part of, and what that
    one has left. Empty: it is nobody's child.
    """
    try:
        giver = None if head.parent is None else repository.newest(head.tenant, head.parent.session_id).head
    except SessionNotFound:
        return {}
    if giver is None:
        return {}
    tokens, usd = free(giver)
    left: dict[str, Any] = {"token_budget_left": max(0, tokens)}
    if usd is not None:
        left["cost_budget_usd_left"] = round(max(0.0, usd), 6)
    return {
        "given_by": {
            "session_id": giver.session_id,
            "agent_id": giver.agent_id,
            "agent_name": giver.shown_agent,
            **left,
        }
    }


def take_from_parent(
    repository: SessionRepository,
    definitions: Definitions,
    requester: Requester,
    head: Head,
    limits: LimitValues,
    inside: str = "",
) -> None:
    """Reserves the new limits of a child in its parent's budget, before the child gets them. It may be repeated: what
    is reserved for a child is set to its limits, and nothing is added. Does nothing for a session without a parent.

    `inside`: what stands before the fields' names in the details. Raises ValidationFailed where the parent has too
    little or the caps of its entry for the agent are lower, Forbidden for the latter where no admin asks, and Conflict
    where the parent does not wait for the child any more.
    """
    parent = head.parent
    if parent is None or (limits.token_budget is None and limits.cost_budget_usd is None):
        return
    try:
        session = repository.newest(head.tenant, parent.session_id)
    except SessionNotFound:
        raise Conflict(NO_PARENT) from None
    for change in repository.attempts(session, f"more/{repository.clock.new_id('try')}"):
        giver = change.head
        call = call_of(giver, parent.run_id, parent.call_id)
        of = None if call is None else call.children
        child = next((one for one in of.working if one.item == parent.item), None) if of is not None else None
        if call is None or of is None or child is None or giver.is_over:
            raise Conflict(NO_PARENT)
        caps = _entry_caps(definitions.snapshot(head.tenant).agent(giver.agent_id), call.name)
        is_admin = "admin" in requester.roles
        named = limits._replace(max_steps=None)
        refuse_beyond(named, caps, NO_CAPS, is_admin=is_admin, inside=inside)
        more = child.model_copy(update=_raised(child, limits))
        if more == child:
            return
        _refuse_too_little(giver, child, more, inside)
        working = tuple(more if one.item == child.item else one for one in of.working)
        change.set_call(call, children=of.model_copy(update={"working": working}))
        change.commit()


NO_PARENT = "The session that has started this one does not wait for it any more, so it has no more to give."


def _entry_caps(agent: AgentDefinition | None, tool: str) -> Any:
    entries = () if agent is None else agent.agents
    return next((entry.caps for entry in entries if entry.tool_name == tool), NO_CAPS)


def _raised(child: Child, limits: LimitValues) -> Mapping[str, Any]:
    """What is reserved for the child with these limits; never less than before."""
    usd = limits.cost_budget_usd
    return {
        "tokens": max(child.tokens, limits.token_budget or 0),
        "usd": child.usd if usd is None else max(child.usd or 0.0, usd),
    }


def _refuse_too_little(giver: Head, child: Child, more: Child, inside: str) -> None:
    """Raises ValidationFailed where the parent's budget does not carry what the child would get."""
    tokens, usd = free(giver)
    name = f"{giver.shown_agent} ({giver.session_id})"
    said = "at most {most}: {name}, whose budget this is a part of, has {left} left; raise its {field} first"
    wrong: dict[str, list[str]] = {}
    if more.tokens - child.tokens > tokens:
        left, field = max(0, tokens), "token_budget"
        wrong[f"{inside}{field}"] = [
            said.format(most=f"{child.tokens + left:,}", name=name, left=f"{left:,} tokens", field=field)
        ]
    before, after = child.usd or 0.0, more.usd or 0.0
    if usd is not None and after - before > usd:
        dollars, field = int(max(0.0, usd) * PARTS_OF_USD) / PARTS_OF_USD, "cost_budget_usd"
        wrong[f"{inside}{field}"] = [
            said.format(
                most=f"{before + dollars:.6f}", name=name, left=f"{dollars:.6f} US dollars", field=field
            )
        ]
    if wrong:
        raise ValidationFailed("The budget that this session's is a part of has too little left.", wrong)
