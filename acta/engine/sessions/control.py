"""Pause, resume, cancel, other limits, ratings, and the hold after a restore. Each is a commit, and workers that come
later find it in the log (docs/design/budgets.md, log.md 29).

What becomes of work under way when a cancel comes: of a model's reply `apply` in
`acta/engine/turn/turn.py`, of a tool's result `finish` in `acta/engine/tools/runtime.py`.
"""

from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from acta.engine.agents.agent import AgentDefinition, require_start_role
from acta.engine.errors import Conflict, ValidationFailed
from acta.engine.limits.caps import LimitValues, refuse_beyond
from acta.engine.log.beside import AttemptStore
from acta.engine.log.commit import Change
from acta.engine.log.conversation import Content, ToolEntry
from acta.engine.log.events import AnswerRated, StateChanged
from acta.engine.log.head import (
    FRESH_GENERATIONS,
    MAX_ANSWERS,
    MAX_RATINGS,
    MAX_WRITERS,
    Head,
    Rating,
    Restarts,
)
from acta.engine.log.repository import Session, SessionRepository
from acta.engine.people.effects import settle
from acta.engine.people.intervention import (
    Intervention,
    holder,
    is_hold,
    is_pause,
    is_pause_lifted,
    with_pause_lifted,
    with_restored_to,
)
from acta.engine.people.opening import AskingRules, open_question, wait_for_people
from acta.engine.people.policies import NO_POLICIES
from acta.engine.people.requester import (
    OnDecided,
    Requester,
    agent_of,
    ignore,
    require_decider,
    require_decider_of,
)
from acta.engine.people.wait import attempts_in_time
from acta.engine.recovery.outage import TOKEN_LIMIT
from acta.engine.recovery.recover import (
    align,
    begin_next_generation,
    decide_to_go_on,
    end_engine,
    is_waiting,
    try_now,
    wake_engine,
)
from acta.engine.turn.budget import (
    attempts_so_far,
    charge_attempts,
    keep_what_is_uncharged,
    reserved,
    spent_usd,
    tokens_used,
    with_limits,
)
from acta.engine.turn.endings import PARENT_ENDED, cancelled, withdraw
from acta.engine.turn.engine import Workflow

if TYPE_CHECKING:  # types alone: no cold start loads them
    from collections.abc import Callable

    from acta.engine.app import App
    from acta.engine.subagents.family import Family

PAUSE = "Paused."
ENDLESS_CHILDREN = (
    "Sub-agents without a limit in dollars are at work. "
    "Set cost_budget_usd when they have ended, or token_budget."
)


def pause(app: "App", requester: Requester, session_id: str, family: "Callable[[], Family]") -> Head:
    """Opens a checkpoint review without a deadline; a paused session stays as it is. Once this has returned, every
    session below is held. `family`: what the sessions above and below need, which is given because it would otherwise
    be in the zip of every function that cancels. Raises Conflict where nothing runs, and TreeBusy.
    """
    repository = app.repository
    session = repository.newest(requester.tenant, session_id)
    rules = AskingRules(repository.clock, NO_POLICIES)

    for change in repository.attempts(session, f"pause/{repository.clock.new_id('evt')}"):
        if any(is_pause(one) and not is_hold(one) for one in change.head.interventions):
            _commit_nothing(change, requester)
            continue
        if change.head.is_over or change.head.state == "idle":
            raise Conflict(f"The session is {change.head.state}; there is nothing to pause.")
        open_question(
            change, "checkpoint_review", PAUSE, rules, asked_by="person", requested_by=requester.user
        )
        wait_for_people(change)
        change.commit(idempotency=requester.key)
    align(session, family)
    return session.head


def resume(
    app: "App",
    requester: Requester,
    session_id: str,
    family: "Callable[[], Family]",
    on_decided: OnDecided = ignore,
) -> Head:
    """Ends the pause with `continue`; where there is none, the review that the agent asked for; else the wait for the
    next try in an outage. The sessions below go on, too. `family`: as for `pause`. `on_decided`: is told of the pause
    or the review that has ended.

    Raises TreeBusy, Conflict where the session is held by the pause of one above, is neither paused nor running, where
    its pause was lifted before and a review is still open, or where its agent was deleted; RoleMissing where that
    review needs a role that the requester lacks; PersonMissing for a program that decides nothing.
    """
    repository = app.repository
    session = repository.newest(requester.tenant, session_id)
    requester.check_decides(session_id)
    agent = agent_of(app.definitions, session.head)
    decided: Intervention | None = None
    wake = partial(wake_engine, repository, app.workflow, session)
    key = f"resume/{repository.clock.new_id('evt')}"
    for change in attempts_in_time(repository, session, key, on_expired=wake):
        decided = None
        reviews = [
            one for one in change.head.interventions if one.type == "checkpoint_review" and not is_hold(one)
        ]
        above = next(filter(is_hold, change.head.interventions), None)
        if above is not None and not any(map(is_pause, reviews)):
            raise Conflict(
                f"The session is held by the pause of the session {holder(above)} above it. Resume that one."
            )
        ended = next(filter(is_pause, reviews), reviews[0] if reviews else None)
        if ended is not None:
            require_decider(change.head, ended, agent, requester, "continue")
            if is_pause_lifted(ended):
                raise Conflict("It is not paused any more. A review is open: decide on it by itself.")
            decided = settle(change, ended, "continue", {}, by=requester.user, via=requester.via)
            if is_pause(ended):
                for review in (one for one in reviews if one in change.head.interventions):
                    change.replace_intervention(with_pause_lifted(review))
            change.commit(idempotency=requester.key)
        elif is_waiting(change.head, change.now) and change.head.wait_for_calls is None:
            try_now(change)
            decide_to_go_on(change)
            change.commit(idempotency=requester.key)
        elif change.head.coarse_state == "active":
            _commit_nothing(change, requester)
        else:
            raise Conflict(f"The session is {change.head.state}, not paused.")
    on_decided(decided)
    head = session.head
    try:
        align(session, family)
    finally:
        wake()
    return head


