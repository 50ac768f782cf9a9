"""Who decides on a tool's calls belongs to the tool, and nobody lets run what they have asked for
(docs/design/people.md 28)."""

from collections.abc import Callable
from typing import Any

import pytest

from acta.engine.agents.agent import AgentDefinition
from acta.engine.errors import ApproverMustDiffer, RoleMissing, ValidationFailed
from acta.engine.people.intervention import Intervention, is_for_others_only
from acta.engine.people.policies import Policy
from acta.engine.tools.tool import LambdaConfig, ToolDefinition
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, Turn, call, completes, plans, says, step
from tests.people.policies import recorded
from tests.tools.test_effect_ledger import Sink, run_with_a_crash

PAYS = says("I pay.", call("send_payment", order=7))
ASKS = says("Hm.", call("update_plan", action="wait_for_user", reason="To whom?"))
ENDS = (says("", step(1, "completed", "ok")), completes("Paid."))
CAREFREE = "carefree"


def paying_house(*turns: Turn, dies: str = "", tool: dict[str, Any] | None = None, **settings: Any) -> House:
    """A house with a tool that pays. The agent `carefree` says that anybody may approve."""
    house = House(ScriptedModel(turns), **settings)
    fields = {"approver_role": "finance"} if tool is None else tool
    now = house.clock.now()
    house.definitions.tools.create(
        TENANT,
        ToolDefinition(
            name="send_payment", description="Pays", kind="lambda", effect="once",
            input_schema={"type": "object", "additionalProperties": True},
            config=LambdaConfig(function="acta-test-tool-pay"), risk="write", version=1, created_at=now, updated_at=now,
            **{"high_stakes": True, **fields},
        ),
    )  # fmt: skip
    policies = {"approval_required": Policy(role="member", approver_must_differ=False)}
    agent = AgentDefinition.model_validate(
        {"agent_id": CAREFREE, "name": "C", "version": 1, "interventions": policies}
    )
    house.definitions.create_agent(TENANT, agent.model_copy(update={"created_at": now, "updated_at": now}))
    house.runtime = house.runtime._replace(toolbox=Sink(dies))
    return house


def acting(house: House, user: str, *roles: str) -> House:
    house.user, house.roles = user, frozenset({"member", *roles})
    return house


def asked(house: House, session: str) -> Intervention:
    (one,) = house.head(session).interventions
    return one


def paid(house: House) -> int:
    toolbox = house.runtime.toolbox
    assert isinstance(toolbox, Sink)
    return len(toolbox.effects)


@pytest.mark.parametrize("agent", ["default", CAREFREE])
def test_whichever_agent_calls_it_the_tool_s_role_decides_and_not_who_started_the_session(agent: str) -> None:
    house = paying_house(plans("pay"), PAYS, *ENDS)
    session = acting(house, "ann", "finance").start("Pay", agent_id=agent).session_id
    house.run()
    one = asked(house, session)
    assert (one.role, one.options) == ("finance", ("approve", "reject"))
    with pytest.raises(ApproverMustDiffer):
        house.resolve(session, one, "approve")
    with pytest.raises(RoleMissing):
        acting(house, "bob").resolve(session, one, "approve")
    assert (asked(house, session), paid(house)) == (one, 0)
    assert acting(house, "cleo", "finance").resolve(session, one, "approve").resolved_by == "cleo"
    house.run()
    assert (house.head(session).state, paid(house)) == ("completed", 1)


def message(house: House, session: str) -> None:
    house.say(session, "To that account, please")


def answer(house: House, session: str) -> None:
    house.resolve(session, asked(house, session), "answer", text="To that account, please")


@pytest.mark.parametrize("speaks", [message, answer])
def test_whoever_the_agent_has_words_of_has_asked_for_it_too(speaks: Callable[[House, str], None]) -> None:
    house = paying_house(ASKS, plans("pay"), PAYS, *ENDS)
    session = acting(house, "ann").start("Pay").session_id
    house.run()
    speaks(acting(house, "bob", "finance"), session)
    house.run()
    one = asked(house, session)
    with pytest.raises(ApproverMustDiffer):
        house.resolve(session, one, "approve")
    acting(house, "cleo", "finance").resolve(session, one, "approve")
    house.run()
    assert paid(house) == 1


def test_who_says_in_a_rejection_what_to_do_instead_approves_none_of_it() -> None:
    house = paying_house(plans("pay"), PAYS, PAYS, PAYS)
    session = acting(house, "ann").start("Pay").session_id
    house.run()
    acting(house, "bob", "finance").resolve(session, asked(house, session), "reject")
    house.run()
    house.comment = "Pay it to my account instead"
    house.resolve(session, asked(house, session), "reject")
    house.comment = None
    house.run()
    with pytest.raises(ApproverMustDiffer):
        house.resolve(session, asked(house, session), "approve")


