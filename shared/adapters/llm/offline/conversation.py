"""What the conversation says of the run that is on: the wishes, the plans, the calls and their results.

The stand-in keeps nothing between calls. Like any model it knows a run from the entries alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from shared.domain.session.conversation import AssistantEntry, Entry, ToolCall, ToolEntry, UserEntry

DONE = "GOAL_COMPLETE"
PLAN_TOOL = "update_plan"
CLOSED = ("completed", "failed", "skipped")


class Made(NamedTuple):
    """A tool call and its result."""

    name: str
    input: dict[str, Any]
    text: str
    ok: bool


@dataclass
class PlanSoFar:
    """An accepted plan. `steps`: their descriptions; `statuses`: by step number; `made`: the calls made under it."""

    goal: str
    steps: tuple[str, ...]
    statuses: dict[int, str] = field(default_factory=dict)
    made: list[Made] = field(default_factory=list)

    def is_open(self, number: int) -> bool:
        return self.statuses.get(number) not in CLOSED

    @property
    def is_worked_off(self) -> bool:
        return not any(map(self.is_open, range(1, len(self.steps) + 1)))


@dataclass
class Run:
    """Everything since the last run ended. `questions`: for each one asked, how many messages there were before it."""

    messages: list[str] = field(default_factory=list)
    questions: list[int] = field(default_factory=list)
    plans: list[PlanSoFar] = field(default_factory=list)
    refused_plans: int = 0
    refused_ends: int = 0


def run_of(entries: Sequence[Entry]) -> Run:
    results = {entry.call_id: entry for entry in entries if isinstance(entry, ToolEntry)}
    run, is_over = Run(), False
    for entry in entries:
        match entry:
            case UserEntry(origin="user"):
                if is_over:
                    run, is_over = Run(), False
                run.messages.append(entry.content.loaded.strip())
            case AssistantEntry():
                is_over = entry.content.loaded.startswith(DONE) and not entry.calls
                for call in entry.calls:
                    is_over = _follow(run, call, results.get(call.call_id)) or is_over
    return run


def _follow(run: Run, call: ToolCall, result: ToolEntry | None) -> bool:
    """Takes a call into account; True when it ended the run."""
    text = result.content.loaded if result is not None else ""
    is_ok = result is not None and result.ok
    if call.name == PLAN_TOOL:
        return _follow_plan(run, call.input or {}, accepted=result is None or is_ok)
    if run.plans and call.input is not None:
        run.plans[-1].made.append(Made(call.name, call.input, text, is_ok))
    return False


def _follow_plan(run: Run, given: dict[str, Any], *, accepted: bool) -> bool:
    match given.get("action"):
        case "create" if accepted:
            steps = tuple(str(step.get("description", "")) for step in given.get("steps") or ())
            run.plans.append(PlanSoFar(str(given.get("goal", "")), steps))
            run.refused_plans = run.refused_ends = 0
        case "create":
            run.refused_plans += 1
        case "update_step" if accepted and run.plans and isinstance(given.get("step_number"), int):
            run.plans[-1].statuses[given["step_number"]] = str(given.get("step_status"))
        case "wait_for_user" if accepted:
            run.questions.append(len(run.messages))
        case "complete" | "fail" if accepted:
            return True
        case "complete" | "fail":
            run.refused_ends += 1
    return False
