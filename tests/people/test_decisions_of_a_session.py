"""One session's decisions can be looked through afterwards: who, when, what (docs/design/people.md)."""

import pytest

from acta.engine.errors import InterventionNotFound, SessionNotFound
from acta.engine.people.intervention import Intervention
from acta.engine.people.listing_routes import State, intervention_of, interventions_of
from acta.engine.people.policies import Policy
from tests.in_process.house import TENANT, USER, House
from tests.in_process.scripted import plans
from tests.people.policies import DELETE, house_with, waiting


def listed(house: House, session: str, state: State) -> tuple[Intervention, ...]:
    page = interventions_of(house.log, house.index, TENANT, session, state=state, limit=10, cursor=None)
    assert page.cursor is None
    return page.items


def test_a_decided_intervention_is_listed_in_its_session_by_state_with_who_and_when() -> None:
    house, session, one = waiting("checkpoint_review")
    house.start("Another session")
    assert listed(house, session, "pending") == listed(house, session, "all") == (one,)
    assert listed(house, session, "resolved") == ()

    house.resolve(session, one, "cancel")

    (decided,) = listed(house, session, "resolved")
    assert (decided.intervention_id, decided.resolution) == (one.intervention_id, "cancel")
    assert (decided.resolved_by, decided.resolved_at) == (USER, house.clock.now())
    assert listed(house, session, "all") == (decided,)
    assert listed(house, session, "pending") == listed(house, session, "expired") == ()


def test_of_a_session_that_is_not_there_it_says_so_and_else_that_the_intervention_is_not() -> None:
    house, session, one = waiting("clarification_needed")
    other = house.start("Another").session_id
    identity = one.intervention_id
    assert intervention_of(house.log, house.index, TENANT, session, identity) == one
    for tenant, of, error in (
        ("stranger", session, SessionNotFound),
        (TENANT, "ses_none", SessionNotFound),
        (TENANT, other, InterventionNotFound),
    ):
        with pytest.raises(error):
            intervention_of(house.log, house.index, tenant, of, identity)
    with pytest.raises(InterventionNotFound):
        intervention_of(house.log, house.index, TENANT, session, "int_none")
    with pytest.raises(SessionNotFound):
        interventions_of(house.log, house.index, "stranger", session, state="all", limit=1, cursor=None)


def test_what_was_open_when_somebody_ended_the_run_names_who_did() -> None:
    house, session, one = waiting("approval_required")
    house.cancel(session)
    (withdrawn,) = listed(house, session, "withdrawn")
    assert (withdrawn.intervention_id, withdrawn.resolved_by) == (one.intervention_id, USER)

    house, session, review = waiting("checkpoint_review")
    house.pause(session)
    house.resolve(session, review, "cancel")
    (withdrawn,) = listed(house, session, "withdrawn")
    assert (withdrawn.type, withdrawn.resolved_by) == ("checkpoint_review", USER)


def test_what_was_open_when_nobody_decided_in_time_names_nobody() -> None:
    house = house_with(plans("delete"), DELETE, policies={"checkpoint_review": Policy(timeout_seconds=60)})
    session = house.start("Go", review_every=1).session_id
    house.run()
    house.clock.advance(60)
    house.time_out(session)
    (withdrawn,) = listed(house, session, "withdrawn")
    assert (house.head(session).state, withdrawn.type) == ("cancelled", "approval_required")
    assert withdrawn.resolved_by is None