def cancel(
    repository: SessionRepository,
    workflow: Workflow,
    requester: Requester,
    session_id: str,
    attempts: AttemptStore | None = None,
    token_window: float = 0.0,
    family: "Callable[[], Family] | None" = None,
) -> Head:
    """Cancels the run, and everything below it. Once this has returned, no call with an effect starts any more in any
    of these sessions. Model calls without an answer are charged at their reservation, because no answer may ever come;
    one that does come takes the charge back. `attempts` None: the session is deleted and has no bill. `token_window`:
    that of its token budget, in seconds. `family`: what the sessions above and below need; None: there are none. Raises
    Conflict where the run has ended otherwise.
    """
    session = repository.newest(requester.tenant, session_id)

    if not commit_cancel(repository, session, requester, attempts, token_window):
        if session.head.state != "cancelled":
            raise Conflict(f"The session is {session.head.state} already.")
        for change in repository.attempts(session, f"cancelled/{repository.clock.new_id('evt')}"):
            _commit_nothing(change, requester)
    head, run = session.head, session.head.run
    try:
        align(session, family)
    finally:
        if run is not None:
            # For tidiness, and so that the provider is told: the commit above is what cancels. Where sessions below
            # are left, the execution that this starts goes on with them.
            if head.owes_family:
                workflow.stop(session_id, run.run_id, run.generation - 1)
            end_engine(repository, workflow, session.head, run)
    return head


def commit_cancel(
    repository: SessionRepository,
    session: Session,
    requester: Requester | None,
    attempts: AttemptStore | None,
    token_window: float = 0.0,
) -> bool:
    """Cancels the run. False: it was over. `requester` None: the run of a session above is over. The rest is as in
    `cancel`.
    """
    for change in repository.attempts(session, f"cancel/{repository.clock.new_id('evt')}"):
        if change.head.is_over:
            return False
        if attempts is not None:
            # Read again for each head: a newer one may have charged what an older one left open, and omit it.
            so_far = attempts_so_far(attempts, change.head)
            charge_attempts(change, so_far, token_window, with_running=True)
        else:
            keep_what_is_uncharged(change)
        if requester is None:
            cancelled(change, None, PARENT_ENDED)
        else:
            cancelled(change, requester.user)
        change.commit(idempotency=None if requester is None else requester.key)
    return True


def _commit_nothing(change: Change, requester: Requester) -> None:
    """The session is as the request wants it. The record of its key is written all the same, in a commit that says
    nothing: the same request sent again later must not act on what has come since (docs/design/api.md 18).
    """
    if requester.key is not None:
        change.commit(idempotency=requester.key)


def in_flight(head: Head) -> tuple[str, ...]:
    """Of a cancelled run: ids of calls that had started before the cancel and may still act."""
    return tuple(call.call_id for call in head.calls if call.state == "started")


class NewLimits(NamedTuple):
    """What is None stays as it is."""

    limits: LimitValues
    review_every: int | None = None


def change_limits(app: "App", requester: Requester, session_id: str, new: NewLimits) -> Head:
    """Commits the limits; a run that waits for its token budget to renew goes on with a higher one.

    Raising a budget decides what a question about the budget would, and fewer reviews what a review would: each needs
    the role that the agent names for such a question. Lower limits and more reviews are everybody's who may write.

    Raises SessionNotFound, StartRoleMissing, RoleMissing, KeyTaken, Forbidden and ValidationFailed for limits above the
    caps, as a `raise` does, ValidationFailed for a limit that is used up already, and Conflict where a question about
    the budget is open or the agent was deleted.
    """
    repository = app.repository
    session = repository.newest(requester.tenant, session_id)
    agent = agent_of(app.definitions, session.head)
    require_start_role(agent, requester.roles)
    refuse_beyond(new.limits, agent.caps, app.settings.caps, is_admin="admin" in requester.roles)
    wake = partial(wake_engine, repository, app.workflow, session)
    key = f"limits/{repository.clock.new_id('evt')}"
    for change in attempts_in_time(repository, session, key, on_expired=wake):
        _require_deciders(change.head, agent, requester, new)
        _check_state(change.head, new.limits)
        if change.head.parent is not None and not change.head.is_over:
            from acta.engine.subagents.money import take_from_parent  # few sessions have a parent

            # repeated where this race is lost, which reserves nothing twice
            take_from_parent(repository, app.definitions, requester, change.head, new.limits)
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


