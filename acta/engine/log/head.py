"""A session's states, and its head: the small document in every commit (docs/design/api.md 28, log.md).

The head has all that a worker needs besides the conversation: run, plan, budgets, open calls, open interventions,
counters and notes. Each collection in it has a limit, so that a commit's size does not grow with the session.
"""

from collections.abc import Set
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from acta.engine.errors import Conflict
from acta.engine.limits.shares import Lease
from acta.engine.people.intervention import Asker, Intervention, SeenFile
from acta.engine.plans.plan import ExecutionPlan, PlanStatus
from acta.engine.recovery.outage import AGENTS_AT_WORK, CALLBACK_AWAITED, TIME_AWAITED, Delay, Outage
from acta.engine.store.schema import StoredModel, VersionedModel
from acta.engine.tools.mcp.server_task import ServerTask, ToolQuestion
from acta.engine.untrusted.texts import READABLE, InRequests, Name
from acta.engine.untrusted.visible import visible
from acta.engine.usage.tally import Tally

Visibility = Literal["private", "tenant"]
MOST_PROMPT_VERSIONS = 9_999_999_999

Metadata = Annotated[dict[Name, Annotated[str, Field(max_length=256), READABLE]], Field(max_length=16)]
PromptVersions = Annotated[
    dict[Name, Annotated[int, Field(ge=1, le=MOST_PROMPT_VERSIONS)]], Field(max_length=16)
]


class SessionSettings(StoredModel):
    """Fields that the bodies of a start and of a fork take, and that the head keeps. To add one, write it here and use
    it; where people see it, write it into `SessionView` in `acta/engine/sessions/answers.py`, too.
    """

    metadata: Annotated[dict[str, str], InRequests(Metadata)] = Field(default_factory=dict)
    """Names and values of your own, which are shown with the session."""
    visibility: Visibility = "tenant"
    """`private`: nobody else sees it. A fork of a private session is always private. Absent: the deployment's default.
    """
    prompts: Annotated[dict[str, int], InRequests(PromptVersions)] = Field(default_factory=dict)
    """For admins: versions of managed prompts to try in this session, by name, instead of those in force. Absent: none,
    even in a fork of a session that tries some."""

    def kept(self) -> dict[str, Any]:
        """The settings alone, as fields of a head."""
        return {name: getattr(self, name) for name in SessionSettings.model_fields}


NO_SETTINGS = SessionSettings.model_construct()
"""Made without a validator, which would be built at every cold start."""


FRESH_GENERATIONS = 1_000_000
"""After a point-in-time restore, skip this many generation numbers: executions that the restored table no longer knows
may have used the next ones.
"""


class Later(StoredModel):
    """What a call waits for whose answer comes later. Meanwhile the session has no execution (ADR 209)."""

    kind: Literal["callback", "agent", "time"]
    began: datetime
    until: datetime
    """When the wait ends by itself. Every wait has an end."""
    default: str | None = None
    """The result if no answer has come by then. None: the model is told that none has come."""
    again: datetime | None = None
    """When the engine looks at the call before that, because the tenant's limits have not let all children begin."""

    @property
    def next_look(self) -> datetime:
        return self.until if self.again is None else min(self.again, self.until)


class EndedCall(StoredModel):
    """How a call ended that could be answered later. Whoever answers it once more is told this."""

    answer_id: str
    """Drawn by whoever brought the answer, so that of two at once each knows which one counts."""
    call_id: str
    ok: bool
    at: datetime
    by: Literal["tool", "callback", "deadline", "cancel"]


MAX_ANSWERED_CALLS = 16
"""The newest ones are kept: as many as one reply may have (`MAX_CALLS`)."""

WAITS_BY_KIND = {
    "agent": ("waiting_for_agents", AGENTS_AT_WORK),
    "callback": ("waiting_for_callback", CALLBACK_AWAITED),
    "time": ("waiting_until", TIME_AWAITED),
}
"""Kind of a call that is answered later -> reason and code of the session's wait. The first kind that is there names
the wait of several calls."""


