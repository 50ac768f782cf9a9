"""What a request says of the plan at its end: numbers and states where the conversation has its words, else all of it
(docs/design/turn.md 30)."""

from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.plans.edit import AddStep
from tests.in_process.house import House
from tests.in_process.scripted import ScriptedModel, Turn, call, completes, plans, says, step
from tests.sessions.reader import Reading, compactions, house_of, script

LOOK = call("list_files")


def suffixes(*turns: Turn) -> list[str]:
    model = ScriptedModel(turns)
    house = House(model)
    house.start("Go")
    house.run()
    return [request.suffix for request in model.requests]


def test_where_the_conversation_has_the_plan_only_its_states_are_told() -> None:
    goes_on = says("", step(1, "completed", "a"), step(2, "skipped"), step(3, "in_progress"), LOOK)
    rest = [says("", step(number, "completed", "b")) for number in (3, 4, 5, 6)]
    shown = suffixes(plans(*"abcdef"), goes_on, *rest, completes("Done."))
    assert shown[1:5] == [
        "Plan 1: 1-6 open.",
        "Plan 1: 1 done, 2 skipped, 3 in progress, 4-6 open.",
        "Plan 1: 1 and 3 done, 2 skipped, 4-6 open.",
        "Plan 1: 1, 3 and 4 done, 2 skipped, 5 and 6 open.",
    ]


def test_a_plan_that_a_person_has_changed_is_told_in_full() -> None:
    def edited(_: ModelRequest) -> ModelReply:
        house.edit_plan(session.session_id, AddStep(op="add", description="check it"))
        return says("", LOOK)

    rest = [says("", step(1, "completed", "two"), step(2, "skipped"), LOOK), completes("Done.")]
    model = ScriptedModel([plans("count"), edited, *rest])
    house = House(model)
    session = house.start("Go")
    house.run()
    assert model.requests[1].suffix == "Plan 1: 1 open."
    assert model.requests[2].suffix == "Plan, version 2 (executing): the goal\n[ ] 1. count\n[ ] 2. check it"
    assert model.requests[3].suffix.endswith("\n[x] 1. count -> two\n[-] 2. check it")


def test_a_plan_whose_call_a_compaction_has_taken_away_is_told_in_full() -> None:
    model = Reading(script())
    house = house_of(model)
    session = house.start("Read every file").session_id
    house.run()
    assert compactions(house, session)
    told = [request.suffix.partition("\n")[0] for request in model.requests[1:]]
    assert told[0] == "Plan 1: 1 open."
    assert told[-1] == "Plan, version 1 (executing): the goal"
