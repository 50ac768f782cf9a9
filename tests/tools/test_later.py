"""A call is answered later: meanwhile its session has no execution, and nothing is lost (ADR 209)."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest

from acta.engine.errors import ToolLater
from acta.engine.log.conversation import ToolEntry
from acta.engine.log.head import Later
from acta.engine.recovery.store import RoundCounts
from acta.engine.tools.execute import abandon_call
from acta.engine.tools.later import answer_call
from acta.engine.tools.port import CallContext
from acta.engine.tools.runtime import CallResult
from acta.engine.tools.tool import ToolSpec
from acta.engine.turn.engine import position
from tests.in_process.house import TENANT
from tests.in_process.scripted import Turn, call, completes, plans, says, step
from tests.runs.fragile import Crash, FragileHouse

DONE = [says("", step(1, "completed", "ok")), completes("Built.")]
BUILD = [plans("build"), says("", call("refund", order=7)), *DONE]
TWO = [plans("build"), says("", call("refund", order=7), call("refund", order=8)), *DONE]
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


class Builds:
    """A tool that answers later, but for the orders that it answers at once."""

    def __init__(self, house: FragileHouse, until: timedelta = DAY, default: str | None = None) -> None:
        self.house, self.until, self.default = house, until, default
        self.at_once: dict[int, str] = {}
        self.meanwhile: Callable[[], object] = lambda: None
        self.effects: list[str] = []

    def run(self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext) -> str:
        self.effects.append(context.effect_id)
        self.meanwhile()
        if arguments["order"] in self.at_once:
            return self.at_once[arguments["order"]]
        now = self.house.clock.now()
        raise ToolLater(Later(kind="callback", began=now, until=now + self.until, default=self.default))


def waiting(script: Sequence[Turn] = BUILD, **later: Any) -> tuple[FragileHouse, str, Builds]:
    """A session whose calls are to be answered later, which is not yet driven."""
    house = FragileHouse(script).with_refunds()
    tool = Builds(house, **later)
    house.runtime = house.runtime._replace(toolbox=tool)
    house.park_after = 600
    return house, house.start("Build").session_id, tool


def answer(
    house: FragileHouse, session: str, text: str = "green", number: int = 0, *, ok: bool = True
) -> bool:
    newest = house.fresh_repository().newest(TENANT, session)
    result = CallResult(text, ok=ok, by="callback", answer_id=house.clock.new_id("ans"))
    call_id = newest.head.calls[number].call_id
    ended = answer_call(house.runtime, house.workflow, newest, call_id, result)
    return ended is not None and ended.answer_id == result.answer_id


def results(house: FragileHouse, session: str) -> list[tuple[str, bool]]:
    entries, _ = house.history(session).messages(0, 100)
    found = [one.entry for one in entries if isinstance(one.entry, ToolEntry)]
    return [(one.content.text or "", one.ok) for one in found if one.name == "refund"]


def running(house: FragileHouse) -> list[str]:
    return list(house.workflow.running())


def test_a_session_whose_call_is_answered_later_has_no_execution_and_says_what_it_waits_for() -> None:
    house, session, _ = waiting()
    house.run()

    head = house.head(session)
    assert (head.state, head.state_reason, running(house)) == ("waiting_for_tool", "waiting_for_callback", [])
    for _ in range(3):
        house.clock.advance(3_600)
        assert house.sweep() == RoundCounts()  # a scan does not even look at it


def test_the_answer_ends_the_wait_at_once_and_is_the_calls_result() -> None:
    house, session, tool = waiting()
    house.run()
    house.clock.advance(3_600)

    assert answer(house, session)
    house.run()

    assert house.head(session).state == "completed"
    assert results(house, session) == [("green", True)]
    assert len(tool.effects) == 1
    assert house.head(session).tally.done.tool_ms == 0  # no worker was at work in this hour


def test_a_second_answer_changes_nothing() -> None:
    house, session, _ = waiting(TWO)
    house.run()
    assert answer(house, session, "green")
    number = house.fresh_repository().newest(TENANT, session).number

    assert not answer(house, session, "red", ok=False)

    assert house.fresh_repository().newest(TENANT, session).number == number


def test_without_an_answer_the_model_is_told_so_at_the_end_of_the_time() -> None:
    house, session, tool = waiting(until=DAY)
    house.run()
    house.clock.advance(DAY.total_seconds() - 60)
    assert house.sweep() == RoundCounts(looked=1, started=1)
    house.run()

    ((text, ok),) = results(house, session)
    assert not ok
    assert "no answer" in text
    assert house.head(session).state == "completed"
    assert len(tool.effects) == 1


def test_a_default_takes_the_place_of_an_answer_that_does_not_come() -> None:
    house, session, _ = waiting(until=timedelta(seconds=30), default="not built")
    house.run()  # a short wait keeps its execution

    assert results(house, session) == [("not built", True)]


@pytest.mark.parametrize("first", [0, 1])
def test_of_two_calls_each_gets_its_own_answer_whichever_comes_first(first: int) -> None:
    house, session, _ = waiting(TWO)
    house.run()

    assert answer(house, session, f"answer {first}", first)
    house.run()
    assert running(house) == []
    assert answer(house, session, f"answer {1 - first}", 1 - first)
    house.run()

    assert results(house, session) == [("answer 0", True), ("answer 1", True)]


def test_a_call_beside_one_that_is_answered_later_runs_as_usual() -> None:
    house, session, tool = waiting(TWO)
    tool.at_once[8] = "at once"
    house.run()
    assert (house.head(session).state_reason, running(house)) == ("waiting_for_callback", [])

    assert answer(house, session)
    house.run()

    assert results(house, session) == [("green", True), ("at once", True)]


def test_an_answer_that_is_faster_than_the_tools_own_reply_counts() -> None:
    house, session, tool = waiting()
    tool.meanwhile = lambda: answer(house, session)
    house.run()

    assert results(house, session) == [("green", True)]
    assert house.head(session).state == "completed"


def test_an_answer_while_the_execution_still_runs_other_calls_is_recorded_and_no_second_one_begins() -> None:
    house, session, tool = waiting(TWO)

    def meanwhile() -> None:
        if len(tool.effects) == 2:
            answer(house, session, "green", 0)

    tool.meanwhile, tool.at_once[8] = meanwhile, "at once"
    house.run()

    assert results(house, session) == [("green", True), ("at once", True)]
    run = house.head(session).run
    assert run is not None
    assert run.generation == 1


def test_an_answer_whose_worker_died_before_it_woke_the_session_is_found() -> None:
    house, session, _ = waiting()
    house.run()
    house.clock.advance(3_600)
    house.mortal.dies_before = "start"
    with pytest.raises(Crash):
        answer(house, session)

    assert house.recover().started == 1
    house.run()
    assert house.head(session).state == "completed"


def test_an_execution_that_is_lost_while_it_waits_is_followed_by_the_next() -> None:
    house, session, tool = waiting(until=timedelta(seconds=300))
    house.run_until("wait")
    house.lose(session)

    assert house.recover().restarted == 1
    house.run()

    assert house.head(session).state == "completed"
    assert len(tool.effects) == 1


def test_after_a_cancel_an_answer_is_not_taken_and_starts_nothing() -> None:
    house, session, _ = waiting()
    house.run()
    house.cancel(session)

    assert not answer(house, session)
    assert (house.head(session).state, running(house), house.workflow.take()) == ("cancelled", [], None)
    assert [one.event.type for one in house.poll(session).events][-1] != "tool.finished"


def test_an_answer_to_a_paused_session_waits_for_the_end_of_the_pause() -> None:
    house, session, _ = waiting()
    house.run()
    house.pause(session)
    assert answer(house, session)
    house.run()
    assert house.head(session).state == "waiting_for_user"

    house.resume(session)
    house.run()
    assert house.head(session).state == "completed"


def test_resume_does_not_end_the_wait_for_an_answer() -> None:
    house, session, _ = waiting()
    house.run()
    house.resume(session)
    house.run()

    assert (house.head(session).state_reason, running(house)) == ("waiting_for_callback", [])


def test_a_lost_look_at_the_time_of_a_call_settles_nothing() -> None:
    house, session, _ = waiting()
    house.run()
    head = house.head(session)
    abandon_call(house.runtime, position(head), head.calls[0].call_id, "Sandbox.Timedout")

    assert house.head(session).calls[0].state == "started"


def test_an_agent_sleeps_and_goes_on() -> None:
    sleep = [plans("wait"), says("", call("wait_until", seconds=86_400)), *DONE]
    house = FragileHouse(sleep)
    house.park_after = 600
    session = house.start("Wait").session_id
    house.run()
    assert (house.head(session).state_reason, running(house)) == ("waiting_until", [])
    house.clock.advance(86_400 - 60)
    house.sweep()
    house.run()

    assert house.head(session).state == "completed"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "either"),
        ({"seconds": 5, "time": "2030-01-01T00:00:00Z"}, "either"),
        ({"time": "tomorrow"}, "is no time"),
        ({"time": "2030-01-01T00:00:00"}, "no time zone"),
        ({"time": "2999-01-01T00:00:00Z"}, "longer than"),
        ({"time": "2001-01-01T00:00:00+02:00"}, "over already"),
    ],
)
def test_a_time_that_cannot_be_waited_for_is_told_to_the_model(given: dict[str, Any], told: str) -> None:
    house = FragileHouse([plans("wait"), says("", call("wait_until", **given)), *DONE])
    session = house.start("Wait").session_id
    house.run()

    entries, _ = house.history(session).messages(0, 100)
    found = [one.entry for one in entries if isinstance(one.entry, ToolEntry)]
    assert any(told in (one.content.text or "") for one in found)
