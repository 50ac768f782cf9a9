"""What a child asks people is shown with who asked whom for what, and is decided by the strictest rules of the tree."""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest

from acta.cli.sessions.interventions import question_lines
from acta.engine.bound_tenant import bound_to
from acta.engine.errors import ApproverMustDiffer, Conflict, RoleMissing, SessionHidden, StartRoleMissing
from acta.engine.mcp_server.forms import forms_for
from acta.engine.people.answers import intervention_view
from acta.engine.people.intervention import Intervention
from acta.engine.people.visibility import Viewer
from tests.in_process.family import FamilyHouse
from tests.in_process.house import TENANT, USER
from tests.in_process.scripted import Turn, call, says

DELETES = [says("", call("delete_file", path="a.md")), says("Gone.")]
WRITES = [says("", call("create_file", path="b.md", content="x")), says("Written.")]


def house_of(
    says_worker: Sequence[Turn] = DELETES,
    tool_approvers: Mapping[str, Any] | None = None,
    **agents: Any,
) -> FamilyHouse:
    """A boss, a lead and a worker. `agents`: further fields of their definitions."""
    scripts: dict[str, Sequence[Turn]] = {
        "boss": [says("", call("lead", goal="Clean up")), says("All done.")],
        "lead": [says("", call("worker", goal="Delete the old one")), says("Led.")],
        "worker": says_worker,
    }
    calls = {"boss": {"agents": [{"agent": "lead"}]}, "lead": {"agents": [{"agent": "worker"}]}, "worker": {}}
    defined = {name: {**calls[name], **agents.get(name, {})} for name in calls}
    return FamilyHouse(scripts, defined, tool_approvers=tool_approvers or {})


def asked(house: FamilyHouse) -> Intervention:
    """The one question in the inbox, once everything waits."""
    house.begin("boss", goal="Keep the house in order")
    house.run()
    (one,) = house.index.interventions(TENANT, state="pending", limit=50, cursor=None).items
    return one


def test_a_question_of_a_child_is_one_question_with_who_asked_whom_for_what() -> None:
    house = house_of()
    one = asked(house)

    assert [(each.agent_name, each.goal) for each in one.chain] == [
        ("boss", "Keep the house in order"),
        ("lead", "Clean up"),
    ]
    shown = intervention_view(one)
    assert [each["agent_name"] for each in shown["chain"]] == ["boss", "lead"]
    assert shown["agent_name"] == "worker"
    house.resolve(one.session_id, one, "approve")
    house.run()
    assert [each.path for each in house.files.list(TENANT, "", 9).files] == []


def test_who_decides_needs_the_roles_that_child_and_parents_name() -> None:
    legal, finance = (
        {"interventions": {"approval_required": {"role": role}}} for role in ("legal", "finance")
    )
    house = house_of(boss=finance, worker=legal)
    one = asked(house)
    assert (one.role, one.also_roles) == ("legal", ("finance",))

    for roles, missing in (({"member", "finance"}, "legal"), ({"member", "legal"}, "finance")):
        house.roles = frozenset(roles)
        with pytest.raises(RoleMissing, match=missing):
            house.resolve(one.session_id, one, "approve")
    house.roles = frozenset({"member", "legal", "finance"})
    assert house.resolve(one.session_id, one, "approve").state == "resolved"


def test_a_parent_that_has_become_stricter_is_asked_for_its_role_now() -> None:
    house = house_of()
    one = asked(house)
    boss = house.definitions.agent(TENANT, "boss")
    assert boss is not None
    stricter = boss.model_validate(
        {**boss.model_dump(by_alias=True), "interventions": {"approval_required": {"role": "finance"}}}
    )
    house.definitions.replace_agent(TENANT, boss, stricter)

    with pytest.raises(RoleMissing, match="finance"):
        house.resolve(one.session_id, one, "approve")


def test_who_asked_the_parent_may_not_let_a_call_of_the_child_run_if_the_parent_says_so() -> None:
    house = house_of(boss={"interventions": {"approval_required": {"approver_must_differ": True}}})
    one = asked(house)

    with pytest.raises(ApproverMustDiffer):
        house.resolve(one.session_id, one, "approve")
    house.user = "bob"
    assert house.resolve(one.session_id, one, "approve").state == "resolved"


