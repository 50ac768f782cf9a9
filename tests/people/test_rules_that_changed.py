"""Who may decide is who might when the question was asked, and would now; without an agent nobody lets anything run."""

from collections.abc import Callable
from typing import Any

import pytest

from acta.engine.agents.agent import AgentDefinition
from acta.engine.errors import ApproverMustDiffer, Conflict, PersonMissing, RoleMissing, ValidationFailed
from acta.engine.people.intervention import Intervention
from acta.engine.people.policies import InterventionType, Policy
from acta.engine.plans.edit import AddStep
from acta.engine.tools.registry import TenantRegistry
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import plans
from tests.people.policies import ASKS_WITH_A_PLAN, WAYS, house_with
from tests.people.policies import ENDS as ENDS_OF_WAYS
from tests.people.test_other_approvers import ENDS, PAYS, acting, asked, paid, paying_house

GUARDED = "guarded"
LETS_GO_ON: list[tuple[InterventionType, str, dict[str, Any]]] = [
    ("approval_required", "approve", {}),
    ("approval_required", "modify", {"input": {"path": "b.txt"}}),
    ("clarification_needed", "answer", {"text": "That one"}),
    ("error_recovery", "retry", {}),
    ("checkpoint_review", "continue", {}),
    ("budget_exceeded", "raise", {"token_budget": 90_000}),
]
ENDS_IT: list[tuple[InterventionType, str]] = [
    ("approval_required", "reject"),
    ("clarification_needed", "cancel"),
    ("error_recovery", "cancel"),
    ("checkpoint_review", "cancel"),
    ("budget_exceeded", "finish"),
]


def of_agent(house: House, **fields: Any) -> AgentDefinition:
    """Makes the agent `guarded`."""
    now = house.clock.now()
    named = AgentDefinition.model_validate({"agent_id": GUARDED, "name": "G", "version": 1, **fields})
    agent = named.model_copy(update={"created_at": now, "updated_at": now})
    house.definitions.create_agent(TENANT, agent)
    return agent


def without_agent(type: InterventionType) -> tuple[House, str, Intervention]:
    """A session with a question of that type, whose agent had start roles and has been deleted."""
    turns, limits = WAYS[type]
    house = house_with(*turns, *ENDS_OF_WAYS)
    agent = of_agent(house, start_roles=("ops",))
    session = acting(house, "ann", "ops").start("Go", agent_id=GUARDED, **limits).session_id
    house.run()
    house.definitions.delete_agent(TENANT, agent)
    return house, session, asked(house, session)


@pytest.mark.parametrize(("type", "option", "given"), LETS_GO_ON)
def test_once_the_agent_is_deleted_nobody_lets_its_sessions_go_on(
    type: InterventionType, option: str, given: dict[str, Any]
) -> None:
    house, session, one = without_agent(type)
    before = house.head(session)
    for user, role in (("mia", "member"), ("ann", "ops"), ("boss", "admin")):
        with pytest.raises(Conflict, match="agent has been deleted"):
            acting(house, user, role).resolve(session, one, option, **given)
    assert house.head(session) == before


@pytest.mark.parametrize(("type", "option"), ENDS_IT)
def test_once_the_agent_is_deleted_its_questions_may_be_refused(type: InterventionType, option: str) -> None:
    house, session, one = without_agent(type)
    assert acting(house, "mia").resolve(session, one, option).resolution == option
    house.run()
    assert house.head(session).is_over


def test_nobody_writes_to_a_session_of_a_deleted_agent_and_nobody_resumes_it() -> None:
    house, session, _ = without_agent("checkpoint_review")
    before = house.head(session)
    with pytest.raises(Conflict, match="agent has been deleted"):
        house.say(session, "Go on")
    with pytest.raises(Conflict, match="agent has been deleted"):
        house.resume(session)
    assert house.head(session) == before