class Child(StoredModel):
    """A session at work for a call of its parent, and what is reserved for it of the parent's budget."""

    item: int
    """Its place in the call's `map`, from 0 on."""
    tokens: int
    usd: float | None = None
    """None: the parent has no budget in dollars."""
    after: int | None = None
    """The item whose end let this one begin. Whoever settles that end creates this session. None: the call's start."""


MAX_CHILDREN_AT_WORK = 50


class Children(StoredModel):
    """The sessions that a call of an agent starts, one for each item of its `map`, in their order."""

    effect_id: str
    """The call's. The ids of the sessions are made from it."""
    agent_id: str
    count: int
    at_once: int
    """How many of them may work side by side."""
    session_at_once: int
    """How many children of all calls of the session may."""
    tokens: int
    """What each one gets at most."""
    usd: float | None = None
    """As `tokens`. None: no limit of its own."""
    max_steps: int | None = None
    """The most iterations of each one's run. None: its agent's."""
    given_files: bool = False
    """Whether each one sees only the files that the call names. Otherwise it sees what its parent sees."""
    levels: int = 0
    """How many levels of children each one may have below it."""
    started: int = 0
    """The first items, which were given a budget and whose sessions work or have ended."""
    working: Annotated[tuple[Child, ...], Field(max_length=MAX_CHILDREN_AT_WORK)] = ()


class Parent(StoredModel):
    """Whose child a session is: which call of which session has started it."""

    session_id: str
    run_id: str
    call_id: str
    item: int
    about: str = ""
    """What tells it from the other sessions of the call: its entry's text and paths, up to 200 characters."""
    chain: tuple[Asker, ...]
    """The sessions above this one, the first of all first."""
    files: tuple[str, ...] | None = None
    """The files that it sees. None: those that its parent sees."""
    levels: int = 0
    """How many levels of children it may have below it."""
    told: bool = False
    """The parent has the result, and its money back."""


class OpenCall(StoredModel):
    """A call of the last reply."""

    call_id: str
    name: str
    state: Literal["ready", "withheld", "started", "done"] = "ready"
    """A call is `withheld` while a person must approve it, or must say whether it had its effect."""
    amended: dict[str, Any] | None = None
    """The input that a person gave. It runs instead of the model's."""
    tries: int = 0
    """How often a person had the call run again, or its start was taken back because nothing had run."""
    starter: str = ""
    """The attempt that logged the start, so that after a lost answer this attempt recognises the start as its own. A
    call in state `ready` may have one, too: its start was taken back, and its `tool.started` is in the log already.
    """
    approval: Literal["", "needed", "given"] = ""
    """Whether a person must approve the call. This is stored with the call and not only in the intervention: an
    intervention that disappears for another reason must never let the call run.
    """
    tool_written: str = ""
    """The version of the tool's definition that the turn worked with (`ToolDefinition.written`). A built-in tool has
    none.
    """
    seen_file: SeenFile | None = None
    """The file that the call replaces or deletes, as it was when a person was asked. The call runs only while the file
    is still that one (ADR 157).
    """
    asked: ToolQuestion | None = None
    """What the tool's server asks a person in the middle of the call, and the person's answer."""
    task: ServerTask | None = None
    """The task that the tool's server works on since it answered the call. Such a call has started."""
    later: Later | None = None
    """What the call waits for. Whoever brings the answer commits the call's result. Such a call has started."""
    children: Children | None = None
    """The sessions that work for the call, if it calls an agent."""

    @property
    def next_look(self) -> datetime | None:
        """When the engine runs the call next, to ask its server or because its time is over. None: it runs now."""
        if self.later is not None:
            return self.later.next_look
        return None if self.task is None else self.task.look_at

    @property
    def is_in_flight(self) -> bool:
        """Whether the call may still have its effect: it runs, or a person is asked because its end is unknown."""
        is_known_to_have_begun = self.starter != "" or self.task is not None or self.later is not None
        return self.state == "started" or (self.state == "withheld" and is_known_to_have_begun)