def test_an_input_of_the_approver_s_own_is_no_option() -> None:
    house = paying_house(plans("pay"), PAYS, *ENDS)
    session = acting(house, "ann").start("Pay").session_id
    house.run()
    with pytest.raises(ValidationFailed):
        acting(house, "bob", "finance").resolve(session, asked(house, session), "modify", order=8)


def test_who_asked_may_reject() -> None:
    house = paying_house(plans("pay"), PAYS, *ENDS)
    session = acting(house, "ann", "finance").start("Pay").session_id
    house.run()
    one = asked(house, session)
    house.resolve(session, one, "reject")
    assert recorded(house, one).resolution == "reject"


def test_whether_a_call_is_made_again_is_decided_by_the_same_people() -> None:
    house = paying_house(plans("pay"), PAYS, *ENDS, dies="before")
    session = acting(house, "ann", "finance").start("Pay").session_id
    house.run()
    acting(house, "bob", "finance").resolve(session, asked(house, session), "approve")
    run_with_a_crash(house)
    doubt = asked(house, session)
    assert (doubt.type, doubt.role) == ("error_recovery", "finance")
    with pytest.raises(RoleMissing):
        acting(house, "ann").resolve(session, doubt, "retry")
    with pytest.raises(ApproverMustDiffer):
        acting(house, "ann", "finance").resolve(session, doubt, "retry")
    acting(house, "bob", "finance").resolve(session, doubt, "retry")
    house.run()
    assert (house.head(session).state, paid(house)) == ("completed", 1)


def test_a_tool_may_say_that_its_approver_may_be_anybody_with_the_role() -> None:
    house = paying_house(
        plans("pay"), PAYS, *ENDS, tool={"approver_role": "finance", "approver_must_differ": False}
    )
    session = acting(house, "ann", "finance").start("Pay").session_id
    house.run()
    house.resolve(session, asked(house, session), "approve")
    house.run()
    assert paid(house) == 1


def test_an_agent_may_want_another_approver_for_tools_that_do_not() -> None:
    house = paying_house(plans("pay"), PAYS, *ENDS, tool={})
    policies = {"approval_required": Policy(approver_must_differ=True)}
    agent = AgentDefinition.model_validate(
        {"agent_id": "strict", "name": "S", "version": 1, "interventions": policies}
    )
    now = house.clock.now()
    house.definitions.create_agent(TENANT, agent.model_copy(update={"created_at": now, "updated_at": now}))
    session = acting(house, "ann").start("Pay", agent_id="strict").session_id
    house.run()
    with pytest.raises(ApproverMustDiffer, match="another member of the tenant"):
        house.resolve(session, asked(house, session), "approve")
    acting(house, "bob").resolve(session, asked(house, session), "approve")


@pytest.mark.parametrize(
    ("named", "role"),
    [
        ({"*": {"delete_file": "records"}}, "records"),
        ({"*": {"delete_file": "records"}, TENANT: {"delete_file": "owners"}}, "owners"),
    ],
)
def test_an_operator_names_who_decides_on_a_built_in_tool_whichever_agent_calls_it(
    named: dict[str, dict[str, str]], role: str
) -> None:
    deletes = says("I delete it.", call("delete_file", path="payroll.csv"))
    house = paying_house(plans("delete"), deletes, *ENDS, tool_approvers=named)
    session = acting(house, "ann", role).start("Delete it", agent_id=CAREFREE).session_id
    house.run()
    one = asked(house, session)
    assert (one.role, one.options) == (role, ("approve", "reject"))
    with pytest.raises(ApproverMustDiffer):
        house.resolve(session, one, "approve")
    with pytest.raises(RoleMissing):
        acting(house, "bob", "admin").resolve(session, one, "approve")
    acting(house, "cleo", role).resolve(session, one, "approve")
    house.run()
    assert (house.head(session).state, paid(house)) == ("completed", 1)


def test_an_operator_s_role_holds_whatever_a_tenant_s_admin_says_of_the_tool() -> None:
    carefree = {"approver_role": "member", "approver_must_differ": False, "high_stakes": False}
    house = paying_house(
        plans("pay"), PAYS, *ENDS, tool=carefree, tool_approvers={TENANT: {"send_payment": "finance"}}
    )
    session = acting(house, "ann", "finance").start("Pay").session_id
    house.run()
    assert asked(house, session).role == "finance"
    with pytest.raises(ApproverMustDiffer):
        house.resolve(session, asked(house, session), "approve")
    assert paid(house) == 0


