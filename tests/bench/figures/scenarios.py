"""The planning contract's scripts, played in one process: how often a plan comes about, is kept, and what it takes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from acta.engine.models.model import ModelReply, RequestedCall
from acta.engine.models.react import ReActModel
from tests.bench.table import columns, heading
from tests.e2e.support.scenarios import ALL
from tests.e2e.support.script import Scenario
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import USAGE, ScriptedModel


class Played(NamedTuple):
    """`messages`: of the conversation, tool results included; `replies`: what the model was asked for."""

    name: str
    as_expected: bool
    plans_created: int
    last_plan_completed: bool
    replies: int
    messages: int


def measure() -> dict[str, Any]:
    return figures([play(scenario) for scenario in ALL])


def play(scenario: Scenario) -> Played:
    replies = [
        ModelReply(
            text=said.text,
            calls=tuple(RequestedCall(call.name, call.input) for call in said.calls),
            stop="tools" if said.calls else "end",
            usage=USAGE,
        )
        for said in scenario.says
    ]
    model = ScriptedModel(replies)
    house = House(ReActModel(model) if scenario.protocol == "react" else model)
    for path, text in scenario.files.items():
        house.files.write(TENANT, path, text.encode())
    session = house.start(scenario.goal, **scenario.limits).session_id
    house.run()
    for decision in scenario.decisions:
        (asked,) = house.head(session).interventions
        assert asked.type == decision.type, f"{scenario.name}: asked for {asked.type}"
        house.resolve(session, asked, decision.option, **decision.given)
        house.run()
    head = house.head(session)
    told = head.error.code if head.error else head.result is not None and head.result.goal_met
    history = house.history(session)
    return Played(
        name=scenario.name,
        as_expected=(head.state, told) == scenario.ends and head.usage.llm_calls == len(scenario.says),
        plans_created=len(history.plan_versions()),
        last_plan_completed=head.plan is not None and head.plan.status == "completed",
        replies=head.usage.llm_calls,
        messages=len(history.messages(0, 1_000)[0]),
    )


def figures(played: list[Played]) -> dict[str, Any]:
    """Rates are shares of the tasks: those that came to a plan, and of these, those whose last plan was completed."""
    planned = [one for one in played if one.plans_created]
    return {
        "tasks": len(played),
        "ended_as_expected": sum(one.as_expected for one in played),
        "meant_to_complete": sum(scenario.ends == ("completed", True) for scenario in ALL),
        "plan_creation_rate": len(planned) / len(played),
        "plan_completion_rate": sum(one.last_plan_completed for one in planned) / len(planned),
        "messages_per_task": sum(one.messages for one in played) / len(played),
        "model_replies_per_task": sum(one.replies for one in played) / len(played),
        "each": {one.name: one._asdict() for one in played},
    }


def report(found: Mapping[str, Any]) -> None:
    heading("The planning contract over scripted models: counts, one process")
    rows = [
        (
            name,
            [
                "yes" if one["as_expected"] else "NO",
                str(one["plans_created"]),
                "yes" if one["last_plan_completed"] else "no",
                str(one["replies"]),
                str(one["messages"]),
            ],
        )
        for name, one in found["each"].items()
    ]
    columns(["as expected", "plan versions", "plan completed", "model replies", "messages"], rows)
    tasks, meant = found["tasks"], found["meant_to_complete"]
    print(
        f"Plan creation rate {found['plan_creation_rate']:.2f}; plan completion rate "
        f"{found['plan_completion_rate']:.2f} ({meant / tasks:.2f} is what the scripts allow: the others are to fail "
        f"or run out of turns).\nPer task: {found['messages_per_task']:.1f} messages, "
        f"{found['model_replies_per_task']:.1f} model replies. As expected: {found['ended_as_expected']} of {tasks}."
    )
