"""Who comes after the deadline finds it expired, whichever way they come (design §8)."""

import pytest

from shared.domain.errors import Conflict
from tests.integration.agent.policies import files, recorded, waiting


def test_who_comes_late_finds_it_expired_before_the_engine_has_woken_up() -> None:
    house, session, one = waiting("approval_required", timeout_seconds=60)
    house.clock.advance(60)
    with pytest.raises(Conflict) as late:
        house.resolve(session, one, "approve")
    assert late.value.details == {"state": ["expired"], "resolution": ["reject"]}
    house.run()
    assert house.head(session).state == "completed"
    assert files(house) == ["a.txt", "b.txt"]


def test_a_message_that_comes_too_late_to_answer_begins_a_new_run() -> None:
    house, session, one = waiting("clarification_needed", timeout_seconds=60)
    first = house.head(session).run
    house.clock.advance(61)
    house.say(session, "Too late, but go on")
    assert recorded(house, one).state == "expired"
    house.run()
    head = house.head(session)
    assert first is not None
    assert head.run is not None
    assert (head.state, head.run.run_id != first.run_id) == ("completed", True)


def test_resuming_too_late_finds_the_review_expired() -> None:
    house, session, one = waiting("checkpoint_review", timeout_seconds=60, default_action="cancel")
    house.clock.advance(61)
    with pytest.raises(Conflict, match="cancelled"):
        house.resume(session)
    assert recorded(house, one).resolved_by is None
