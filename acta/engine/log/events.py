"""What a session's log tells: each event is one class, with its data and the sentence that people read.

To add an event, add a class here and emit it with `Change.event`. The API's answers, the command line, the page and the
document take the rest from the class. A stored event is `Event`: the class's name for itself and its data as JSON.
"""

import inspect
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Literal, dataclass_transform

from pydantic import Field

from acta.engine.recovery.outage import WAITS_FOR
from acta.engine.store.schema import StoredModel
from acta.engine.turn.final_answer import in_words
from acta.engine.untrusted.visible import one_line, visible

QUOTED_CHARS = 140
"""A sentence quotes at most this much of a text that others wrote."""


@dataclass_transform(kw_only_default=True)
class EventData:
    """What an event of one type says.

    The fields are class annotations, as of a dataclass, and mypy checks them. Nothing is generated for them at import,
    because every cold start would wait for it. Only the fields that are given are stored.
    """

    type: ClassVar[str] = ""
    """The event's name in the log and in the API. It never changes."""
    counts: ClassVar[str | None] = None
    """The field of `Done` (`acta/engine/usage/tally.py`) that counts it."""
    stored_as: ClassVar[Mapping[str, str]] = {}
    """A field's name in the stored data, where Python or this class uses that name for something else."""

    def __init__(self, **data: Any) -> None:
        vars(self).update(data)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({vars(self)})"

    @property
    def counted(self) -> str | None:
        """`counts`, for event types where it depends on the data."""
        return self.counts

    @property
    def text(self) -> str | None:
        """The event in one line. What others wrote stands in quotation marks. None: other events say it already."""
        return None

    def stored(self) -> dict[str, Any]:
        return {self.stored_as.get(name, name): value for name, value in vars(self).items()}

    @classmethod
    @cache
    def fields(cls) -> Mapping[str, str]:
        """The fields' names, and the names that they are stored under. They are computed once, because a page of a
        trace asks for them with each event."""
        bases = [each for each in reversed(cls.__mro__) if each not in (EventData, object)]
        named = {name: None for each in bases for name in inspect.get_annotations(each)}
        return MappingProxyType(
            {name: cls.stored_as.get(name, name) for name in named if name not in vars(EventData)}
        )


class Event(StoredModel):
    """An event of the log."""

    seq: int
    """1, 2, 3, … in the session, without gaps."""
    at: datetime
    type: str
    """A type of `EVENTS`, or one that the next release has added."""
    step_number: int | None = None
    """The row of the step log that it belongs to. None: it happened outside a step."""
    data: dict[str, Any] = Field(default_factory=dict)

    @property
    def text(self) -> str | None:
        """The event in one line, as in `EventData`. An event that this release does not know is shown by its type."""
        kind = EVENTS.get(self.type)
        if kind is None:
            return self.type
        fields = kind.fields()
        known = {name: self.data[stored] for name, stored in fields.items() if stored in self.data}
        if any(name not in known and not hasattr(kind, name) for name in fields):
            return self.type
        return kind(**known).text


def quoted(text: object) -> str:
    """Somebody else's words on one line, in quotation marks that they cannot close."""
    line = one_line(str(text)).replace('"', "'")
    return f'"{line if len(line) <= QUOTED_CHARS else line[: QUOTED_CHARS - 1] + "…"}"'


def words(name: object) -> str:
    """A name of ours, such as `approval_required`, as people write it."""
    return visible(str(name)[:QUOTED_CHARS], keep_newlines=False).replace("_", " ").lower()


class RunStarted(EventData):
    type = "run.started"
    counts = "runs"

    run_id: str

    @property
    def text(self) -> str:
        return "run started"


class RunFinished(EventData):
    """The run is over. `state.changed` tells people about it."""

    type = "run.finished"

    state: Literal["completed", "failed", "cancelled"]
    goal_met: bool = False
    reason: str = ""
    code: str = ""
    """The code of a failure."""
    category: str = ""
    """Why the model declined, if it did, in a word of its provider's."""
    by: str = ""
    """Who cancelled it: a person's subject, or `timeout`."""

    @property
    def counted(self) -> str | None:
        return "goals_met" if self.goal_met else None

    @property
    def end(self) -> str:
        """How the run ended, in a form that can be counted: `completed/plan_completed`, `cancelled`."""
        why = self.reason or self.code.lower()
        return f"{self.state}/{why}" if why else self.state


