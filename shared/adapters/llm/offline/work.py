"""The next reply: the calls of the stage that is on, its plan updates beside them, and in the end the
answer."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from shared.adapters.llm.offline.goals import Goal, Summarise
from shared.adapters.llm.offline.jobs import Job, job_for
from shared.adapters.llm.offline.jobs_that_change import checking, writing, written
from shared.adapters.llm.offline.situation import DONE, PLAN_TOOL
from shared.adapters.llm.offline.stages import Facts, Stage, Told, Wanted
from shared.ports.model import RequestedCall

AT_ONCE = 5
"""Design §2: at most 5 calls run at once."""
PAGES_AT_ONCE = 15
"""Of large results: every turn sends all that was read again, so few turns read many. A reply has at most 16 calls."""

_GOAL_CHARS = 1_900
LABEL = "(Acta's offline stand-in: rules, no language model.)"
_CLOSED = ("completed", "failed", "skipped")


class Work(NamedTuple):
    """A goal as stages and an answer."""

    goal: Goal
    stages: tuple[Stage, ...]
    jobs: tuple[Job, ...]

    def answer(self, facts: Facts) -> str:
        parts = [job.answer(facts) for job in self.jobs]
        if self.goal.output is not None:
            parts.insert(0, written(facts, self.goal.output, document(self, facts)))
        return "\n\n".join(parts)


def work_for(goal: Goal) -> Work:
    jobs = tuple(job_for(task, goal.output) for task in goal.tasks)
    stages = {stage.description: stage for job in jobs for stage in job.stages}
    work = Work(goal, tuple(stages.values()), jobs)
    if goal.output is None:
        return work
    write = writing(goal.output, lambda facts: document(work, facts))
    check = checking(goal.output, lambda facts: document(work, facts))
    return work._replace(stages=(*work.stages, write, check))


def document(work: Work, facts: Facts) -> str:
    """What goes into the output file."""
    return facts.once(f"document {work.goal.text}", lambda: _document(work, facts))


def _document(work: Work, facts: Facts) -> str:
    title = "Summary" if any(isinstance(task, Summarise) for task in work.goal.tasks) else "Result"
    body = "\n\n".join(job.answer(facts) for job in work.jobs)
    if len(body) > facts.room:
        body = body[: facts.room] + "\n\n(Cut here: no more fits into one reply.)"
    return f"# {title}\n\n{body}\n\n{LABEL}\n"


def plan_call(work: Work, *, name_tools: bool) -> RequestedCall:
    """At most 10 steps (design §4); `name_tools` False after a plan was refused."""
    steps: list[dict[str, Any]] = []
    for number, stage in enumerate(work.stages[:10], 1):
        step: dict[str, Any] = {"step_number": number, "description": stage.description}
        if stage.tool and name_tools:
            step["tool"] = stage.tool
        steps.append({**step, "requires_permission": stage.permission})
    return RequestedCall(
        PLAN_TOOL, {"action": "create", "goal": goal_in_plan(work.goal.text), "steps": steps}
    )


def goal_in_plan(text: str) -> str:
    """As much of a goal as a plan takes; the whole of it stays in the conversation."""
    return text.strip()[:_GOAL_CHARS]


class Turn(NamedTuple):
    """What a turn comes to. `finished`: every step is closed, nothing was called."""

    calls: tuple[RequestedCall, ...]
    text: str
    finished: bool


def take_turn(
    work: Work, facts: Facts, statuses: dict[int, str], offered: frozenset[str], *, planned: bool
) -> Turn:
    """`planned` False: there is no plan to keep up, so its updates are left out."""
    updates: list[RequestedCall] = []
    for number, stage in enumerate(work.stages, 1):
        status = statuses.get(number, "pending")
        if status in _CLOSED:
            continue
        possible = [call for call in stage.calls(facts) if call.name in offered]
        wanted = facts.missing(possible) if stage.tool in offered else []
        if wanted:
            if planned and status == "pending" and number <= 10:
                updates.append(_step(number, "in_progress", None))
            batch = wanted[: PAGES_AT_ONCE if wanted[0].name == "read_result" else AT_ONCE]
            calls = tuple(RequestedCall(call.name, call.input) for call in batch)
            return Turn((*updates, *calls), _saying(stage, batch, wanted), finished=False)
        told = stage.told(facts) if stage.tool is None or stage.tool in offered else _no_tool(stage.tool)
        if planned and number <= 10:
            updates.append(_step(number, told.status, told.text))
    return Turn(tuple(updates), "", finished=True)


def finish(
    work_done: Sequence[tuple[Work, Facts]], notes: Sequence[str], *, planned: bool, room: int
) -> Turn:
    parts = [work.answer(facts) for work, facts in work_done] + [*notes]
    body = "\n\n".join(part for part in parts if part)
    if len(body) > room:
        body = body[:room] + "\n\n(Cut here: no more fits into one reply.)"
    # the answer as `reason` too would say it twice: it is needed only where no text comes with it
    done = (RequestedCall(PLAN_TOOL, {"action": "complete", "reason": _gist(body)}),) if planned else ()
    return Turn(done, f"{DONE}\n\n{body}\n\n{LABEL}", finished=True)


def _step(number: int, status: str, result: str | None) -> RequestedCall:
    given: dict[str, Any] = {"action": "update_step", "step_number": number, "step_status": status}
    return RequestedCall(PLAN_TOOL, given if result is None else {**given, "step_result": result})


def _saying(stage: Stage, batch: Sequence[Wanted], wanted: Sequence[Wanted]) -> str:
    of = f" ({len(batch)} of {len(wanted)} left)" if len(wanted) > len(batch) else ""
    named = [str(call.input.get("path") or call.input.get("location") or "") for call in batch]
    about = ": " + ", ".join(name for name in named if name) if any(named) else ""
    return f"{stage.description}{about}{of}."


def _no_tool(tool: str) -> Told:
    return Told("failed", f"The tool {tool} is not available to this agent.")


def _gist(body: str) -> str:
    first = next((line for line in body.splitlines() if line.strip() and not line.startswith("#")), "Done.")
    return first[:300]
