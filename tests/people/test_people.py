"""Sessions that wait, are paused, resumed, cancelled, and spoken to."""

import pytest

from acta.engine.errors import Conflict, InterventionNotFound, SessionNotFound, ValidationFailed
from acta.engine.log.commit import Decision
from acta.engine.log.conversation import ToolEntry, UserEntry
from acta.engine.log.head import Head
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step
from tests.stores import in_memory

DELETE = says("", call("delete_file", path="a.txt"))


def waiting_house(*turns: object, **settings: object) -> tuple[House, str]:
    """A session that waits for the approval of `delete_file`."""
    script = [plans("delete"), DELETE, *(turns or (says("", step(1, "completed", "ok")), completes("Done.")))]
    house = House(ScriptedModel(script), **settings)  # type: ignore[arg-type]
    house.files.write(TENANT, "a.txt", b"alpha")
    house.files.write(TENANT, "b.txt", b"beta")
    session = house.start("Delete a.txt").session_id
    house.run()
    return house, session


def files(house: House) -> list[str]:
    return [file.path for file in house.files.list(TENANT, "", 10).files]


def test_a_modified_call_runs_with_the_persons_input() -> None:
    house, session = waiting_house()
    house.resolve(session, house.head(session).interventions[0], "modify", path="b.txt")
    house.run()
    assert files(house) == ["a.txt"]


@pytest.mark.parametrize("bytes_written", [10, 9_000])
def test_the_end_of_a_write_says_where_it_wrote_whatever_the_size_and_whoever_chose(
    bytes_written: int,
) -> None:
    content = "x" * bytes_written
    write = says("", call("create_file", path="a.txt", content=content, replace=True))
    house = House(
        ScriptedModel([plans("write"), write, says("", step(1, "completed", "ok")), completes("Written.")])
    )
    house.files.write(TENANT, "a.txt", b"alpha")
    session = house.start("Write a.txt").session_id
    house.run()
    house.resolve(session, house.head(session).interventions[0], "modify", path="b.txt", content=content)
    house.run()
    (ended,) = [each.event.data for each in house.poll(session).events if each.event.type == "tool.finished"]
    assert (ended["ok"], ended["path"], files(house)) == (True, "b.txt", ["a.txt", "b.txt"])


def test_a_modified_input_is_checked_against_the_tools_schema() -> None:
    house, session = waiting_house()
    with pytest.raises(ValidationFailed):
        house.resolve(session, house.head(session).interventions[0], "modify", folder="b.txt")
    assert house.head(session).state == "waiting_for_user"


def test_a_second_decision_is_refused_and_names_the_recorded_one() -> None:
    house, session = waiting_house()
    one = house.head(session).interventions[0]
    house.resolve(session, one, "reject")
    with pytest.raises(Conflict, match="reject"):
        house.resolve(session, one, "approve")
    house.run()
    assert files(house) == ["a.txt", "b.txt"]


def test_an_unknown_option_is_refused() -> None:
    house, session = waiting_house()
    with pytest.raises(ValidationFailed):
        house.resolve(session, house.head(session).interventions[0], "shrug")


def test_an_expired_approval_is_recorded_as_expiry_and_rejects() -> None:
    house, session = waiting_house(approval_timeout_seconds=60, intervention_warn_seconds=20)
    one = house.head(session).interventions[0]
    house.clock.advance(41)
    house.time_out(session)
    assert house.head(session).interventions[0].warned
    house.clock.advance(30)
    house.time_out(session)
    house.run()
    recorded = house.index.intervention(TENANT, one.intervention_id)
    assert recorded is not None
    assert (recorded.state, recorded.resolution, recorded.resolved_by) == ("expired", "reject", None)
    assert files(house) == ["a.txt", "b.txt"]
    kinds = [seen.event.type for seen in house.poll(session).events]
    assert kinds.index("intervention.warned") < kinds.index("intervention.expired")


