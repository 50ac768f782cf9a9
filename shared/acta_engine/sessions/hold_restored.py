"""Holds a session whose log was restored to an earlier time until a person has looked at it (ADR 86).

What the session did after that time happened, and its log does not know it: calls may have run, questions may have been
decided. So it does nothing by itself. Its open calls have unknown ends, its open questions are asked no more, and no
execution of the time before can commit to it again.
"""

from datetime import datetime

from acta_engine.log.change import Change
from acta_engine.log.conversation import Content, ToolEntry
from acta_engine.log.head import FRESH_GENERATIONS, Restarts
from acta_engine.log.repository import SessionRepository
from acta_engine.people.intervention import with_restored_to
from acta_engine.people.opening import AskingRules, open_question, wait_for_people
from acta_engine.people.options_and_defaults import NO_POLICIES
from acta_engine.recovery.recover import begin_next_generation
from acta_engine.turn.endings import withdraw

UNKNOWN = (
    "Error: the session's log was restored to an earlier time, so it is unknown whether this call happened. Look "
    "before you call it again."
)
QUESTION = (
    "The session's log was restored to {at:%Y-%m-%d %H:%M} UTC. What it did after that is forgotten here, and may have "
    "happened all the same: look at what is there before it goes on. Go on?"
)


def hold_restored(repository: SessionRepository, tenant: str, session_id: str, restored_to: datetime) -> bool:
    """Whether it is held: it had not ended. Raises SessionNotFound, and what the stores raise."""
    session = repository.newest(tenant, session_id)
    rules = AskingRules(repository.clock, NO_POLICIES)
    is_held = False
    for change in repository.attempts(session, f"restored/{restored_to.isoformat()}"):
        run = change.head.run
        if run is None or not change.head.is_open:
            break
        _end_open_calls(change)
        withdraw(change)
        change.set(held=None, outage=None, delay=None, lease=None, background=None)
        begin_next_generation(
            change, run.model_copy(update={"generation": run.generation + FRESH_GENERATIONS}), Restarts()
        )
        text, at = QUESTION.format(at=restored_to), restored_to.isoformat()
        open_question(change, "error_recovery", text, rules, **with_restored_to(at))
        wait_for_people(change)
        is_held = True
        change.commit()
    return is_held


def _end_open_calls(change: Change) -> None:
    """Each gets its one result. None of them runs any more without a new call."""
    for call in change.head.unfinished_calls:
        change.entry(ToolEntry(call_id=call.call_id, name=call.name, content=Content.of(UNKNOWN), ok=False))
        done = call.model_copy(update={"state": "done"})
        change.set(calls=change.head.with_call(done).calls)
