"""A commit while it is being built: the changed head, and the events and entries that go with it.

Every use case builds its commits with `Change`. So one place checks that state changes are legal, numbers events
without gaps and keeps the head's counters right.
"""

from datetime import datetime
from typing import Any, TypeVar

from acta_engine.limits.hour import LeaseChange
from acta_engine.log.commit import Commit, Decision, IdempotencyKey, StepRecord
from acta_engine.log.conversation import Compacted, Content, Entry, UserEntry
from acta_engine.log.events import (
    Event,
    EventData,
    QuestionOpened,
    RunFinished,
    StateChanged,
    UserMessage,
)
from acta_engine.log.head import TRANSITIONS, Head, IllegalTransition, SessionState
from acta_engine.people.intervention import Intervention
from acta_engine.recovery.outage import DELAY_REASONS, Delay
from acta_engine.usage.tally import Tally

Told = TypeVar("Told", bound=EventData)


class Change:
    """What one attempt at a commit changes. A use case fills it and calls `commit`; the loop that it comes from stores
    it (`SessionRepository.attempts`).
    """

    def __init__(self, head: Head, number: int, now: datetime) -> None:
        self.head = head
        """The newest head when the attempt began, and from then on the changed one."""
        self.number = number
        """Of the commit."""
        self.now = now
        """The time of the commit."""
        self.is_fused = False
        """The worker makes this turn or call after others, in the same state of the engine."""
        self.is_wanted = False
        """Whether `commit` was called: without it nothing is stored."""
        self.decision: Decision | None = None
        self.delivered: tuple[str, ...] = ()
        self.idempotency: IdempotencyKey | None = None
        self.lease: LeaseChange | None = None
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
        """The session waits: its state stays, and each wait has an event. While people are asked, what they are asked
        stays the reason.
        """
        state, now = self.head.state, self.now
        reason = self.head.state_reason if state == "waiting_for_user" else delay.reason
        self.set(delay=delay, state_reason=reason)
        self.event(
            StateChanged(
                before=state,
                to=state,
                reason=reason,
                code=delay.code,
                retry_at=delay.until.isoformat() if delay.until is not None else None,
                wait_seconds=delay.seconds_left(now),
            )
        )

    def end_wait(self, trying: Delay | None = None) -> None:
        """The session waits for the world no more. `trying`: the wait, where its next try is made before its time."""
        self.set(delay=trying)
        if self.head.state_reason in DELAY_REASONS:
            self.to_state(self.head.state)

    def end_outage(self) -> None:
        """The work goes on: what has failed before is forgotten."""
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

    def words_of(self, user: str) -> None:
        """The agent gets words of this person: what it asks for from now on, they have asked for, too
        (docs/design/people.md 28).

        Raises Conflict where too many people would have written.
        """
        self.head = self.head.with_writer(user)

    def user_message(self, message_id: str, text: str, by: str) -> None:
        """Adds a person's message. It is in the log at once, and in the conversation when a turn delivers it: messages
        stand in the order in which the model saw them (docs/design/log.md 35). `by`: the person's subject. Raises
        Conflict where too many people would have written.
        """
        self.words_of(by)
        self.entry(UserEntry(message_id=message_id, content=Content.of(text)))
        self.event(UserMessage(message_id=message_id))
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
        """The interventions that this change opened, replaced or closed. Their items are written with the commit."""
        return tuple(self._interventions.values())

    def open_intervention(self, opened: Intervention) -> None:
        """Adds an intervention to the head, and its event. It is for those who may see the session, and for whoever may
        decide it.
        """
        head = self.head
        opened = opened.model_copy(
            update={"private_to": head.private_to, "agent_name": head.agent_name or head.agent_id}
        )
        self._interventions[opened.intervention_id] = opened
        self.set(interventions=(*self.head.interventions, opened))
        self.event(QuestionOpened(intervention_id=opened.intervention_id, question=opened.type))

    def replace_intervention(self, changed: Intervention) -> None:
        """Replaces an open intervention by `changed`, which has the same id and is still open."""
        self._interventions[changed.intervention_id] = changed
        same = changed.intervention_id
        self.set(
            interventions=tuple(changed if i.intervention_id == same else i for i in self.head.interventions)
        )

    def close_intervention(self, closed: Intervention) -> None:
        """Takes an intervention out of the head. `closed`: it is resolved, expired or withdrawn. Adds no event."""
        self._interventions[closed.intervention_id] = closed
        self.set(
            interventions=tuple(
                i for i in self.head.interventions if i.intervention_id != closed.intervention_id
            )
        )

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
        lease: LeaseChange | None = None,
        starts: bool = False,
    ) -> None:
        """Asks for this change to be stored, and says what goes with it. Nothing may be added afterwards.

        `decision`: what the engine does next. `delivered`: ids of the users' messages that join the conversation.
        `idempotency`: the key of the request that is carried out; its record is written in the same transaction.
        `lease`: tokens of the tenant's hour, granted in the same transaction. `starts`: the change begins a run or
        makes a session, which the tenant's limits may not allow.
        """
        self.is_wanted = True
        self.decision = decision
        self.delivered = delivered
        self.idempotency = idempotency
        self.lease = lease
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
                "tally": self._tally(self.decision),
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

    def _tally(self, decision: Decision | None) -> Tally:
        tally, types = self.head.tally, {event.type for event, _ in self._events}
        for event, _ in self._events:
            tally = tally.plus(**{event.counted: 1}) if event.counted else tally
            tally = tally.with_end(event.end) if isinstance(event, RunFinished) else tally
        before, run = self._before.run, self.head.run
        goes_on = before is not None and run is not None and before.run_id == run.run_id
        more = {
            "calling_turns": "tool.requested" in types,
            "first_writes": "tool.started" in types and "tool.finished" not in types,
            "waits": decision is not None and decision.next == "wait",
            "executions": goes_on and before.generation < run.generation,  # type: ignore[union-attr]
        }
        return tally.plus(**more, **self._engine_work()).with_closed(self._interventions.values())

    def _engine_work(self) -> dict[str, int]:
        """What the step of this commit adds to the tally. While a provider answers in the background, or a tool's
        server works on a task, no function waits.
        """
        step = self._step
        if step is None or step.kind == "intervention":
            return {}
        if step.kind == "tool":
            took = 0 if self._before.tasks else step.duration_ms
            return {"fused_calls": 1, "step_ms": took} if step.fused else {"tool_ms": took}
        took = 0 if self._before.background is not None else step.duration_ms
        return {"fused_turns": int(step.fused), "step_ms": took}
