"""How a run ends: completed, failed or cancelled. It withdraws every open intervention and closes a live plan."""

from typing import Any, Literal

from acta.engine.log.commit import Change, Decision
from acta.engine.log.events import PlanClosed, RunFinished, StateChanged
from acta.engine.log.head import MAX_ANSWERS, AnsweredRun, EndedCall, Ending, Failure, Head, OpenCall, Result
from acta.engine.plans.plan import without_permissions
from acta.engine.turn.engine import next_decision

FINAL_MODEL_FAILED = "final_model_failed"
ANSWERS = ("plan_completed", "goal_complete", "answered", "answered_without_plan", FINAL_MODEL_FAILED)
"""Why runs end that end with an answer."""
PARENT_ENDED = "parent_ended"
"""The reason with which a session is cancelled because the run of a session above is over."""
RESTORED = "restored"
"""The reason with which a run ends that was under way when its session was backed up."""


def ended(change: Change, ending: Ending) -> Decision:
    """Ends the run as `ending` says. Like `failed` and `completed`, it returns what the engine does next."""
    if ending.result is not None:
        return completed(change, ending.result)
    assert ending.error is not None
    return failed(change, ending.error.code, ending.error.message, ending.error.category)


def failed(change: Change, code: str, message: str, category: str = "") -> Decision:
    """`code` and `message` are shown to the user (docs/design/api.md 36, `error`). `category`: as of `Failure`."""
    is_asking = change.head.wait is not None
    withdraw(change)
    _close_plan(change, "failed", code.lower())
    change.set(
        error=Failure(code=code, message=message, category=category),
        calls=_with_children(change.head),
        ending=None,
        outage=None,
        delay=None,
    )
    if is_asking:
        _leave_to_next_generation(change, has_family=change.head.parent is not None)
    change.to_state("failed", code.lower())
    declined: dict[str, Any] = {"category": category} if category else {}
    change.event(RunFinished(state="failed", code=code, **declined))
    return next_decision(change.head, change.now)


def completed(change: Change, result: Result, by: str | None = None) -> Decision:
    """`by`: the person who finished the run, if one did."""
    is_asking = by is not None or change.head.wait is not None
    withdraw(change, by)
    _close_plan(change, "completed" if result.reason in ANSWERS else "failed", result.reason)
    change.set(result=result, calls=_with_children(change.head), ending=None, outage=None, delay=None)
    if change.head.run is not None:
        answer = AnsweredRun(run_id=change.head.run.run_id, ended_at=change.now)
        change.set(answers=(*change.head.answers, answer)[-MAX_ANSWERS:])
    _leave_to_next_generation(change, has_family=is_asking and change.head.parent is not None)
    change.to_state("completed", result.reason)
    change.event(RunFinished(state="completed", goal_met=result.goal_met, reason=result.reason))
    return next_decision(change.head, change.now)


def cancelled(change: Change, by: str | None, reason: str = "cancelled") -> None:
    """Cancels the run. Calls that have started, or whose end is unknown, stay in the head: they may still act, and
    their finish may still be recorded. What is sent to a callback URL later is not: it is told of the cancel. `by`
    None: nobody decided in time, or the `reason` says why."""
    withdraw(change, by)
    _close_plan(change, "failed", "cancelled")
    begun = (call for call in change.head.calls if call.is_in_flight)
    started = tuple(call.model_copy(update={"state": "started"}) for call in begun)
    ended = (
        EndedCall(answer_id="", call_id=call.call_id, ok=False, at=change.now, by="cancel")
        for call in started
        if call.later is not None and call.later.kind == "callback"
    )
    change.set(calls=started, answered_calls=change.head.answered_with(*ended))
    change.set(ending=None, outage=None, delay=None)
    _leave_to_next_generation(change, has_family=change.head.parent is not None)
    change.to_state("cancelled", reason)
    if reason == PARENT_ENDED:
        change.event(RunFinished(state="cancelled", reason=reason))
    else:
        change.event(RunFinished(state="cancelled", by=by or "timeout"))


def restored(change: Change, run_id: str) -> None:
    """Prepares a session that comes out of a backup: it loses what gives rights and what belongs to work under way. A
    run that had not ended is cancelled, with the reason `restored`. `run_id`: the run's new id, so that no worker and
    no execution of the session that was backed up is taken for one of this session."""
    was_open = change.head.is_open
    withdraw(change)
    if was_open:
        _close_plan(change, "failed", RESTORED)
    head = change.head
    change.set(
        calls=(),
        ending=None,
        outage=None,
        delay=None,
        lease=None,
        day_lease=None,
        background=None,
        plan=None if head.plan is None else without_permissions(head.plan),
        parent=None if head.parent is None else head.parent.model_copy(update={"told": True}),
        run=None if head.run is None else head.run.model_copy(update={"run_id": run_id}),
    )
    if was_open:
        change.to_state("cancelled", RESTORED)
        change.event(RunFinished(state="cancelled", reason=RESTORED))
    else:  # the ending stays as it was, and the log tells that the session came back
        change.event(StateChanged(before=head.state, to=head.state, reason=RESTORED))


def _with_children(head: Head) -> tuple[OpenCall, ...]:
    """The calls whose children still work. They are ended after the run (`align` in `subagents/control.py`)."""
    return tuple(call for call in head.calls if call.children is not None and call.children.working)


def _leave_to_next_generation(change: Change, *, has_family: bool) -> None:
    """When a person ends a run while a provider makes its answer or a server works on one of its calls, the execution
    may wait for minutes. So a new execution tells the provider and the server: `end_engine` in
    `acta/engine/recovery/recover.py` starts it. `has_family`: the same for a run whose parent has to be told."""
    head, run = change.head, change.head.run
    if run is not None and (has_family or head.background or head.tasks or head.children_at_work):
        change.set(
            run=run.model_copy(update={"generation": run.generation + 1, "events": 0, "parked": False})
        )


def leaves_work(head: Head) -> bool:
    """Whether a run that is over still has to tell a provider or a tool's server to stop its work, to end its children
    or to tell its parent."""
    return head.background is not None or bool(head.tasks) or head.owes_family


def _close_plan(change: Change, status: Literal["completed", "failed"], reason: str) -> None:
    """Adds the event that a live plan ends with its run, and why: `completed` with all its steps finished, else
    `failed`.

    A plan that was not completed is stored as it stands: `Head.plan_status` shows it closed while the run is over, and
    the next run, or a repair, may take it up again with the permissions that it owes. A run that has not done so
    leaves it as it was.
    """
    plan = change.head.plan
    if plan is None or not plan.is_live or change.head.has_left_plan:
        return
    if status == "completed":
        change.set(plan=plan.model_copy(update={"status": status, "updated_at": change.now}))
    change.event(PlanClosed(version=plan.version, status=status, reason=reason))


def withdraw(change: Change, by: str | None = None) -> None:
    """Closes every open intervention. `by`: the person whose decision left nothing to decide."""
    withdrawn = {"state": "withdrawn", "resolved_at": change.now, "resolved_by": by}
    for one in change.head.interventions:
        change.close_intervention(one.model_copy(update=withdrawn))
    change.set(wait=None)
