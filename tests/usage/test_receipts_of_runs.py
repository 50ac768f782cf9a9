"""What a session has done is counted in its commits, each thing once, whatever crashes: receipts are made from it."""

from typing import Any

import pytest

from acta.engine.log.repository import SessionRepository
from acta.engine.usage.tally import Tally
from tests.in_process.house import TENANT, House
from tests.in_process.lossy import LossyLog, OvertakenLog
from tests.in_process.scripted import ScriptedModel, call, plans, says

SCRIPT = (
    plans("read"),
    says("Next.", call("read_file", path="a.txt")),
    says("", call("update_plan", action="fail", reason="over")),
)


def counted(log: Any = lambda house: house.log, script: tuple[Any, ...] = SCRIPT) -> Tally:
    house = House(ScriptedModel(list(script)))
    house.files.write(TENANT, "a.txt", b"text")
    repository = SessionRepository(log(house), house.blobs, house.clock)
    house.repository = repository
    house.runtime = house.runtime._replace(repository=repository)
    session_id = house.start("Go").session_id
    house.run()
    return house.head(session_id).tally


def test_a_run_counts_its_turns_its_calls_and_what_they_took() -> None:
    done = counted().done

    assert (done.runs, done.calling_turns, done.tools_ok, done.tools_failed) == (1, 1, 1, 0)
    assert (done.fused_turns, done.fused_calls, done.first_writes, done.waits, done.executions) == (
        0,
        0,
        0,
        0,
        0,
    )


def test_a_call_with_an_effect_is_counted_with_the_commit_of_its_start() -> None:
    writes = (SCRIPT[0], says("Next.", call("create_file", path="b.txt", content="x")), SCRIPT[2])

    assert counted(script=writes).done.first_writes == 1


@pytest.mark.parametrize("nth", range(1, 5))
def test_a_lost_answer_counts_nothing_twice(nth: int) -> None:
    assert counted(lambda house: LossyLog(house, nth)) == counted()


def test_a_lost_race_counts_nothing_twice() -> None:
    overtaken, undisturbed = counted(OvertakenLog).done, counted().done

    assert overtaken._replace(step_ms=0, tool_ms=0) == undisturbed._replace(step_ms=0, tool_ms=0)
    assert overtaken.tool_ms > undisturbed.tool_ms, "the pause before the second try"
