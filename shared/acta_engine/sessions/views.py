"""Sessions, plans, events, steps and interventions as JSON (design §3). Fields that are not here stay on the server."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import quote

from acta_engine.log.attempt import Partial
from acta_engine.log.commit import StepRecord
from acta_engine.log.events import Event
from acta_engine.log.head import Ending, Head
from acta_engine.people.intervention import (
    OTHERS_ONLY,
    Intervention,
    PendingCall,
    is_about_outage,
    is_for_others_only,
    reviewed_calls,
)
from acta_engine.plans.plan import ExecutionPlan, PlanStatus, PlanStep
from acta_engine.recovery.outage import DELAY_REASONS, Delay, explained
from acta_engine.turn.budget import tokens_left, tokens_used
from acta_engine.turn.final_answer import for_people, in_words, running_for_people
from acta_engine.untrusted.exact_json import canonical_json
from acta_engine.untrusted.visible import visible_throughout

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta_engine.people import shapes as interventions
    from acta_engine.plans import shapes as plans
    from acta_engine.sessions import history_shapes as history
    from acta_engine.sessions import shapes as sessions


def instant(at: datetime) -> str:
    """RFC 3339, UTC, milliseconds: `2026-01-31T09:30:00.000Z`."""
    utc = at.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"


def instant_or_none(at: datetime | None) -> str | None:
    return None if at is None else instant(at)


def session_view(head: Head, answer: str | None = None, now: datetime | None = None) -> sessions.Session:
    """`answer`: the whole text of the result, where the caller loaded it. The head may have its beginning only. `now`:
    when it is shown, since a wait ends without a commit; None: as the commit left it.
    """
    run, result, error = head.run, head.result, head.error
    delay = head.delay_at(now or head.updated_at)
    is_due = delay is None and head.state_reason in DELAY_REASONS
    return {
        "session_id": head.session_id,
        "agent_id": head.agent_id,
        "agent_name": head.agent_name or head.agent_id,
        "created_by": head.created_by,
        "visibility": head.visibility,
        "state": head.state,
        "state_reason": None if is_due else head.state_reason,
        "retry_at": None if delay is None or head.interventions else instant_or_none(delay.until),
        "retrying": delay is None and head.outage is not None and head.coarse_state == "active",
        "cause": _cause(head, delay),
        "queue": _queue(delay),
        "goal": head.goal,
        "created_at": instant(head.created_at),
        "updated_at": instant(head.updated_at),
        "run": None
        if run is None
        else {
            "run_id": run.run_id,
            "generation": run.generation,
            "iteration": run.iteration,
            "max_steps": run.max_steps,
        },
        "plan": None if head.plan is None else plan_view(head.plan, head.plan_status),
        "usage": usage_view(head),
        "budget": {
            "token_budget": head.budget.token_budget,
            "tokens_used": tokens_used(head),
            "tokens_left": tokens_left(head),
            "renews_at": instant_or_none(head.budget.window_ends),
            "vanished_tokens": head.budget.vanished_tokens,
            "cost_budget_usd": head.budget.cost_budget_usd,
        },
        "limits": {
            "max_steps": head.max_steps,
            "token_budget": head.budget.token_budget,
            "cost_budget_usd": head.budget.cost_budget_usd,
            "review_every": head.review_every,
        },
        "interventions": [intervention_view(one) for one in head.interventions if one.state == "pending"],
        "result": None
        if result is None
        else {
            "goal_met": result.goal_met,
            "answer": result.answer if answer is None else answer,
            "data": result.answer_data,
            "reason": result.reason,
        },
        "error": None if error is None else {"code": error.code, "message": error.message},
        "held": None if head.held is None else held_view(head.held),
        "last_seq": head.last_seq,
        "metadata": dict(head.metadata),
        "prompts": dict(head.prompts),
        "forked_from": None
        if head.forked_from is None
        else {"session_id": head.forked_from.session_id, "seq": head.forked_from.seq},
    }


def fork_view(head: Head) -> sessions.ForkedSession:
    return {**session_view(head), "files": "as_they_are_now"}


def held_view(held: Ending) -> sessions.Held:
    """How the run ends once its pause is lifted. The answer is in the conversation already."""
    if held.result is not None:
        return {"state": "completed", "goal_met": held.result.goal_met, "reason": held.result.reason}
    return {"state": "failed", "goal_met": False, "reason": held.error.code.lower() if held.error else ""}


def _cause(head: Head, delay: Delay | None) -> sessions.Cause | None:
    """Why it waits for the world. While it tries again, or asks a person whether to: what has failed last."""
    failed = head.coarse_state == "active" or any(map(is_about_outage, head.interventions))
    of = delay or (head.outage if failed else None)
    return None if of is None else {"code": of.code, "message": explained(of.code)}


def _queue(delay: Delay | None) -> sessions.Queue | None:
    """Its place in the provider's queue; None where it waits in none."""
    if delay is None or delay.position is None:
        return None
    return {"since": instant(delay.since), "position": delay.position}


def partial_view(partial: Partial, head: Head) -> sessions.Partial:
    """The end of the running turn's text; `iteration` as in the session's `run`."""
    return {
        "text": running_for_people(partial.text),
        "kind": cast("Literal['plan', 'think']", partial.key.rpartition("/")[2]),
        "iteration": head.run.iteration if head.run is not None else 0,
        "at": instant(partial.at),
    }