ENDS = {
    "goal_complete": "ended with its final answer",
    "answered": "ended with its final answer",
    "answered_without_plan": "ended with an answer; the agent made no plan",
    "plan_completed": "ended: its plan is closed",
    "final_model_failed": "ended with the agent's own answer; its model for final answers failed",
    "judged_not_met": "ended: its judge says that the goal is not met",
    "steps_left_open": "ended with an answer, although steps of its plan are open",
    "max_steps": "ended: no turns were left",
    "budget_exceeded": "ended: no budget was left",
}


class StateChanged(EventData):
    """The session's state, its wait or its limits have changed."""

    type = "state.changed"

    stored_as: ClassVar[Mapping[str, str]] = {"before": "from"}

    before: str | None
    to: str
    reason: str | None
    code: str = ""
    """What has failed, if the session waits for something other than people."""
    retry_at: str | None = None
    """When a wait ends."""
    wait_seconds: int | None = None
    limits: dict[str, Any] | None = None
    """The new limits, where a person has changed them."""
    by: str = ""

    @property
    def text(self) -> str | None:
        if self.limits is not None:
            return f"limits changed by {quoted(self.by)}"
        if self.code:
            until = ""
            if self.retry_at:
                ends = datetime.fromisoformat(self.retry_at)
                began = ends - timedelta(seconds=self.wait_seconds or 0)
                day = "" if ends.date() == began.date() else f"{ends:%Y-%m-%d} "
                until = f" until {day}{ends:%H:%M:%S} UTC"
            return f"waits for {WAITS_FOR.get(self.reason or '', 'the world')}{until} ({visible(self.code)})"
        match self.to:
            case "completed":
                return ENDS.get(self.reason or "", f"ended: {words(self.reason)}")
            case "failed":
                return f"ended: failed, {words(self.reason)}"
            case "cancelled":
                return "ended: cancelled"
            case "planning" | "executing" | "waiting_for_tool" if self.reason:
                return f"now {words(self.to)}: {words(self.reason)}"
        return None  # the run's start, its calls and its questions have events of their own


class Message(EventData):
    """Something that was said. The text stands in the conversation's entry, and is added when the event is read."""

    speaker = ""
    """How the line for people begins."""

    message_id: str
    content: str | None = None
    bytes: int | None = None

    @property
    def text(self) -> str | None:
        if not self.content and self.bytes:  # it stands in the conversation alone
            return f"{self.speaker}: a text of {self.bytes:,} bytes"
        return f"{self.speaker}: {quoted(self.content)}" if self.content else None


class UserMessage(Message):
    """A person's message."""

    type = "message.user"
    counts = "user_messages"
    speaker = "you"

    beginning: str = ""
    """Of a long message."""

    @property
    def text(self) -> str | None:
        if self.content or not self.beginning:
            return super().text
        return f"{self.speaker}: {quoted(self.beginning)} ({self.bytes or 0:,} bytes)"


class Reply(Message):
    """The text of a reply without tool calls."""

    type = "message.assistant"
    counts = "agent_messages"
    speaker = "agent"

    continues: str = ""
    """The id of the message that was cut off and goes on here."""
    fused: bool = False
    """The worker went on by itself, without a state of the engine in between."""


class Thought(Reply):
    """The text of a reply with tool calls, or what the model thought where its reply has no text."""

    type = "thought"
    speaker = "thought"


class PlanVersion(EventData):
    version: int
    plan: dict[str, Any]
    """The whole plan as it was made."""

    @property
    def steps(self) -> str:
        count = len(self.plan.get("steps", ()))
        return f"{count} step{'' if count == 1 else 's'}"


class PlanCreated(PlanVersion):
    type = "plan.created"
    counts = "plans"

    @property
    def text(self) -> str:
        by = " by Acta, because the agent made none" if self.plan.get("made_by_acta") else ""
        return f"plan made with {self.steps}{by}"


