"""`offline`: a rule-based stand-in for a model, and labelled as one. No language model, no network, no key.

It keeps nothing between calls and answers the same request always in the same way. It follows the planning protocol as
a model does, and never what a file says.
"""

import json

from shared.adapters.llm.offline.conversation import AcceptedPlan, Run, run_of
from shared.adapters.llm.offline.goals import WHAT_TO_DO, Goal, read_goal
from shared.adapters.llm.offline.structured import in_form
from shared.adapters.llm.offline.work import LABEL, Reply, Work, cut_to, final_reply, goal_in_plan
from shared.domain.definitions.builtins import UPDATE_PLAN
from shared.domain.plan.plan import MAX_STEPS
from shared.domain.rules.goal_marker import claims_completion
from shared.ports.model import ModelReply, ModelRequest, RequestedCall, TokenUsage

TOO_MUCH = f"This takes more than the {MAX_STEPS} steps of a plan. Give me fewer tasks at a time."
_CHARS_PER_TOKEN = 4
_OVERHEAD_CHARS = 2_500
"""What plan updates and labels take of a reply."""
_MIN_ROOM_CHARS = 500
_MAX_QUESTIONS = 2
_MAX_REFUSED_ENDS = 2


class OfflineModel:
    @property
    def provider(self) -> str:
        return "offline"

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        reply = _reply(request)
        written = len(reply.text) + sum(len(json.dumps(call.input)) for call in reply.calls)
        return ModelReply(
            text=reply.text,
            calls=reply.calls,
            stop="tools" if reply.calls else "end",
            usage=TokenUsage(_chars_of(request) // _CHARS_PER_TOKEN, max(1, written // _CHARS_PER_TOKEN)),
        )


def _reply(request: ModelRequest) -> Reply:
    run = run_of(request.entries)
    offered = frozenset(tool.name for tool in request.tools)
    room = max(_MIN_ROOM_CHARS, request.max_tokens * _CHARS_PER_TOKEN - _OVERHEAD_CHARS)
    if UPDATE_PLAN not in offered:  # the request is for a summary of the conversation
        asked = "\n".join(run.messages)
        return Reply((), cut_to(f"{LABEL}\nWhat was asked for:\n{asked}", room))
    goals = _goals(run)
    planned = [(plan, work) for plan in run.plans if (work := _work_of(plan, goals, room)) is not None]
    begun = [work.goal for _, work in planned]
    waiting = [goal for goal in goals if goal not in begun]
    is_planned = bool(planned) and planned[-1][0] is run.plans[-1]  # another model's plan may have come after
    if request.tool_choice == UPDATE_PLAN or not is_planned:
        return _plan((waiting or goals[-1:])[0], run, room)
    reply = _work_on(run, planned, waiting, offered, room)
    return (
        reply._replace(text=in_form(reply.text, request.system)) if claims_completion(reply.text) else reply
    )


def _work_of(plan: AcceptedPlan, goals: list[Goal], room: int) -> Work | None:
    """The work under a plan that the stand-in made. None: another model made the plan."""
    works = (Work(goal, plan.calls, room) for goal in goals if goal_in_plan(goal) == plan.goal)
    return next(
        (work for work in works if tuple(stage.description for stage in work.stages) == plan.steps), None
    )


def _goals(run: Run) -> list[Goal]:
    """A goal for each message. The answer to a question completes the goal that was asked about. A goal that two
    questions have not made clear is one that no rule knows.
    """
    goals: list[Goal] = []
    for number, message in enumerate(run.messages):
        if goals and goals[-1].question and number in run.questions:
            goals[-1] = goals[-1].answered(message)
        else:
            goals.append(_within_a_plan(read_goal(message)))
    goals = goals or [Goal("", question=WHAT_TO_DO)]
    if goals[-1].question and len(run.questions) >= _MAX_QUESTIONS:
        goals[-1] = goals[-1].given_up()
    return goals


def _within_a_plan(goal: Goal) -> Goal:
    steps = len(Work(goal, [], 0).stages)
    return Goal(goal.text, question=TOO_MUCH) if steps > MAX_STEPS else goal


def _plan(goal: Goal, run: Run, room: int) -> Reply:
    if goal.question:
        return Reply((RequestedCall(UPDATE_PLAN, {"action": "wait_for_user", "reason": goal.question}),))
    return Reply((Work(goal, [], room).plan(name_tools=run.refused_plans == 0),))


def _work_on(
    run: Run,
    planned: list[tuple[AcceptedPlan, Work]],
    waiting: list[Goal],
    offered: frozenset[str],
    room: int,
) -> Reply:
    """`planned`: the stand-in's own plans. `waiting`: goals that have no plan yet."""
    plan, work = planned[-1]
    reply = work.next_reply(plan, offered)
    if not reply.finished:
        return reply
    following = next((goal for goal in waiting if not goal.question), None)
    if following is not None:
        text = f"That part is done. Next: {following.text[:200]}"
        return Reply((*reply.calls, *_plan(following, run, room).calls), text)
    if run.refused_ends >= _MAX_REFUSED_ENDS:
        reason = "The plan's open steps could not be closed."
        return Reply((RequestedCall(UPDATE_PLAN, {"action": "fail", "reason": reason}),))
    # An earlier plan that has open steps was set aside by a person.
    works = [earlier for its_plan, earlier in planned[:-1] if its_plan.is_done] + [work]
    notes = [f"You also said “{goal.text[:200]}”: {goal.question}" for goal in waiting]
    last = final_reply(works, notes, room)
    return Reply((*reply.calls, *last.calls), last.text)


def _chars_of(request: ModelRequest) -> int:
    tools = sum(len(t.name) + len(t.description) + len(json.dumps(t.input_schema)) for t in request.tools)
    entries = sum(
        len(entry.content.loaded)
        + sum(len(call.name) + len(json.dumps(call.input)) for call in getattr(entry, "calls", ()))
        for entry in request.entries
    )
    return len(request.system) + tools + entries + len(request.suffix)