def asked_before(agent: dict[str, Any], tool: dict[str, Any] | None = None) -> tuple[House, str, Any]:
    """A session of Ann's that asks whether to pay, and its agent."""
    house = paying_house(plans("pay"), PAYS, *ENDS, tool=tool or {"high_stakes": True})
    definition = of_agent(house, **agent)
    session = acting(house, "ann").start("Pay", agent_id=GUARDED).session_id
    house.run()
    return house, session, definition


def now_with(house: House, agent: AgentDefinition, **policy: Any) -> None:
    stricter = {"version": 2, "interventions": {"approval_required": Policy(**policy)}}
    house.definitions.replace_agent(TENANT, agent, agent.model_copy(update=stricter))


def test_a_role_that_the_policy_names_since_is_needed() -> None:
    house, session, agent = asked_before({})
    now_with(house, agent, role="finance")
    with pytest.raises(RoleMissing, match="finance"):
        house.resolve(session, asked(house, session), "approve")
    acting(house, "bob", "finance").resolve(session, asked(house, session), "approve")
    house.run()
    assert paid(house) == 1


def test_a_role_that_the_policy_named_then_is_needed_too() -> None:
    house, session, agent = asked_before({"interventions": {"approval_required": Policy(role="legal")}})
    now_with(house, agent, role="finance")
    for roles in (("legal",), ("finance",)):
        with pytest.raises(RoleMissing):
            acting(house, "bob", *roles).resolve(session, asked(house, session), "approve")
    acting(house, "bob", "legal", "finance").resolve(session, asked(house, session), "approve")
    house.run()
    assert paid(house) == 1


def test_a_policy_that_was_loosened_loosens_no_question_that_is_open() -> None:
    house, session, agent = asked_before({"interventions": {"approval_required": Policy(role="legal")}})
    now_with(house, agent)
    with pytest.raises(RoleMissing, match="legal"):
        acting(house, "bob").resolve(session, asked(house, session), "approve")


def test_who_asked_does_not_approve_where_the_policy_wants_another_since() -> None:
    house, session, agent = asked_before({})
    now_with(house, agent, approver_must_differ=True)
    with pytest.raises(ApproverMustDiffer):
        house.resolve(session, asked(house, session), "approve")
    with pytest.raises(ValidationFailed):
        acting(house, "bob").resolve(session, asked(house, session), "modify", input={"order": 8})
    acting(house, "bob").resolve(session, asked(house, session), "approve")
    house.run()
    assert paid(house) == 1


def to_tool(house: House, agent: AgentDefinition) -> None:
    (old,) = house.definitions.tools.all(TENANT)
    house.definitions.tools.replace(
        TENANT, old, old.model_copy(update={"version": 2, "approver_role": "finance"})
    )


def to_operator(house: House, agent: AgentDefinition) -> None:
    named = {TENANT: {"send_payment": "finance"}}
    registry = TenantRegistry(house.definitions.snapshot, approvers=named)
    house.registry = registry


@pytest.mark.parametrize("names", [to_tool, to_operator])
def test_a_role_that_the_tool_or_an_operator_names_since_is_needed(
    names: Callable[[House, AgentDefinition], None],
) -> None:
    house, session, agent = asked_before({})
    names(house, agent)
    with pytest.raises(RoleMissing, match="finance"):
        house.resolve(session, asked(house, session), "approve")


def asks_finance(type: InterventionType) -> tuple[House, str]:
    """A session with an open question of that type, which is finance's to decide since it was asked."""
    turns, limits = WAYS[type] if type != "clarification_needed" else (ASKS_WITH_A_PLAN, {})
    house = house_with(*turns, *ENDS_OF_WAYS)
    agent = of_agent(house)
    session = acting(house, "ann").start("Go", agent_id=GUARDED, **limits).session_id
    house.run()
    policy = {"version": 2, "interventions": {type: Policy(role="finance")}}
    house.definitions.replace_agent(TENANT, agent, agent.model_copy(update=policy))
    return house, session


