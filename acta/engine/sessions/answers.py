"""A session, and what it has said and done, as the API answers it. What has no field here stays on the server."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from pydantic import Field

from acta.engine.api.answers import Counter, Instant, TypedDict, copied, instant, instant_or_none
from acta.engine.log import beside, events
from acta.engine.log.commit import StepRecord
from acta.engine.log.events import EVENTS
from acta.engine.log.head import Ending, Head, Parent, Rating, SessionState, Visibility
from acta.engine.people.answers import AskerView, InterventionView, intervention_view
from acta.engine.people.intervention import holder, is_about_outage, is_hold
from acta.engine.plans.answers import PlanView, plan_view
from acta.engine.plans.plan import ExecutionPlan
from acta.engine.recovery.outage import DELAY_REASONS, Delay, explained
from acta.engine.turn.budget import tokens_left, tokens_used
from acta.engine.turn.final_answer import in_words, running_for_people

if TYPE_CHECKING:
    from acta.engine.usage.aws_estimate import SessionCosts


class RunView(TypedDict):
    """The work on one goal: from the message that begins it to its end. A session may have several in turn."""

    run_id: str
    generation: int
    iteration: Counter
    """Turns that have been taken, apart from those that only planned or talked before the work began."""
    max_steps: int
    """The run ends gracefully at so many iterations."""


class UsageView(TypedDict):
    """What the session has used since its beginning. It equals the sums of its step log."""

    input_tokens: Counter
    """Input tokens, including those read from the provider's cache."""
    output_tokens: Counter
    cached_input_tokens: Counter
    total_tokens: Counter
    """Input and output."""
    llm_calls: Counter
    tool_calls: Counter
    cost_usd: float | None
    """null: the price of a model that was used is not known."""


class BudgetView(TypedDict):
    token_budget: Counter
    """The most tokens in a window of time; the next window starts again at zero."""
    tokens_used: int
    """The tokens used in the present window."""
    tokens_left: Counter
    renews_at: Instant | None
    vanished_tokens: int
    """Tokens charged for model calls that failed and reported no usage."""
    cost_budget_usd: float | None
    """null: there is none."""


class NextLimitsView(TypedDict):
    """The limits of the next run and of one at work. A message that begins a run lowers them to the present caps."""

    max_steps: int
    token_budget: Counter
    cost_budget_usd: float | None
    """null: there is none."""
    review_every: Counter
    """0: nobody reviews the work."""


class VerdictView(TypedDict):
    """What the agent's judge says of the answer."""

    met: bool | None
    """Whether the goal is met. null: there is no verdict, and `goal_met` is what the agent said."""
    reason: str
    """Why, in the judge's words; without a verdict why there is none."""
    model: str


class ResultView(TypedDict):
    goal_met: bool
    """false: the run ended as it should, without reaching its goal (`reason` says why)."""
    answer: str | None
    """The beginning of the final answer, up to 4,000 characters; the conversation has all of it."""
    data: Any
    """The final answer as JSON, whole, where the session has an output schema and the answer fits it; else null. A run
    that ends before its goal (`max_steps`, a person's `finish`) may have none."""
    reason: str
    """Why the run ended. `goal_complete`: the agent gave its final answer. `plan_completed`: it closed its plan. With
    either, `goal_met` is false if a step of the plan is `failed`: `plan.steps` has its `status` and, as `result`, what
    came of it. `answered`: the agent needed no plan, and its text is the answer. `answered_without_plan`: it should
    have made a plan, and answered without one, also when it was reminded. `steps_left_open`: it gave its answer again
    and again while steps of its plan were open. `max_steps`: the run had no turns left.
    `budget_exceeded`: it had no budget left, and a person chose `finish`. `final_model_failed`: the agent's model for
    final answers failed for good, and the answer is the agent's own. `judged_not_met`: the agent's judge says that the
    goal is not met."""
    verdict: VerdictView | None
    """null: the agent has no judge, or its judge was not asked."""


class RunErrorView(TypedDict):
    """Why a run has failed. A message to the session starts the next run."""

    code: str
    """`PLAN_FAILED`, `MODEL_REFUSED`, `CONTEXT_TOO_LONG`, `PRICE_UNKNOWN`, `PROVIDER_KEY_REFUSED`,
    `PROVIDER_QUOTA_EXCEEDED`, `PROVIDER_REJECTED`, `MODEL_NOT_ALLOWED`, `AGENT_NOT_FOUND`, `ANSWER_INVALID`,
    `STUCK`, `STEP_FAILED`.
    """
    message: str


