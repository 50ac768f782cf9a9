"""Starts a session, and takes what people say to it (docs/design/api.md)."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from acta.engine.agents.agent import AgentDefinition, require_start_role
from acta.engine.clock import MESSAGE, RUN, SESSION
from acta.engine.errors import Conflict, TreeBusy, ValidationFailed
from acta.engine.limits.caps import DEFAULT_MAX_STEPS, NO_CAPS, Caps, LimitValues, beyond, chosen, usual
from acta.engine.log.commit import Change, Decision
from acta.engine.log.events import RunStarted
from acta.engine.log.head import (
    MAX_GOAL_CHARS,
    MAX_ROLES,
    MAX_UNDELIVERED,
    NO_SETTINGS,
    Budget,
    Head,
    Progress,
    Run,
    SessionSettings,
)
from acta.engine.log.repository import SessionRepository
from acta.engine.log.store import Erasure, SessionReceiver
from acta.engine.people.intervention import Intervention, is_clarification
from acta.engine.people.requester import Requester, agent_of
from acta.engine.turn.engine import Workflow, next_turn_kind, position
from acta.engine.turn.final_answer import schema_text

if TYPE_CHECKING:
    from acta.engine.app import App
    from acta.engine.people.requester import OnDecided
    from acta.engine.settings import Settings


WORKED_FOR_ANOTHER = (
    "This session worked for another one, which has its result and the rest of its budget. Fork it, or write to that "
    "other one."
)
CHILDREN_END = "The sessions that this one has started are being ended. Try again in a moment."


ENDED_CHILD = (
    "This session worked for another one, which has been told how it ended, so nothing more is done in it. Fork it to "
    "go on from here in a session of your own."
)


class NewSession(NamedTuple):
    """`message` None: the session stays `idle` until somebody says something. `notify_url`: of its own webhook, which
    the caller has checked. Whose limits these are, the request's, the agent's or the deployment's, is decided in
    `new_session`.
    """

    agent_id: str
    message: str | None
    max_steps: int
    token_budget: int
    cost_budget_usd: float | None
    review_every: int
    settings: SessionSettings = NO_SETTINGS
    """The caller has found the prompts that they name."""
    output_schema: str = ""
    """As in `Head`."""
    notify_url: str | None = None
    agent_name: str = ""


def new_session(
    agent: AgentDefinition,
    message: str | None,
    named: LimitValues,
    deployment: "Settings",
    *,
    is_admin: bool,
    settings: SessionSettings,
    review_every: int = 0,
    output_schema: Mapping[str, Any] | None = None,
    notify_url: str | None = None,
) -> NewSession:
    """Limits that are not `named` are the agent's, else the deployment's. `output_schema` None: the agent's. Raises
    ValidationFailed where more is named than the caps allow.
    """
    wrong = beyond(named, agent.caps, deployment.caps, is_admin=is_admin)
    if wrong:
        details = {field: [sentence] for field, sentence in wrong.items()}
        raise ValidationFailed(f"More than a session may be given: {', '.join(wrong)}.", details)
    own = LimitValues(DEFAULT_MAX_STEPS, deployment.token_budget, deployment.cost_budget_usd or None)
    limits = chosen(named, usual(agent.limits, own), agent.caps, deployment.caps)
    schema = agent.output_schema if output_schema is None else output_schema
    return NewSession(
        agent_id=agent.agent_id,
        agent_name=agent.name,
        message=message,
        max_steps=limits.max_steps or DEFAULT_MAX_STEPS,
        token_budget=limits.token_budget or deployment.token_budget,
        cost_budget_usd=limits.cost_budget_usd,
        review_every=review_every,
        settings=settings,
        output_schema="" if schema is None else schema_text(schema),
        notify_url=notify_url,
    )


def start(repository: SessionRepository, workflow: Workflow, requester: Requester, new: NewSession) -> Head:
    """Commits the session, then starts the engine.

    Raises KeyTaken where another request used the idempotency key meanwhile (nothing is written), LimitReached where
    the tenant may not start another, and what the stores and the engine raise.
    """
    clock = repository.clock
    now = clock.now()
    change = Change(empty_head(requester, new, clock.new_id(SESSION), now), number=1, now=now)
    decision = None
    if new.message is None:
        change.first_state("idle")
    else:
        change.first_state("planning")
        ids = clock.new_id(RUN), clock.new_id(MESSAGE)
        decision = begin_run(change, *ids, new.message, new.max_steps, requester)
    return create(repository, workflow, requester, new, "start", change, decision)


def create(
    repository: SessionRepository,
    workflow: Workflow,
    requester: Requester,
    new: NewSession,
    key: str,
    change: Change,
    decision: Decision | None,
    note: Erasure | None = None,
) -> Head:
    """Commits the new session under `key`, with its own webhook if the request names one, then starts the engine where
    there is something to decide. `note`: of `begin_texts`, where it was called.

    Raises what `SessionRepository.create` and the engine raise.
    """
    head, url = change.head, new.notify_url
    receiver = None if url is None else SessionReceiver(head.tenant, head.session_id, url)
    change.commit(decision, idempotency=requester.key, starts=True)
    commit = repository.create(key, change, receiver=receiver, lifted=note)
    if decision is not None:
        workflow.start(decision)
    return commit.head


def post_message(
    app: "App",
    requester: Requester,
    session_id: str,
    text: str,
    on_decided: "OnDecided | None" = None,
    output_schema: str = "",
) -> Head:
    """The message answers an open clarification; else it waits for the next turn; else it starts a new run, within the
    present caps. `on_decided`: is told of the clarification that the message has answered. `output_schema`: of the
    answer that the message asks for, as in `Head`; empty: it asks for none.

    Raises SessionNotFound, KeyTaken, LimitReached (it would begin a run), Conflict (too many messages queued, too many
    people writing, the agent was deleted), StartRoleMissing and RoleMissing (the agent, or the question, needs a role
    that the requester lacks).
    """
    # A start pays for none of what a session that runs may need.
    from acta.engine.people.wait import attempts_in_time
    from acta.engine.recovery.recover import wake_engine

    repository, workflow = app.repository, app.workflow
    clock = repository.clock
    session = repository.newest(requester.tenant, session_id)
    agent = agent_of(app.definitions, session.head)
    require_start_role(agent, requester.roles)
    run_id, message_id = clock.new_id(RUN), clock.new_id(MESSAGE)
    answered: Intervention | None = None
    wake = partial(wake_engine, repository, workflow, session)
    key = f"say/{message_id}"
    # A run that waited may have ended by what expires first.
    for change in attempts_in_time(repository, session, key, on_expired=wake):
        head, answered = change.head, None
        if head.is_over and head.parent is not None:
            raise Conflict(ENDED_CHILD)
        if (
            head.is_over and head.children_at_work
        ):  # the engine is ending them, and a new run would forget them
            raise TreeBusy("Sessions below the last run are still being ended. Send the request again.")
        # A schema binds the run that was asked for it. The first run of a session may have been asked by its start.
        if output_schema or (head.run is not None and head.is_over):
            change.set(output_schema=output_schema)
        if head.is_over and (head.parent is not None or head.children_at_work):
            raise Conflict(WORKED_FOR_ANOTHER if head.parent is not None else CHILDREN_END)
        if head.is_over or head.state == "idle":
            _keep_within(change, NO_CAPS if "admin" in requester.roles else agent.caps, app.settings.caps)
            max_steps = change.head.max_steps
            decision = begin_run(change, run_id, message_id, text, max_steps, requester)
            change.commit(decision, idempotency=requester.key, starts=True)
        else:
            answered = tell(change, message_id, text, requester, agent)
            change.commit(idempotency=requester.key)
    if on_decided is not None:
        on_decided(answered)
    head, done = session.head, session.recorded(key)
    if done is not None and done.decision is not None:
        workflow.start(done.decision)
    else:
        wake()
    return head


def tell(
    change: Change, message_id: str, text: str, requester: Requester, agent: AgentDefinition
) -> Intervention | None:
    """Gives a running session a person's words: they answer an open clarification, else wait for the next turn. Returns
    the clarification that they have answered.

    Raises Conflict where too many wait or too many people have written, RoleMissing where the question needs a role
    that the requester lacks.
    """
    from acta.engine.people.effects import settle
    from acta.engine.people.requester import require_decider

    head = change.head
    if len(head.undelivered) >= MAX_UNDELIVERED:
        raise Conflict(
            f"{MAX_UNDELIVERED} messages are waiting for the agent already; try again when it has read them."
        )
    question = next((one for one in head.interventions if is_clarification(one)), None)
    if question is not None:
        require_decider(head, question, agent, requester, "answer")
        by, roles, via, given = requester.user, requester.roles, requester.via, {"text": text}
        return settle(change, question, "answer", given, by=by, roles=roles, via=via, message_id=message_id)
    change.user_message(message_id, text, requester.user, requester.roles)
    return None


def empty_head(requester: Requester, new: NewSession, session_id: str, now: datetime) -> Head:
    return Head(
        tenant=requester.tenant,
        session_id=session_id,
        agent_id=new.agent_id,
        agent_name=new.agent_name,
        created_by=requester.user,
        state="idle",
        created_at=now,
        updated_at=now,
        budget=Budget(token_budget=new.token_budget, cost_budget_usd=new.cost_budget_usd),
        review_every=new.review_every,
        max_steps=new.max_steps,
        output_schema=new.output_schema,
        roles=tuple(sorted(requester.roles)[:MAX_ROLES]),
        **new.settings.kept(),
    )


def _keep_within(change: Change, agent: Caps, deployment: Caps) -> None:
    """Brings the session's limits down to the caps: they may be lower than when it was started, or its limits raised by
    somebody else.
    """
    head, budget = change.head, change.head.budget
    usual = LimitValues(head.max_steps, budget.token_budget, budget.cost_budget_usd)
    kept = chosen(LimitValues(), usual, agent, deployment)
    if kept == usual:
        return
    limits = {"token_budget": kept.token_budget, "cost_budget_usd": kept.cost_budget_usd}
    change.set(max_steps=kept.max_steps, budget=budget.model_copy(update=limits))


def begin_run(
    change: Change, run_id: str, message_id: str, text: str, max_steps: int, by: Requester
) -> Decision:
    """The run begins with a plan of its own, goes on with the one that an earlier run left, or answers at once."""
    plan = change.head.plan
    unread = (
        change.head.progress.hint if change.head.run is None else ""
    )  # a fork is told where it comes from
    change.set(
        run=Run(
            run_id=run_id,
            first=change.number,
            max_steps=max_steps,
            goal_id=message_id,
            before=None if change.head.run is None else change.head.used_so_far,
            left_plan=plan.version if plan is not None and plan.is_live else 0,
        ),
        goal=text[:MAX_GOAL_CHARS],
        result=None,
        error=None,
        calls=(),
        progress=Progress(hint=unread),
        wait=None,
    )
    change.event(RunStarted(run_id=run_id))
    kind = next_turn_kind(change.head)
    change.to_state("planning" if kind == "plan" else "executing")
    change.user_message(message_id, text, by.user, by.roles)
    return Decision(next=kind, at=position(change.head))
