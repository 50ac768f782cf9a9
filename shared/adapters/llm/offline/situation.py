"""What the conversation says: what is asked for, what is planned, what was done and what came of it.

`offline` keeps nothing between calls. All it knows about a run it reads here, from the entries alone, like
any model.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from shared.adapters.llm.offline.results import unfenced
from shared.domain.session.conversation import AssistantEntry, Entry, ToolCall, ToolEntry, UserEntry

DONE = "GOAL_COMPLETE"
PLAN_TOOL = "update_plan"
_FENCE = re.compile(r"-{3,}[^\n]*-{3,}")


class Made(NamedTuple):
    """A tool call of this run and its result's text."""

    name: str
    input: dict[str, Any]
    text: str
    ok: bool


@dataclass
class PlanSoFar:
    """An accepted plan: `statuses` by step number, and the calls made under it."""

    goal: str
    steps: int
    statuses: dict[int, str] = field(default_factory=dict)
    made: list[Made] = field(default_factory=list)

    @property
    def is_worked_off(self) -> bool:
        closed = [status for status in self.statuses.values() if status in ("completed", "failed", "skipped")]
        return len(closed) >= self.steps


@dataclass
class Situation:
    """The run that is going on: everything since the last one ended."""

    messages: list[str] = field(default_factory=list)
    questions: list[int] = field(default_factory=list)
    """For each question asked, the number of messages there were before it."""
    plans: list[PlanSoFar] = field(default_factory=list)
    made: list[Made] = field(default_factory=list)
    """Calls made without a plan."""
    refused_plans: int = 0
    refused_ends: int = 0
    last_answer: str = ""


def situation_of(entries: Sequence[Entry]) -> Situation:
    results = {entry.call_id: entry for entry in entries if isinstance(entry, ToolEntry)}
    now = Situation()
    over = False
    for entry in entries:
        if isinstance(entry, UserEntry):
            if entry.origin == "summary":
                continue
            if over:
                now, over = Situation(), False
            now.messages.append(_said(entry.content.loaded))
        elif isinstance(entry, AssistantEntry):
            over = _follow(now, entry, results)
            now.last_answer = entry.content.loaded
    return now


def _follow(now: Situation, entry: AssistantEntry, results: dict[str, ToolEntry]) -> bool:
    """Takes one reply into account; True when it ended the run."""
    ended = entry.content.loaded.startswith(DONE) and not entry.calls
    for call in entry.calls:
        result = results.get(call.call_id)
        if call.name == PLAN_TOOL:
            ended = _follow_plan(now, call, accepted=result is None or result.ok) or ended
        elif call.input is not None:
            text = result.content.loaded if result else ""
            if call.name not in ("read_file", "read_result"):
                text = unfenced(text)
            failed = result is None or not result.ok or text.startswith("Error:")
            made = Made(call.name, call.input, text, ok=not failed)
            (now.plans[-1].made if now.plans else now.made).append(made)
    return ended


def _follow_plan(now: Situation, call: ToolCall, *, accepted: bool) -> bool:
    given = call.input or {}
    match given.get("action"):
        case "create" if accepted:
            now.plans.append(PlanSoFar(str(given.get("goal", "")), len(given.get("steps") or ())))
        case "create":
            now.refused_plans += 1
        case "update_step" if accepted and now.plans:
            now.plans[-1].statuses[_number(given.get("step_number"))] = str(given.get("step_status"))
        case "wait_for_user" if accepted:
            now.questions.append(len(now.messages))
        case "complete" | "fail" if accepted:
            return True
        case "complete" | "fail":
            now.refused_ends += 1
    return False


def _number(value: Any) -> int:
    return int(value) if isinstance(value, int | float) or (isinstance(value, str) and value.isdigit()) else 0


def _said(text: str) -> str:
    """A message without the fence it may come in."""
    lines = text.strip().splitlines()
    if len(lines) >= 3 and _FENCE.fullmatch(lines[0].strip()) and _FENCE.fullmatch(lines[-1].strip()):
        lines = lines[1:-1]
    return "\n".join(lines).strip()
