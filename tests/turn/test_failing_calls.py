"""What the model is told about a call that failed again, and when (docs/design/turn.md 24)."""

import pytest

from acta.engine.models.model import RequestedCall
from tests.in_process.house import House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step
from tests.turn.test_limits import hints


@pytest.mark.parametrize(
    "failing", [call("read_file", path="nope.txt"), call("no_such_tool"), call("read_file", wrong=1)]
)
def test_the_turn_after_the_second_failure_has_the_hint_and_no_later_one_does(failing: RequestedCall) -> None:
    elsewhere = (says("", call("list_files")), says("", step(1, "completed", "ok")), completes("Done."))
    model = ScriptedModel([plans("read"), says("", failing), says("", failing), *elsewhere])
    house = House(model)
    session = house.start("Read").session_id
    house.run()
    assert house.head(session).state == "completed"
    (told,) = hints(house, session)
    assert [told in request.suffix for request in model.requests] == [False] * 3 + [True] + [False] * 2


def test_the_same_failing_call_twice_in_one_reply_brings_the_hint_in_the_next_turn() -> None:
    twice = says("", call("read_file", path="nope.txt"), call("read_file", path="nope.txt"))
    model = ScriptedModel([plans("read"), twice, says("", step(1, "skipped")), completes("Done.")])
    house = House(model)
    session = house.start("Read").session_id
    house.run()
    (told,) = hints(house, session)
    assert [told in request.suffix for request in model.requests] == [False, False, True, False]
