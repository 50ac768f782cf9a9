"""What a decision does to the session, by the intervention's type and the chosen option (docs/design/people.md).

A person's answer and an expiry's default do the same; the record of who decided differs. Which option an expiry takes:
`acta/engine/people/policies.py`.
"""

from collections.abc import Set
from typing import Any

from acta.engine.audit.record import Via
from acta.engine.log.commit import Change, StepRecord
from acta.engine.log.conversation import Content, ToolEntry, input_hash
from acta.engine.log.events import QuestionExpired, QuestionResolved, ToolFinished
from acta.engine.log.head import OpenCall, Result
from acta.engine.people.intervention import (
    NO_ROLES,
    Intervention,
    is_about_outage,
    is_about_restore,
    is_pause,
)
from acta.engine.people.opening import READS_ONLY, wait_for_people
from acta.engine.plans.plan import with_permission
from acta.engine.recovery.recover import decide_to_go_on, try_now
from acta.engine.turn.budget import keep_what_is_uncharged, with_limits
from acta.engine.turn.endings import cancelled, completed, ended
from acta.engine.turn.engine import next_decision

MAX_KEPT_CHARS = 10_000

REJECTED = "Error: a person rejected this call{why}. Do not repeat it; go on another way or ask."
RETRY = "A person has looked at it and says: go on, but another way than before."
RETRY_EXPIRED = "Nobody has said anything in time: go on, but another way than before."
RESTORED = (
    "What you remember of this session ends some time ago: what you did after that may have happened, and you do not "
    "know of it. Look at what is there before you do anything again."
)
SKIPPED = "Error: it is unknown whether this call happened, and a person says: go on without it."
SKIP_EXPIRED = (
    "Error: it is unknown whether this call happened, and nobody said so in time. Go on without it."
)
EXPIRED = "Error: nobody approved this call in time, so it was not run. Go on without it or ask."


def settle(
    change: Change,
    one: Intervention,
    option: str,
    given: dict[str, Any],
    *,
    comment: str | None = None,
    by: str | None = None,
    roles: Set[str] = NO_ROLES,
    via: Via | None = None,
    message_id: str = "",
    expired: bool = False,
) -> Intervention:
    """Closes the intervention, applies the option, and returns the closed intervention.

    `given`: the checked input of the option. `by`, `roles`: the person, and `via` the way by which they decided; None
    at an expiry. `message_id`: the id that the text of an answer gets as a message.
    """
    if by is not None and _has_words_for_agent(option, given, comment):
        change.words_of(by, roles)
    closed = one.model_copy(
        update={
            "state": "expired" if expired else "resolved",
            "resolution": option,
            "input": _kept(given, message_id) or None,
            "comment": comment,
            "resolved_by": by,
            "via": via,
            "resolved_at": change.now,
        }
    )
    change.step(
        StepRecord(
            step_number=change.next_step,
            kind="intervention",
            name=one.type,
            started_at=one.created_at,
            completed_at=change.now,
            duration_ms=max(0, round((change.now - one.created_at).total_seconds() * 1000)),
        )
    )
    change.close_intervention(closed)
    data: dict[str, Any] = {"intervention_id": one.intervention_id, "question": one.type, "option": option}
    if one.tool_call is not None:
        data["tool"] = one.tool_call.name
        data["input_hash"] = input_hash(given["input"]) if option == "modify" else one.tool_call.input_hash
    if expired:
        change.event(QuestionExpired(**data))
    else:
        said = {"comment": comment} if comment else {}
        change.event(QuestionResolved(**data, resolved_by=by, via=via, **said))
    was_in_outage = change.head.outage is not None
    _apply(change, one, option, given, comment, by, roles, message_id, expired)
    # An expiry decides about the outage only if its question was about it.
    if by is not None or is_about_outage(one):
        decide_to_go_on(change)
    _after(change, was_in_outage=was_in_outage)
    return closed


def lift_hold(change: Change, held: Intervention) -> None:
    """The pause of a session above is over, and with it the pause of this one (`open_hold`)."""
    change.close_intervention(held)
    _after(change, was_in_outage=change.head.outage is not None)


def _after(change: Change, *, was_in_outage: bool) -> None:
    """What follows once an intervention is closed and its option is applied."""
    _end_if_held(change)
    if change.head.is_over:
        if was_in_outage:
            keep_what_is_uncharged(change)
    elif change.head.interventions:
        wait_for_people(change)
    else:
        go_on(change)


def _end_if_held(change: Change) -> None:
    """Once no pause is open any more, the run ends as it would have ended. A message that has come since is answered
    instead: then the run goes on (ADR 4).
    """
    held = change.head.ending_after("resume")
    if held is None or any(map(is_pause, change.head.interventions)):
        return
    if change.head.has_unread_message:
        change.set(ending=None)
    else:
        ended(change, held)


def _has_words_for_agent(option: str, given: dict[str, Any], comment: str | None) -> bool:
    """Whether the model reads words of whoever decides: an input, a result, a hint, or why a call was rejected. An
    answer is a message.
    """
    return (
        option in ("modify", "record")
        or "hint" in given
        or "answers" in given
        or (option == "reject" and bool(comment))
    )


def _kept(given: dict[str, Any], message_id: str) -> dict[str, Any]:
    """The input that the intervention keeps. For a long answer it is the beginning; a message has all of it."""
    text = given.get("text")
    if not message_id or not isinstance(text, str) or len(text) <= MAX_KEPT_CHARS:
        return given
    return {"text": f"{text[: MAX_KEPT_CHARS - 1]}…", "message_id": message_id}


