"""A session's states, and its head: the small document in every commit (design §3, §6.1).

The head has all that a worker needs besides the conversation: run, plan, budgets, open calls, open interventions,
counters and notes. Each collection in it has a limit, so that a commit's size does not grow with the session.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from acta_engine.errors import Conflict
from acta_engine.limits.hour import Lease
from acta_engine.log.conversation import ToolCall
from acta_engine.people.intervention import Intervention
from acta_engine.plans.plan import ExecutionPlan, PlanStatus
from acta_engine.recovery.outage import Delay, Outage
from acta_engine.store.stored_model import StoredModel, VersionedModel
from acta_engine.tools.mcp.server_task import ServerTask, ToolQuestion
from acta_engine.untrusted.visible import visible
from acta_engine.usage.tally import Tally

FRESH_GENERATIONS = 1_000_000
"""So many generations are left out where a table was restored to an earlier time. Those in between may have begun in
the time that is forgotten.
"""


class OpenCall(StoredModel):
    """A call of the last reply.

    State `withheld`: a person must approve the call first, or must say whether it had its effect.
    `amended`: the input that a person gave; it runs instead of the model's.
    `tries`: how often a person had the call run again, or its start was taken back because nothing had run.
    `starter`: the attempt that logged the start. After a lost answer that attempt recognises the start as its own.
    In state `ready` it is the last attempt whose start was taken back: its `tool.started` has been told.
    `approval`: whether a person must approve the call. It stands here, beside the intervention, so that an intervention
    that is gone for another reason never lets the call run.
    `asked`: what the tool's server asks a person in the middle of the call, and what it is answered.
    `task`: what the server works on by itself since it has answered the call; such a call has started.
    `tool_written`: the definition that the turn worked with (`ToolDefinition.written`); empty: the tool is built in.
    """

    call_id: str
    name: str
    state: Literal["ready", "withheld", "started", "done"] = "ready"
    amended: dict[str, Any] | None = None
    tries: int = 0
    starter: str = ""
    approval: Literal["", "needed", "given"] = ""
    tool_written: str = ""
    asked: ToolQuestion | None = None
    task: ServerTask | None = None

    @property
    def is_in_flight(self) -> bool:
        """Whether the call may still have its effect: it runs, or a person is asked because its end is unknown."""
        is_known_to_have_begun = self.starter != "" or self.task is not None
        return self.state == "started" or (self.state == "withheld" and is_known_to_have_begun)


def input_to_run(call: ToolCall, open_call: OpenCall) -> dict[str, Any] | None:
    """The input that a person gave, else the model's. None: the model's is no JSON object."""
    return open_call.amended if open_call.amended is not None else call.input


MAX_NOTES = 20
MAX_NOTE_CHARS = 500
MAX_NOTES_CHARS = 4_000
"""All notes together."""


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
Visibility = Literal["private", "tenant"]
CoarseState = Literal["idle", "active", "waiting_for_user", "completed", "failed", "cancelled"]

TRANSITIONS: dict[SessionState | None, frozenset[SessionState]] = {
    None: frozenset({"idle", "planning"}),
    "idle": frozenset({"planning", "cancelled"}),
    "planning": frozenset({"executing", "waiting_for_user", "failed", "cancelled"}),
    "executing": frozenset({"waiting_for_tool", "waiting_for_user", "completed", "failed", "cancelled"}),
    "waiting_for_tool": frozenset({"executing", "waiting_for_user", "failed", "cancelled"}),
    "waiting_for_user": frozenset(
        {"planning", "executing", "waiting_for_tool", "completed", "failed", "cancelled"}
    ),
    "completed": frozenset({"planning"}),
    "failed": frozenset({"planning", "executing"}),
    "cancelled": frozenset({"planning"}),
}

TERMINAL: frozenset[SessionState] = frozenset({"completed", "failed", "cancelled"})


class IllegalTransition(ValueError):
    """A bug: `TRANSITIONS` does not have this change of state."""


class Restarts(StoredModel):
    """How often recovery has started the engine again in `turn` without asking a person."""

    turn: int = 0
    count: int = 0


class UsedBefore(StoredModel):
    """What the session had used when a run began: what the run itself uses is the difference.

    `tokens`: input and output. `cost_usd` None: it was not known. `asked`, `waited_ms`: as in `Done`.
    """

    tokens: int = 0
    cost_usd: float | None = 0.0
    asked: int = 0
    waited_ms: int = 0


class Run(StoredModel):
    """The work on one goal.

    `generation`: the engine's execution that may commit. `iteration`: counts Think turns. `turn`: counts all turns,
    planning ones too, and is part of their commit keys. `first`: the number of the commit that the current turn began
    with. `events`: an upper bound of the events in the execution's history. `goal_id`: the id of the message that began
    the run. `max_steps`: `Head.max_steps`; a message that comes at the limit raises it (`_grant_steps` in
    `shared/acta_engine/turn/turn.py`). `before`: what the session had used before; None: it is the session's first
    run. `parked`: the generation has no execution; it is started when somebody
    decides, or when the time comes (`shared/acta_engine/turn/engine_decision.py`).
    """

    run_id: str
    generation: int = 1
    iteration: int = 0
    turn: int = 1
    first: int
    max_steps: int
    events: int = 0
    goal_id: str = ""
    restarts: Restarts = Field(default_factory=Restarts)
    before: UsedBefore | None = None
    parked: bool = False


class Usage(StoredModel):
    """What the session has used. `input_tokens` includes `cached_input_tokens`. `cost_usd` None: the price of at least
    one call is unknown.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    llm_calls: int = 0
    tool_calls: int = 0
    cost_usd: float | None = 0.0

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Budget(StoredModel):
    """Limits, and what is charged to them. `token_budget`: of a window of time, which begins with the first call after
    the window before has ended.

    `window_ends`: of the running window; None: none has begun. `window_base`: tokens charged before it.
    `charged_tokens`: the tokens of all answered calls, input from the cache at its price relative to fresh input.
    `vanished_tokens`: charged for attempts that gave no usage and may have to be paid for, at what was reserved for
    them; the step log has them as estimated. `charged_usd`: the cost of all calls with a known price, those attempts
    included. A fallback model without a known price is charged at the price of the first model. `warned`: whether the
    warning was given. `bytes_per_token`: measured in the last call, to estimate the next. `settled`: ids of the
    attempts of the last marker that a commit has charged, the last one last.
    """

    token_budget: int
    cost_budget_usd: float | None = None
    vanished_tokens: int = 0
    charged_usd: float = 0.0
    warned: bool = False
    bytes_per_token: float = BYTES_PER_TOKEN
    settled: tuple[str, ...] = ()
    charged_tokens: int = 0
    window_ends: datetime | None = None
    window_base: int = 0