class CauseView(TypedDict):
    """What a session waits for that no person decides: a provider, a key, AWS. It goes on by itself."""

    code: str
    message: str
    token_budget_needed: NotRequired[int]
    """Only while it waits for tokens: how high the token budget has to be for the next turn to be made at once."""


class QueueView(TypedDict):
    """A session's place in its provider's line: tenants take turns, each with the session that has waited longest."""

    since: Instant
    position: int
    """Sessions of its tenant that were before it when it came, up to 1,000."""


class HeldView(TypedDict):
    """How a paused run ends once it is resumed."""

    state: Literal["completed", "failed"]
    goal_met: bool
    reason: str


class ForkedFromView(TypedDict):
    """The conversation begins as that of another session did, which may be deleted meanwhile."""

    session_id: str
    seq: Counter
    """The number of that session's newest event then."""


class OriginView(TypedDict):
    """What started a session that no request of a person started."""

    kind: Literal["schedule", "trigger"]
    id: str
    """The id of the schedule or of the trigger."""
    at: Instant
    """The time of the schedule that the session stands for, or when the trigger's event came."""
    event: str
    """The id of the trigger's event; empty for a schedule."""


class ParentView(TypedDict):
    """The session whose call has started this one."""

    session_id: str
    call_id: str
    item: Annotated[int, Field(ge=1)]
    """Its place in the call's `map`."""
    about: str
    """What tells it from the other sessions of the call: the text and the paths of its entry in `map`, or the paths of
    the call, up to 200 characters. Empty: nothing does."""
    chain: list[AskerView]
    """The sessions above this one, the first of all first."""


class ChildrenView(TypedDict):
    """The sessions that its calls of agents have started. Their tree: `GET /v1/sessions/{session_id}/tree`."""

    at_work: Counter
    made: Counter
    """How many its calls have asked for, those included that have not begun."""
    tokens: Counter
    """Tokens charged for those that have ended, with their own children. So is `usd`."""
    usd: float
    reserved_tokens: Counter
    """What those at work may still use of this session's budget. So is `reserved_usd`."""
    reserved_usd: float


class QuestionsOfRoleView(TypedDict):
    """Whoever has the role sees the questions about calls of these tools: the whole input, and what the agent wrote
    with the call."""

    role: str
    tools: list[str]


class RatingView(TypedDict):
    """What a person thinks of the answer of a run. Why is in the event `answer.rated`."""

    run_id: str
    by: str
    """The subject of the person."""
    rating: Rating


class SessionView(TypedDict):
    """A goal, and where the work on it is."""

    session_id: str
    agent_id: str
    agent_name: str
    """As the agent was called when the session began: also where it was renamed or deleted since."""
    created_by: str
    """The subject of the person who started it."""
    visibility: Visibility
    state: SessionState
    state_reason: str | None
    """Of `waiting_for_user`: `paused` where a person paused it (end that with `…/resume`), else the type of the
    oldest open question: `approval_required`, `clarification_needed`, `error_recovery`, `checkpoint_review` or
    `budget_exceeded`. Of `planning`, `executing` and `waiting_for_tool`: `waiting_for_provider`, `waiting_for_aws`,
    `waiting_for_key` or `waiting_for_tokens` where it waits for that (`cause` and `retry_at` say more), `queued` where
    the provider takes no more calls now (`queue` says more), `waiting_for_agents`, `waiting_for_callback` or
    `waiting_until` where all open tool calls are answered later, `repaired`
    where an operator had a failed run go on, else null. Of `completed`: `result.reason`. Of `failed`: `error.code` in
    small letters. Of `cancelled`: `cancelled`. Of `idle`: null."""
    retry_at: Instant | None
    """While it waits for the world: when it tries again. While it is `queued`: when it goes on at the latest. null as
    soon as that time has come."""
    retrying: bool
    """The try after a failure is made now: `cause` says what failed before. false while it waits for that try, and
    once a reply has come or a tool call has finished."""
    cause: CauseView | None
    queue: QueueView | None
    """Its place in line while it is `queued`, else null."""
    goal: str
    """The beginning of the message that began the run, up to 1,000 characters."""
    created_at: Instant
    updated_at: Instant
    run: RunView | None
    """null: nobody has given it a goal yet."""
    plan: PlanView | None
    usage: UsageView
    budget: BudgetView
    limits: NextLimitsView
    interventions: list[InterventionView]
    """The open ones."""
    result: ResultView | None
    """The result of a run that is `completed`."""
    error: RunErrorView | None
    """The error of a run that has `failed`."""
    ratings: list[RatingView]
    """Of the newest ten completed runs, oldest run first."""
    held: HeldView | None
    paused_by: NotRequired[str]
    """The session above whose pause holds this one. It goes on when that one is resumed."""
    last_seq: Counter
    """The number of its newest event."""
    metadata: dict[str, str]
    """What was given at its start."""
    prompts: dict[str, Annotated[int, Field(ge=1)]]
    """Versions of managed prompts that are tried in it, by name. Of all others the one in force holds."""
    forked_from: ForkedFromView | None
    origin: OriginView | None
    """null: a person's request started it."""
    parent: ParentView | None
    """null: no other session's call has started it."""
    children: ChildrenView | None
    """null: it has called no agent."""
    truncated: NotRequired[bool]
    """Its texts were cut, because one page could not hold it."""
    unread: NotRequired[int]
    """Messages that the agent has not been given yet, apart from the one that began the run; absent: none."""
    questions_seen_by: NotRequired[list[QuestionsOfRoleView]]
    """In the answer to the start of a private session: who besides its owner sees and decides questions of it. Empty:
    nobody does."""


