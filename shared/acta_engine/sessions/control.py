"""Pause, resume and cancel. Each is a commit, and workers that come later find it in the log (design §6.4).

What becomes of work under way when a cancel comes: of a model's reply `apply` in `shared/acta_engine/turn/turn.py`, of
a tool's result `_finish` in `shared/acta_engine/tools/execute.py`.
"""

from acta_engine.agents.store import Definitions
from acta_engine.errors import Conflict
from acta_engine.log.attempt import AttemptStore
from acta_engine.log.change import Change
from acta_engine.log.head import Head
from acta_engine.log.repository import SessionRepository
from acta_engine.people.deciders import OnDecided, ignore, require_decider
from acta_engine.people.effects import settle
from acta_engine.people.intervention import Intervention, is_pause, is_pause_lifted, with_pause_lifted
from acta_engine.people.opening import AskingRules, open_question, wait_for_people
from acta_engine.people.options_and_defaults import NO_POLICIES
from acta_engine.people.wait import attempts_in_time
from acta_engine.recovery.recover import decide_to_go_on, end_engine, is_waiting, try_now, wake_engine
from acta_engine.sessions.requester import Requester, agent_of
from acta_engine.turn.budget import attempts_so_far, charge_attempts, keep_what_is_uncharged
from acta_engine.turn.endings import cancelled
from acta_engine.turn.workflow import Workflow

PAUSE = "Paused."


def pause(repository: SessionRepository, requester: Requester, session_id: str) -> Head:
    """Opens a checkpoint review without a deadline; a paused session stays as it is. Raises Conflict where nothing
    runs.
    """
    session = repository.newest(requester.tenant, session_id)
    rules = AskingRules(repository.clock, NO_POLICIES)

    for change in repository.attempts(session, f"pause/{repository.clock.new_id('evt')}"):
        if any(map(is_pause, change.head.interventions)):
            _commit_nothing(change, requester)
            continue
        if change.head.is_over or change.head.state == "idle":
            raise Conflict(f"The session is {change.head.state}; there is nothing to pause.")
        open_question(
            change, "checkpoint_review", PAUSE, rules, asked_by="person", requested_by=requester.user
        )
        wait_for_people(change)
        change.commit(idempotency=requester.key)
    return session.head


def resume(
    repository: SessionRepository,
    workflow: Workflow,
    definitions: Definitions,
    requester: Requester,
    session_id: str,
    on_decided: OnDecided = ignore,
) -> Head:
    """Ends the pause with `continue`; where there is none, the review that the agent asked for; else the wait for the
    next try in an outage. `on_decided`: is told of the pause or the review that has ended.

    Raises Conflict where the session is neither paused nor running, where its pause was lifted before and a review is
    still open, or where its agent was deleted; RoleMissing where that review needs a role that the requester lacks.
    """
    session = repository.newest(requester.tenant, session_id)
    agent = agent_of(definitions, session.head)
    decided: Intervention | None = None

    def wake() -> None:
        wake_engine(repository, workflow, session)

    key = f"resume/{repository.clock.new_id('evt')}"
    for change in attempts_in_time(repository, session, key, on_expired=wake):
        decided = None
        reviews = [one for one in change.head.interventions if one.type == "checkpoint_review"]
        ended = next(filter(is_pause, reviews), reviews[0] if reviews else None)
        if ended is not None:
            require_decider(change.head, ended, agent, requester, "continue")
            if is_pause_lifted(ended):
                raise Conflict("It is not paused any more. A review is open: decide on it by itself.")
            decided = settle(change, ended, "continue", {}, by=requester.user)
            if is_pause(ended):
                for review in (one for one in reviews if one in change.head.interventions):
                    change.replace_intervention(with_pause_lifted(review))
            change.commit(idempotency=requester.key)
        elif is_waiting(change.head, change.now):
            try_now(change)
            decide_to_go_on(change)
            change.commit(idempotency=requester.key)
        elif change.head.coarse_state == "active":
            _commit_nothing(change, requester)
        else:
            raise Conflict(f"The session is {change.head.state}, not paused.")
    on_decided(decided)
    head = session.head
    wake()
    return head


def cancel(
    repository: SessionRepository,
    workflow: Workflow,
    requester: Requester,
    session_id: str,
    attempts: AttemptStore | None = None,
    token_window: float = 0.0,
) -> Head:
    """Once this has returned no call with an effect starts any more. Model calls without an answer are charged at their
    reservation, for nothing may come after it; an answer that does come takes that back. `attempts` None: the session
    is deleted and has no bill. `token_window`: of its token budget, in seconds. Raises Conflict where the run has
    ended otherwise.
    """
    session = repository.newest(requester.tenant, session_id)

    for change in repository.attempts(session, f"cancel/{repository.clock.new_id('evt')}"):
        if change.head.state == "cancelled":  # it was charged, too
            _commit_nothing(change, requester)
            continue
        if change.head.is_over:
            raise Conflict(f"The session is {change.head.state} already.")
        if attempts is not None:
            # read with each head: what an earlier one left open may be charged, and no longer named in this one
            so_far = attempts_so_far(attempts, change.head)
            charge_attempts(change, so_far, token_window, with_running=True)
        else:
            keep_what_is_uncharged(change)
        cancelled(change, requester.user)
        change.commit(idempotency=requester.key)
    run = session.head.run
    if run is not None:
        # For tidiness, and so that the provider is told: the commit above is what cancels.
        end_engine(repository, workflow, session.head, run)
    return session.head


def _commit_nothing(change: Change, requester: Requester) -> None:
    """The session is as the request wants it. The record of its key is written all the same, in a commit that says
    nothing: the same request sent again later must not act on what has come since (design §3).
    """
    if requester.key is not None:
        change.commit(idempotency=requester.key)


def in_flight(head: Head) -> tuple[str, ...]:
    """Of a cancelled run: ids of calls that had started before the cancel and may still act."""
    return tuple(call.call_id for call in head.calls if call.state == "started")