def by_message(house: House, session: str) -> None:
    house.say(session, "yes")


def by_plan_edit(house: House, session: str) -> None:
    house.edit_plan(session, AddStep(op="add", description="Pay account 7"))


def by_resume(house: House, session: str) -> None:
    house.resume(session)


WAYS_ROUND: list[tuple[InterventionType, Callable[[House, str], None], str]] = [
    ("clarification_needed", by_message, "answer"),
    ("clarification_needed", by_plan_edit, "answer"),
    ("checkpoint_review", by_resume, "continue"),
]


@pytest.mark.parametrize(("type", "decide", "option"), WAYS_ROUND)
def test_a_question_that_is_another_role_s_now_is_decided_in_no_other_way_either(
    type: InterventionType, decide: Callable[[House, str], None], option: str
) -> None:
    house, session = asks_finance(type)
    before = house.head(session)
    acting(house, "bob")
    with pytest.raises(RoleMissing, match="finance"):
        decide(house, session)
    assert house.head(session) == before
    acting(house, "eve", "finance")
    decide(house, session)
    decided = house.index.intervention(TENANT, before.interventions[0].intervention_id)
    assert decided is not None
    assert (decided.resolution, decided.resolved_by) == (option, "eve")


def test_whoever_might_pause_ends_the_pause_whatever_the_policy_says() -> None:
    house, session, agent = asked_before({})
    house.pause(session)
    policy = {"version": 2, "interventions": {"checkpoint_review": Policy(role="finance")}}
    house.definitions.replace_agent(TENANT, agent, agent.model_copy(update=policy))
    house.resume(session)
    assert asked(house, session).type == "approval_required"


@pytest.mark.parametrize(("type", "decide", "option"), WAYS_ROUND)
def test_a_program_decides_in_no_way_where_people_alone_do(
    type: InterventionType, decide: Callable[[House, str], None], option: str
) -> None:
    turns, limits = WAYS[type] if type != "clarification_needed" else (ASKS_WITH_A_PLAN, {})
    house = house_with(*turns, *ENDS_OF_WAYS)
    session = house.start("Go", **limits).session_id
    house.run()
    before = house.head(session)
    house.decides = False
    for each in before.interventions[0].options:
        with pytest.raises(PersonMissing, match="A person has to decide this"):
            house.resolve(session, before.interventions[0], each)
    with pytest.raises(PersonMissing):
        decide(house, session)
    with pytest.raises(PersonMissing):
        house.limit(session, token_budget=before.budget.token_budget + 1)
    assert house.head(session) == before
    house.limit(session, token_budget=before.budget.token_budget - 1)
    house.pause(session)
    with pytest.raises(PersonMissing):
        house.resume(session)
    house.cancel(session)


def test_a_session_that_a_person_lets_go_on_is_a_program_s_to_start_and_to_write_to() -> None:
    house = house_with(plans("look"), *ENDS_OF_WAYS)
    house.decides = False
    session = house.start("Go").session_id
    house.say(session, "Look well")
    house.run()
    assert house.head(session).state == "completed"


def strict(house: House, approver: str) -> None:
    """The operator's environment is strict since."""
    house.settings = house.settings.but(high_stakes_approver=approver)


def test_an_environment_that_wants_two_people_since_wants_them_for_what_is_open() -> None:
    house, session, _ = asked_before({"interventions": {"approval_required": Policy(role="legal")}})
    strict(house, "finance")
    with pytest.raises(ApproverMustDiffer):
        acting(house, "ann", "legal", "finance").resolve(session, asked(house, session), "approve")
    with pytest.raises(RoleMissing, match="finance"):
        acting(house, "bob", "legal").resolve(session, asked(house, session), "approve")
    acting(house, "bob", "legal", "finance").resolve(session, asked(house, session), "approve")
    house.run()
    assert paid(house) == 1