class ForkedSessionView(SessionView):
    """A fork as it was made."""

    files: Literal["as_they_are_now"]
    """No file was copied: the fork has them as they are now, not as they were at that turn."""
    sub_agents: Literal["stay_with_the_original"]
    """Sessions of agents that it had called work for the original alone. What they had answered is in the conversation.
    """


class CancelledSessionView(SessionView):
    in_flight: list[str]
    """Ids of calls that had started before the cancel and may still have their effect."""


class HiddenSessionView(TypedDict):
    """All that an admin is told who cancels somebody else's private session."""

    session_id: str
    state: SessionState
    in_flight: list[str]


class DeletedSessionView(TypedDict):
    """The answer to a repeated request whose session was deleted meanwhile."""

    session_id: str


_FIELDS = (f"`{kind.type}` {', '.join(kind.fields().values())}" for kind in EVENTS.values())
DATA = f"""By type, at most: {" · ".join(_FIELDS)}.

`message.assistant` is the text of a reply without tool calls, `thought` that of a reply with some, or what the model
thought where its reply has no text. The final answer may come as either, so take it from `result.answer`. An input or
content of more than 4 KB is in the conversation alone."""


class EventView(TypedDict):
    """What happened. Events are numbered without gaps over the session."""

    seq: Annotated[int, Field(ge=1)]
    at: Instant
    type: Annotated[str, Field(json_schema_extra={"enum": list(EVENTS)})]
    """Later releases may add types: skip one that you do not know."""
    text: str | None
    """The event in one line, for people. Words of agents, tools and people in it stand in quotation marks. null: other
    events say it already."""
    step_number: int | None
    """The row of the step log that it belongs to."""
    data: Annotated[dict[str, Any], Field(description=DATA)]


class PartialView(TypedDict):
    """The end of what the model is writing just now. It is for people who watch: nothing depends on it."""

    text: str
    kind: Literal["plan", "think"]
    iteration: Counter
    at: Instant


class CostView(TypedDict):
    """The sums of the session's receipt, in US dollars. null: a price is not known."""

    models_usd: float | None
    estimated_aws_usd: float | None
    total_usd: float | None
    """The total, including the estimate of AWS's part."""


class SnapshotView(TypedDict):
    """The session as it is, and what has happened since the cursor."""

    session: SessionView
    cost: CostView
    events: list[EventView]
    cursor: str
    """Send it as `after` of the next request."""
    has_more: bool
    """There are further events already: ask again at once."""
    poll_after_ms: Counter
    """Milliseconds to wait before the next request. 0 where `has_more`, where `wait` holds the next request, and in
    the answer that tells the end of a run.
    """
    partial: NotRequired[PartialView]
    """Only where the deployment tells running text (`ACTA_PARTIAL_TEXT_MS`), while a model writes."""


class MessageCallView(TypedDict):
    """A tool call that the message asks for."""

    call_id: str
    name: str
    input: dict[str, Any] | None
    """As the model wrote it; null: it wrote no JSON object, and the call never ran."""
    amended: NotRequired[bool]
    amended_input: NotRequired[dict[str, Any]]
    """What ran instead, given by a person."""


