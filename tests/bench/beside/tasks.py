"""Four tasks of a small shop, and what the scripted model replies in each. It replies as the prompt of the framework
that asks it demands: it plans where that wants a plan, in the way in which that wants it.
"""

from typing import Any, NamedTuple

from tests.bench.stand.script import Call, Reply

SYSTEM = (
    "You are the support agent of a small shop. Look things up before you answer, and answer in one sentence."
)
TOOLS = ("look_up_order", "find_customer", "refund")
"""`tools/shop/tools.py`."""
PLANNED_FROM = 3
"""Steps. With fewer, it is better not to plan: so say the description of `write_todos`, and Acta's prompt for agents
that plan when needed.
"""


class Step(NamedTuple):
    """`calls`: made at once, in one reply. `result`: what the step has found, in the words of a plan."""

    description: str
    calls: tuple[Call, ...]
    result: str


class Task(NamedTuple):
    """`goal`: the message, in the words of a plan."""

    name: str
    message: str
    answer: str
    goal: str = ""
    steps: tuple[Step, ...] = ()


def order(number: int) -> Call:
    return Call("look_up_order", {"order_id": f"A-{number}"})


GREETING = Task("greeting", "hi", "Hello! What can I do for you?")
TASKS = (
    GREETING,
    Task(
        "two tools",
        "Who bought order A-2, and where do they live?",
        "Order A-2 was bought by Jo Miller, who lives at 12 Mill Lane in Leeds.",
        "The name and address of who bought order A-2",
        (
            Step("Look up order A-2", (order(2),), "A-2 was bought by jo.2@example.com"),
            Step(
                "Find the customer of order A-2",
                (Call("find_customer", {"mail": "jo.2@example.com"}),),
                "Jo Miller, 12 Mill Lane, Leeds",
            ),
        ),
    ),
    Task(
        "six steps",
        "Look up the orders A-1 to A-6, one after the other, and tell me which were shipped over four days ago.",
        "The orders A-5 and A-6 were shipped more than four days ago.",
        "Which of the orders A-1 to A-6 were shipped more than four days ago",
        tuple(
            Step(f"Look up order A-{number}", (order(number),), f"A-{number}: shipped {number} days ago")
            for number in range(1, 7)
        ),
    ),
    Task(
        "three at once",
        "When were the orders A-1, A-2 and A-3 shipped?",
        "Order A-1 was shipped one day ago, A-2 two days ago and A-3 three days ago.",
        "When the orders A-1, A-2 and A-3 were shipped",
        (
            Step(
                "Look up the orders A-1, A-2 and A-3",
                (order(1), order(2), order(3)),
                "Shipped 1, 2 and 3 days ago",
            ),
        ),
    ),
)


def tools_only(task: Task) -> list[Reply]:
    """A reply for each step, then the answer."""
    return [*(Reply("", step.calls) for step in task.steps), Reply(task.answer)]


def with_todos(task: Task) -> list[Reply]:
    """As `write_todos` of Deep Agents wants it: the list is written with the first calls and again after each step, and
    the answer has a reply of its own after the last time.
    """
    if len(task.steps) < PLANNED_FROM:
        return tools_only(task)

    def todos(done: int) -> Call:
        states = ["completed"] * done + ["in_progress"] + ["pending"] * len(task.steps)
        listed = [
            {"content": step.description, "status": state}
            for step, state in zip(task.steps, states, strict=False)
        ]
        return Call("write_todos", {"todos": listed})

    worked = [Reply("", (todos(done), *step.calls)) for done, step in enumerate(task.steps)]
    return [*worked, Reply("", (todos(len(task.steps)),)), Reply(task.answer)]


def with_plan(task: Task, settled_at_once: int = 1) -> list[Reply]:
    """As Acta's prompt wants it: the plan comes with the first calls, a later reply settles what is finished and makes
    the next calls, and the last one completes the plan and answers. `settled_at_once`: how many steps, or the fewer
    that are left for the end.
    """
    if not task.steps:
        return [Reply(f"GOAL_COMPLETE\n{task.answer}")]
    planned = [{"description": step.description} for step in task.steps]
    replies = [Reply("", (_plan("create", goal=task.goal, steps=planned), *task.steps[0].calls))]
    finished: list[dict[str, Any]] = []
    for number, step in enumerate(task.steps, start=1):
        finished.append({"step_number": number, "step_result": step.result})
        if step is task.steps[-1]:
            break
        following = task.steps[number].calls
        if len(finished) < settled_at_once:
            replies.append(Reply("", following))
            continue
        replies.append(Reply("", (_plan("update_step", steps=finished), *following)))
        finished = []
    return [*replies, Reply(task.answer, (_plan("complete", steps=finished),))]


def with_plan_when_needed(task: Task) -> list[Reply]:
    """As Acta's prompt wants it under `planning: when_needed`: without a plan, the text itself is the answer."""
    return with_plan(task) if len(task.steps) >= PLANNED_FROM else tools_only(task)


def _plan(action: str, **fields: Any) -> Call:
    return Call("update_plan", {"action": action, **fields})
