"""A commit: one numbered entry of a session's log, with its events and the head after them (docs/design/log.md, api.md
40). `Change` is the next commit while it is being built.
"""

from collections.abc import Mapping, Set
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, TypeVar

from acta.engine.limits.shares import LeaseChange
from acta.engine.log.conversation import Compacted, Content, Entry, UserEntry
from acta.engine.log.events import (
    QUOTED_CHARS,
    Event,
    EventData,
    QuestionOpened,
    RunFinished,
    StateChanged,
    UserMessage,
)
from acta.engine.log.head import TRANSITIONS, Head, IllegalTransition, OpenCall, SessionState
from acta.engine.people.intervention import Intervention, is_hold, is_pause
from acta.engine.recovery.outage import DELAY_REASONS, Delay
from acta.engine.store.schema import StoredModel, VersionedModel
from acta.engine.usage.tally import Tally

NextState = Literal["plan", "think", "act", "ask", "wait", "roll_over", "done", "failed"]


class Position(StoredModel):
    """The point in the run that the engine has reached. The state machine carries only this and the decision."""

    tenant: str
    session_id: str
    run_id: str
    generation: int
    turn: int
    first: int
    """The number of the commit that this turn began with. Workers read the log from there."""

    def key(self, kind: str) -> str:
        """The commit key for this turn and `kind` (`plan`, `think`, `ask`, …)."""
        return f"{self.run_id}/{self.generation}/{self.turn}/{kind}"

    def call_key(self, call_id: str, kind: str) -> str:
        """The commit key for the start or the finish of a call. It is the same in every generation."""
        return f"{self.run_id}/{call_id}/{kind}"


class Decision(StoredModel):
    """What the engine does next.

    `calls`: for `act`, the ids of the calls to run. `wait_seconds` and `then`: for `wait`, how long
    (`wait_out` in `acta/engine/recovery/wait_out.py`), and the state after it. `wake_at`: for `ask`, seconds
    since 1970 at which a warning or an expiry is due (`wait_decision` in `acta/engine/turn/engine.py`);
    empty: none is.
    """

    next: NextState
    at: Position
    calls: tuple[str, ...] | None = None
    wait_seconds: int | None = None
    then: Literal["plan", "think"] | None = None
    wake_at: tuple[int, ...] | None = None

    def to_engine(self) -> dict[str, object]:
        """The JSON object that the state machine gets. Fields that are None are left out."""
        return self.model_dump(mode="json", exclude_none=True)


class StepRecord(StoredModel):
    """A row of the step log. Tokens are 0 if no model was called."""

    step_number: int
    kind: Literal["plan", "llm", "judge", "tool", "intervention"]
    name: str | None = None
    """The model, the tool, or the type of the intervention."""
    started_at: datetime
    completed_at: datetime
    duration_ms: int
    attempt: int = 0
    """The engine's retry count."""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    cost_usd: float | None = 0.0
    """None if the model's price is unknown."""
    error: str | None = None
    """The code of what failed."""
    estimated_tokens: int = 0
    """Tokens charged for an attempt that returned no usage: what was reserved for it. Below 0 in the row of an attempt
    that was charged in this way and has answered after all."""
    estimated_cost_usd: float = 0.0
    """The same in US dollars."""
    fused: bool = False
    """The worker went on to this step by itself, without a state of the engine in between (ADR 57)."""


def milliseconds(start: datetime, end: datetime) -> int:
    """The milliseconds between two times; 0 where the clocks of two machines make it negative."""
    return max(0, round((end - start).total_seconds() * 1000))


class Commit(VersionedModel):
    """One numbered entry of a session's log."""

    number: int
    """1, 2, 3, … in the session, without gaps."""
    key: str
    """What was committed, for example the reply of a turn. It is unique in the session, and every attempt at the same
    thing has the same key.
    """
    at: datetime
    head: Head
    """The session's whole state after this commit."""
    events: tuple[Event, ...] = ()
    entries: tuple[Entry, ...] = ()
    """Replies and results join the conversation in this order. A user's entry joins it later, with the commit that
    names the message in `delivered`.
    """
    delivered: tuple[str, ...] = ()
    """Ids of the users' messages that join the conversation with this commit."""
    step: StepRecord | None = None
    decision: Decision | None = None
    """What the engine does next. A repeated attempt returns it unchanged."""
    compacted: Content | None = None
    """A `Compacted` as JSON: the conversation from this commit on."""
    failed_attempts: tuple[StepRecord, ...] = ()
    """Rows of the step log before `step`: attempts at the same step that failed."""