class Result(StoredModel):
    """How the run ended. `answer`: the beginning of the answer, at most `MAX_ANSWER_CHARS`. `message_id`: the message
    that has the complete answer; if that message continues another one, the answer is both, one after the other.
    `answer_data`: its JSON value, whole, where the session has an output schema and the answer fits it; else None.
    """

    goal_met: bool
    answer: str | None
    reason: str
    message_id: str | None = None
    answer_data: Any = None

    @classmethod
    def of(
        cls, answer: str | None, *, goal_met: bool, reason: str, message_id: str, data: Any = None
    ) -> "Result":
        """Of a long answer the beginning is kept, of its value all."""
        if answer is not None and len(answer) > MAX_ANSWER_CHARS:
            answer = answer[: MAX_ANSWER_CHARS - 1] + "…"
        return cls(goal_met=goal_met, answer=answer, reason=reason, message_id=message_id, answer_data=data)


class Failure(StoredModel):
    code: str
    message: str


class Ending(StoredModel):
    """How the run ends: `result` of a completed run, `error` of a failed one."""

    result: Result | None = None
    error: Failure | None = None


class Wait(StoredModel):
    """The engine's task token while it waits for people. The token never leaves the server (design §8).

    `entered`: when the engine entered the wait. `attempt`: the engine's retry count.
    """

    token: str
    entered: datetime
    attempt: int = 0

    def is_before(self, other: "Wait") -> bool:
        """Whether the engine entered this wait before `other`, and so has left it."""
        return (self.entered, self.attempt) < (other.entered, other.attempt)