@pytest.mark.parametrize("agent", ["default", CAREFREE])
@pytest.mark.parametrize("tool", [{}, {"approver_role": "member", "approver_must_differ": False}])
def test_an_environment_wants_another_person_for_high_stakes_whatever_agent_and_tool_leave_open(
    agent: str, tool: dict[str, Any]
) -> None:
    house = paying_house(plans("pay"), PAYS, *ENDS, tool=tool, high_stakes_approver="another")
    session = acting(house, "ann").start("Pay", agent_id=agent).session_id
    house.run()
    one = asked(house, session)
    assert one.options == ("approve", "reject")
    with pytest.raises(ApproverMustDiffer):
        house.resolve(session, one, "approve")
    acting(house, "bob").resolve(session, one, "approve")
    house.run()
    assert (house.head(session).state, paid(house)) == ("completed", 1)


@pytest.mark.parametrize(
    ("tool", "role"),
    [({}, "second"), ({"approver_role": "member"}, "second"), ({"approver_role": "finance"}, "finance")],
)
def test_an_environment_s_role_for_high_stakes_comes_after_a_tool_s_own_and_before_the_agent_s(
    tool: dict[str, Any], role: str
) -> None:
    house = paying_house(plans("pay"), PAYS, *ENDS, tool=tool, high_stakes_approver="second")
    session = acting(house, "ann", role).start("Pay", agent_id=CAREFREE).session_id
    house.run()
    one = asked(house, session)
    assert one.role == role
    with pytest.raises(ApproverMustDiffer):
        house.resolve(session, one, "approve")
    acting(house, "bob", role).resolve(session, one, "approve")
    house.run()
    assert paid(house) == 1


def test_a_tool_that_the_agent_adds_to_high_stakes_is_another_s_to_approve_and_to_run_again() -> None:
    house = paying_house(
        plans("pay"), PAYS, *ENDS, dies="before", tool={"high_stakes": False}, high_stakes_approver="another"
    )
    now = house.clock.now()
    agent = AgentDefinition.model_validate(
        {"agent_id": "strict", "name": "S", "version": 1, "high_stakes": ["send_payment"]}
    )
    house.definitions.create_agent(TENANT, agent.model_copy(update={"created_at": now, "updated_at": now}))
    session = acting(house, "ann").start("Pay", agent_id="strict").session_id
    house.run()
    acting(house, "bob").resolve(session, asked(house, session), "approve")
    run_with_a_crash(house)
    doubt = asked(house, session)
    assert doubt.type == "error_recovery"
    with pytest.raises(ApproverMustDiffer):
        acting(house, "ann").resolve(session, doubt, "retry")
    acting(house, "bob").resolve(session, doubt, "retry")
    house.run()
    assert paid(house) == 1


@pytest.mark.parametrize(("replace", "asks_another"), [(True, True), (False, False)])
def test_replacing_a_file_is_of_high_stakes_and_what_a_plan_s_step_asks_for_is_not(
    replace: bool, asks_another: bool
) -> None:
    writes = says("I write.", call("create_file", path="new.txt", content="x", replace=replace))
    asking = {"description": "write", "tool": "create_file", "requires_permission": True}
    steps = says("", call("update_plan", action="create", goal="it", steps=[asking]))
    house = paying_house(steps, writes, *ENDS, tool={}, high_stakes_approver="another")
    session = acting(house, "ann").start("Write it").session_id
    house.run()
    assert is_for_others_only(asked(house, session)) is asks_another


@pytest.mark.parametrize("asked_path", ["accounts.txt", "new.txt"])
@pytest.mark.parametrize("approver", ["another", "anyone"])
def test_a_question_of_a_plan_s_step_is_modified_to_no_replacement(asked_path: str, approver: str) -> None:
    writes = says("I write.", call("create_file", path=asked_path, content="x"))
    asking = {"description": "write", "tool": "create_file", "requires_permission": True}
    steps = says("", call("update_plan", action="create", goal="it", steps=[asking]))
    house = House(ScriptedModel((steps, writes, *ENDS)), high_stakes_approver=approver)
    house.files.write(TENANT, "accounts.txt", b"a year of accounts")
    session = acting(house, "ann").start("Write it").session_id
    house.run()
    one = asked(house, session)
    with pytest.raises(ValidationFailed, match="Reject the call instead"):
        house.resolve(session, one, "modify", path="accounts.txt", content="of ann", replace=True)
    assert asked(house, session) == one
    house.resolve(session, one, "modify", path="other.txt", content="of ann", replace=False)
    house.run()
    assert house.files.read(TENANT, "accounts.txt") == b"a year of accounts"
    assert house.files.read(TENANT, "other.txt") == b"of ann"
