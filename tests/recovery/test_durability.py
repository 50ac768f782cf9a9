"""Steps that run twice, race, or lose their answer (docs/design/log.md 7)."""

from dataclasses import replace

import pytest

from acta.engine.errors import Fenced, ProviderKeyRefused, ProviderOverloaded
from acta.engine.log.commit import Decision
from acta.engine.log.repository import SessionRepository
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.tools.execute import run_call
from acta.engine.turn.turn import take_turn
from tests.in_process.house import TENANT, House
from tests.in_process.lossy import LossyLog
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step

WRITE = says("", step(1, "in_progress"), call("create_file", path="x.md", content="y"))
SCRIPT = [plans("write"), WRITE, says("", step(1, "completed", "ok")), completes("Done.")]


def test_a_repeated_step_returns_the_recorded_decision_and_asks_no_model() -> None:
    house = House(ScriptedModel(SCRIPT))
    session = house.start("Write").session_id
    first = house.workflow.take()
    assert first is not None
    decided = take_turn(house.worker, "plan", first.at, 0, 60).decision
    assert take_turn(house.worker, "plan", first.at, 1, 60).decision == decided
    assert house.head(session).usage.llm_calls == 1


def test_a_cold_worker_repeats_nothing_either() -> None:
    house = House(ScriptedModel(SCRIPT))
    house.start("Write")
    first = house.workflow.take()
    assert first is not None
    decided = take_turn(house.worker, "plan", first.at, 0, 60).decision
    house.repository = SessionRepository(house.log, house.blobs, house.clock)
    assert take_turn(house.worker, "plan", first.at, 1, 60).decision == decided


@pytest.mark.parametrize("nth", range(1, 8))
def test_a_lost_answer_to_any_commit_changes_nothing(nth: int) -> None:
    clean = House(ScriptedModel(SCRIPT))
    wanted = clean.start("Write").session_id
    clean.run()
    house = House(ScriptedModel(SCRIPT))
    session = house.start("Write").session_id
    house.log = LossyLog(house, nth)  # type: ignore[assignment]
    house.repository = SessionRepository(house.log, house.blobs, house.clock)
    house.runtime = house.runtime._replace(repository=SessionRepository(house.log, house.blobs, house.clock))

    house.run()

    def told(one: House, id_: str) -> list[str]:
        return [seen.event.type for seen in one.poll(id_).events]

    assert told(house, session) == told(clean, wanted)
    assert house.head(session).usage == clean.head(wanted).usage


def test_two_workers_on_one_turn_commit_once() -> None:
    house = House(ScriptedModel([plans("write"), plans("write")]))
    session = house.start("Write").session_id
    first = house.workflow.take()
    assert first is not None
    other = SessionRepository(house.log, house.blobs, house.clock)
    plain = house.model
    racing = replace(
        house.worker, repository=other, choose_model=lambda agent, purpose: (plain, "test-model")
    )

    at = first.at

    class Racing(ScriptedModel):
        def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
            take_turn(
                racing, "plan", at, 0, 60
            )  # the other worker commits while this one waits for its model
            return super().complete(request, timeout=timeout)

    house.model = Racing([plans("write")])
    decided = take_turn(house.worker, "plan", at, 0, 60).decision

    assert decided == take_turn(racing, "plan", at, 1, 60).decision
    assert house.head(session).usage.llm_calls == 1
    assert house.head(session).plan is not None


def test_a_finished_call_is_not_run_again() -> None:
    house = House(ScriptedModel(SCRIPT))
    session = house.start("Write").session_id
    acted: list[Decision] = []
    house.run(lambda decision: acted.append(decision) if decision.next == "act" else None)
    house.files.write(TENANT, "x.md", b"changed since")
    act = acted[0]
    assert act.calls is not None
    before = house.head(session)

    run_call(house.runtime, act.at, act.calls[0], 1, 60)

    assert house.files.read(TENANT, "x.md") == b"changed since"
    assert house.head(session) == before


def test_a_worker_of_an_earlier_generation_is_fenced() -> None:
    house = House(ScriptedModel(SCRIPT), roll_over_events=100)
    session = house.start("Write").session_id
    first: list[Decision] = []
    house.run(lambda decision: first.append(decision))
    head = house.head(session)
    assert head.run is not None
    stale = head.run.model_copy(update={"generation": 0})
    at = first[0].at.model_copy(update={"generation": stale.generation, "run_id": head.run.run_id})
    with pytest.raises(Fenced):
        take_turn(house.worker, "think", at, 0, 60)


def test_rolling_over_goes_on_in_the_next_generation_and_ends_the_same() -> None:
    reads = [says("", step(1, "in_progress"), call("list_files", path=f"f{i}")) for i in range(12)]
    script = [plans("look"), *reads, says("", step(1, "completed", "ok")), completes("Done.")]
    house = House(ScriptedModel(script), roll_over_events=100)
    session = house.start("Look").session_id
    house.run()
    head = house.head(session)
    assert head.state == "completed"
    assert head.run is not None
    assert head.run.generation > 2
    assert head.usage.tool_calls == 12
    assert len(house.workflow.executions) == head.run.generation


@pytest.mark.parametrize(
    ("asked", "least"), [(0, 1), (0.2, 1), (7, 7), (899, 899), (900, 900), (365 * 24 * 3_600, 900)]
)
def test_a_provider_that_names_a_time_is_waited_for_by_the_engine_but_not_for_ever(
    asked: float, least: int
) -> None:
    overloaded = ProviderOverloaded("busy", retry_after=asked)
    house = House(ScriptedModel([plans("write"), overloaded, *SCRIPT[1:]]))
    session = house.start("Write").session_id
    house.run()
    (waited,) = house.waits
    assert least <= waited <= least * 1.1
    head = house.head(session)
    assert head.state == "completed"
    assert head.run is not None
    assert head.run.iteration == 3, "a wait is no turn"


def test_a_refused_key_fails_the_session_after_one_call() -> None:
    house = House(ScriptedModel([ProviderKeyRefused("No key is configured")]))
    session = house.start("Write").session_id
    house.run()
    head = house.head(session)
    assert (head.state, head.error and head.error.code) == ("failed", "PROVIDER_KEY_REFUSED")
    assert head.error is not None
    assert head.error.message == f"No key is configured. {ProviderKeyRefused.remedy}"