class Progress(StoredModel):
    """The counters that decide whether a run goes on or is stuck. They are stored, so that a crash cannot reset them
    (design §5).

    `text_replies`: replies in a row without a call; bounded in `shared/acta_engine/turn/next_action.py`.
    `planning_attempts`: failed ones in the current planning; bounded in `shared/acta_engine/turn/turn.py`.
    `last_reply`, `succeeded`, `failed`, `window`: fingerprints of replies and calls, as
    `acta_engine.turn.loop_detection` makes them. `rung`: how often the run was found stuck since it last made
    progress, which decides between hint, question and failure.
    """

    text_replies: int = 0
    planning_attempts: int = 0
    cut_offs: int = 0
    """Replies in a row that were cut off at their length limit: `shared/acta_engine/turn/reply.py`."""
    continues: str = ""
    """The id of the cut-off message that the next reply is asked to continue; empty: none."""
    hint: str = ""
    """A text for the model, at the end of the next request only: `hint` in `shared/acta_engine/turn/prompt.py`, or a
    person's.
    """
    last_reply: str = ""
    same_replies: int = 0
    idle_turns: int = 0
    succeeded: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    window: tuple[str, ...] = ()
    rung: int = 0
    wrong_answers: int = 0
    """Final answers of the run that did not fit the session's schema; bounded in `next_action.py`."""


class RunningResponse(StoredModel):
    """An answer that the model's provider makes in the background. It is stored before the engine waits, so that a
    worker that dies loses no answer that has to be paid for.

    `place`: as of `place_of` in `shared/acta_engine/turn/kept_replies.py`. `attempt_id`: of the attempt that began it.
    `delivered`: ids of the users' messages that its request showed. `bytes`: of its request.
    """

    response_id: str
    place: str
    attempt_id: str
    provider: str
    model: str
    started: datetime
    delivered: tuple[str, ...] = ()
    bytes: int = 0


class ForkedFrom(StoredModel):
    """The session whose conversation a fork began with, up to the event `seq`."""

    session_id: str
    seq: int