class PlanRevised(PlanVersion):
    type = "plan.revised"

    by: str = ""
    """The subject of the person who has changed it; empty: the agent has."""
    message_id: str = ""

    @property
    def text(self) -> str:
        return f"plan revised with {self.steps}" + (f", by {quoted(self.by)}" if self.by else "")


class PlanStepChanged(EventData):
    """A step of the plan has another status."""

    type = "plan.step"

    stored_as: ClassVar[Mapping[str, str]] = {"before": "from"}

    plan_step: int
    before: str
    status: str

    @property
    def text(self) -> str:
        return f"step {self.plan_step} {words(self.status)}"


class PlanClosed(EventData):
    type = "plan.closed"

    version: int
    status: Literal["completed", "failed"]
    reason: str = ""

    @property
    def counted(self) -> str | None:
        return "plans_completed" if self.status == "completed" else None

    @property
    def text(self) -> str:
        return f"plan closed: {'cancelled' if self.reason == 'cancelled' else words(self.status)}"


class PlanRejected(EventData):
    """An update of the plan was refused, or calls did not run because there is no plan."""

    type = "plan.rejected"

    action: str | None
    code: str
    message: str
    calls: list[str] | None = None
    """The tools that were called without a plan."""

    @property
    def text(self) -> str:
        if self.calls:
            names = ", ".join(visible(name[:64], keep_newlines=False) for name in self.calls)
            return f"not run, because the agent has made no plan yet: {names}"
        return f"plan update refused: {quoted(self.message)}"


class ToolEvent(EventData):
    """An event about a call. The same four fields tell in each of them which call it is."""

    call_id: str
    effect_id: str
    name: str
    input_hash: str

    @property
    def tool(self) -> str:
        return visible(self.name[:64], keep_newlines=False)


class ToolRequested(ToolEvent):
    type = "tool.requested"

    input: dict[str, Any] | None = None
    """Added when the event is read, up to 4 KB."""

    @property
    def text(self) -> str:
        return f"asks for tool {self.tool}"


class ToolStarted(ToolEvent):
    type = "tool.started"

    fused: bool = False


class ToolFinished(ToolEvent):
    type = "tool.finished"

    ok: bool
    duration_ms: int
    bytes: int
    """The size of the whole result."""
    path: str | None = None
    """The file that it wrote."""
    fused: bool = False

    @property
    def counted(self) -> str:
        return "tools_ok" if self.ok else "tools_failed"

    @property
    def text(self) -> str:
        figures = [f"{self.duration_ms} ms"]
        figures += [f"{self.bytes} bytes"] if self.bytes else []
        figures += ["fused"] if self.fused else []
        return f"tool {self.tool} {'done' if self.ok else 'failed'} ({', '.join(figures)})"


class ChildEvent(EventData):
    """An event about a session that a call of an agent has started."""

    call_id: str
    name: str
    """The tool's: what the caller calls the agent."""
    item: int
    """The child's place in the call's `map`, from 1 on."""
    count: int
    """How many children the call has in all."""
    session_id: str
    agent_id: str

    @property
    def child(self) -> str:
        place = f" ({self.item} of {self.count})" if self.count > 1 else ""
        return f"agent {visible(self.name[:64], keep_newlines=False)}{place}"


class ChildStarted(ChildEvent):
    type = "child.started"

    tokens: int
    """Reserved for it of this session's budget, as `usd` is."""
    usd: float | None = None

    @property
    def text(self) -> str:
        return f"{self.child} started"


class ChildFinished(ChildEvent):
    type = "child.finished"

    state: str
    goal_met: bool
    tokens: int
    """What it has used, with its own children, as `usd` is."""
    usd: float

    @property
    def text(self) -> str:
        ended = (
            self.state if self.goal_met or self.state != "completed" else "ended without reaching its goal"
        )
        return f"{self.child} {ended} ({self.tokens:,} tokens)"


class QuestionEvent(EventData):
    """An event about a question to a person."""

    stored_as: ClassVar[Mapping[str, str]] = {"question": "type"}

    intervention_id: str
    question: str
    """The question's type: `approval_required`, …"""
    tool: str = ""
    """The tool of the call that it is about, if it is about one."""

    @property
    def of_tool(self) -> str:
        return f" of {visible(self.tool[:64], keep_newlines=False)}" if self.tool else ""


