"""A person changes a session's limits while it runs, or before its next run (design §5, ADR 71).

Where a question about the budget is open, its `raise` is the one way: it names who may decide.
"""

from typing import NamedTuple

from acta_engine.agents.agent import AgentDefinition, require_start_role
from acta_engine.agents.store import Definitions
from acta_engine.errors import Conflict, ValidationFailed
from acta_engine.limits.caps import Caps, Limited, refuse_beyond
from acta_engine.log.change import Change
from acta_engine.log.events import StateChanged
from acta_engine.log.head import Head
from acta_engine.log.repository import SessionRepository
from acta_engine.people.deciders import require_decider_of
from acta_engine.people.wait import attempts_in_time
from acta_engine.recovery.outage import TOKEN_LIMIT
from acta_engine.recovery.recover import is_waiting, try_now, wake_engine
from acta_engine.sessions.requester import Requester, agent_of
from acta_engine.turn.budget import spent_usd, tokens_used, with_limits
from acta_engine.turn.workflow import Workflow


class LimitDeps(NamedTuple):
    """`caps`: the deployment's."""

    repository: SessionRepository
    workflow: Workflow
    definitions: Definitions
    caps: Caps


class NewLimits(NamedTuple):
    """What is None stays as it is."""

    limits: Limited
    review_every: int | None = None


def change_limits(deps: LimitDeps, requester: Requester, session_id: str, new: NewLimits) -> Head:
    """Commits the limits; a run that waits for its token budget to renew goes on with a higher one.

    Raising a budget decides what a question about the budget would, and fewer reviews what a review would: each needs
    the role that the agent names for such a question. Lower limits and more reviews are everybody's who may write.

    Raises SessionNotFound, StartRoleMissing, RoleMissing, KeyTaken, Forbidden and ValidationFailed for limits above the
    caps, as a `raise` does, ValidationFailed for a limit that is used up already, and Conflict where a question about
    the budget is open or the agent was deleted.
    """
    repository = deps.repository
    session = repository.newest(requester.tenant, session_id)
    agent = agent_of(deps.definitions, session.head)
    require_start_role(agent.start_roles, requester.roles)
    refuse_beyond(new.limits, agent.caps, deps.caps, is_admin="admin" in requester.roles)

    def wake() -> None:
        wake_engine(repository, deps.workflow, session)

    key = f"limits/{repository.clock.new_id('evt')}"
    for change in attempts_in_time(repository, session, key, on_expired=wake):
        _require_deciders(change.head, agent, requester, new)
        _check_state(change.head, new.limits)
        _apply(change, new, requester.user)
        change.commit(idempotency=requester.key)
    if session.head.run is not None:
        wake()
    return session.head


def _require_deciders(head: Head, agent: AgentDefinition, requester: Requester, new: NewLimits) -> None:
    """Raises RoleMissing."""
    tokens, dollars, reviews = new.limits.token_budget, new.limits.cost_budget_usd, new.review_every
    now = head.budget
    has_more_tokens = tokens is not None and tokens > now.token_budget
    has_more_dollars = (
        dollars is not None and now.cost_budget_usd is not None and dollars > now.cost_budget_usd
    )
    if has_more_tokens or has_more_dollars:
        require_decider_of("budget_exceeded", head, agent, requester)
    if reviews is not None and head.review_every and (reviews == 0 or reviews > head.review_every):
        require_decider_of("checkpoint_review", head, agent, requester)


def _check_state(head: Head, limits: Limited) -> None:
    is_about_budget = limits.token_budget is not None or limits.cost_budget_usd is not None
    if is_about_budget and any(one.type == "budget_exceeded" for one in head.interventions):
        raise Conflict("A question about the budget is open: decide it with raise.")
    if (
        limits.cost_budget_usd is not None
        and head.budget.cost_budget_usd is None
        and head.usage.cost_usd is None
    ):
        message = "cannot be kept here; name token_budget"
        raise ValidationFailed("The session's calls have no known price.", {"cost_budget_usd": [message]})
    running = head.run is not None and not head.is_over
    used = {
        "max_steps": head.run.iteration if running and head.run is not None else 0,
        "token_budget": tokens_used(head),
        "cost_budget_usd": spent_usd(head),
    }
    low = {
        field: [f"more than {used[field]}"]
        for field, value in limits._asdict().items()
        if value is not None and value <= used[field]
    }
    if low:
        raise ValidationFailed("The limit is used up already.", low)


def _apply(change: Change, new: NewLimits, by: str) -> None:
    head, limits = change.head, new.limits
    budget = with_limits(head.budget, limits.token_budget, limits.cost_budget_usd)
    is_more = budget.token_budget > head.budget.token_budget
    change.set(budget=budget)
    if limits.max_steps is not None:
        change.set(max_steps=limits.max_steps)
        if head.run is not None and not head.is_over:
            change.set(run=head.run.model_copy(update={"max_steps": limits.max_steps}))
    if new.review_every is not None:
        change.set(review_every=new.review_every)
    now = change.head
    told = {
        "max_steps": now.max_steps,
        "token_budget": budget.token_budget,
        "cost_budget_usd": budget.cost_budget_usd,
        "review_every": now.review_every,
    }
    change.event(StateChanged(before=head.state, to=head.state, reason=head.state_reason, limits=told, by=by))
    delay = head.delay_at(change.now)
    if is_more and delay is not None and delay.code == TOKEN_LIMIT and is_waiting(head, change.now):
        try_now(change)