class Head(VersionedModel):
    """A session's state after a commit.

    `agent_name`: what the agent was called when the session began. It stands here because listings and polls then show
    it without a read of the agent, which may be deleted since. `goal`: its beginning, at most `MAX_GOAL_CHARS`.
    `review_every`: turns between two reviews by a person; 0: none. `max_steps`: of each run. It, `review_every` and the
    limits in `budget` are chosen in `shared/acta_engine/sessions/start_routes.py`. `last_seq`, `last_step`: the
    highest numbers in use. `undelivered`: ids of users' messages that no turn has shown to the model yet, oldest
    first. `compacted_at`: the number of the commit with the last compaction, from where the conversation is read; 0:
    none. `held`: how the run ends once its pause is lifted; None: it does not end then. `writers`: the subjects of
    those whose words the agent has been given, beside `created_by`. `read_outside`: whether the agent has been given a
    text from outside in this session. `visibility`: who may see the session, from its start on; a private one is its
    owner's, who is `created_by`.
    """

    tenant: str
    session_id: str
    agent_id: str
    agent_name: str = ""
    created_by: str
    state: SessionState
    state_reason: str | None = None
    goal: str = ""
    created_at: datetime
    updated_at: datetime
    run: Run | None = None
    plan: ExecutionPlan | None = None
    usage: Usage = Field(default_factory=Usage)
    budget: Budget
    interventions: tuple[Intervention, ...] = ()
    result: Result | None = None
    error: Failure | None = None
    metadata: dict[str, str] = Field(default_factory=dict)
    review_every: int = 0
    max_steps: Annotated[int, Field(ge=1)]
    last_seq: int = 0
    last_step: int = 0
    calls: tuple[OpenCall, ...] = ()
    undelivered: tuple[str, ...] = ()
    progress: Progress = Field(default_factory=Progress)
    scratchpad: Scratchpad = Field(default_factory=Scratchpad)
    deleted: bool = False
    """Set by the session's last commit, before its content is removed."""
    wait: Wait | None = None
    lease: Lease | None = None
    compacted_at: int = 0
    held: Ending | None = None
    outage: Outage | None = None
    """What has failed since the last reply or finished call; None: nothing has."""
    delay: Delay | None = None
    """What the session waits for beside people, or has waited for until the turn that now runs; None: nothing."""
    writers: Annotated[tuple[str, ...], Field(max_length=MAX_WRITERS)] = ()
    read_outside: bool = False
    visibility: Visibility = "tenant"
    plan_edit: str = ""
    """The id of the message that tells the model what a person has changed in the plan last; empty: nobody has."""
    tally: Tally = Field(default_factory=Tally)
    """What the session has done, in counts."""
    background: RunningResponse | None = None
    """The answer that the run waits for, or that its provider still has to be told to end; None: there is none."""
    counted: bool = False
    """It is one of its tenant's open sessions (ADR 65). Set by the repository, in the transaction that counts it."""
    forked_from: ForkedFrom | None = None
    prompts: dict[str, int] = Field(default_factory=dict)
    """Versions of managed prompts that an admin tries in this session, by name; of the others that in force holds."""
    output_schema: str = ""
    """The JSON Schema, as compact JSON, that the final answers of all runs have to fit; empty: they are free text."""

    @property
    def private_to(self) -> str | None:
        """The owner of a private session; None: it is the tenant's."""
        return self.created_by if self.visibility == "private" else None

    @property
    def quotation_key(self) -> str:
        """An id that no tool and no model gets, nor what they reach: who writes what is quoted does not know it."""
        return self.run.run_id if self.run is not None else self.session_id

    @property
    def askers(self) -> frozenset[str]:
        """The subjects of those who asked for what the agent does."""
        return frozenset((self.created_by, *self.writers))

    def with_writer(self, user: str) -> "Head":
        """Raises Conflict where more people would have written than are kept: none of them is forgotten."""
        if user in self.askers:
            return self
        if len(self.writers) >= MAX_WRITERS:
            raise Conflict(f"{MAX_WRITERS} people have written to this session already. Start another one.")
        return self.model_copy(update={"writers": (*self.writers, user)})

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
        """A run is under way or waits, for whatever it is."""
        return self.coarse_state in ("active", "waiting_for_user") and not self.deleted

    def delay_at(self, now: datetime) -> Delay | None:
        """What the session waits for at that time beside people; None: nothing, be its next try still on its way."""
        return self.delay if self.delay is not None and self.delay.is_ahead(now) else None

    @property
    def plan_status(self) -> PlanStatus | None:
        """The plan's status as it is now; None: there is no plan. One that nobody closed is where its session is. It
        has failed while its run is over, also where that was the run of the session that an idle one was forked from: a
        run that met its goal has closed its plan as completed.
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
    def used_so_far(self) -> UsedBefore:
        """In all runs."""
        done = self.tally.done
        usage = self.usage
        return UsedBefore(
            tokens=usage.total_tokens, cost_usd=usage.cost_usd, asked=done.asked, waited_ms=done.waited_ms
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
        complete then: no accepted message is ignored (design §6.6).
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

    def with_call(self, changed: OpenCall) -> "Head":
        calls = tuple(changed if call.call_id == changed.call_id else call for call in self.calls)
        return self.model_copy(update={"calls": calls})