def _apply(
    change: Change,
    one: Intervention,
    option: str,
    given: dict[str, Any],
    comment: str | None,
    by: str | None,
    roles: Set[str],
    message_id: str,
    expired: bool,
) -> None:
    match one.type, option:
        case _, "cancel":
            cancelled(change, by)
        case "approval_required", "approve":
            _release(change, one, None)
        case "approval_required", "modify":
            _release(change, one, given["input"])
        case "approval_required", _:
            why = f": {comment}" if comment else ""
            _answer(change, one, EXPIRED if expired else REJECTED.format(why=why), ok=False)
        case "clarification_needed", "answer" | "skip" if one.tool_call is not None:
            _go_on_with(change, one, one.tool_call.call_id, given.get("answers"))
        case "clarification_needed", "answer":
            assert by is not None  # no default answers
            change.user_message(message_id, given["text"], by, roles)
        case "budget_exceeded", "raise":
            limits = (given.get("token_budget"), given.get("cost_budget_usd"))
            change.set(budget=with_limits(change.head.budget, *limits))
        case "budget_exceeded", "finish":
            ending, ends = change.head.ending, {"goal_met": False, "reason": "budget_exceeded"}
            so_far = None if ending is None else ending.result
            answer = Result(answer=None, **ends) if so_far is None else so_far.model_copy(update=ends)
            completed(change, answer, by=by)
        case "error_recovery", _ if one.tool_call is not None:
            _settle_doubt(change, one, option, given, expired)
        case "error_recovery", "retry":
            hint = f"A person says: {given['hint']}" if given.get("hint") else ""
            if is_about_restore(one):
                hint = f"{RESTORED} {hint}".strip()
            elif not is_about_outage(one):
                hint = RETRY_EXPIRED if expired else hint or RETRY
            if hint:
                change.set_progress(hint=hint)
        case _:
            pass


def _release(change: Change, one: Intervention, amended: dict[str, Any] | None) -> None:
    assert one.tool_call is not None
    open_call = change.head.open_call(one.tool_call.call_id)
    if open_call is not None:
        change.set_call(open_call, state="ready", amended=amended, approval="given")
    head = change.head
    if head.plan is not None:
        edited, risky = head.has_unread_plan_edit, not one.context.get(READS_ONLY)
        change.set(plan=with_permission(head.plan, one.tool_call.name, risky=risky, is_edited=edited))


def _go_on_with(
    change: Change, one: Intervention, call_id: str, answers: dict[str, dict[str, Any]] | None
) -> None:
    """Makes the call again with the answers to its server. `answers` None: nobody answers. A server that works on the
    call by itself gets them with the next look, and the time that people took does not count as the tool's.
    """
    open_call = change.head.open_call(call_id)
    if open_call is None or open_call.asked is None or open_call.state == "done":
        return
    asked = open_call.asked.declined() if answers is None else open_call.asked.accepted(answers)
    again: dict[str, Any] = {"state": "ready", "tries": open_call.tries + 1, "starter": "", "asked": asked}
    if open_call.task is not None:
        task = open_call.task.after_people(one.created_at, change.now)
        again = {"state": "started", "asked": asked, "task": task}
    change.set_call(open_call, **again)


def _settle_doubt(
    change: Change, one: Intervention, option: str, given: dict[str, Any], expired: bool
) -> None:
    """Whether the call happened: `retry`: no, run it; `record`: yes, with this result; `skip`: go on without it."""
    assert one.tool_call is not None
    open_call = change.head.open_call(one.tool_call.call_id)
    if open_call is not None and open_call.state == "done":
        return  # its worker was slow, not dead: the result that it logged stands
    if option == "record":
        _finish(change, one, given["result"], ok=True)
    elif option == "skip":
        _finish(change, one, SKIP_EXPIRED if expired else SKIPPED, ok=False)
    elif open_call is not None:
        change.set_call(open_call, state="ready", tries=open_call.tries + 1, starter="")


def _finish(change: Change, one: Intervention, text: str, *, ok: bool) -> None:
    """The call had started, so it ends with an event like any other. Its time is unknown: nobody saw its end."""
    call = one.tool_call
    assert call is not None
    _answer(change, one, text, ok=ok)
    change.event(
        ToolFinished(
            call_id=call.call_id,
            effect_id=one.context.get("effect_id", ""),
            name=call.name,
            input_hash=call.input_hash,
            ok=ok,
            duration_ms=0,
            bytes=len(text.encode()),
        )
    )


def _answer(change: Change, one: Intervention, text: str, *, ok: bool) -> None:
    """Makes what the person said the call's one result, which the model reads."""
    assert one.tool_call is not None
    call_id, name = one.tool_call.call_id, one.tool_call.name
    change.entry(ToolEntry(call_id=call_id, name=name, content=Content.of(text), ok=ok))
    change.set_call(OpenCall(call_id=call_id, name=name, state="done"))


def go_on(change: Change) -> None:
    """No intervention is open any more: the session takes the state of what the engine does next, and waits for nothing
    else first.
    """
    for call in change.head.unfinished_calls:
        # a pause has held further children back: the call runs again, which lets them begin
        if call.children is not None and call.children.started < call.children.count:
            change.set_call(call, later=None)
    try_now(change)
    own = change.head.model_copy(update={"leads_family": False})  # that children follow is no work of its own
    match next_decision(own, change.now).next:
        case "act" | "wait" if change.head.unfinished_calls:
            change.to_state("waiting_for_tool")
            if change.head.wait_for_calls is not None:
                change.tell_wait(change.head.wait_for_calls)
        case "plan":
            change.to_state("planning")
        case _:
            change.to_state("executing")
