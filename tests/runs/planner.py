"""Plans as a model makes them, and a whole run of one that says what it is told."""

from typing import Any

from acta.engine.models.model import ModelReply
from acta.engine.plans.plan import ExecutionPlan
from tests.in_process.house import House
from tests.in_process.scripted import ScriptedModel, call, says

ONE = [{"description": "Do it"}]


def made(**changed: Any) -> ModelReply:
    whole = {"action": "create", "goal": "The goal", "steps": ONE} | changed
    return says(
        "", call("update_plan", **{name: value for name, value in whole.items() if value is not None})
    )


def run(*turns: ModelReply, goal: str = "Go", **limits: Any) -> tuple[House, ScriptedModel, str]:
    model = ScriptedModel(turns)
    house = House(model)
    session = house.start(goal, **limits).session_id
    house.run()
    return house, model, session


def plan_of(house: House, session: str) -> ExecutionPlan:
    plan = house.head(session).plan
    assert plan is not None
    return plan