KEY_LIFE = timedelta(hours=24)
"""How long an idempotency key is known."""


class IdempotencyRecord(NamedTuple):
    """How a POST with this key was answered, and the hash of the body that it came with."""

    tenant: str
    route: str
    key: str
    body_hash: str
    status: int
    answer: Mapping[str, Any]
    """The whole answer, or the session that the request is about."""
    expires_at: datetime
    commit: int | None = None
    """The number of the commit that the request made. A repeat of the request is answered from that commit, in the
    session that `answer` names, or with `answer` alone once the session is deleted. Requests about definitions make no
    commit.
    """


class IdempotencyKey(NamedTuple):
    """A POST that may be sent again."""

    tenant: str
    route: str
    """Method and concrete path: the same key for two sessions means two requests."""
    key: str
    """The header's value and the sender: the same key from two people means two requests."""
    body_hash: str
    """SHA-256 of the raw bytes: `{"a":1}` and `{ "a": 1 }` are two bodies."""
    status: int
    """The HTTP status of the answer if the request succeeds."""

    def record(
        self, answer: Mapping[str, Any], now: datetime, commit: int | None = None
    ) -> IdempotencyRecord:
        return IdempotencyRecord(*self, answer, now + KEY_LIFE, commit)


Told = TypeVar("Told", bound=EventData)