class WholeTextView(TypedDict):
    """Where all of it is: `GET /v1/sessions/{session_id}/texts/{text_id}`."""

    text_id: str
    bytes: Counter


class TextPartView(TypedDict):
    """A part of a long text, in whole characters."""

    text: str
    offset: Counter
    """The place of the part's first byte in the text."""
    bytes: Counter
    """The size of the whole text in UTF-8."""
    next_offset: Annotated[int, Field(ge=0)] | None
    """null: this is the end."""


class MessageView(TypedDict):
    """An entry of the conversation."""

    message_id: str
    seq: Counter
    """The number of the event that told it."""
    at: Instant
    role: Literal["user", "assistant", "tool"]
    content: str
    tool_calls: NotRequired[list[MessageCallView]]
    call_id: NotRequired[str]
    """Only with role `tool`: the call that this is the result of."""
    whole: NotRequired[WholeTextView]
    """The whole of a result that was too long for the model; `content` is the part that the model was shown."""
    continues: NotRequired[str]
    """The id of the message that was cut off and goes on here without a gap."""
    inherited: NotRequired[bool]
    """Only in a fork: it was said in the session that this one was forked from."""
    truncated: NotRequired[bool]
    """Its texts were cut, because one page could not hold it."""


class PlansView(TypedDict):
    """The plan as it is, and a page of its versions as they were made, the oldest first."""

    plan: PlanView
    versions: list[PlanView]
    next_cursor: str | None


class ScratchpadView(TypedDict):
    """What the agent has noted for the rest of the session. It is shown its notes in every turn."""

    notes: list[str]
    """Oldest first, at most 20 of up to 500 characters."""


class StepView(TypedDict):
    """A row of the step log: a model call, a tool call or a decision."""

    step_number: Annotated[int, Field(ge=1)]
    kind: Literal["plan", "llm", "judge", "tool", "intervention"]
    name: str | None
    started_at: Instant
    completed_at: Instant
    duration_ms: Counter
    attempt: Counter
    """0: the first one."""
    input_tokens: Counter
    output_tokens: Counter
    cached_input_tokens: Counter
    cost_usd: float | None
    """null: the model's price is not known."""
    error: str | None
    """The code of what failed."""
    estimated_tokens: int
    """Tokens charged for an attempt that reported no usage. Below 0: a charge taken back, as it answered after all."""
    estimated_cost_usd: float
    fused: bool
    """The worker of the step before went on by itself."""
    truncated: NotRequired[bool]


class TraceRowView(TypedDict):
    """Thought, action, input and observation of one call; the last row of a run has its final answer instead."""

    step_number: int | None
    thought: str | None
    action: NotRequired[str]
    action_input: NotRequired[dict[str, Any] | None]
    amended: NotRequired[bool]
    amended_input: NotRequired[dict[str, Any]]
    observation: NotRequired[str | None]
    """null: there is no result yet."""
    final_answer: NotRequired[str]
    truncated: NotRequired[bool]


def session_view(head: Head, answer: str | None = None, now: datetime | None = None) -> SessionView:
    """`answer`: the whole text of the result, where the caller loaded it. The head may have its beginning only. `now`:
    when it is shown, since a wait ends without a commit; None: as the commit left it.
    """
    budget, result = head.budget, head.result
    delay = head.delay_at(now or head.updated_at)
    is_due = delay is None and head.state_reason in DELAY_REASONS
    said = None if result is None or answer is None else {"answer": answer}
    began = head.run.goal_id if head.run is not None else ""
    held = next(filter(is_hold, head.interventions), None)
    unread = [each for each in head.undelivered if each not in (began, head.plan_edit)]
    return copied(
        SessionView,
        head,
        agent_name=head.shown_agent,
        state_reason=None if is_due else head.state_reason,
        retry_at=None if delay is None or head.interventions else instant_or_none(delay.told_until),
        retrying=delay is None and head.outage is not None and head.coarse_state == "active",
        cause=_cause(head, delay),
        queue=_queue(delay),
        run=None if head.run is None else copied(RunView, head.run),
        plan=None if head.plan is None else plan_view(head.plan, head.plan_status),
        usage=copied(UsageView, head.usage),
        budget=copied(
            BudgetView,
            budget,
            tokens_used=tokens_used(head),
            tokens_left=tokens_left(head),
            renews_at=instant_or_none(budget.window_ends),
        ),
        limits=copied(
            NextLimitsView, head, token_budget=budget.token_budget, cost_budget_usd=budget.cost_budget_usd
        ),
        interventions=[
            intervention_view(one)
            for one in head.interventions
            if one.state == "pending" and not is_hold(one)
        ],
        result=None
        if result is None
        else copied(
            ResultView,
            result,
            data=result.answer_data,
            verdict=None if result.verdict is None else copied(VerdictView, result.verdict),
            **(said or {}),
        ),
        error=None if head.error is None else copied(RunErrorView, head.error),
        ratings=[
            {"run_id": each.run_id, "by": by, "rating": rating}
            for each in head.answers
            for by, rating in each.ratings.items()
        ],
        held=held_view(head.ending_after("resume")),
        forked_from=None if head.forked_from is None else copied(ForkedFromView, head.forked_from),
        origin=None if head.origin is None else copied(OriginView, head.origin),
        parent=_parent(head.parent),
        children=_children(head),
        **({"unread": len(unread)} if unread else {}),
        **({} if held is None else {"paused_by": holder(held)}),
    )


