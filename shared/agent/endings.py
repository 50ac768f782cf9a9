"""How a run ends: completed, failed or cancelled. Nothing is left waiting for a person behind it."""

from shared.agent.journal import Draft
from shared.agent.thread import position
from shared.domain.change import Change
from shared.domain.commit import Decision
from shared.domain.session import MAX_ANSWER_CHARS, Failure, Result


def failed(change: Change, code: str, message: str) -> Draft:
    _withdraw(change)
    change.set(error=Failure(code=code, message=message), calls=())
    change.to_state("failed", code.lower())
    change.event("run.finished", {"state": "failed", "code": code})
    return Draft(change, Decision(next="failed", at=position(change.head)))


def completed(
    change: Change, *, goal_met: bool, reason: str, answer: str | None, message_id: str | None
) -> Draft:
    """`answer` is the reply's text or the plan's closing reason; the head keeps the beginning of a long one."""
    _withdraw(change)
    kept = answer
    if answer is not None and len(answer) > MAX_ANSWER_CHARS:
        kept = answer[: MAX_ANSWER_CHARS - 1] + "…"
    result = Result(goal_met=goal_met, answer=kept, reason=reason, message_id=message_id)
    change.set(result=result, calls=())
    change.to_state("completed", reason)
    change.event("run.finished", {"state": "completed", "goal_met": goal_met, "reason": reason})
    return Draft(change, Decision(next="done", at=position(change.head)))


def cancelled(change: Change, by: str) -> Draft:
    """Calls that have started stay listed, those in doubt too: they may still act and their finish may still be
    recorded.
    """
    _withdraw(change)
    begun = (call for call in change.head.calls if call.may_act)
    change.set(calls=tuple(call.model_copy(update={"state": "started"}) for call in begun))
    change.to_state("cancelled", "cancelled")
    change.event("run.finished", {"state": "cancelled", "by": by})
    return Draft(change)


def _withdraw(change: Change) -> None:
    for one in change.head.interventions:
        change.close_intervention(one.model_copy(update={"state": "withdrawn", "resolved_at": change.now}))
    change.set(wait=None)
