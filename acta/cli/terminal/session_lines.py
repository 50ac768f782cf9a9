"""A session in lines of text: its events, its plan, its usage."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from acta.cli.terminal.text import one_line

Data = Mapping[str, Any]
TEXT_LIMIT = 140
DESCRIPTION_LIMIT = 96
MARKS = {"pending": "·", "in_progress": "▶", "completed": "✔", "failed": "✘", "skipped": "–"}
ASCII_MARKS = {"pending": ".", "in_progress": ">", "completed": "x", "failed": "!", "skipped": "-"}


class PlanLine(NamedTuple):
    """A step of a plan. `status`: of the step; `mark`: the character for it."""

    mark: str
    number: int
    description: str
    status: str

    def __str__(self) -> str:
        return f"{self.mark} {self.number:>2}. {self.description}"


def marks_for(encoding: str | None) -> Mapping[str, str]:
    """The marks that a stream of this encoding can show (None: unknown)."""
    try:
        "".join(MARKS.values()).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII_MARKS
    return MARKS


def plan_lines(plan: Mapping[str, Any] | None, marks: Mapping[str, str] = MARKS) -> Iterator[PlanLine]:
    for step in (plan or {}).get("steps") or []:
        status = str(step.get("status", "pending"))
        yield PlanLine(
            mark=marks.get(status, "?"),
            number=int(step.get("step_number", 0)),
            description=one_line(str(step.get("description", "")), DESCRIPTION_LIMIT),
            status=status,
        )


def usage_line(session: Mapping[str, Any]) -> str:
    """As in `12,345 tokens in 7 LLM calls, 5 tool calls, $0.0123`; without the cost where it is not known."""
    usage = session.get("usage") or {}
    parts = [
        f"{int(usage.get('total_tokens') or 0):,} tokens in {counted(usage.get('llm_calls'), 'LLM call')}",
        counted(usage.get("tool_calls"), "tool call"),
    ]
    cost = usage.get("cost_usd")
    if cost is not None:
        parts.append(f"${float(cost):.4f}")
    return ", ".join(parts)


def counted(number: Any, noun: str) -> str:
    return f"{int(number or 0):,} {noun}{'' if number == 1 else 's'}"


def event_line(event: Mapping[str, Any]) -> str | None:
    """What happened, safe to print; None for an event that only repeats what another one says."""
    describe = EVENT_LINES.get(event.get("type", ""))
    return describe(event.get("data") or {}) if describe else None


def speech(who: str) -> Callable[[Data], str | None]:
    def line(data: Data) -> str | None:
        text = data.get("text") or data.get("content")
        return f"{who}: {one_line(text, TEXT_LIMIT)}" if text else None

    return line


def plan_change(verb: str) -> Callable[[Data], str | None]:
    def line(data: Data) -> str:
        steps = (data.get("plan") or {}).get("steps") or []
        return f"plan {verb} with {len(steps)} step{'' if len(steps) == 1 else 's'}"

    return line


def tool_name(data: Data) -> str:
    return one_line(str(data.get("name") or "a tool"), 64)


def tool_finished(data: Data) -> str:
    outcome = "done" if data.get("ok", True) else "failed"
    figures = [f"{data['duration_ms']} ms"] if "duration_ms" in data else []
    if data.get("bytes"):
        figures.append(f"{data['bytes']} bytes")
    return f"tool {tool_name(data)} {outcome}" + (f" ({', '.join(figures)})" if figures else "")


WAITS_FOR = {
    "waiting_for_provider": "the model's provider",
    "waiting_for_aws": "AWS",
    "waiting_for_key": "a valid key or quota",
}
"""State reasons of a session that waits for the world -> what it waits for."""


def waiting_line(session: Data) -> str | None:
    """What the session waits for, why, and when it tries again. None: it does not wait for the world."""
    what = WAITS_FOR.get(str(session.get("state_reason")))
    cause = session.get("cause")
    if what is None or not isinstance(cause, Mapping):
        return None
    return f"waits for {what}{_next_try(session.get('retry_at'))}: {one_line(cause.get('message') or '', TEXT_LIMIT)}"


def _next_try(retry_at: object) -> str:
    """The time of day, in UTC, as the API and the logs have it."""
    return f", tries again at {one_line(str(retry_at), 32)[11:19]} UTC" if retry_at else ""


def state_changed(data: Data) -> str:
    reason = data.get("reason")
    if data.get("code") and str(reason) in WAITS_FOR:
        code = one_line(str(data["code"]), 60)
        return f"waits for {WAITS_FOR[str(reason)]} ({code}){_next_try(data.get('retry_at'))}"
    return f"now {one_line(str(data.get('to')), 40)}" + (
        f": {one_line(reason, TEXT_LIMIT)}" if reason else ""
    )


def resolved(data: Data) -> str:
    by = data.get("resolved_by")
    return f"decided: {one_line(str(data.get('option')), 40)}" + (
        f", by {one_line(str(by), 60)}" if by else ""
    )


def expired(data: Data) -> str:
    option = data.get("option")
    return f"nobody decided in time: {one_line(str(option), 40) if option else 'the default applies'}"


def plan_step(data: Data) -> str:
    status = str(data.get("status", "")).replace("_", " ")
    return f"step {data.get('plan_step')} {one_line(status, 40)}"


def retried(data: Data) -> str:
    """Another model answered instead, or the session waits for the provider."""
    if data.get("answered_by"):
        model, other = (one_line(str(data.get(name)), 60) for name in ("model", "answered_by"))
        return f"{model} did not answer: {other} did"
    return "the model's provider did not answer"


EVENT_LINES: Mapping[str, Callable[[Data], str | None]] = {
    "run.started": lambda _: "run started",
    "run.finished": lambda _: "run finished",
    "state.changed": state_changed,
    "message.user": speech("you"),
    "message.assistant": speech("agent"),
    "thought": speech("thought"),
    "plan.created": plan_change("made"),
    "plan.revised": plan_change("revised"),
    "plan.step": plan_step,
    "plan.closed": lambda data: f"plan closed: {one_line(str(data.get('status')), 40)}",
    "plan.rejected": lambda data: f"plan update refused: {one_line(data.get('message') or '', TEXT_LIMIT)}",
    "tool.requested": lambda data: f"asks for tool {tool_name(data)}",
    "tool.finished": tool_finished,
    "intervention.opened": lambda data: f"waits for a person: {one_line(str(data.get('type')), 60)}",
    "intervention.warned": lambda _: "a decision is due soon",
    "intervention.resolved": resolved,
    "intervention.expired": expired,
    "hint.injected": lambda _: "seems stuck: a hint was given",
    "budget.warning": lambda _: "the budget is nearly used",
    "llm.retried": retried,
    "context.compacted": lambda _: "older turns were summarised",
}