def test_a_decision_before_the_token_is_stored_is_not_lost() -> None:
    script = [plans("delete"), DELETE, says("", step(1, "completed", "ok")), completes("Done.")]
    house = House(ScriptedModel(script))
    house.files.write(TENANT, "a.txt", b"alpha")
    session = house.start("Delete a.txt").session_id

    def decide_first(decision: object) -> None:
        head = house.head(session)
        if getattr(decision, "next", "") == "ask" and head.interventions:
            house.resolve(session, head.interventions[0], "approve")

    house.run(decide_first)
    assert house.head(session).state == "completed"
    assert files(house) == []


def test_mixed_decisions_each_reach_their_own_call() -> None:
    batch = says("", call("delete_file", path="a.txt"), call("delete_file", path="b.txt"))
    house = House(
        ScriptedModel([plans("delete"), batch, says("", step(1, "completed", "ok")), completes("ok")])
    )
    house.files.write(TENANT, "a.txt", b"alpha")
    house.files.write(TENANT, "b.txt", b"beta")
    session = house.start("Delete both").session_id
    house.run()
    first, second = house.head(session).interventions

    house.resolve(session, second, "approve")
    house.run()
    assert files(house) == ["a.txt", "b.txt"], "nothing of the batch runs before all is decided"
    house.resolve(session, first, "reject")
    house.run()

    assert files(house) == ["a.txt"]
    placed, _ = house.history(session).messages(0, 50)
    results = [m.entry.ok for m in placed if isinstance(m.entry, ToolEntry) and m.entry.name == "delete_file"]
    assert results == [False, True]


def test_a_question_is_answered_by_a_message() -> None:
    asks = says("", call("update_plan", action="wait_for_user", reason="Which file?"))
    house = House(ScriptedModel([asks, plans("look"), says("", step(1, "skipped")), completes("ok")]))
    session = house.start("Do it").session_id
    house.run()
    assert house.head(session).interventions[0].context["question"] == "Which file?"

    house.say(session, "a.txt")
    house.run()

    assert house.head(session).state == "completed"
    placed, _ = house.history(session).messages(0, 50)
    assert [m.entry.content.text for m in placed if isinstance(m.entry, UserEntry)] == ["Do it", "a.txt"]


def test_a_message_during_a_turn_is_delivered_exactly_once_and_before_completion() -> None:
    house = House(
        ScriptedModel([plans("look"), completes("early"), says("", step(1, "skipped")), completes("late")])
    )
    session = house.start("Go").session_id
    said: list[Head] = []

    def interrupt(decision: object) -> None:
        if getattr(decision, "next", "") == "think" and not said:
            said.append(house.say(session, "One more thing"))

    house.run(interrupt)
    model = house.model
    assert isinstance(model, ScriptedModel)
    assert house.head(session).state == "completed"
    placed, _ = house.history(session).messages(0, 50)
    texts = [m.entry.content.text for m in placed if isinstance(m.entry, UserEntry)]
    assert texts == ["Go", "One more thing"]


def test_a_message_after_the_end_starts_a_new_run_with_the_conversation_kept() -> None:
    script = [
        plans("a"),
        says("", step(1, "skipped")),
        completes("one"),
        plans("b"),
        says("", step(1, "skipped")),
        completes("two"),
    ]
    house = House(ScriptedModel(script))  # fmt: skip
    session = house.start("First").session_id
    house.run()
    first = house.head(session)
    house.say(session, "Second")
    house.run()
    second = house.head(session)
    assert first.run is not None
    assert second.run is not None
    assert first.run.run_id != second.run.run_id
    assert second.result is not None
    assert second.result.answer == "two"
    model = house.model
    assert isinstance(model, ScriptedModel)
    assert model.requests[-1].entries[: len(model.requests[2].entries)] == model.requests[2].entries


def test_a_cancelled_session_runs_nothing_any_more() -> None:
    house, session = waiting_house()
    one = house.head(session).interventions[0]
    house.cancel(session)
    house.cancel(session)
    house.run()
    head = house.head(session)
    assert (head.state, head.interventions, files(house)) == ("cancelled", (), ["a.txt", "b.txt"])
    with pytest.raises(Conflict):
        house.resolve(session, one, "approve")


