"""`offline`: a clearly labelled rule-based stand-in. No language model, no network, no key.

It sees a request as any model does, keeps nothing between calls and answers the same request the same way. It
follows the planning protocol (design §4) and never follows what a file says.
"""

import json

from shared.adapters.llm.offline.goals import Goal, Unsupported
from shared.adapters.llm.offline.reading_goals import WHAT_TO_DO, read_goal
from shared.adapters.llm.offline.situation import PLAN_TOOL, PlanSoFar, Situation, situation_of
from shared.adapters.llm.offline.stages import Facts
from shared.adapters.llm.offline.tail import statuses_in
from shared.adapters.llm.offline.work import Turn, Work, finish, goal_in_plan, plan_call, take_turn, work_for
from shared.ports.model import ModelReply, ModelRequest, RequestedCall, TokenUsage

_CHARS_PER_TOKEN = 4
_MOST_QUESTIONS = 2


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
    now = situation_of(request.entries)
    goals = _goals(now.messages, now.questions)
    planning = request.tool_choice == PLAN_TOOL
    offered = frozenset(tool.name for tool in request.tools)
    room = max(500, request.max_tokens * _CHARS_PER_TOKEN - 2_500)
    goal = goals[min(len(now.plans), len(goals) - 1)]
    if planning or (not now.plans and PLAN_TOOL in offered and not statuses_in(request.tail)):
        if goal.question is not None:
            return _ask(goal.question)
        plan = plan_call(work_for(goal), name_tools=now.refused_plans == 0)
        if planning:
            return Turn((plan,), "", finished=False)
        first = take_turn(work_for(goal), Facts([], room), {}, offered, planned=True)
        return Turn((plan, *first.calls), first.text, finished=False)
    if goal.question is not None and not now.plans:
        return Turn((), goal.question, finished=False)
    return _work_on(now, goals, request.tail, offered, room)


def _work_on(now: Situation, goals: list[Goal], tail: str, offered: frozenset[str], room: int) -> Turn:
    planned = PLAN_TOOL in offered
    plans = now.plans or [PlanSoFar(goals[-1].text, 0, statuses_in(tail), now.made)]
    # a plan left with open steps belongs to a run that was ended
    counted = [plan for plan in plans[:-1] if plan.is_worked_off] + plans[-1:]
    works = [(work_for(_planned_goal(plan, goals)), Facts(plan.made, room)) for plan in counted]
    work, facts = works[-1]
    turn = take_turn(work, facts, plans[-1].statuses, offered, planned=planned)
    if not turn.finished:
        return turn
    waiting = goals[len(plans) :]
    if waiting and waiting[0].question is None and planned:
        following = plan_call(work_for(waiting[0]), name_tools=now.refused_plans == 0)
        return Turn(
            (*turn.calls, following), f"That part is done. Next: {waiting[0].text[:200]}", finished=False
        )
    notes = [f"You also said “{goal.text[:200]}”: {goal.question}" for goal in waiting if goal.question]
    if now.refused_ends >= 2 and planned:
        stop = RequestedCall(
            PLAN_TOOL, {"action": "fail", "reason": "The plan's open steps could not be closed."}
        )
        return Turn((stop,), "", finished=True)
    closing = turn.calls if now.refused_ends == 0 else (*turn.calls, *_close_all(work, plans[-1]))
    last = finish(works, notes, planned=planned, room=room)
    return Turn((*closing, *last.calls), last.text, finished=True)


def _close_all(work: Work, plan: PlanSoFar) -> list[RequestedCall]:
    """After a refused end: every step the plan may still hold open, whatever this reading of it says."""
    known = range(1, max(len(work.stages), plan.steps) + 1)
    given = {"action": "update_step", "step_status": "skipped", "step_result": "Not needed for the goal."}
    return [
        RequestedCall(PLAN_TOOL, {**given, "step_number": number})
        for number in known
        if plan.statuses.get(number) not in ("completed", "skipped", "failed")
    ]


def _planned_goal(plan: PlanSoFar, goals: list[Goal]) -> Goal:
    """The goal a plan was made for, whole: plans hold only so much of a long one."""
    goal = next((one for one in goals if goal_in_plan(one.text) == plan.goal), None) or read_goal(plan.goal)
    return goal if goal.tasks else goal._replace(tasks=(Unsupported(plan.goal),), output=None)


def _goals(messages: list[str], questions: list[int]) -> list[Goal]:
    """Each message as a goal; an answer to a question replaces what was asked about. After two questions
    without a goal to show for it, the honest answer is that this is beyond rules."""
    goals: list[Goal] = []
    for number, message in enumerate(messages):
        goal = read_goal(message)
        if goals and goals[-1].question is not None and number in questions:
            goals[-1] = _answered(goals[-1], goal, message)
        else:
            goals.append(goal)
    if not goals:
        return [Goal("", question=WHAT_TO_DO)]
    if goals[-1].question is not None and len(questions) >= _MOST_QUESTIONS:
        goals[-1] = goals[-1]._replace(tasks=(Unsupported(goals[-1].text),), question=None)
    return goals


def _answered(asked: Goal, answer: Goal, message: str) -> Goal:
    understood = answer.tasks and not any(isinstance(task, Unsupported) for task in answer.tasks)
    if asked.template is not None and not understood:
        return read_goal(asked.template.format(message))
    return answer


def _ask(question: str) -> Turn:
    ask = RequestedCall(PLAN_TOOL, {"action": "wait_for_user", "reason": question})
    return Turn((ask,), "", finished=False)


def _chars_of(request: ModelRequest) -> int:
    tools = sum(len(t.name) + len(t.description) + len(json.dumps(t.input_schema)) for t in request.tools)
    spoken = sum(
        len(entry.content.loaded)
        + sum(len(call.name) + len(json.dumps(call.input)) for call in getattr(entry, "calls", ()))
        for entry in request.entries
    )
    return len(request.system) + tools + spoken + len(request.tail)
