"""An intervention in lines of text: whole, as a person must see it to decide, or in one line of a list."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from acta.cli.terminal.text import Screen, exact_json, one_line, quoted, visible

TITLES = {
    "approval_required": "The agent asks for permission.",
    "clarification_needed": "The agent needs to know something.",
    "error_recovery": "The agent is stuck or a call's outcome is unknown.",
    "checkpoint_review": "The session pauses for a review.",
    "budget_exceeded": "The session's budget is used up.",
}
SPEAKERS = {"agent": "the agent asks", "acta": "Acta says", "person": "a person says"}
MAX_LABEL = 64
"""Characters in a tool's longest name."""
SUBJECT_CHARS = 100
SPANS = ((86_400, "d"), (3_600, "h"), (60, "m"))
DEFAULT_SCREEN = Screen()


def question_lines(intervention: Mapping[str, Any], screen: Screen = DEFAULT_SCREEN) -> Iterator[str]:
    """All that a person must see to decide: whose words are whose, and the whole exact input of each tool call.

    Foreign text is quoted, so that no row of it passes for one of Acta's own. The calls that the decision is about
    are named again at the end, below all foreign text.
    """
    kind = str(intervention.get("type", ""))
    yield TITLES.get(kind, f"The session waits: {visible(kind, keep_newlines=False)}")
    context = dict(intervention.get("context") or {})
    asked_by = SPEAKERS.get(str(context.pop("asked_by", "")), "question")
    labels = {"question": asked_by, "agent_said": "the agent says"}
    calls = context.pop("calls", None) or []
    for name, value in context.items():
        if value is None or value is False:
            continue
        text = visible(value) if isinstance(value, str) else exact_json(value)
        label = labels.get(str(name)) or one_line(str(name), MAX_LABEL)
        yield "\n".join([f"{label}:", *quoted(text, screen)])
    decided_on = [call for call in [intervention.get("tool_call"), *calls] if isinstance(call, dict)]
    for call in decided_on:
        yield f"tool: {one_line(call.get('name'), MAX_LABEL)}"
        yield "\n".join(["input:", *quoted(exact_json(call.get("input")), screen)])
    if intervention.get("role"):
        yield f"to decide needs the role: {visible(str(intervention['role']), keep_newlines=False)}"
    if intervention.get("approver_must_differ"):
        yield "who asked for this may not let it run: somebody else decides"
    if intervention.get("timeout_at"):
        default = visible(str(intervention.get("default_action")), keep_newlines=False)
        yield f"without an answer until {intervention['timeout_at']}: {default}"
    for call in decided_on:
        bound = f", input {one_line(call['input_hash'], MAX_LABEL)}" if call.get("input_hash") else ""
        yield f"to decide on: {one_line(call.get('name'), MAX_LABEL)}{bound}"


def list_line(one: Mapping[str, Any], now: datetime) -> str:
    """Ids, type, age, expiry, the role that decides it, where one is named, and subject."""
    ids = "  ".join(one_line(one.get(name) or "") for name in ("intervention_id", "session_id"))
    when = f"{age(one.get('created_at'), now):>7}  {expiry(one, now):<18}"
    role = f"needs {one_line(one['role'], MAX_LABEL)}  " if one.get("role") else ""
    return f"{ids}  {kind_of(one):<20}  {when}  {role}{subject(one)}".rstrip()


def short_line(one: Mapping[str, Any]) -> str:
    """Enough to tell the interventions of one session apart."""
    return f"{one_line(one.get('intervention_id') or '')}  {kind_of(one)}  {subject(one)}".rstrip()


def kind_of(one: Mapping[str, Any]) -> str:
    return "paused" if is_pause(one) else one_line(str(one.get("type", "")).replace("_", " "))


def is_pause(one: Mapping[str, Any]) -> bool:
    """A person paused the session: nothing is asked."""
    context = one.get("context") or {}
    return one.get("type") == "checkpoint_review" and context.get("asked_by") == "person"


def subject(one: Mapping[str, Any]) -> str:
    """The tool call to decide on, where there is one, else the question; both for a call of unknown outcome."""
    call, context = one.get("tool_call"), one.get("context") or {}
    if is_pause(one):
        return f"paused by {one_line(context.get('requested_by') or 'a person')}"
    asked = one_line(context.get("question") or context, SUBJECT_CHARS) if context else ""
    if not call:
        return asked
    shown = one_line(f"{call.get('name')} {json.dumps(call.get('input'), ensure_ascii=False)}", SUBJECT_CHARS)
    return f"{asked}  {shown}" if one.get("type") == "error_recovery" and asked else shown


def age(created_at: Any, now: datetime) -> str:
    at = instant(created_at)
    return "" if at is None else span((now - at).total_seconds())


def expiry(one: Mapping[str, Any], now: datetime) -> str:
    """Which option is taken without a decision, and when."""
    at = instant(one.get("timeout_at"))
    if at is None:
        return "waits for ever"
    left = (at - now).total_seconds()
    default = one_line(one.get("default_action") or "", 20)
    return f"{default} in {span(left)}" if left > 0 else f"{default} now"


def span(seconds: float) -> str:
    """In its largest unit, rounded down: `2h`."""
    for size, unit in SPANS:
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{max(0, int(seconds))}s"


def instant(text: Any) -> datetime | None:
    """From RFC 3339; None for anything else."""
    try:
        return datetime.fromisoformat(str(text).replace("Z", "+00:00")) if text else None
    except ValueError:
        return None
