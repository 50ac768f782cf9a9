"""The draft of a commit: a head being changed, and the events the changes leave behind.

Every use case builds its commit with one of these, so that state changes are legal, events dense and the head's
counters right in one place.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from shared.domain.interventions.intervention import Intervention
from shared.domain.rules.compaction import Compacted
from shared.domain.session.commit import Commit, Decision, Event, EventDraft, EventType, StepRecord
from shared.domain.session.conversation import Content, Entry, UserEntry
from shared.domain.session.head import TRANSITIONS, Head, IllegalTransition, SessionState


class Change:
    """Mutable, short-lived, local to one attempt at a commit."""

    def __init__(self, head: Head, number: int, now: datetime) -> None:
        self.head = head
        self.number = number
        self.now = now
        self._drafts: list[tuple[EventDraft, int | None]] = []
        self._entries: list[Entry] = []
        self._step: StepRecord | None = None
        self._interventions: dict[str, Intervention] = {}
        self._compacted: Content | None = None

    def set(self, **fields: Any) -> None:
        """Replaces fields of the head."""
        self.head = self.head.model_copy(update=fields)

    def to_state(self, state: SessionState, reason: str | None = None) -> None:
        """A legal change and its event; nothing where the session is there already for the same reason."""
        before = self.head.state
        if before == state and self.head.state_reason == reason:
            return
        if before != state and state not in TRANSITIONS[before]:
            raise IllegalTransition(f"{before} -> {state}")
        self.set(state=state, state_reason=reason)
        self.event("state.changed", {"from": before, "to": state, "reason": reason})

    def born(self, state: SessionState) -> None:
        """The first state of a session, which has none before."""
        if state not in TRANSITIONS[None]:
            raise IllegalTransition(f"new -> {state}")
        self.set(state=state)
        self.event("state.changed", {"from": None, "to": state, "reason": None})

    def event(self, type: EventType, data: dict[str, Any] | None = None) -> None:
        self.draft(EventDraft(type=type, data=data or {}))

    def draft(self, draft: EventDraft) -> None:
        self._drafts.append((draft, self._step.step_number if self._step else None))

    def entry(self, entry: Entry) -> None:
        self._entries.append(entry)

    def user_message(self, message_id: str, text: str) -> None:
        """Adds what a person said: to the log now, to the conversation when a turn delivers it (design §6.6)."""
        self.entry(UserEntry(message_id=message_id, content=Content.of(text)))
        self.event("message.user", {"message_id": message_id})
        self.set(
            undelivered=(*self.head.undelivered, message_id),
            progress=self.head.progress.model_copy(update={"text_replies": 0}),
        )

    def compact(self, compacted: Compacted) -> None:
        """From this commit on the conversation is what `compacted` holds."""
        self._compacted = Content.of(compacted.model_dump_json())
        self.set(compacted_at=self.number)

    @property
    def interventions(self) -> tuple[Intervention, ...]:
        """Those that this change opened or closed: their items are written with the commit."""
        return tuple(self._interventions.values())

    def open_intervention(self, opened: Intervention) -> None:
        self._interventions[opened.intervention_id] = opened
        self.set(interventions=(*self.head.interventions, opened))
        self.event("intervention.opened", {"intervention_id": opened.intervention_id, "type": opened.type})

    def replace_intervention(self, changed: Intervention) -> None:
        """The same one with another field, still open."""
        self._interventions[changed.intervention_id] = changed
        same = changed.intervention_id
        self.set(
            interventions=tuple(changed if i.intervention_id == same else i for i in self.head.interventions)
        )

    def close_intervention(self, closed: Intervention) -> None:
        """`closed` is resolved, expired or withdrawn; the caller adds the event that says so."""
        self._interventions[closed.intervention_id] = closed
        self.set(
            interventions=tuple(
                i for i in self.head.interventions if i.intervention_id != closed.intervention_id
            )
        )

    def step(self, build: Callable[[int], StepRecord]) -> None:
        """Takes the next number of the step log; later events of this change carry it."""
        self._step = build(self.head.last_step + 1)
        self.set(last_step=self._step.step_number)

    def commit(self, key: str, decision: Decision | None = None, delivered: tuple[str, ...] = ()) -> Commit:
        events = tuple(
            Event(seq=seq, at=self.now, type=draft.type, step_number=step, data=draft.data)
            for seq, (draft, step) in enumerate(self._drafts, start=self.head.last_seq + 1)
        )
        head = self.head.model_copy(
            update={"last_seq": self.head.last_seq + len(events), "updated_at": self.now}
        )
        return Commit(
            number=self.number,
            key=key,
            at=self.now,
            head=head,
            events=events,
            entries=tuple(self._entries),
            delivered=delivered,
            step=self._step,
            decision=decision,
            compacted=self._compacted,
        )