MAX_NOTES = 20
MAX_NOTE_CHARS = 500
MAX_NOTES_CHARS = 4_000
"""The most characters of all notes together."""


class Scratchpad(StoredModel):
    """The notes that the agent keeps for the rest of the session, oldest first."""

    notes: Annotated[tuple[str, ...], Field(max_length=MAX_NOTES)] = ()

    def with_note(self, text: str) -> "Scratchpad":
        """Adds a note at the end, or moves it there. A note that is too long is cut; the oldest notes make room."""
        note = " ".join(text.split())
        if not note:
            return self
        if len(note) > MAX_NOTE_CHARS:
            note = note[: MAX_NOTE_CHARS - 1] + "…"
        notes = [*(old for old in self.notes if old != note), note][-MAX_NOTES:]
        while sum(map(len, notes)) > MAX_NOTES_CHARS:
            del notes[0]
        return self.model_copy(update={"notes": tuple(notes)})

    @property
    def text(self) -> str:
        """The notes as they stand at the end of a request; empty without notes. Each note is one line, so that it
        cannot look like anything else.
        """
        if not self.notes:
            return ""
        return "\n".join(["Your notes of this session:", *(f"- {visible(note)}" for note in self.notes)])


MAX_GOAL_CHARS = 1_000
"""The head keeps the beginning of the goal. The run's first message is the complete goal."""
BYTES_PER_TOKEN = 3.0
"""The estimate before the first call has shown a better one. English has about 4: estimates are high, not low."""
MAX_ANSWER_CHARS = 4_000
MAX_UNDELIVERED = 20
MAX_WRITERS = 50
"""People who may write to one session."""
MAX_ROLES = 50
"""Roles that are kept of those who wrote to a session. Fewer roles only allow less."""
MAX_ANSWERS = 10
"""The newest completed runs, whose answers people may rate."""
MAX_RATINGS = 20
"""People who may rate one answer."""
MAX_CALLS = 16
"""Calls of one reply that run. Further ones get an error as their result, because the head must stay small."""

SessionState = Literal[
    "idle",
    "planning",
    "executing",
    "waiting_for_tool",
    "waiting_for_user",
    "completed",
    "failed",
    "cancelled",
]
CoarseState = Literal["idle", "active", "waiting_for_user", "completed", "failed", "cancelled"]

TRANSITIONS: dict[SessionState | None, frozenset[SessionState]] = {
    None: frozenset({"idle", "planning"}),
    "idle": frozenset({"planning", "executing", "cancelled"}),
    "planning": frozenset(
        {"executing", "waiting_for_tool", "waiting_for_user", "completed", "failed", "cancelled"}
    ),
    "executing": frozenset({"waiting_for_tool", "waiting_for_user", "completed", "failed", "cancelled"}),
    "waiting_for_tool": frozenset({"executing", "waiting_for_user", "failed", "cancelled"}),
    "waiting_for_user": frozenset(
        {"planning", "executing", "waiting_for_tool", "completed", "failed", "cancelled"}
    ),
    "completed": frozenset({"planning", "executing"}),
    "failed": frozenset({"planning", "executing"}),
    "cancelled": frozenset({"planning", "executing"}),
}

TERMINAL: frozenset[SessionState] = frozenset({"completed", "failed", "cancelled"})


class IllegalTransition(ValueError):
    """A bug: `TRANSITIONS` does not have this change of state."""


class Restarts(StoredModel):
    """How often recovery has started the engine again in `turn` without asking a person."""

    turn: int = 0
    count: int = 0


class UsedBefore(StoredModel):
    """What the session had used when a run began. The difference to `Head.usage` is what the run itself has used."""

    tokens: int = 0
    """Input and output tokens."""
    cost_usd: float | None = 0.0
    """None if the price of a call is unknown."""
    asked: int = 0
    """As in `Done`."""
    waited_ms: int = 0
    """As in `Done`."""
    answered: int = 0
    """As in `Done`."""


