"""One line for each event a person cares about."""

from collections.abc import Callable, Mapping
from typing import Any

from acta.cli.text import one_line

Data = Mapping[str, Any]
TEXT_LIMIT = 140


def describe(event: Mapping[str, Any]) -> str | None:
    """Safe to print; None for events that only repeat what another one says."""
    describer = DESCRIBERS.get(event.get("type", ""))
    return describer(event.get("data") or {}) if describer else None


def said(who: str) -> Callable[[Data], str | None]:
    def line(data: Data) -> str | None:
        text = data.get("text") or data.get("content")
        return f"{who}: {one_line(text, TEXT_LIMIT)}" if text else None

    return line


def planned(verb: str) -> Callable[[Data], str | None]:
    def line(data: Data) -> str:
        steps = (data.get("plan") or {}).get("steps") or []
        return f"plan {verb} with {len(steps)} step{'' if len(steps) == 1 else 's'}"

    return line


def named(data: Data) -> str:
    return one_line(str(data.get("name") or "a tool"), 64)


def tool_finished(data: Data) -> str:
    outcome = "done" if data.get("ok", True) else "failed"
    figures = [f"{data['duration_ms']} ms"] if "duration_ms" in data else []
    if data.get("bytes"):
        figures.append(f"{data['bytes']} bytes")
    return f"tool {named(data)} {outcome}" + (f" ({', '.join(figures)})" if figures else "")


def state_changed(data: Data) -> str:
    reason = data.get("reason")
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
    """Another model answered instead, or the provider is asked again when it said."""
    if data.get("answered_by"):
        model, other = (one_line(str(data.get(name)), 60) for name in ("model", "answered_by"))
        return f"{model} did not answer: {other} did"
    return "the model's provider asked to come again later"


DESCRIBERS: Mapping[str, Callable[[Data], str | None]] = {
    "run.started": lambda _: "run started",
    "run.finished": lambda _: "run finished",
    "state.changed": state_changed,
    "message.user": said("you"),
    "message.assistant": said("agent"),
    "thought": said("thought"),
    "plan.created": planned("made"),
    "plan.revised": planned("revised"),
    "plan.step": plan_step,
    "plan.closed": lambda data: f"plan closed: {one_line(str(data.get('status')), 40)}",
    "plan.rejected": lambda data: f"plan update refused: {one_line(data.get('message') or '', TEXT_LIMIT)}",
    "tool.requested": lambda data: f"asks for tool {named(data)}",
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
