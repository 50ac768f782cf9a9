"""What the entries of a conversation say of the run: what people asked for, the plans, the calls and their results.

The stand-in keeps nothing between calls. Like any model it knows a run from the entries alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from shared.domain.definitions.builtins import UPDATE_PLAN
from shared.domain.rules.goal_marker import GOAL_COMPLETE
from shared.domain.session.conversation import AssistantEntry, Entry, ToolCall, ToolEntry, UserEntry

CLOSED = ("completed", "failed", "skipped")
"""The states of a step that nothing is left to do for."""


class CallWithResult(NamedTuple):
    """A tool call that was made. `text`: its result; empty where it has none yet. `ok`: it has one and did not fail."""

    name: str
    input: dict[str, Any]
    text: str
    ok: bool


@dataclass
class AcceptedPlan:
    """`steps`: descriptions. `statuses`: of the steps that were updated, by number. `calls`: made under the plan."""

    goal: str
    steps: tuple[str, ...]
    statuses: dict[int, str] = field(default_factory=dict)
    calls: list[CallWithResult] = field(default_factory=list)

    def is_open(self, number: int) -> bool:
        return self.statuses.get(number) not in CLOSED

    @property
    def is_done(self) -> bool:
        """Whether no step is open."""
        return not any(map(self.is_open, range(1, len(self.steps) + 1)))


@dataclass
class Run:
    """Everything since the last run ended.

    `messages`: the users' texts. `questions`: for each question to the user, how many messages there were before it.
    `plans`: the accepted ones. `refused_plans`, `refused_ends`: attempts since the last accepted plan to make a plan,
    and to complete or fail it.
    """

    messages: list[str] = field(default_factory=list)
    questions: list[int] = field(default_factory=list)
    plans: list[AcceptedPlan] = field(default_factory=list)
    refused_plans: int = 0
    refused_ends: int = 0


def run_of(entries: Sequence[Entry]) -> Run:
    """The run that the conversation ends with."""
    results = {entry.call_id: entry for entry in entries if isinstance(entry, ToolEntry)}
    run, is_over = Run(), False
    for entry in entries:
        match entry:
            case UserEntry(origin="user"):
                if is_over:
                    run, is_over = Run(), False
                run.messages.append(entry.content.loaded.strip())
            case AssistantEntry():
                is_over = entry.content.loaded.startswith(GOAL_COMPLETE) and not entry.calls
                for call in entry.calls:
                    is_over = _add_call(run, call, results.get(call.call_id)) or is_over
    return run


def _add_call(run: Run, call: ToolCall, result: ToolEntry | None) -> bool:
    """Returns whether the call ended the run."""
    text = result.content.loaded if result is not None else ""
    is_ok = result is not None and result.ok
    if call.name == UPDATE_PLAN:
        return _update_plan(run, call.input or {}, accepted=result is None or is_ok)
    if run.plans and call.input is not None:
        run.plans[-1].calls.append(CallWithResult(call.name, call.input, text, is_ok))
    return False


def _update_plan(run: Run, update: dict[str, Any], *, accepted: bool) -> bool:
    match update.get("action"):
        case "create" if accepted:
            steps = tuple(str(step.get("description", "")) for step in update.get("steps") or ())
            run.plans.append(AcceptedPlan(str(update.get("goal", "")), steps))
            run.refused_plans = run.refused_ends = 0
        case "create":
            run.refused_plans += 1
        case "update_step" if accepted and run.plans and isinstance(update.get("step_number"), int):
            run.plans[-1].statuses[update["step_number"]] = str(update.get("step_status"))
        case "wait_for_user" if accepted:
            run.questions.append(len(run.messages))
        case "complete" | "fail" if accepted:
            return True
        case "complete" | "fail":
            run.refused_ends += 1
    return False
