"""Whole runs in one process: the use cases, the engine's loop, memory adapters."""

from acta.engine.log.conversation import AssistantEntry, ToolEntry
from acta.engine.models.model import Model
from acta.engine.models.offline import OfflineModel
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step

READS = (call("read_file", path="a.txt"), call("read_file", path="b.txt"))


def house_with_files(model: Model) -> House:
    house = House(model)
    house.files.write(TENANT, "a.txt", b"alpha")
    house.files.write(TENANT, "b.txt", b"beta")
    return house


def test_a_goal_is_planned_worked_and_completed() -> None:
    model = ScriptedModel(
        [
            plans("read both", "write the summary"),
            says("Reading.", step(1, "in_progress"), *READS),
            says("", step(1, "completed", "read"), call("create_file", path="s.md", content="alpha, beta")),
            says("", step(2, "completed", "written")),
            completes("Both are summarised in s.md."),
        ]
    )
    house = house_with_files(model)
    session = house.start("Summarise my files").session_id

    house.run()

    head = house.head(session)
    assert head.state == "completed"
    assert head.result is not None
    assert (head.result.goal_met, head.result.answer) == (True, "Both are summarised in s.md.")
    assert house.files.read(TENANT, "s.md") == b"alpha, beta"
    assert head.plan is not None
    assert head.plan.status == "completed"
    assert head.plan.steps[0].evidence != ()
    assert head.usage.llm_calls == 5
    assert head.usage.tool_calls == 3


def test_events_are_dense_from_one_and_legal() -> None:
    model = ScriptedModel(
        [plans("read"), says("", *READS), says("", step(1, "completed", "ok")), completes("ok")]
    )
    house = house_with_files(model)
    session = house.start("Read").session_id

    house.run()

    seen = house.poll(session)
    assert [one.event.seq for one in seen.events] == list(range(1, house.head(session).last_seq + 1))
    assert seen.events[-1].event.type == "run.finished"


def test_every_call_has_exactly_one_result() -> None:
    model = ScriptedModel(
        [plans("read"), says("", *READS), says("", step(1, "completed", "ok")), completes("ok")]
    )
    house = house_with_files(model)
    session = house.start("Read").session_id

    house.run()

    messages, _ = house.history(session).messages(0, 100)
    asked = [c.call_id for m in messages if isinstance(m.entry, AssistantEntry) for c in m.entry.calls]
    answered = [m.entry.call_id for m in messages if isinstance(m.entry, ToolEntry)]
    assert asked == answered


def test_the_steps_sum_up_to_the_usage() -> None:
    model = ScriptedModel(
        [plans("read"), says("", *READS), says("", step(1, "completed", "ok")), completes("ok")]
    )
    house = house_with_files(model)
    session = house.start("Read").session_id

    house.run()

    usage, steps = house.head(session).usage, house.history(session).steps()
    assert usage.input_tokens == sum(s.input_tokens for s in steps)
    assert usage.output_tokens == sum(s.output_tokens for s in steps)
    assert usage.llm_calls + usage.tool_calls == len(steps)


def test_a_deletion_waits_for_a_person_and_runs_once_approved() -> None:
    model = ScriptedModel(
        [
            plans("delete"),
            says("", call("delete_file", path="a.txt")),
            says("", step(1, "completed", "gone")),
            completes("Deleted."),
        ]
    )
    house = house_with_files(model)
    session = house.start("Delete a.txt").session_id
    house.run()
    waiting = house.head(session)
    assert (waiting.state, waiting.interventions[0].type) == ("waiting_for_user", "approval_required")
    assert house.files.read(TENANT, "a.txt") == b"alpha"

    house.resolve(session, waiting.interventions[0], "approve")
    house.run()

    assert house.head(session).state == "completed"
    assert [f.path for f in house.files.list(TENANT, "", 10).files] == ["b.txt"]


def test_the_model_reads_that_a_deletion_was_rejected() -> None:
    model = ScriptedModel(
        [
            plans("delete"),
            says("", call("delete_file", path="a.txt")),
            says("", step(1, "skipped")),
            completes("Kept."),
        ]
    )
    house = house_with_files(model)
    session = house.start("Delete a.txt").session_id
    house.run()

    house.resolve(session, house.head(session).interventions[0], "reject")
    house.run()

    result = next(
        e for e in model.requests[2].entries if isinstance(e, ToolEntry) and e.name == "delete_file"
    )
    assert not result.ok
    assert "rejected" in result.content.loaded
    assert house.files.read(TENANT, "a.txt") == b"alpha"


def test_the_offline_provider_summarises_a_storage() -> None:
    house = house_with_files(OfflineModel())
    session = house.start(
        "List all files in my storage, summarize each, and write the summary to summary.md"
    ).session_id

    house.run()

    head = house.head(session)
    assert (head.state, head.result and head.result.goal_met) == ("completed", True)
    assert b"a.txt" in house.files.read(TENANT, "summary.md")


def test_an_operator_follows_a_run_turn_by_turn_in_ids_and_counts() -> None:
    worked = says("", step(1, "completed", "read"))
    house = house_with_files(
        ScriptedModel([plans("read"), says("Reading.", READS[0]), worked, completes("Done.")])
    )
    house.start("Read the secret file")
    house.run()
    told = [{**turn} for turn in house.turns_told]
    assert [turn.pop("next") for turn in told] == ["think", "act", "think", "done"]
    assert [turn["turn"] for turn in told] == [1, 2, 3, 4]
    stops = {turn.pop("stop") for turn in told}
    assert stops <= {"end", "tools"}
    assert all(isinstance(count, int) for turn in told for count in turn.values())