def test_a_cancel_before_a_call_with_an_effect_keeps_it_from_starting() -> None:
    house = House(ScriptedModel([plans("write"), says("", call("create_file", path="x", content="y"))]))
    session = house.start("Write").session_id
    house.run(lambda decision: house.cancel(session) if decision.next == "act" else None)
    assert files(house) == []
    assert house.head(session).state == "cancelled"


@pytest.mark.parametrize("at", ["plan", "think", "act", "ask"])
def test_a_pause_anywhere_holds_and_a_resume_goes_on(at: str) -> None:
    script = [plans("delete"), DELETE, says("", step(1, "completed", "ok")), completes("Done.")]
    house = House(ScriptedModel(script))
    house.files.write(TENANT, "a.txt", b"alpha")
    session = house.start("Delete a.txt").session_id
    paused: list[Head] = []

    def pause(decision: object) -> None:
        if getattr(decision, "next", "") == at and not paused:
            paused.append(house.pause(session))

    house.run(pause)
    for _ in range(5):
        head = house.head(session)
        if head.state != "waiting_for_user":
            break
        if any(one.type == "checkpoint_review" for one in head.interventions):
            assert head.state_reason == "paused"
            house.resume(session)
        else:
            house.resolve(session, head.interventions[0], "approve")
        house.run(pause)
    assert (house.head(session).state, files(house)) == ("completed", [])
    assert paused


def test_pausing_twice_is_one_pause() -> None:
    house, session = waiting_house()
    house.pause(session)
    assert [one.type for one in house.pause(session).interventions] == [
        "approval_required",
        "checkpoint_review",
    ]


def test_an_idle_session_begins_with_its_first_message() -> None:
    house = House(ScriptedModel([plans("a"), says("", step(1, "skipped")), completes("one")]))
    session = house.start(None).session_id
    assert house.head(session).state == "idle"
    with pytest.raises(Conflict):
        house.pause(session)
    house.say(session, "Go")
    house.run()
    assert house.head(session).state == "completed"


def test_another_tenants_session_does_not_exist() -> None:
    house, session = waiting_house()
    with pytest.raises(SessionNotFound):
        house.fresh_repository().newest("other", session)


def test_an_unknown_intervention_is_not_found() -> None:
    house, session = waiting_house()
    one = house.head(session).interventions[0].model_copy(update={"intervention_id": "int_nope"})
    with pytest.raises(InterventionNotFound):
        house.resolve(session, one, "approve")


def test_reviewing_every_turn_is_single_stepping() -> None:
    script = [
        plans("a"),
        says("", call("list_files")),
        says("", step(1, "completed", "ok")),
        completes("one"),
    ]
    house = House(ScriptedModel(script))
    session = house.start("Go", review_every=1).session_id
    seen = 0
    house.run()
    while (head := house.head(session)).state == "waiting_for_user":
        assert [one.type for one in head.interventions] == ["checkpoint_review"]
        seen += 1
        house.resolve(session, head.interventions[0], "continue")
        house.run()
    assert (head.state, seen) == ("completed", 2)


def test_a_session_deleted_while_its_model_thinks_does_not_come_back() -> None:
    house = House(ScriptedModel([plans("a"), says("Reading.", call("list_files"))]))
    session = house.start("Go").session_id

    def delete(decision: Decision) -> None:
        if decision.next == "think":
            model = house.model
            assert isinstance(model, ScriptedModel)
            model.meanwhile = lambda: house.delete(session)

    house.run(delete)
    with pytest.raises(SessionNotFound):
        house.head(session)
    with pytest.raises(SessionNotFound):
        house.poll(session)
    assert in_memory.texts(house.objects, TENANT, session) == []


def test_deleting_twice_is_not_found_the_second_time() -> None:
    house, session = waiting_house()
    house.delete(session)
    with pytest.raises(SessionNotFound):
        house.delete(session)


def test_a_modified_path_that_no_file_can_have_is_refused_before_it_is_decided() -> None:
    house, session = waiting_house()
    one = house.head(session).interventions[0]
    with pytest.raises(ValidationFailed):
        house.resolve(session, one, "modify", path="../b.txt")
    assert house.head(session).interventions == (one,)
