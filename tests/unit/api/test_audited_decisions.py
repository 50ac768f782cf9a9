"""The audit trail says what was decided, not only what was asked (ADR 54)."""

from typing import Any

from shared.domain.session.conversation import input_hash
from shared.ports.audit import Audit
from tests.doubles.audit import MemoryTrail, PlainPseudonyms
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import plans
from tests.integration.agent.interventions.policies import waiting
from tests.integration.agent.interventions.test_other_approvers import ENDS, PAYS, asked, paying_house
from tests.unit.api.session_functions import functions_of

HIGH_STAKES = {"high_stakes": True}


def recorded(house: House, session: str, option: str, **given: Any) -> dict[str, str]:
    """Decides the session's question by the API, and returns what the record of the decision says."""
    trail = MemoryTrail()
    audit = Audit(trail, PlainPseudonyms(), house.clock)
    path = f"/v1/sessions/{session}/interventions/{asked(house, session).intervention_id}/resolve"
    body = {"option": option, **({"input": given} if given else {})}
    assert functions_of(house, audit=audit).intervene.request("POST", path, json_body=body).status == 200
    return dict(trail.records[TENANT][-1].details)


def about_to_pay() -> tuple[House, str]:
    house = paying_house(plans("pay"), PAYS, *ENDS, tool={"high_stakes": True})
    session = house.start("Pay").session_id
    house.run()
    return house, session


def test_an_approval_is_recorded_with_the_hash_of_the_model_s_input() -> None:
    told = recorded(*about_to_pay(), "approve")
    assert (told["option"], told["tool_call.input_hash"]) == ("approve", input_hash({"order": 7}))


def test_an_input_that_a_person_gave_is_recorded_with_its_own_hash_and_not_itself() -> None:
    told = recorded(*about_to_pay(), "modify", input={"order": 666})
    assert (told["option"], told["tool_call.input_hash"]) == ("modify", input_hash({"order": 666}))
    assert not {name for name in told if name.startswith("input.")}


def test_a_raise_is_recorded_with_the_limits_that_were_given() -> None:
    house, session, _ = waiting("budget_exceeded")
    told = recorded(house, session, "raise", token_budget=50_000)
    assert {name: told[name] for name in told if name.startswith("input.")} == {"input.token_budget": "50000"}