class QuestionOpened(QuestionEvent):
    type = "intervention.opened"
    counts = "asked"

    @property
    def text(self) -> str:
        return f"waits for a person: {words(self.question)}{self.of_tool}"


class QuestionWarned(QuestionEvent):
    """The time to decide is nearly over."""

    type = "intervention.warned"

    @property
    def text(self) -> str:
        return "a decision is due soon"


class QuestionResolved(QuestionEvent):
    type = "intervention.resolved"

    option: str
    input_hash: str | None = None
    """The hash of the input that runs, if the decision is about a call."""
    resolved_by: str | None = None
    via: str | None = None
    """`mcp_form` if it came from a form of an MCP client, `mcp` if that client's model sent it, else `api`."""
    comment: str = ""

    @property
    def text(self) -> str:
        by = f", by {quoted(self.resolved_by)}" if self.resolved_by else ""
        return f"decided: {words(self.option)}{self.of_tool}{by}" + (
            ", over MCP" if self.via in ("mcp", "mcp_form") else ""
        )


class QuestionExpired(QuestionEvent):
    """Nobody has decided in time: the default holds."""

    type = "intervention.expired"

    option: str
    input_hash: str | None = None

    @property
    def text(self) -> str:
        return f"nobody decided in time: {words(self.option)}{self.of_tool}"


class HintInjected(EventData):
    """The model is told something at the end of its next request."""

    type = "hint.injected"

    stored_as: ClassVar[Mapping[str, str]] = {"hint": "text"}

    hint: str
    """What it is told."""

    @property
    def text(self) -> str:
        return f"the agent is reminded: {quoted(in_words(self.hint).partition('. ')[0])}"


class AnswerJudged(EventData):
    """The agent's judge has looked at an answer. Without `met` there is no verdict, and `reason` says why."""

    type = "answer.judged"

    reason: str
    model: str
    met: bool | None = None

    @property
    def text(self) -> str:
        said = {True: "the goal is met", False: "the goal is not met", None: "no verdict"}[self.met]
        return f"judge: {said}, {quoted(self.reason)}"


class AnswerRated(EventData):
    """A person says what they think of a run's answer. A later rating of the same person and run replaces it."""

    type = "answer.rated"

    run_id: str
    rating: Literal["up", "down"]
    by: str
    """The subject of the person."""
    comment: str = ""

    @property
    def text(self) -> str:
        return f"answer rated {words(self.rating)}, by {quoted(self.by)}"


class BudgetWarning(EventData):
    type = "budget.warning"

    total_tokens: int
    token_budget: int
    cost_usd: float | None
    cost_budget_usd: float | None

    @property
    def text(self) -> str:
        used = f"{self.total_tokens:,} of {self.token_budget:,} tokens are used"
        if self.cost_budget_usd is not None and self.cost_usd is not None:
            used += f", and ${self.cost_usd:,.6f} of ${self.cost_budget_usd:,.2f}"
        return f"the budget may not be enough for the next turns: {used}"


class ModelRetried(EventData):
    """A model did not answer. Another one did, or the session waits, which `state.changed` tells."""

    type = "llm.retried"

    code: str
    wait_seconds: int
    model: str = ""
    answered_by: str = ""
    category: str = ""
    """Why the model declined, if it did, in a word of its provider's."""

    @property
    def text(self) -> str | None:
        if not self.answered_by:
            return None
        why = f" ({words(self.category)})" if self.category else ""
        what = f"declined{why}" if self.code == "MODEL_REFUSED" else "did not answer"
        return f"{visible(self.model)} {what}: {visible(self.answered_by)} did"


class ContextCompacted(EventData):
    """The conversation was shortened to fit the model."""

    type = "context.compacted"

    turns: int
    summarised: int
    results_elided: int
    entries: int
    tokens_before: int
    tokens_after: int

    @property
    def text(self) -> str:
        return "older turns were summarised"


def _all(kind: type[EventData]) -> Iterator[type[EventData]]:
    for each in kind.__subclasses__():
        if "type" in vars(each):
            yield each
        yield from _all(each)


EVENTS: Mapping[str, type[EventData]] = {kind.type: kind for kind in _all(EventData)}