class Run(StoredModel):
    """The work on one goal."""

    run_id: str
    generation: int = 1
    """The number of the only execution that may commit."""
    iteration: int = 0
    """Counts the turns that do work: all Think turns, and a Plan turn whose reply has calls to run."""
    turn: int = 1
    """Counts all turns. It is part of their commit keys."""
    first: int
    """The number of the commit that the current turn began with."""
    max_steps: int
    """`Head.max_steps` when the run began. A message that arrives at the limit raises it (`_after_reply` in
    `acta/engine/turn/turn.py`).
    """
    events: int = 0
    """An upper bound of the events in the execution's history."""
    goal_id: str = ""
    """The id of the message that began the run."""
    restarts: Restarts = Field(default_factory=Restarts)
    before: UsedBefore | None = None
    """What the session had used before this run. The first run of a session has none."""
    left_plan: int = 0
    """The version of the live plan that an earlier run left, as long as this run has not worked on it. Its open steps
    hold back no answer. 0: there is none."""
    parked: bool = False
    """The generation has no execution yet. One is started when somebody decides, or when the time comes
    (`acta/engine/turn/engine.py`).
    """


class Usage(StoredModel):
    """What the session has used."""

    input_tokens: int = 0
    """Includes `cached_input_tokens`."""
    output_tokens: int = 0
    cached_input_tokens: int = 0
    llm_calls: int = 0
    tool_calls: int = 0
    cost_usd: float | None = 0.0
    """None if the price of at least one call is unknown."""

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Budget(StoredModel):
    """The session's limits, and what is charged to them."""

    token_budget: int
    """Tokens per window of time. A window begins with the first call after the last window ended."""
    cost_budget_usd: float | None = None
    vanished_tokens: int = 0
    """Tokens charged for attempts that returned no usage and may have to be paid for. Each is charged what was reserved
    for it, and the step log shows these tokens as estimated.
    """
    charged_usd: float = 0.0
    """The cost of all calls with a known price, including the attempts in `vanished_tokens`. A fallback model without a
    known price is charged at the price of the first model.
    """
    children_tokens: int = 0
    """Tokens charged for children that have ended, and for theirs."""
    children_usd: float = 0.0
    """US dollars charged for them."""
    renews: bool = True
    """Whether a new window of time renews the tokens. A child's budget is a part of its parent's, and does not."""
    warned: bool = False
    """Whether the warning was given."""
    bytes_per_token: float = BYTES_PER_TOKEN
    """Measured in the last call, to estimate the next one."""
    settled: tuple[str, ...] = ()
    """Ids of the attempts in the last marker that a commit has charged, newest last."""
    charged_tokens: int = 0
    """The tokens of all answered calls. Input from the cache counts at its price relative to fresh input."""
    window_ends: datetime | None = None
    """When the running window ends. None if no window has begun."""
    window_base: int = 0
    """Tokens that were charged before the running window."""


class Verdict(StoredModel):
    """What the agent's judge says of an answer."""

    met: bool | None
    """Whether the goal is met. None: there is no verdict, and what the agent said holds."""
    reason: str
    """Why, in the judge's words; without a verdict why there is none, in Acta's."""
    model: str


class Result(StoredModel):
    """How a completed run ended."""

    goal_met: bool
    answer: str | None
    """The beginning of the answer, at most `MAX_ANSWER_CHARS` characters."""
    reason: str
    message_id: str | None = None
    """The message with the complete answer. If that message continues another one, both together are the answer."""
    answer_data: Any = None
    """The whole answer as a JSON value, if the session has an output schema and the answer fits it."""
    verdict: Verdict | None = None
    """The last one of the agent's judge. None: it was not asked."""

    @classmethod
    def of(
        cls, answer: str | None, *, goal_met: bool, reason: str, message_id: str, data: Any = None
    ) -> "Result":
        """Keeps the beginning of a long answer, and the whole of its value."""
        if answer is not None and len(answer) > MAX_ANSWER_CHARS:
            answer = answer[: MAX_ANSWER_CHARS - 1] + "…"
        return cls(goal_met=goal_met, answer=answer, reason=reason, message_id=message_id, answer_data=data)