def _parent(parent: Parent | None) -> ParentView | None:
    if parent is None:
        return None
    chain = [copied(AskerView, each) for each in parent.chain]
    return copied(ParentView, parent, item=parent.item + 1, chain=chain)


def _children(head: Head) -> ChildrenView | None:
    if not head.children_made:
        return None
    at_work = head.children_at_work
    return {
        "at_work": len(at_work),
        "made": head.children_made,
        "tokens": head.budget.children_tokens,
        "usd": head.budget.children_usd,
        "reserved_tokens": sum(child.tokens for child in at_work),
        "reserved_usd": round(sum(child.usd or 0.0 for child in at_work), 6),
    }


def fork_view(head: Head) -> ForkedSessionView:
    return {**session_view(head), "files": "as_they_are_now", "sub_agents": "stay_with_the_original"}


def held_view(held: Ending | None) -> HeldView | None:
    """How the run ends once its pause is lifted. The answer is in the conversation already."""
    if held is None:
        return None
    if held.result is not None:
        return {"state": "completed", "goal_met": held.result.goal_met, "reason": held.result.reason}
    return {"state": "failed", "goal_met": False, "reason": held.error.code.lower() if held.error else ""}


def _cause(head: Head, delay: Delay | None) -> CauseView | None:
    """Why it waits for the world. While it tries again, or asks a person whether to: what has failed last."""
    failed = head.coarse_state == "active" or any(map(is_about_outage, head.interventions))
    of = delay or (head.outage if failed else None)
    if of is None:
        return None
    view: CauseView = {"code": of.code, "message": explained(of.code)}
    if delay is not None and delay.token_budget_needed is not None:
        view["token_budget_needed"] = delay.token_budget_needed
    return view


def _queue(delay: Delay | None) -> QueueView | None:
    """Its place in the provider's queue; None where it waits in none."""
    if delay is None or delay.position is None:
        return None
    return {"since": instant(delay.since), "position": delay.position}


def cost_view(receipt: SessionCosts) -> CostView:
    """The sums alone, in the snapshot."""
    return {
        "models_usd": receipt.models_usd,
        "estimated_aws_usd": receipt.aws.usd,
        "total_usd": receipt.total_usd,
    }


def partial_view(partial: beside.PartialReply, head: Head) -> PartialView:
    """The end of the running turn's text; `iteration` as in the session's `run`."""
    return copied(
        PartialView,
        partial,
        text=running_for_people(partial.text),
        kind=partial.key.rpartition("/")[2],
        iteration=head.run.iteration if head.run is not None else 0,
    )


def event_view(event: events.Event) -> EventView:
    """`data` as stored. A reader adds the texts that only the conversation has."""
    return copied(EventView, event, data=_event_data(event))


def _event_data(event: events.Event) -> dict[str, Any]:
    """A plan in an event has the same form as anywhere else, and a hint is in words for people."""
    if event.type == "hint.injected":
        return event.data | {"text": in_words(str(event.data.get("text", "")))}
    plan = event.data.get("plan")
    if event.type not in ("plan.created", "plan.revised") or plan is None:
        return event.data
    return event.data | {"plan": plan_view(ExecutionPlan.model_validate(plan))}


def step_view(step: StepRecord) -> StepView:
    return copied(StepView, step)
