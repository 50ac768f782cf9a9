"""A session's states and the small head that every commit carries (design §3, §6.1).

The head is all a worker needs besides the conversation: run, plan, budgets, open calls and questions, counters, notes.
Each collection in it is bounded, so that a commit's size does not grow with the session.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from shared.domain.interventions.intervention import Intervention
from shared.domain.plan.plan import ExecutionPlan
from shared.domain.rules.tenant_hour import Lease
from shared.domain.session.conversation import ToolCall
from shared.domain.value import Value


class OpenCall(Value):
    """A call of the last reply. `withheld`: a person has to approve it first, or to say whether it happened;
    `amended`: that person's input, to be run instead of the model's; `tries`: how often a person had it run again;
    `starter`: the attempt that logged the start, so that it knows its own after a lost answer; `approval`: whether a
    person has to let it run, stored with the call itself, so that no way past the question is a way into the tool.
    """

    call_id: str
    name: str
    state: Literal["ready", "withheld", "started", "done"] = "ready"
    amended: dict[str, Any] | None = None
    tries: int = 0
    starter: str = ""
    approval: Literal["", "needed", "given"] = ""

    @property
    def may_act(self) -> bool:
        """Whether it has started and not ended: it runs, or its end is unknown and a person has been asked."""
        return self.state == "started" or (self.state == "withheld" and self.starter != "")


def effective(call: ToolCall, open_call: OpenCall) -> dict[str, Any] | None:
    """The input that runs: a person's amendment, else the model's."""
    return open_call.amended if open_call.amended is not None else call.input


MAX_NOTES = 20
MAX_NOTE_CHARS = 500
MAX_NOTES_CHARS = 4_000
"""Of all notes together."""


class Scratchpad(Value):
    """Oldest note first."""

    notes: Annotated[tuple[str, ...], Field(max_length=MAX_NOTES)] = ()

    def with_note(self, text: str) -> "Scratchpad":
        """The note at the end, cut to its bound; a note that was there already moves there. The oldest make room."""
        note = " ".join(text.split())
        if not note:
            return self
        if len(note) > MAX_NOTE_CHARS:
            note = note[: MAX_NOTE_CHARS - 1] + "…"
        notes = [*(old for old in self.notes if old != note), note][-MAX_NOTES:]
        while sum(map(len, notes)) > MAX_NOTES_CHARS:
            del notes[0]
        return Scratchpad(notes=tuple(notes))

    @property
    def text(self) -> str:
        """For the end of a request; empty where nothing was noted. A note is one line, so none can pose as more."""
        if not self.notes:
            return ""
        return "\n".join(["Your notes of this session:", *(f"- {note}" for note in self.notes)])


HEAD_VERSION = 1
MAX_GOAL_CHARS = 1_000
"""The head quotes so much of the goal; the whole of it is the run's first message."""
BYTES_PER_TOKEN = 3.0
"""Before a call has shown better; English has about 4, so that estimates are rather too high than too low."""
MAX_ANSWER_CHARS = 4_000
MAX_UNDELIVERED = 20
MAX_CALLS = 16
"""Calls of one reply that run; more are answered with an error (bounds the head)."""

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
    """A bug of ours: the table above does not have this change."""


class Restarts(Value):
    """How often the engine had to be started again in `turn`, without anybody having been asked."""

    turn: int = 0
    count: int = 0


class Run(Value):
    """One goal's work. `iteration` counts Think turns; `turn` counts the engine's steps, planning ones too, and is
    part of their commit keys; `first` is the number of the commit the current turn began with; `generation` is the
    engine execution that may commit; `events` bounds that execution's history from above. `goal_id` is the message
    that began it.
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


class Usage(Value):
    """`input_tokens` includes the cached ones. `cost_usd` None: some call's model has no known price."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    llm_calls: int = 0
    tool_calls: int = 0
    cost_usd: float | None = 0.0

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Budget(Value):
    """`vanished_tokens`: charged for attempts that died and may have been paid for; no step of the log has them.
    `charged_usd`: what calls with a known price came to, and those of a fallback without one at the first model's.
    `bytes_per_token`: what the last call showed, for estimating the next.
    """

    token_budget: int
    cost_budget_usd: float | None = None
    vanished_tokens: int = 0
    charged_usd: float = 0.0
    warned: bool = False
    bytes_per_token: float = BYTES_PER_TOKEN


class Result(Value):
    """`answer` is bounded like the goal; the whole of it is the last assistant message, `message_id`, behind the one
    that message goes on with, if there is one.
    """

    goal_met: bool
    answer: str | None
    reason: str
    message_id: str | None = None


class Failure(Value):
    code: str
    message: str


class Wait(Value):
    """The engine's task token while it waits for people; it never leaves the server side (design §8). `entered`: when
    the engine came to the wait, `attempt`: its retry count there; a wait of the previous release tells neither.
    """

    token: str
    entered: datetime | None = None
    attempt: int = 0

    def is_before(self, other: "Wait") -> bool:
        """Whether the engine has left this wait for the other one."""
        if self.entered is None or other.entered is None:
            return False
        return (self.entered, self.attempt) < (other.entered, other.attempt)


class Progress(Value):
    """Counters of §5; stored, so that a crash cannot reset them. Calls and replies are known by fingerprint
    (`shared.domain.rules.loop_detection`); `rung` is how far up the ladder of being stuck the run is.
    """

    text_replies: int = 0
    planning_attempts: int = 0
    provider_waits: int = 0
    cut_offs: int = 0
    """Replies in a row that were cut off at their length limit."""
    continues: str | None = None
    """The message that the next reply was asked to go on with; empty: none. None: the release before wrote it, or no
    turn was made yet."""
    hint: str = ""
    """What the next turn's tail tells the model, once."""
    last_reply: str = ""
    same_replies: int = 0
    idle_turns: int = 0
    succeeded: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    window: tuple[str, ...] = ()
    rung: int = 0


class Head(Value):
    """`compacted_at`: the number of the last compaction's commit, where a conversation is read from; 0: none."""

    version: int = HEAD_VERSION
    tenant: str
    session_id: str
    agent_id: str
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
    """The last thing a session's log says; what follows is its removal."""
    wait: Wait | None = None
    lease: Lease | None = None
    compacted_at: int = 0

    @property
    def coarse(self) -> CoarseState:
        match self.state:
            case "planning" | "executing" | "waiting_for_tool":
                return "active"
            case other:
                return other

    @property
    def is_over(self) -> bool:
        return self.state in TERMINAL

    @property
    def unfinished_calls(self) -> tuple[OpenCall, ...]:
        return tuple(call for call in self.calls if call.state != "done")

    @property
    def owes_an_answer(self) -> bool:
        """Somebody has written since the run began, and no turn has delivered it: the run may not complete (§6.6)."""
        began = self.run.goal_id if self.run is not None else ""
        return bool(self.undelivered) and self.undelivered[-1] != began

    def open_call(self, call_id: str) -> OpenCall | None:
        return next((call for call in self.calls if call.call_id == call_id), None)

    def with_call(self, changed: OpenCall) -> "Head":
        calls = tuple(changed if call.call_id == changed.call_id else call for call in self.calls)
        return self.model_copy(update={"calls": calls})