Rating = Literal["up", "down"]


class AnsweredRun(StoredModel):
    """A completed run, whose answer people may rate."""

    run_id: str
    ended_at: datetime
    ratings: Annotated[dict[str, Rating], Field(max_length=MAX_RATINGS)] = Field(default_factory=dict)
    """By the subject of the person who gave it."""


class Failure(StoredModel):
    code: str
    message: str
    category: str = ""
    """As of `ModelReply`."""


class Ending(StoredModel):
    """How a run ends: either `result` or `error` is set."""

    result: Result | None = None
    """How a completed run ended."""
    error: Failure | None = None
    """Why a failed run ended."""
    awaits: Literal["", "resume", "answer", "verdict"] = ""
    """What comes first: the end of a pause, the text of the agent's model for final answers, or its judge's verdict.
    Empty: nothing."""
    unread: int = 0
    """The judge's replies in which there was no verdict."""


class Wait(StoredModel):
    """The engine waits for people on this task token. The token never leaves the server (docs/design/people.md 30)."""

    token: str
    entered: datetime
    """When the engine entered the wait."""
    attempt: int = 0
    """The engine's retry count."""

    def is_before(self, other: "Wait") -> bool:
        """Whether the engine entered this wait before `other`, and so has left it."""
        return (self.entered, self.attempt) < (other.entered, other.attempt)


class Progress(StoredModel):
    """The counters that decide whether a run goes on or is stuck. They are stored, so that a crash cannot reset them
    (docs/design/turn.md 24). Fingerprints of replies and calls are made by `acta.engine.turn.next_action`.
    """

    text_replies: int = 0
    """Replies in a row without a call. `acta/engine/turn/next_action.py` has the limit."""
    planning_attempts: int = 0
    """Replies whose plan was refused, or whose calls, because there was no plan. `PLAN_RETRIES` in
    `acta/engine/turn/next_action.py` is the limit."""
    cut_offs: int = 0
    """Replies in a row that were cut off at their length limit: `acta/engine/turn/reply.py`."""
    continues: str = ""
    """The id of the cut-off message that the next reply is asked to continue, if there is one."""
    hint: str = ""
    """A text for the model, shown at the end of the next request only. It comes from `hint` in
    `acta/engine/turn/request.py`, or from a person.
    """
    last_reply: str = ""
    """The fingerprint of the last reply."""
    same_replies: int = 0
    """Replies in a row with that fingerprint."""
    idle_turns: int = 0
    """Turns in a row that neither changed the plan nor made a new call that succeeded."""
    succeeded: tuple[str, ...] = ()
    """Fingerprints of calls that succeeded."""
    failed: tuple[str, ...] = ()
    """Fingerprints of calls that failed."""
    window: tuple[str, ...] = ()
    """Fingerprints of the newest successful calls since the plan changed, except of tools that may be repeated."""
    rung: int = 0
    """How often the run was found stuck since it last made progress. It decides between hint, question and failure."""
    not_met: int = 0
    """How often the agent's judge said that the goal is not met."""
    wrong_answers: int = 0
    """Final answers of the run that did not fit the session's schema. `next_action.py` has the limit."""
    final_failed: bool = False
    """The agent's model for final answers has failed for good, so the agent's own words are the answer."""


class RunningResponse(StoredModel):
    """An answer that the model's provider makes in the background. It is stored before the engine waits, so that a
    worker that dies loses no answer that has to be paid for.
    """

    response_id: str
    place: str
    """As `place_of` in `acta/engine/turn/model_call.py` makes it."""
    attempt_id: str
    """The attempt that began it."""
    provider: str
    model: str
    started: datetime
    delivered: tuple[str, ...] = ()
    """Ids of the users' messages that its request showed."""
    bytes: int = 0
    """The size of its request."""
    told: bool = False
    """A person was told of its id, because the provider did not hand it over. From then on Acta does not delete it."""


