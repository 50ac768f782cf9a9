"""A house whose default agent says how people are asked, and ways into each of the five questions."""

from typing import Any

from acta.engine.agents.agent import DEFAULT_AGENT, AgentDefinition, built_in
from acta.engine.people.intervention import Intervention
from acta.engine.people.policies import InterventionType, Policy
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, Turn, call, completes, plans, says, step

DELETE = says("Then I delete it.", call("delete_file", path="a.txt"))
ENDS = (says("", step(1, "completed", "ok")), completes("Done."))

WAYS: dict[InterventionType, tuple[tuple[Turn, ...], dict[str, Any]]] = {
    "approval_required": ((plans("delete"), DELETE, *ENDS), {}),
    "clarification_needed": (
        (says("Hm.", call("update_plan", action="wait_for_user", reason="Which?")), plans("do"), *ENDS),
        {},
    ),
    "error_recovery": ((plans("read"), *[says("", call("read_file", path="gone.txt"))] * 5), {}),
    "checkpoint_review": (
        (plans("look"), says("I look.", call("list_files")), *ENDS),
        {"review_every": 1},
    ),
    "budget_exceeded": ((plans("look"), *ENDS), {"token_budget": 10}),
}
"""What the model says until it is asked for, and what it goes on with; with the session's limits."""
ASKS_WITH_A_PLAN = (
    plans("do"),
    says("Hm.", call("update_plan", action="wait_for_user", reason="Which?")),
    *ENDS,
)
"""A clarification beside a plan, which people may edit meanwhile."""


def house_with(
    *turns: Turn,
    policies: dict[InterventionType, Policy] | None = None,
    settings: dict[str, Any] | None = None,
    **agent: Any,
) -> House:
    """`settings`: of the deployment. `agent`: fields of its default agent."""
    house = House(ScriptedModel(turns), token_window_seconds=0, **(settings or {}))
    definition = AgentDefinition(
        agent_id=DEFAULT_AGENT, name="A", version=1, interventions=policies or {}, **agent
    )
    house.definitions.replace_agent(TENANT, built_in(), definition)
    for path in ("a.txt", "b.txt"):
        house.files.write(TENANT, path, path.encode())
    return house


def waiting(type: InterventionType, **policy: Any) -> tuple[House, str, Intervention]:
    """A session that waits for a person over a question of that type, under that policy."""
    turns, limits = WAYS[type]
    house = house_with(*turns, policies={type: Policy(**policy)} if policy else None)
    session = house.start("Go", **limits).session_id
    house.run()
    (one,) = house.head(session).interventions
    assert one.type == type
    return house, session, one


def recorded(house: House, one: Intervention) -> Intervention:
    found = house.index.intervention(TENANT, one.intervention_id)
    assert found is not None
    return found


def files(house: House) -> list[str]:
    return [file.path for file in house.files.list(TENANT, "", 10).files]