class Change:
    """What one attempt at a commit changes: the head, and the events and entries that go with it. A use case fills it
    and calls `commit`; the loop that it comes from stores it (`SessionRepository.attempts`).

    Every use case builds its commits in this way. So one place checks that state changes are legal, numbers events
    without gaps and keeps the head's counters right.
    """

    def __init__(self, head: Head, number: int, now: datetime) -> None:
        self.head = head
        """The newest head when the attempt began, and from then on the changed one."""
        self.number = number
        """The number of the commit."""
        self.now = now
        """The time of the commit."""
        self.is_fused = False
        """Whether the worker makes this turn or call after others, in the same state of the engine."""
        self.has_waited = False
        """Whether the time of this change's step has passed without a worker, because its call was answered later."""
        self.is_wanted = False
        """Whether `commit` was called: without it nothing is stored."""
        self.decision: Decision | None = None
        self.delivered: tuple[str, ...] = ()
        self.idempotency: IdempotencyKey | None = None
        self.leases: tuple[LeaseChange, ...] = ()
        self.starts = False
        self._before = head
        self._events: list[tuple[EventData, int | None]] = []
        self._entries: list[Entry] = []
        self._step: StepRecord | None = None
        self._failed_attempts: list[StepRecord] = []
        self._interventions: dict[str, Intervention] = {}
        self._compacted: Content | None = None

    def set(self, **fields: Any) -> None:
        """Replaces fields of the head."""
        self.head = self.head.model_copy(update=fields)

    def set_progress(self, **fields: Any) -> None:
        """Replaces fields of the run's progress."""
        self.set(progress=self.head.progress.model_copy(update=fields))

    def set_call(self, open_call: OpenCall, **fields: Any) -> None:
        """Replaces fields of a call."""
        self.set(calls=self.head.with_call(open_call.model_copy(update=fields)).calls)

    def to_state(self, state: SessionState, reason: str | None = None) -> None:
        """Changes the session's state and adds the event. Does nothing where state and reason are the same already.

        Raises IllegalTransition.
        """
        before = self.head.state
        if before == state and self.head.state_reason == reason:
            return
        if before != state and state not in TRANSITIONS[before]:
            raise IllegalTransition(f"{before} -> {state}")
        self.set(state=state, state_reason=reason)
        self.event(StateChanged(before=before, to=state, reason=reason))

    def begin_wait(self, delay: Delay) -> None:
        """The session begins to wait for something other than people. Its state stays, and each wait has an event.
        While people are asked, the state's reason stays what they are asked."""
        self.set(delay=delay)
        self.tell_wait(delay)

    def tell_wait(self, delay: Delay) -> None:
        """Adds the event of a wait that is not for people, and makes it the state's reason unless people are asked."""
        state, now = self.head.state, self.now
        reason = self.head.state_reason if state == "waiting_for_user" else delay.reason
        self.set(state_reason=reason)
        ends = delay.told_until
        self.event(
            StateChanged(
                before=state,
                to=state,
                reason=reason,
                code=delay.code,
                retry_at=ends.isoformat() if ends is not None else None,
                wait_seconds=delay.seconds_left(now) if ends is not None else None,
            )
        )

    def end_wait(self, trying: Delay | None = None) -> None:
        """Ends a wait that is not for people. `trying`: the wait, if its next try is made before its time."""
        if self.head.delay != trying:
            self.set(delay=trying)
        if self.head.state_reason in DELAY_REASONS:
            self.to_state(self.head.state)

    def end_outage(self) -> None:
        """The work goes on: what has failed before is forgotten."""
        if self.head.outage is not None:
            self.set(outage=None)
        self.end_wait()

    def first_state(self, state: SessionState) -> None:
        """Sets the state of a new session and adds the event. Raises IllegalTransition."""
        if state not in TRANSITIONS[None]:
            raise IllegalTransition(f"new -> {state}")
        self.set(state=state)
        self.event(StateChanged(before=None, to=state, reason=None))

    def event(self, event: EventData) -> None:
        """Adds an event. It carries the number of the step that this change has taken, if it has."""
        if self.is_fused and "fused" in event.fields():
            event = type(event)(**{**vars(event), "fused": True})
        self._events.append((event, self._step.step_number if self._step else None))

    def newest(self, type: type[Told]) -> Told | None:
        """This change's newest event of that type."""
        return next((event for event, _ in reversed(self._events) if isinstance(event, type)), None)

    def entry(self, entry: Entry) -> None:
        """Adds an entry to the conversation."""
        self._entries.append(entry)

    def words_of(self, user: str, roles: Set[str]) -> None:
        """Notes that the agent gets words of this person. From now on, this person counts among those who asked for
        what the agent does (docs/design/people.md 28). `roles`: those in the person's token.

        Raises Conflict where too many people would have written.
        """
        self.head = self.head.with_writer(user, roles)

    def user_message(self, message_id: str, text: str, by: str, roles: Set[str]) -> None:
        """Adds a person's message. It is in the log at once, and in the conversation when a turn delivers it: messages
        stand in the order in which the model saw them (docs/design/log.md 35). `by`, `roles`: the person's subject and
        roles. Raises Conflict where too many people would have written.
        """
        self.words_of(by, roles)
        content = Content.of(text)
        self.entry(UserEntry(message_id=message_id, content=content))
        self.event(
            UserMessage(message_id=message_id, beginning=text[: 2 * QUOTED_CHARS])
            if content.is_large
            else UserMessage(message_id=message_id)
        )
        self.set(
            undelivered=(*self.head.undelivered, message_id),
            progress=self.head.progress.model_copy(update={"text_replies": 0}),
        )

    def compact(self, compacted: Compacted) -> None:
        """Replaces the conversation by `compacted`, from this commit on."""
        self._compacted = Content.of(compacted.model_dump_json())
        self.set(compacted_at=self.number)

    @property
    def interventions(self) -> tuple[Intervention, ...]:
        """The interventions that this change opened, replaced or closed. Their items are written with the commit. The
        pause of a session above has none: nobody is asked about it here.
        """
        return tuple(one for one in self._interventions.values() if not is_hold(one))

    def open_intervention(self, opened: Intervention) -> None:
        """Adds an intervention to the head, and its event. It is for those who may see the session, and for whoever may
        decide it.
        """
        head = self.head
        opened = opened.model_copy(
            update={
                "private_to": head.private_to,
                "agent_name": head.shown_agent,
                "chain": () if head.parent is None else head.parent.chain,
            }
        )
        self._interventions[opened.intervention_id] = opened
        self.set(interventions=(*self.head.interventions, opened))
        self._lead(opened)
        if is_hold(opened):
            return
        tool = {"tool": opened.tool_call.name} if opened.tool_call is not None else {}
        self.event(QuestionOpened(intervention_id=opened.intervention_id, question=opened.type, **tool))

    def replace_intervention(self, changed: Intervention) -> None:
        """Replaces an open intervention by `changed`, which has the same id and is still open."""
        self._interventions[changed.intervention_id] = changed
        same = changed.intervention_id
        self.set(
            interventions=tuple(changed if i.intervention_id == same else i for i in self.head.interventions)
        )

    def close_intervention(self, closed: Intervention) -> None:
        """Takes an intervention out of the head. `closed`: the same, resolved, expired or withdrawn. Adds no event."""
        self._interventions[closed.intervention_id] = closed
        self.set(
            interventions=tuple(
                i for i in self.head.interventions if i.intervention_id != closed.intervention_id
            )
        )
        self._lead(closed)

    def _lead(self, one: Intervention) -> None:
        """Notes that the sessions below have to follow this one, where a pause of it begins or ends."""
        if is_pause(one) and not is_hold(one):
            self.set(leads_family=bool(self.head.children_at_work))

    @property
    def next_step(self) -> int:
        """The number of the next row of the step log."""
        return self.head.last_step + 1

    def step(self, step: StepRecord) -> None:
        """Adds the step of this change to the step log. Events added from now on carry its number."""
        self._step = step.model_copy(update={"fused": True}) if self.is_fused else step
        self.set(last_step=step.step_number)

    def failed_attempt(self, attempt: StepRecord) -> None:
        """Adds the row of an attempt that failed to the step log, before the step of this change."""
        self._failed_attempts.append(attempt)
        self.set(last_step=attempt.step_number)

    def commit(
        self,
        decision: Decision | None = None,
        *,
        delivered: tuple[str, ...] = (),
        idempotency: IdempotencyKey | None = None,
        leases: tuple[LeaseChange, ...] = (),
        starts: bool = False,
    ) -> None:
        """Asks for this change to be stored, and says what goes with it. Nothing may be added afterwards.

        `decision`: what the engine does next. `delivered`: ids of the users' messages that join the conversation.
        `idempotency`: the key of the request that is carried out; its record is written in the same transaction.
        `leases`: tokens of the tenant's hour and dollars of its day, granted in the same transaction. `starts`: the
        change begins a run or makes a session, which the tenant's limits may forbid.
        """
        self.is_wanted = True
        self.decision = decision
        self.delivered = delivered
        self.idempotency = idempotency
        self.leases = leases
        self.starts = starts

    def as_commit(self, key: str) -> Commit:
        """The commit that is stored. `key`: unique in the session, the same for each attempt at the same thing."""
        events = tuple(
            Event(seq=seq, at=self.now, type=event.type, step_number=step, data=event.stored())
            for seq, (event, step) in enumerate(self._events, start=self.head.last_seq + 1)
        )
        head = self.head.model_copy(
            update={
                "last_seq": self.head.last_seq + len(events),
                "updated_at": self.now,
                "tally": self._tally(),
            }
        )
        return Commit(
            number=self.number,
            key=key,
            at=self.now,
            head=head,
            events=events,
            entries=tuple(self._entries),
            delivered=self.delivered,
            step=self._step,
            decision=self.decision,
            compacted=self._compacted,
            failed_attempts=tuple(self._failed_attempts),
        )

    def _tally(self) -> Tally:
        tally, types = self.head.tally, {event.type for event, _ in self._events}
        for event, _ in self._events:
            tally = tally.plus(**{event.counted: 1}) if event.counted else tally
            tally = tally.with_end(event.end) if isinstance(event, RunFinished) else tally
        before, run = self._before.run, self.head.run
        goes_on = before is not None and run is not None and before.run_id == run.run_id
        more = {
            "calling_turns": "tool.requested" in types,
            "first_writes": "tool.started" in types and "tool.finished" not in types,
            "waits": self.decision is not None and self.decision.next == "wait",
            "executions": goes_on and before.generation < run.generation,  # type: ignore[union-attr]
        }
        tally, finished = tally.with_closed(self.interventions), self.newest(RunFinished)
        if finished is not None and finished.state == "completed" and run is not None:
            before_run = 0 if run.before is None else run.before.answered
            more["unaided"] = tally.done.answered == before_run
        return tally.plus(**more, **self._engine_work())

    def _engine_work(self) -> dict[str, int]:
        """What the step of this commit adds to the tally. Time in which a provider answers in the background or a
        tool's server works on a task is not added, because no function waits meanwhile."""
        step = self._step
        if step is None or step.kind == "intervention":
            return {}
        if step.kind == "tool":
            took = 0 if self._before.tasks or self.has_waited else step.duration_ms
            return {"fused_calls": 1, "step_ms": took} if step.fused else {"tool_ms": took}
        took = 0 if self._before.background is not None else step.duration_ms
        return {"fused_turns": int(step.fused), "step_ms": took}
