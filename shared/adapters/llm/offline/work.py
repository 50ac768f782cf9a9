"""A goal as a plan, and the next reply under that plan: the calls of its first open stage, at last the answer."""

from collections.abc import Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from shared.adapters.llm.offline.conversation import AcceptedPlan, CallWithResult
from shared.adapters.llm.offline.goals import Goal, Summarise, WriteAnswers
from shared.adapters.llm.offline.tasks import LISTING, CallLog, Outcome, Stage, job_of
from shared.domain.definitions.builtins import UPDATE_PLAN
from shared.domain.rules.goal_marker import GOAL_COMPLETE
from shared.ports.model import RequestedCall

MAX_CALLS = 5
"""Of one reply. No more run at the same time."""
LABEL = "(Acta's offline stand-in: rules, no language model.)"
_GOAL_CHARS = 1_900
"""What a plan holds of a goal's text. All of it stays in the conversation."""


class Reply(NamedTuple):
    """`finished`: every stage is done, and only the answer is left."""

    calls: tuple[RequestedCall, ...]
    text: str = ""
    finished: bool = False


class Work:
    """A goal and the calls that were made for it. `stages`: one for each step of the plan."""

    def __init__(self, goal: Goal, calls: Sequence[CallWithResult], room: int) -> None:
        """`room`: characters that one reply may hold, from the request's `max_tokens` (`_reply` in `model.py`)."""
        self.goal = goal
        written = tuple(task.path for task in goal.tasks if isinstance(task, WriteAnswers))
        self._log = CallLog(calls, room, written)
        self._jobs = [
            job_of(task, self._log, cache(partial(self._document, number)))
            for number, task in enumerate(goal.tasks)
        ]
        stages = [stage for job in self._jobs for stage in job.stages]
        repeated_listings = [stage for stage in stages if stage.tool == LISTING.name][1:]
        self.stages = tuple(stage for stage in stages if stage not in repeated_listings)

    def plan(self, *, name_tools: bool) -> RequestedCall:
        """`name_tools` False: after a refused plan, because the agent may not have all the tools."""
        steps: list[dict[str, Any]] = []
        for number, stage in enumerate(self.stages, 1):
            step: dict[str, Any] = {"step_number": number, "description": stage.description}
            if stage.tool is not None and name_tools:
                step["tool"] = stage.tool
            steps.append({**step, "requires_permission": stage.permission})
        return RequestedCall(
            UPDATE_PLAN, {"action": "create", "goal": goal_in_plan(self.goal), "steps": steps}
        )

    def next_reply(self, plan: AcceptedPlan, offered: frozenset[str]) -> Reply:
        """The calls of the first stage that is not done, with the updates of the plan that are due. `offered`: the
        names of the agent's tools.
        """
        updates: list[RequestedCall] = []
        for number, stage in enumerate(self.stages, 1):
            if not plan.is_open(number):
                continue
            has_tool = stage.tool is None or stage.tool in offered
            missing = [call for call in stage.calls() if self._log.result(call) is None] if has_tool else []
            if missing:
                if number not in plan.statuses:
                    updates.append(_update(number, "in_progress"))
                batch = tuple(missing[:MAX_CALLS])
                return Reply((*updates, *batch), _progress(stage, batch, len(missing)))
            outcome = (
                stage.outcome() if has_tool else Outcome("failed", f"This agent has no tool {stage.tool}.")
            )
            updates.append(_update(number, outcome.status, outcome.text))
        return Reply(tuple(updates), finished=True)

    def answer(self) -> str:
        """What the tasks found. Where a file was written, that comes first, before what the file holds."""
        jobs = list(zip(self.goal.tasks, self._jobs, strict=True))
        jobs.sort(key=lambda one: not isinstance(one[0], WriteAnswers))
        return "\n\n".join(job.answer() for _, job in jobs)

    def _document(self, end: int) -> str:
        """The text of a file: what the tasks before `end` found, since the last file that was written."""
        tasks = self.goal.tasks[:end]
        begin = max((n + 1 for n, task in enumerate(tasks) if isinstance(task, WriteAnswers)), default=0)
        title = "Summary" if any(isinstance(task, Summarise) for task in tasks[begin:]) else "Result"
        body = "\n\n".join(job.answer() for job in self._jobs[begin:end])
        return f"# {title}\n\n{cut_to(body, self._log.room)}\n\n{LABEL}\n"


def final_reply(works: Sequence[Work], notes: Sequence[str], room: int) -> Reply:
    """Completes the plan and answers. `notes`: added to the answer. `room`: characters."""
    body = cut_to("\n\n".join([*(work.answer() for work in works), *notes]), room)
    gist = next((line for line in body.splitlines() if line.strip() and not line.startswith("#")), "Done.")
    done = RequestedCall(UPDATE_PLAN, {"action": "complete", "reason": gist[:300]})
    return Reply((done,), f"{GOAL_COMPLETE}\n\n{body}\n\n{LABEL}", finished=True)


def goal_in_plan(goal: Goal) -> str:
    return goal.text.strip()[:_GOAL_CHARS]


def cut_to(text: str, room: int) -> str:
    """`room`: characters."""
    return text if len(text) <= room else text[:room] + "\n\n(Cut here: no more fits into one reply.)"


def _update(number: int, status: str, result: str = "") -> RequestedCall:
    update: dict[str, Any] = {"action": "update_step", "step_number": number, "step_status": status}
    return RequestedCall(UPDATE_PLAN, {**update, "step_result": result[:1_500]} if result else update)


def _progress(stage: Stage, batch: Sequence[RequestedCall], missing: int) -> str:
    """The text beside the calls. `missing`: how many calls the stage still needed before this batch."""
    named = [str(call.input["path"]) for call in batch if call.input and "path" in call.input]
    paths = ", ".join(path for path in named if path not in stage.description)
    left = f" ({len(batch)} of {missing} left)" if missing > len(batch) else ""
    return f"{stage.description}{': ' + paths if paths else ''}{left}."