class ForkedFrom(StoredModel):
    """The session whose conversation a fork began with, up to the event `seq`."""

    session_id: str
    seq: int


class Origin(StoredModel):
    """What started a session that no request of a person started."""

    kind: Literal["schedule", "trigger"]
    id: str
    """The id of the schedule or of the trigger."""
    at: datetime
    """The time of the schedule that the session stands for, or when the trigger's event came."""
    event: str = ""
    """The id of the trigger's event."""
    above: tuple[str, ...] = ()
    """The ids of the triggers that had led to the session which wrote the event's file, the first of all first."""


class Head(SessionSettings, VersionedModel):
    """A session's state after a commit, with the settings that it was started with."""

    tenant: str
    session_id: str
    agent_id: str
    agent_name: str = ""
    """What the agent was called when the session began. Listings and polls show this name without reading the agent,
    which may have been deleted since.
    """
    created_by: str
    """The subject of the person who started the session."""
    state: SessionState
    state_reason: str | None = None
    """Why the session is in this state, for example what it waits for."""
    goal: str = ""
    """The beginning of the run's first message, at most `MAX_GOAL_CHARS` characters."""
    created_at: datetime
    updated_at: datetime
    run: Run | None = None
    """The newest run. None if nobody has said anything yet."""
    plan: ExecutionPlan | None = None
    usage: Usage = Field(default_factory=Usage)
    budget: Budget
    interventions: tuple[Intervention, ...] = ()
    """The open ones, oldest first."""
    result: Result | None = None
    """How the newest run ended, if it was completed."""
    error: Failure | None = None
    """How the newest run ended, if it failed."""
    answers: Annotated[tuple[AnsweredRun, ...], Field(max_length=MAX_ANSWERS)] = ()
    """The newest completed runs, oldest first."""
    raters: Annotated[tuple[str, ...], Field(max_length=MAX_WRITERS)] = ()
    """The subjects of those who have rated an answer and are none of the `askers`. They are kept after their answer has
    left `answers`, so that whoever erases a person finds their comments.
    """
    review_every: int = 0
    """Turns between two reviews by a person; 0 means none."""
    max_steps: Annotated[int, Field(ge=1)]
    """Iterations that each run may make."""
    last_seq: int = 0
    """The highest number that an event has."""
    last_step: int = 0
    """The highest number that a row of the step log has."""
    calls: tuple[OpenCall, ...] = ()
    """The calls of the last reply."""
    answered_calls: Annotated[tuple[EndedCall, ...], Field(max_length=MAX_ANSWERED_CALLS)] = ()
    """The newest calls that a callback has ended, or could have ended, oldest first."""
    undelivered: tuple[str, ...] = ()
    """Ids of users' messages that no turn has shown to the model yet, oldest first."""
    progress: Progress = Field(default_factory=Progress)
    scratchpad: Scratchpad = Field(default_factory=Scratchpad)
    deleted: bool = False
    """Set by the session's last commit, before its content is removed."""
    wait: Wait | None = None
    """Set while the engine waits for people."""
    lease: Lease | None = None
    """The tokens of its tenant's hour that the session holds."""
    day_lease: Lease | None = None
    """The dollars of its tenant's day that the session holds, in parts of `PER_DOLLAR`."""
    compacted_at: int = 0
    """The number of the commit with the last compaction: the conversation is read from there. 0 means that there was no
    compaction.
    """
    ending: Ending | None = None
    """How the run ends, once what it awaits has come. A message of the user comes before that: then the agent goes on.
    None: the run goes on.
    """
    outage: Outage | None = None
    """What has failed since the last reply or finished call. None if nothing has."""
    delay: Delay | None = None
    """What the session waits for other than people, or waited for until the turn that now runs. None if nothing."""
    writers: Annotated[tuple[str, ...], Field(max_length=MAX_WRITERS)] = ()
    """The subjects of the people, other than `created_by`, whose words the agent was given."""
    roles: Annotated[tuple[str, ...], Field(max_length=MAX_ROLES)] = ()
    """The roles that everybody had whose words the agent was given: those of whoever started the session, narrowed by
    each later writer. What the agent itself starts is allowed by these.
    """
    origin: Origin | None = None
    """None: a person's request started the session."""
    read_outside: bool = False
    """Whether the agent was given a text from outside in this session."""
    plan_edit: str = ""
    """The id of the message that tells the model about the last change of the plan by a person. Empty if nobody has
    changed it.
    """
    tally: Tally = Field(default_factory=Tally)
    """What the session has done, in counts."""
    background: RunningResponse | None = None
    """The answer that the run waits for, or that its provider must still be told to end. None if there is none."""
    counted: bool = False
    """The session is in its tenant's count of open sessions (ADR 65). The repository sets this, in the transaction that
    changes the count.
    """
    forked_from: ForkedFrom | None = None
    output_schema: str = ""
    """The JSON Schema, as compact JSON, that the final answer of this run must fit. Empty if it is free text."""
    found_tools: tuple[str, ...] = ()
    """Names of tools that the model has found and is not offered, the newest last."""
    parent: Parent | None = None
    """None: no other session's call has started this one."""
    children_made: int = 0
    """How many children all calls of the session have had."""
    leads_family: bool = False
    """A person has paused the session or let it go on, and its children may not have followed yet."""

    def ending_after(self, awaited: Literal["resume", "answer", "verdict"]) -> Ending | None:
        """The ending, if this is what it awaits."""
        return self.ending if self.ending is not None and self.ending.awaits == awaited else None

    @property
    def private_to(self) -> str | None:
        """The owner of a private session; None: it is the tenant's."""
        return self.created_by if self.visibility == "private" else None

    @property
    def shown_agent(self) -> str:
        """What the agent is called, for people and for other agents' models."""
        return self.agent_name or self.agent_id

    @property
    def seen_files(self) -> tuple[str, ...] | None:
        """The files that its agent sees. None: all of the tenant's, and private ones of a private session."""
        return None if self.parent is None else self.parent.files

    @property
    def quotation_key(self) -> str:
        """An id that no tool and no model gets or can reach. So the author of a quoted text does not know it."""
        return self.run.run_id if self.run is not None else self.session_id

    @property
    def askers(self) -> frozenset[str]:
        """The subjects of those who asked for what the agent does."""
        return frozenset((self.created_by, *self.writers))

    def with_writer(self, user: str, roles: Set[str]) -> "Head":
        """Adds a writer, who has these roles. Raises Conflict if there are more than can be kept, because none may be
        forgotten.
        """
        narrowed = {"roles": tuple(role for role in self.roles if role in roles)}
        if user in self.askers:
            return self.model_copy(update=narrowed)
        if len(self.writers) >= MAX_WRITERS:
            raise Conflict(f"{MAX_WRITERS} people have written to this session already. Start another one.")
        return self.model_copy(update={**narrowed, "writers": (*self.writers, user)})

    @property
    def coarse_state(self) -> CoarseState:
        match self.state:
            case "planning" | "executing" | "waiting_for_tool":
                return "active"
            case other:
                return other

    @property
    def is_over(self) -> bool:
        return self.state in TERMINAL

    @property
    def is_open(self) -> bool:
        """Whether a run is under way or waits for anything."""
        return self.coarse_state in ("active", "waiting_for_user") and not self.deleted

    @property
    def children_at_work(self) -> tuple[Child, ...]:
        return tuple(child for call in self.calls if call.children for child in call.children.working)

    @property
    def owes_family(self) -> bool:
        """Whether sessions above or below have yet to follow this one: its run is over, and it has children at work or
        has not told its parent; or it was paused, or goes on, and its children have not followed.
        """
        if not self.is_over:
            return self.leads_family and bool(self.children_at_work)
        return bool(self.children_at_work) or (self.parent is not None and not self.parent.told)

    @property
    def wait_for_calls(self) -> Delay | None:
        """The wait of a session whose open calls are all answered later. None: there is something to do, or nothing is
        open. It follows from the calls, so no commit has to begin or end it.
        """
        waits = [call.later for call in self.unfinished_calls if call.later is not None]
        if not waits or self.is_over or len(waits) < len(self.unfinished_calls):
            return None
        kinds = {wait.kind for wait in waits}
        reason, code = next(named for kind, named in WAITS_BY_KIND.items() if kind in kinds)
        since, until = min(wait.began for wait in waits), min(wait.next_look for wait in waits)
        return Delay(reason=reason, code=code, since=since, until=until)

    @property
    def present_wait(self) -> Delay | None:
        """What the session waits for other than people, its time over or not. An outage does not matter while all that
        is open is answered later.
        """
        return self.wait_for_calls or self.delay

    def delay_at(self, now: datetime) -> Delay | None:
        """What the session waits for at that time, other than people. None if its next try has begun, or may begin."""
        wait = self.present_wait
        return wait if wait is not None and wait.is_ahead(now) else None

    @property
    def plan_status(self) -> PlanStatus | None:
        """The plan's status as it is now, or None without a plan. A plan that nobody has closed has the state of its
        session. If the run is over, such a plan has failed, because a run that met its goal would have closed it as
        completed. The same holds for the plan of an idle fork.
        """
        if self.plan is None:
            return None
        if not self.plan.is_live:
            return self.plan.status
        match self.state:
            case "planning" | "waiting_for_user":
                return self.state
            case "completed" | "failed" | "cancelled" | "idle":
                return "failed"
            case _:
                return "executing"

    @property
    def has_left_plan(self) -> bool:
        """Whether the live plan is an earlier run's, and this run has not worked on it."""
        is_live = self.plan is not None and self.plan.is_live
        return (
            is_live
            and self.run is not None
            and self.plan is not None
            and self.run.left_plan == self.plan.version
        )

    @property
    def used_so_far(self) -> UsedBefore:
        """What the session has used in all runs so far."""
        done = self.tally.done
        usage = self.usage
        return UsedBefore(
            tokens=usage.total_tokens,
            cost_usd=usage.cost_usd,
            asked=done.asked,
            waited_ms=done.waited_ms,
            answered=done.answered,
        )

    @property
    def tasks(self) -> tuple[OpenCall, ...]:
        """The calls whose servers work on them by themselves."""
        return tuple(call for call in self.calls if call.task is not None)

    @property
    def unfinished_calls(self) -> tuple[OpenCall, ...]:
        return tuple(call for call in self.calls if call.state != "done")

    @property
    def has_unread_message(self) -> bool:
        """Whether a person has written since the run began and no turn has shown it to the model. The run must not
        complete then: no accepted message is ignored (docs/design/log.md 36).
        """
        began = self.run.goal_id if self.run is not None else ""
        return bool(self.undelivered) and self.undelivered[-1] != began

    @property
    def has_unread_plan_edit(self) -> bool:
        """Whether a person has changed the plan and no turn has shown the model how. What the model asked for before
        does not change the plan any more, and has no effect unless a person has let it run.
        """
        return self.plan_edit in self.undelivered

    def open_call(self, call_id: str) -> OpenCall | None:
        return next((call for call in self.calls if call.call_id == call_id), None)

    def answered_with(self, *ended: EndedCall) -> tuple[EndedCall, ...]:
        """The `answered_calls` once these calls have ended, too."""
        return (*self.answered_calls, *ended)[-MAX_ANSWERED_CALLS:]

    def answered_call(self, call_id: str) -> EndedCall | None:
        """How a call ended that could be answered later. None: it has not ended, or long ago."""
        return next((call for call in reversed(self.answered_calls) if call.call_id == call_id), None)

    def with_call(self, changed: OpenCall) -> "Head":
        calls = tuple(changed if call.call_id == changed.call_id else call for call in self.calls)
        return self.model_copy(update={"calls": calls})