@pytest.mark.parametrize(
    "shorter",
    [
        {"limits": {"approval_timeout_seconds": 60}},
        {"interventions": {"approval_required": {"timeout_seconds": 60}}},
    ],
)
def test_the_shorter_time_holds(shorter: dict[str, Any]) -> None:
    longer = {"interventions": {"approval_required": {"timeout_seconds": 3_600}}}
    one = asked(house_of(boss=shorter, worker=longer))
    assert one.timeout_at == one.created_at + timedelta(seconds=60)


def test_what_has_high_stakes_for_a_parent_has_them_for_its_children() -> None:
    one = asked(house_of(WRITES, boss={"high_stakes": ["create_file"]}))
    assert one.type == "approval_required"
    assert one.tool_call is not None
    assert one.tool_call.name == "create_file"


def test_a_question_without_a_role_is_decided_by_those_who_may_start_the_parent() -> None:
    house = house_of(boss={"start_roles": ["finance"]})
    house.roles = frozenset({"member", "finance"})
    one = asked(house)

    house.roles = frozenset({"member"})
    with pytest.raises(RoleMissing, match="finance"):
        house.resolve(one.session_id, one, "reject")
    with pytest.raises(StartRoleMissing, match="finance"):
        house.say(one.session_id, "Do something else")


def test_once_the_agent_of_a_parent_is_deleted_the_question_can_only_be_refused() -> None:
    house = house_of()
    one = asked(house)
    lead = house.definitions.agent(TENANT, "lead")
    assert lead is not None
    house.definitions.delete_agent(TENANT, lead)

    with pytest.raises(Conflict, match="deleted"):
        house.resolve(one.session_id, one, "approve")
    assert house.resolve(one.session_id, one, "reject").resolution == "reject"


def test_who_wrote_to_a_child_has_asked_for_what_its_parent_does_afterwards() -> None:
    house = house_of()
    one = asked(house)
    house.user, house.roles = "bob", frozenset({"member"})
    house.say(one.session_id, "Take care")
    house.user = "ann"
    house.resolve(one.session_id, one, "approve")
    house.run()

    boss = next(head for head in map(house.head, (one.chain[0].session_id,)))
    assert boss.state == "completed"
    assert "bob" in boss.askers


def test_a_question_of_a_child_is_shown_with_who_asked_whom_in_a_terminal_and_in_a_form() -> None:
    one = asked(house_of())
    boss, lead = (each.session_id for each in one.chain)
    view = json.loads(json.dumps(intervention_view(one), default=str))

    shown = "\n".join(question_lines(view)).splitlines()
    at = shown.index(f"for boss ({boss}):")
    assert "Keep the house in order" in shown[at + 1]
    assert shown[at + 2] == f"for lead ({lead}):"
    assert "Clean up" in shown[at + 3]

    (form,) = forms_for("ann", [view]).values()
    text = form["params"]["message"]
    for said in (boss, lead, "Keep the house in order", "Clean up"):
        assert said in text
    forged = {**view, "chain": [{**view["chain"][0], "goal": "Not asked"}, view["chain"][1]]}
    assert forms_for("ann", [forged]).keys() != forms_for("ann", [view]).keys(), (
        "an answer counts for what was shown"
    )


def test_a_child_of_a_private_session_is_private_and_who_decides_its_question_sees_no_goals_above() -> None:
    house = house_of(tool_approvers={TENANT: {"delete_file": "finance"}})
    house.begin("boss", goal="Keep the house in order", visibility="private")
    house.run()
    (one,) = house.index.interventions(TENANT, state="pending", limit=50, cursor=None).items
    sessions = [one.session_id, *(each.session_id for each in one.chain)]
    assert {house.head(each).private_to for each in sessions} == {USER}
    assert one.private_to == USER

    with bound_to(TENANT, Viewer("fay", frozenset({"member", "finance"}), "decider")):
        shown = intervention_view(one)
        assert house.log.latest(TENANT, one.session_id) is not None
        for above in sessions[1:]:
            with pytest.raises(SessionHidden):
                house.log.latest(TENANT, above)
    assert [(each["agent_name"], each["goal"]) for each in shown["chain"]] == [("boss", None), ("lead", None)]
    assert "Keep the house in order" not in str(shown)
    lines = "\n".join(question_lines(json.loads(json.dumps(shown, default=str))))
    assert lines.count("(private)") == 2
    with bound_to(TENANT, Viewer(USER, frozenset({"member"}), "owner")):
        assert [each["goal"] for each in intervention_view(one)["chain"]] == [
            "Keep the house in order",
            "Clean up",
        ]
    with bound_to(TENANT, Viewer("mia", frozenset({"member"}), "owner")), pytest.raises(SessionHidden):
        house.log.latest(TENANT, one.session_id)
