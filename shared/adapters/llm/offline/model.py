"""`offline`: a clearly labelled rule-based stand-in. No language model, no network, no key.

It gets a request as any model does, keeps nothing between calls and answers the same request the same way. It keeps
to the planning protocol (design §4) and never follows what a file says.
"""

import json

from shared.adapters.llm.offline.conversation import PLAN_TOOL, PlanSoFar, Run, run_of
from shared.adapters.llm.offline.goals import WHAT_TO_DO, Goal, read_goal
from shared.adapters.llm.offline.work import LABEL, MOST_STEPS, Turn, Work, cut_to, finish, goal_in_plan
from shared.ports.model import ModelReply, ModelRequest, RequestedCall, TokenUsage

_CHARS_PER_TOKEN = 4
_BESIDE_THE_BODY = 2_500
"""Characters of a reply that plan updates and labels take."""
_MOST_QUESTIONS = 2
_MOST_REFUSED_ENDS = 2
TOO_MUCH = f"This takes more than the {MOST_STEPS} steps of a plan. Give me fewer tasks at a time."


class OfflineModel:
    @property
    def provider(self) -> str:
        return "offline"

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        turn = _turn(request)
        written = len(turn.text) + sum(len(json.dumps(call.input)) for call in turn.calls)
        return ModelReply(
            text=turn.text,
            calls=turn.calls,
            stop="tools" if turn.calls else "end",
            usage=TokenUsage(_chars_of(request) // _CHARS_PER_TOKEN, max(1, written // _CHARS_PER_TOKEN)),
        )


def _turn(request: ModelRequest) -> Turn:
    run = run_of(request.entries)
    offered = frozenset(tool.name for tool in request.tools)
    room = max(500, request.max_tokens * _CHARS_PER_TOKEN - _BESIDE_THE_BODY)
    if PLAN_TOOL not in offered:  # a summary of the conversation is wanted
        asked = "\n".join(run.messages)
        return Turn((), cut_to(f"{LABEL}\nWhat was asked for:\n{asked}", room))
    goals = _goals(run)
    planned = [(plan, work) for plan in run.plans if (work := _work_of(plan, goals, room)) is not None]
    done = [work.goal for _, work in planned]
    waiting = [goal for goal in goals if goal not in done]
    is_planned = bool(planned) and planned[-1][0] is run.plans[-1]  # another model's plan may have come after
    if request.tool_choice == PLAN_TOOL or not is_planned:
        return _plan((waiting or goals[-1:])[0], run, room)
    return _work_on(run, planned, waiting, offered, room)


def _work_of(plan: PlanSoFar, goals: list[Goal], room: int) -> Work | None:
    """The work under a plan of the stand-in's own; None for a plan that another model made."""
    works = (Work(goal, plan.made, room) for goal in goals if goal_in_plan(goal) == plan.goal)
    return next(
        (work for work in works if tuple(stage.description for stage in work.stages) == plan.steps), None
    )


def _goals(run: Run) -> list[Goal]:
    """Each message as a goal; the answer to a question completes the one that was asked about. Where two questions have
    made nothing clear, the goal is beyond rules.
    """
    goals: list[Goal] = []
    for number, message in enumerate(run.messages):
        if goals and goals[-1].question and number in run.questions:
            goals[-1] = goals[-1].answered(message)
        else:
            goals.append(_bounded(read_goal(message)))
    goals = goals or [Goal("", question=WHAT_TO_DO)]
    if goals[-1].question and len(run.questions) >= _MOST_QUESTIONS:
        goals[-1] = goals[-1].given_up()
    return goals


def _bounded(goal: Goal) -> Goal:
    steps = len(Work(goal, [], 0).stages)
    return Goal(goal.text, question=TOO_MUCH) if steps > MOST_STEPS else goal


def _plan(goal: Goal, run: Run, room: int) -> Turn:
    if goal.question:
        return Turn((RequestedCall(PLAN_TOOL, {"action": "wait_for_user", "reason": goal.question}),))
    return Turn((Work(goal, [], room).plan(name_tools=run.refused_plans == 0),))


def _work_on(
    run: Run, planned: list[tuple[PlanSoFar, Work]], waiting: list[Goal], offered: frozenset[str], room: int
) -> Turn:
    plan, work = planned[-1]
    turn = work.next_turn(plan, offered)
    if not turn.finished:
        return turn
    following = next((goal for goal in waiting if not goal.question), None)
    if following is not None:
        said = f"That part is done. Next: {following.text[:200]}"
        return Turn((*turn.calls, *_plan(following, run, room).calls), said)
    if run.refused_ends >= _MOST_REFUSED_ENDS:
        reason = "The plan's open steps could not be closed."
        return Turn((RequestedCall(PLAN_TOOL, {"action": "fail", "reason": reason}),))
    # a plan before the last one that has open steps was put aside by a person
    works = [earlier for its_plan, earlier in planned[:-1] if its_plan.is_worked_off] + [work]
    notes = [f"You also said “{goal.text[:200]}”: {goal.question}" for goal in waiting]
    last = finish(works, notes, room)
    return Turn((*turn.calls, *last.calls), last.text)


def _chars_of(request: ModelRequest) -> int:
    tools = sum(len(t.name) + len(t.description) + len(json.dumps(t.input_schema)) for t in request.tools)
    spoken = sum(
        len(entry.content.loaded)
        + sum(len(call.name) + len(json.dumps(call.input)) for call in getattr(entry, "calls", ()))
        for entry in request.entries
    )
    return len(request.system) + tools + spoken + len(request.suffix)
