"""The audit trail says what was decided, not only what was asked (ADR 54)."""

from typing import Any

import pytest

from acta.engine.audit.record import Audit
from acta.engine.log.conversation import input_hash
from acta.engine.people.policies import InterventionType
from tests.api.session_functions import functions_of
from tests.doubles.audit import MemoryTrail, PlainPseudonyms
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import plans
from tests.people.policies import ASKS_WITH_A_PLAN, WAYS, house_with, waiting
from tests.people.test_other_approvers import ENDS, PAYS, asked, paying_house

HIGH_STAKES = {"high_stakes": True}
ADDED = {"op": "add", "description": "Pay account 7"}


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


@pytest.mark.parametrize(
    ("type", "method", "path", "body", "option"),
    [
        ("clarification_needed", "POST", "messages", {"content": "That one"}, "answer"),
        ("clarification_needed", "PATCH", "plan", {"operations": [ADDED]}, "answer"),
        ("checkpoint_review", "POST", "resume", None, "continue"),
    ],
)
def test_what_decides_a_question_by_the_way_is_recorded_with_the_question_and_the_option(
    type: InterventionType, method: str, path: str, body: Any, option: str
) -> None:
    turns, limits = WAYS[type] if type != "clarification_needed" else (ASKS_WITH_A_PLAN, {})
    house = house_with(*turns)
    session = house.start("Go", **limits).session_id
    house.run()
    one = asked(house, session)
    trail = MemoryTrail()
    functions = functions_of(house, audit=Audit(trail, PlainPseudonyms(), house.clock))
    gateway = functions.start if path == "messages" else functions.intervene
    tag = {"if-match": '"1"'} if path == "plan" else {}
    sent = gateway.request(method, f"/v1/sessions/{session}/{path}", json_body=body, headers=tag)
    assert sent.status < 300, sent.body
    details = trail.records[TENANT][-1].details
    told = {name: details[name] for name in ("intervention_id", "type", "option")}
    assert told == {"intervention_id": one.intervention_id, "type": type, "option": option}


def test_a_message_that_decides_nothing_is_recorded_without_a_question() -> None:
    house, session, _ = waiting("checkpoint_review")
    trail = MemoryTrail()
    gateway = functions_of(house, audit=Audit(trail, PlainPseudonyms(), house.clock)).start
    assert (
        gateway.request("POST", f"/v1/sessions/{session}/messages", json_body={"content": "Hm"}).status == 202
    )
    assert trail.records[TENANT][-1].details == {"session_id": session}
