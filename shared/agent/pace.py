"""How a run moves: from turn to turn, into the next generation, past a provider that asks for time (design §2)."""

from typing import Literal

from shared.agent.endings import failed
from shared.agent.giving_up import failure_of
from shared.agent.journal import Draft
from shared.agent.people import resumed
from shared.agent.thread import position
from shared.agent.worker import Worker
from shared.domain.change import Change
from shared.domain.commit import Decision
from shared.domain.errors import Fenced, ProviderOverloaded
from shared.domain.session import Head

EVENTS_PER_TURN = 24
"""Upper bound of the history entries a turn leaves in the engine besides its calls', retries included."""
EVENTS_PER_CALL = 24
MAX_PROVIDER_WAIT_SECONDS = 900
MAX_PROVIDER_WAITS = 20
"""Waits a provider may ask for in a row before the run ends."""


def next_turn(change: Change, *, thought: bool, calls: int = 0) -> None:
    """Moves the run to its next turn, which begins with this commit."""
    run = change.head.run
    if run is None:
        raise Fenced("the session has no run")
    moved = {
        "turn": run.turn + 1,
        "first": change.number,
        "iteration": run.iteration + (1 if thought else 0),
        "events": run.events + EVENTS_PER_TURN + EVENTS_PER_CALL * calls,
    }
    change.set(run=run.model_copy(update=moved))


def going_on(head: Head, worker: Worker, decision: Decision | None) -> Decision | None:
    """The decision, or a roll-over where this execution's history has grown enough (design §2)."""
    full = head.run is not None and head.run.events >= worker.roll_over_events
    if decision is None or not full or decision.next in ("done", "failed"):
        return decision
    return Decision(next="roll_over", at=decision.at)


def wait_for_provider(change: Change, error: ProviderOverloaded, then: Literal["plan", "think"]) -> Draft:
    """The provider named a time: the engine waits that long at no compute cost."""
    if change.head.is_over:
        return Draft(change, resumed(change.head))
    progress = change.head.progress
    if progress.provider_waits >= MAX_PROVIDER_WAITS:
        left = failure_of(type(error).__name__)
        return failed(change, left.code, left.message)
    seconds = max(1, min(MAX_PROVIDER_WAIT_SECONDS, round((error.retry_after or 0) + 0.5)))
    change.event("llm.retried", {"code": "PROVIDER_OVERLOADED", "wait_seconds": seconds})
    change.set(progress=progress.model_copy(update={"provider_waits": progress.provider_waits + 1}))
    next_turn(change, thought=False)
    return Draft(change, Decision(next="wait", at=position(change.head), wait_seconds=seconds, then=then))