def usage_view(head: Head) -> sessions.Usage:
    usage = head.usage
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_input_tokens": usage.cached_input_tokens,
        "total_tokens": usage.total_tokens,
        "llm_calls": usage.llm_calls,
        "tool_calls": usage.tool_calls,
        "cost_usd": usage.cost_usd,
    }


def plan_view(plan: ExecutionPlan, status: PlanStatus | None = None) -> plans.Plan:
    """`status`: as it is now; None: as the version was made."""
    return {
        "version": plan.version,
        "goal": plan.goal,
        "steps": [_plan_step(step) for step in plan.steps],
        "current_step_index": plan.current_step_index,
        "status": status or plan.status,
        "risks": list(plan.risks),
        "created_at": instant(plan.created_at),
        "updated_at": instant(plan.updated_at),
    }


def _plan_step(step: PlanStep) -> plans.PlanStep:
    return {
        "step_number": step.step_number,
        "description": step.description,
        "tool": step.tool,
        "input": step.input,
        "requires_permission": step.requires_permission,
        "status": step.status,
        "result": step.result,
        "evidence": list(step.evidence),
        "started_at": instant_or_none(step.started_at),
        "completed_at": instant_or_none(step.completed_at),
    }


def event_view(event: Event) -> sessions.Event:
    """`data` as stored. A reader adds the texts that only the conversation has."""
    return {
        "seq": event.seq,
        "at": instant(event.at),
        "type": event.type,
        "text": event.text,
        "step_number": event.step_number,
        "data": _event_data(event),
    }


def _event_data(event: Event) -> dict[str, Any]:
    """A plan in an event has the same form as anywhere else, and a hint is in words for people."""
    if event.type == "hint.injected":
        return event.data | {"text": in_words(str(event.data.get("text", "")))}
    plan = event.data.get("plan")
    if event.type not in ("plan.created", "plan.revised") or plan is None:
        return event.data
    return event.data | {"plan": plan_view(ExecutionPlan.model_validate(plan))}


def step_view(step: StepRecord) -> history.Step:
    return {
        "step_number": step.step_number,
        "kind": step.kind,
        "name": step.name,
        "started_at": instant(step.started_at),
        "completed_at": instant(step.completed_at),
        "duration_ms": step.duration_ms,
        "attempt": step.attempt,
        "input_tokens": step.input_tokens,
        "output_tokens": step.output_tokens,
        "cached_input_tokens": step.cached_input_tokens,
        "cost_usd": step.cost_usd,
        "error": step.error,
        "estimated_tokens": step.estimated_tokens,
        "estimated_cost_usd": step.estimated_cost_usd,
        "fused": step.fused,
    }


def intervention_view(one: Intervention) -> interventions.Intervention:
    """Invisible characters of the context are made visible. A call's input is exact, at most shortened (design §8)."""
    return {
        "intervention_id": one.intervention_id,
        "session_id": one.session_id,
        "agent_name": one.agent_name,
        "type": one.type,
        "context": _context(one),
        "tool_call": None if one.tool_call is None else pending_call_view(one, one.tool_call),
        "role": one.role,
        "approver_must_differ": is_for_others_only(one),
        "options": list(one.options),
        "default_action": one.default_action,
        "timeout_at": instant_or_none(one.timeout_at),
        "state": one.state,
        "resolution": one.resolution,
        "amended": one.resolution == "modify",
        "input": one.input,
        "input_text": None if one.input is None else canonical_json(one.input),
        "comment": one.comment,
        "resolved_by": one.resolved_by,
        "resolved_at": instant_or_none(one.resolved_at),
        "created_at": instant(one.created_at),
    }


def _context(one: Intervention) -> interventions.Context:
    """A review's calls show exact input, as an approval's does."""
    texts = {name: value for name, value in one.context.items() if name != OTHERS_ONLY}
    calls = [
        {"call_id": call.call_id, **pending_call_view(one, call, f"?call_id={quote(call.call_id, safe='')}")}
        for call in reviewed_calls(one)
    ]
    for name in ("agent_said", "question"):
        if isinstance(texts.get(name), str):
            texts[name] = for_people(texts[name])
    shown = visible_throughout(texts) | ({"calls": calls} if calls else {})
    return cast("interventions.Context", shown)


def pending_call_view(one: Intervention, call: PendingCall, query: str = "") -> interventions.PendingCall:
    """`input_url`: where the whole of a shortened input is."""
    from acta_engine.tools.builtin import builtins  # most answers show no call

    path = f"/v1/sessions/{one.session_id}/interventions/{one.intervention_id}/input"
    tool = builtins().get(call.name)  # no other tool has the name of a built-in one
    url = path + query if call.shortened else None
    return {
        "name": call.name,
        "input": call.input,
        "input_text": None if call.shortened else canonical_json(call.input),
        "input_hash": call.input_hash,
        "shortened": call.shortened,
        "input_url": url,
        "question": (tool.question or None) if tool is not None else None,
        "file": cast("interventions.FileOfCall | None", tool.file and tool.file.model_dump())
        if tool
        else None,
    }
