"""A tool the model made up is explained to it, in few words."""

from acta.engine.log.conversation import ToolEntry
from acta.engine.models.model import ModelRequest
from acta.engine.turn.reply import MAX_UNKNOWN_NAME_CHARS
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step


def told_of(name: str) -> str:
    """What the model is told of its call."""
    script = [plans("look"), says("", call(name)), says("", step(1, "completed", "ok")), completes("Done.")]
    model = ScriptedModel(script)
    house = House(model)
    session = house.start("Look").session_id
    house.run()
    assert house.head(session).state == "completed"
    return result_in(model.requests[2])


def result_in(request: ModelRequest) -> str:
    entries = [entry for entry in request.entries if isinstance(entry, ToolEntry)]
    return entries[-1].content.loaded


def test_a_near_name_is_offered() -> None:
    assert told_of("raed_file").startswith("Error: There is no tool 'raed_file'. Did you mean read_file")


def test_the_namespace_of_openai_before_a_name_is_no_part_of_it() -> None:
    told = told_of("list_files")
    assert not told.startswith("Error")
    assert told_of("functions.list_files") == told
    assert told_of("functions.raed_file") == told_of("raed_file")


def test_of_a_name_of_any_length_only_the_beginning_is_repeated() -> None:
    usual, long = told_of("x" * MAX_UNKNOWN_NAME_CHARS), told_of("x" * 50_000)
    assert long == usual


def test_of_a_name_of_any_length_only_the_beginning_is_stored() -> None:
    house = House(
        ScriptedModel(
            [
                plans("look"),
                says("", call("x" * 50_000)),
                says("", step(1, "completed", "ok")),
                completes("Done."),
            ]
        )
    )
    session = house.start("Look").session_id
    house.run()

    commits = house.log.read(TENANT, session, 1).commits
    assert not any("x" * (MAX_UNKNOWN_NAME_CHARS + 1) in str(commit) for commit in commits)
