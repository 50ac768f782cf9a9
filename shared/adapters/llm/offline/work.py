"""A goal as a plan, and the next reply under it: the calls of the stage that is on, then the answer."""

from collections.abc import Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from shared.adapters.llm.offline.conversation import DONE, PLAN_TOOL, Made, PlanSoFar
from shared.adapters.llm.offline.goals import Goal, Summarise, WriteAnswers
from shared.adapters.llm.offline.tasks import LISTING, Facts, Outcome, Stage, job_of
from shared.ports.model import RequestedCall

AT_ONCE = 5
"""Calls that run at once (design §2)."""
MOST_STEPS = 10
"""Of a plan (design §4)."""
LABEL = "(Acta's offline stand-in: rules, no language model.)"
_GOAL_CHARS = 1_900
"""What a plan takes of a goal's text; the whole of it stays in the conversation."""


class Turn(NamedTuple):
    """A reply. `finished`: every stage is done with, so all that is left to do is to answer."""

    calls: tuple[RequestedCall, ...]
    text: str = ""
    finished: bool = False


class Work:
    """A goal and the calls made for it; `stages` are the plan's steps. `room`: characters that one reply may hold."""

    def __init__(self, goal: Goal, made: Sequence[Made], room: int) -> None:
        self.goal = goal
        written = tuple(task.path for task in goal.tasks if isinstance(task, WriteAnswers))
        self._facts = Facts(made, room, written)
        self._jobs = [
            job_of(task, self._facts, cache(partial(self._document, number)))
            for number, task in enumerate(goal.tasks)
        ]
        stages = [stage for job in self._jobs for stage in job.stages]
        listings = [stage for stage in stages if stage.tool == LISTING.name][1:]  # one is enough
        self.stages = tuple(stage for stage in stages if stage not in listings)

    def answer(self) -> str:
        """What was written comes first: what it holds is told behind it."""
        jobs = list(zip(self.goal.tasks, self._jobs, strict=True))
        jobs.sort(key=lambda one: not isinstance(one[0], WriteAnswers))
        return "\n\n".join(job.answer() for _, job in jobs)

    def _document(self, end: int) -> str:
        """What the tasks before `end` found, from the last document on."""
        tasks = self.goal.tasks[:end]
        begin = max((n + 1 for n, task in enumerate(tasks) if isinstance(task, WriteAnswers)), default=0)
        title = "Summary" if any(isinstance(task, Summarise) for task in tasks[begin:]) else "Result"
        body = "\n\n".join(job.answer() for job in self._jobs[begin:end])
        return f"# {title}\n\n{cut_to(body, self._facts.room)}\n\n{LABEL}\n"

    def plan(self, *, name_tools: bool) -> RequestedCall:
        """`name_tools` False after a plan was refused: the agent may not have them all."""
        steps: list[dict[str, Any]] = []
        for number, stage in enumerate(self.stages, 1):
            step: dict[str, Any] = {"step_number": number, "description": stage.description}
            if stage.tool is not None and name_tools:
                step["tool"] = stage.tool
            steps.append({**step, "requires_permission": stage.permission})
        return RequestedCall(PLAN_TOOL, {"action": "create", "goal": goal_in_plan(self.goal), "steps": steps})

    def next_turn(self, plan: PlanSoFar, offered: frozenset[str]) -> Turn:
        """The calls of the first stage that is not done with; beside them what the plan has to know."""
        updates: list[RequestedCall] = []
        for number, stage in enumerate(self.stages, 1):
            if not plan.is_open(number):
                continue
            is_there = stage.tool is None or stage.tool in offered
            wanted = [call for call in stage.calls() if self._facts.result(call) is None] if is_there else []
            if wanted:
                if number not in plan.statuses:
                    updates.append(_update(number, "in_progress"))
                batch = tuple(wanted[:AT_ONCE])
                return Turn((*updates, *batch), _saying(stage, batch, len(wanted)))
            outcome = (
                stage.outcome() if is_there else Outcome("failed", f"This agent has no tool {stage.tool}.")
            )
            updates.append(_update(number, outcome.status, outcome.text))
        return Turn(tuple(updates), finished=True)


def goal_in_plan(goal: Goal) -> str:
    return goal.text.strip()[:_GOAL_CHARS]


def finish(works: Sequence[Work], notes: Sequence[str], room: int) -> Turn:
    body = cut_to("\n\n".join([*(work.answer() for work in works), *notes]), room)
    gist = next((line for line in body.splitlines() if line.strip() and not line.startswith("#")), "Done.")
    done = RequestedCall(PLAN_TOOL, {"action": "complete", "reason": gist[:300]})
    return Turn((done,), f"{DONE}\n\n{body}\n\n{LABEL}", finished=True)


def cut_to(text: str, room: int) -> str:
    return text if len(text) <= room else text[:room] + "\n\n(Cut here: no more fits into one reply.)"


def _update(number: int, status: str, result: str = "") -> RequestedCall:
    given: dict[str, Any] = {"action": "update_step", "step_number": number, "step_status": status}
    return RequestedCall(PLAN_TOOL, {**given, "step_result": result[:1_500]} if result else given)


def _saying(stage: Stage, batch: Sequence[RequestedCall], wanted: int) -> str:
    named = [str(call.input["path"]) for call in batch if call.input and "path" in call.input]
    paths = ", ".join(path for path in named if path not in stage.description)
    left = f" ({len(batch)} of {wanted} left)" if wanted > len(batch) else ""
    return f"{stage.description}{': ' + paths if paths else ''}{left}."
