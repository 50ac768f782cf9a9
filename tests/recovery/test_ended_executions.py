"""A session whose execution ends before its run goes on at once, and no event starts it twice
(docs/design/recovery.md 16)."""

import json
from typing import Any

import pytest

from acta.engine.errors import PoisonedSession, Refused, SchemaUnknown, StoreThrottled
from acta.engine.turn.engine import ExecutionStatus
from acta.testing.workflow import MemoryWorkflow
from tests.in_process.house import TENANT
from tests.recovery.test_what_a_sweep_withstands import RefusingLog
from tests.runs.fragile import SCRIPT, FragileHouse, generation


class LateWorkflow(MemoryWorkflow):
    """Tells for a while that an execution runs after it has been stopped, as AWS may."""

    def __init__(self, house: FragileHouse) -> None:
        vars(self).update(vars(house.workflow))

    def status(self, session_id: str, run_id: str, generation: int) -> ExecutionStatus:
        return "running"


def event(house: FragileHouse, session: str, **detail: Any) -> dict[str, Any]:
    """What AWS tells of the end of the session's present execution."""
    run = house.head(session).run
    assert run is not None
    name = f"{session}-{run.run_id}-{run.generation}"
    given = json.dumps({"at": {"tenant": TENANT, "session_id": session}})
    return {
        "detail-type": "Step Functions Execution Status Change",
        "source": "aws.states",
        "detail": {"name": name, "status": "ABORTED", "input": given, **detail},
    }


def told(house: FragileHouse, event: dict[str, Any]) -> Any:
    """The function's answer."""
    return house.recovery().handle(event, None)["outcome"]


def test_a_session_goes_on_as_soon_as_its_execution_is_told_to_have_ended() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    house.run_until("think")
    ended = event(house, session)
    house.lose(session)

    assert told(house, ended) == "restarted"
    house.run()

    head = house.head(session)
    assert (head.state, generation(head)) == ("waiting_for_user", 2)


def test_the_event_is_believed_where_the_engine_still_tells_the_last_status() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    ended = event(house, session)
    house.lose(session)
    house.workflow = LateWorkflow(house)

    assert told(house, ended) == "restarted"
    assert told(house, ended) == "nothing"
    assert generation(house.head(session)) == 2


def test_an_event_that_comes_twice_or_late_starts_nothing_more() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    ended = event(house, session)
    house.lose(session)

    assert [told(house, ended) for _ in range(3)] == ["restarted", "nothing", "nothing"]
    house.run()
    assert told(house, ended) == "nothing"
    assert generation(house.head(session)) == 2


def test_an_execution_that_acta_itself_has_stopped_is_not_followed_by_another() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    house.run()
    ended = event(house, session)
    house.cancel(session)

    assert told(house, ended) == "nothing"
    assert house.head(session).state == "cancelled"
    house.delete(session)
    assert told(house, ended) == "nothing"


@pytest.mark.parametrize("is_live", [True, False])
def test_without_an_input_the_index_says_whose_session_it_is(is_live: bool) -> None:
    house = FragileHouse(SCRIPT)
    for _ in range(40):
        house.start("Tidy up")
    session = house.start("Tidy up").session_id
    ended = event(house, session, input=None)
    house.lose(session)
    if not is_live:
        house.cancel(session)

    assert told(house, ended) == ("restarted" if is_live else "nothing")


def test_an_execution_that_names_no_session_is_left_alone() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    assert told(house, event(house, session, name="by-hand", input="{}")) == "nothing"


@pytest.mark.parametrize("error", [PoisonedSession("damaged"), SchemaUnknown("of another release")])
def test_a_session_that_cannot_be_read_is_no_reason_to_come_again(error: Exception) -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    ended = event(house, session)
    house.log = RefusingLog(house, {session: error})
    assert told(house, ended) == "unreadable"


def test_what_aws_throttles_is_raised_so_that_lambda_comes_again() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    ended = event(house, session)
    house.log = RefusingLog(house, {session: StoreThrottled("too many requests")})
    with pytest.raises(StoreThrottled):
        told(house, ended)


def test_an_event_of_another_form_is_refused() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    with pytest.raises(Refused):
        told(house, event(house, session, status="SUCCEEDED"))
