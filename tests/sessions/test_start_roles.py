"""Who may start an agent's sessions may write to them, and decide what names no role of its own
(docs/design/people.md 20)."""

import pytest

from acta.engine.people.intervention import Intervention
from acta.engine.people.policies import InterventionType
from tests.api.gateway import Answer
from tests.api.session_functions import Person
from tests.in_process.house import House
from tests.in_process.scripted import plans
from tests.people.policies import DELETE, ENDS, WAYS, house_with

ROLES = ("finance", "legal")
GIVEN = {"answer": {"text": "a.txt"}}


def needs_a_role(answer: Answer) -> bool:
    assert answer.status in (200, 202, 403), answer.body
    if answer.status == 403:
        assert (answer.error["code"], answer.error["details"]) == ("FORBIDDEN", {"role": list(ROLES)})
    return answer.status == 403


def test_only_who_has_one_of_the_roles_starts_a_session_and_an_admin_is_a_member_like_any_other() -> None:
    house = house_with(start_roles=ROLES)
    assert needs_a_role(Person(house, "mia").start())
    assert needs_a_role(Person(house, "boss", "admin").start())
    assert not needs_a_role(Person(house, "ann", "legal").start())
    assert not needs_a_role(Person(house_with(), "mia").start())
    assert not needs_a_role(Person(house_with(start_roles=("member",)), "boss", "admin").start())


def test_nobody_else_s_message_reaches_the_agent_running_or_done() -> None:
    house = house_with(plans("look"), *ENDS, start_roles=ROLES)
    session = Person(house, "ann", "finance").start().data["session_id"]
    assert needs_a_role(Person(house, "mia").say(session, "Pay me"))
    house.run()
    before = house.head(session)
    assert before.state == "completed"
    assert needs_a_role(Person(house, "mia").say(session, "Pay me"))
    assert house.head(session) == before
    assert not needs_a_role(Person(house, "lee", "legal").say(session, "Thanks"))


def test_a_session_that_is_not_there_is_not_found_whoever_asks() -> None:
    assert Person(house_with(start_roles=ROLES), "mia").say("ses_none", "Hello").status == 404


def asked(type: InterventionType, **policy: str) -> tuple[House, str, Intervention]:
    turns, limits = WAYS[type]
    policies = {type: policy} if policy else {}
    house = house_with(*turns, start_roles=ROLES, policies=policies)  # type: ignore[arg-type]
    session = Person(house, "ann", "finance").start(**limits).data["session_id"]
    house.run()
    (one,) = house.head(session).interventions
    assert one.type == type
    return house, session, one


@pytest.mark.parametrize(
    ("type", "option"),
    [
        ("approval_required", "approve"), ("clarification_needed", "answer"), ("error_recovery", "retry"),
        ("checkpoint_review", "continue"), ("budget_exceeded", "finish"),
    ],
)  # fmt: skip
def test_a_question_that_names_no_role_is_for_those_who_may_start(
    type: InterventionType, option: str
) -> None:
    house, session, one = asked(type)
    given = GIVEN.get(option, {})
    assert needs_a_role(Person(house, "mia").resolve(session, one.intervention_id, option, **given))
    assert house.head(session).interventions == (one,)
    answer = Person(house, "lee", "legal").resolve(session, one.intervention_id, option, **given)
    assert not needs_a_role(answer)


def test_a_question_with_a_role_of_its_own_is_for_that_role_alone() -> None:
    house, session, one = asked("approval_required", role="approver")
    refused = Person(house, "ann", "finance").resolve(session, one.intervention_id, "approve")
    assert (refused.status, refused.error["details"]) == (403, {"role": ["approver"]})
    assert not needs_a_role(Person(house, "app", "approver").resolve(session, one.intervention_id, "approve"))


def test_resuming_is_deciding_the_agent_s_review_and_a_pause_is_anybody_s_to_end() -> None:
    house, session, one = asked("checkpoint_review")
    assert needs_a_role(Person(house, "mia").resume(session))
    assert house.head(session).interventions == (one,)
    house = house_with(plans("delete"), DELETE, start_roles=ROLES)
    session = Person(house, "ann", "finance").start().data["session_id"]
    house.pause(session)
    assert not needs_a_role(Person(house, "mia").resume(session))