def _check_state(head: Head, limits: LimitValues) -> None:
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
    children_tokens, children_usd = reserved(head)
    has_endless = any(child.usd is None for child in head.children_at_work)
    if limits.cost_budget_usd is not None and head.budget.cost_budget_usd is None and has_endless:
        raise Conflict(ENDLESS_CHILDREN)
    running = head.run is not None and not head.is_over
    used = {
        "max_steps": head.run.iteration if running and head.run is not None else 0,
        "token_budget": tokens_used(head) + children_tokens,
        "cost_budget_usd": round(spent_usd(head) + children_usd, 6),
    }
    why = ", of which sub-agents at work may still use a part" if head.children_at_work else ""
    low = {
        field: [f"more than {used[field]}{why}"]
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


def rate_answer(
    repository: SessionRepository,
    requester: Requester,
    session_id: str,
    rating: Rating,
    run_id: str | None = None,
    comment: str = "",
) -> Head:
    """Notes what the requester thinks of a run's answer, instead of what they thought of it before. The agent is not
    told. `run_id`: one of the newest `MAX_ANSWERS` completed runs; None: the newest one.

    Raises SessionNotFound, and Conflict where there is no such answer or too many people have rated.
    """
    session = repository.newest(requester.tenant, session_id)
    user = requester.user
    for change in repository.attempts(session, f"rate/{repository.clock.new_id('evt')}"):
        head = change.head
        answer = next((each for each in reversed(head.answers) if run_id in (None, each.run_id)), None)
        if answer is None:
            raise Conflict(
                f"None of the session's newest {MAX_ANSWERS} completed runs has this id."
                if run_id
                else "No run of the session was completed yet, so there is no answer to rate."
            )
        if answer.ratings.get(user) == rating and not comment:
            _commit_nothing(change, requester)
            continue
        ratings = {**answer.ratings, user: rating}
        raters = head.raters if user in (*head.raters, *head.askers) else (*head.raters, user)
        if len(ratings) > MAX_RATINGS or len(raters) > MAX_WRITERS:
            raise Conflict(
                f"{MAX_RATINGS} people have rated this answer already, or {MAX_WRITERS} this session."
            )
        rated = answer.model_copy(update={"ratings": ratings})
        change.set(answers=tuple(rated if each is answer else each for each in head.answers), raters=raters)
        said = {"comment": comment} if comment else {}
        change.event(AnswerRated(run_id=answer.run_id, rating=rating, by=user, **said))
        change.commit(idempotency=requester.key)
    return session.head


UNKNOWN = (
    "Error: the session's log was restored to an earlier time, so it is unknown whether this call happened. Look "
    "before you call it again."
)
QUESTION = (
    "The session's log was restored to {at:%Y-%m-%d %H:%M} UTC. What it did after that is forgotten here, and may have "
    "happened all the same: look at what is there before it goes on. Go on?"
)


def hold_restored(repository: SessionRepository, tenant: str, session_id: str, restored_to: datetime) -> bool:
    """Asks a person before the run goes on. False: it has ended. Raises SessionNotFound, and what the stores raise."""
    session = repository.newest(tenant, session_id)
    rules = AskingRules(repository.clock, NO_POLICIES)
    is_held = False
    for change in repository.attempts(session, f"restored/{restored_to.isoformat()}"):
        run = change.head.run
        if run is None or not change.head.is_open:
            break
        _end_open_calls(change)
        withdraw(change)
        change.set(ending=None, outage=None, delay=None, lease=None, day_lease=None, background=None)
        begin_next_generation(
            change, run.model_copy(update={"generation": run.generation + FRESH_GENERATIONS}), Restarts()
        )
        text, at = QUESTION.format(at=restored_to), restored_to.isoformat()
        open_question(change, "error_recovery", text, rules, **with_restored_to(at))
        wait_for_people(change)
        is_held = True
        change.commit()
    return is_held


def _end_open_calls(change: Change) -> None:
    """Each gets its one result. None of them runs any more without a new call."""
    for call in change.head.unfinished_calls:
        if call.children is not None:  # they are held as well, and their parent hears of them
            continue
        change.entry(ToolEntry(call_id=call.call_id, name=call.name, content=Content.of(UNKNOWN), ok=False))
        change.set_call(call, state="done")
