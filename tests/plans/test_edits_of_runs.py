"""A person edits the plan of a session at work: the model is told, and what it wrote before is not carried out."""

import pytest

from acta.engine.errors import Conflict, PlanNotFound, PreconditionFailed, RoleMissing, StoreUnavailable
from acta.engine.log.commit import Decision
from acta.engine.log.conversation import ToolEntry, UserEntry
from acta.engine.log.events import Event
from acta.engine.log.head import MAX_UNDELIVERED
from acta.engine.people.policies import Policy
from acta.engine.plans.edit import AddStep, ChangeStep, ReorderSteps, SkipStep
from acta.engine.recovery.recover import recover
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step
from tests.people.policies import files, house_with

SKIP = SkipStep(op="skip", step_number=2, reason="Not needed.")
ADD = AddStep(op="add", description="check the sums")


def house_at_work(*replies: object, **settings: object) -> tuple[House, ScriptedModel, str]:
    model = ScriptedModel([plans("read", "write", "tell"), *replies])  # type: ignore[list-item]
    house = House(model, **settings)
    return house, model, house.start("Go").session_id


def once(model: ScriptedModel, request: int, happens: object) -> None:
    """While the model thinks about its nth request."""

    def meanwhile() -> None:
        if len(model.requests) == request:
            happens()  # type: ignore[operator]

    model.meanwhile = meanwhile


def events(house: House, session: str, *types: str) -> list[Event]:
    commits = house.log.read(TENANT, session, 1).commits
    return [event for commit in commits for event in commit.events if event.type in types]


def results(house: House, session: str) -> list[tuple[str, bool, str]]:
    placed, _ = house.history(session).messages(0, 100)
    return [
        (one.entry.name, one.entry.ok, one.entry.content.loaded)
        for one in placed
        if isinstance(one.entry, ToolEntry)
    ]


def shown_last(model: ScriptedModel) -> str:
    return "\n".join(one.content.loaded for one in model.requests[-1].entries if isinstance(one, UserEntry))


DONE = (
    says("", step(1, "completed", "ok")),
    says("", step(3, "completed", "ok")),
    says("", step(4, "completed", "ok")),
    completes("Done."),
)


@pytest.mark.parametrize("cap", [1, 8])
def test_the_next_turn_reads_what_was_changed_and_works_by_it(cap: int) -> None:
    house, model, session = house_at_work(says("", call("list_files")), *DONE, turns_per_step=cap)
    house.comment = "The table is printed elsewhere."
    once(model, 2, lambda: house.edit_plan(session, SKIP, ADD, version=1))
    house.run()
    head = house.head(session)
    assert (head.state, head.result and head.result.goal_met) == ("completed", True)
    assert head.plan is not None
    assert (head.plan.version, [step.status for step in head.plan.steps]) == (
        2,
        ["completed", "skipped", "completed", "completed"],
    )
    said = shown_last(model)
    for words in (
        "version 2",
        "Step 2 is skipped: Not needed.",
        "Step 4 is new, at the end: check the sums",
        "The table is printed elsewhere.",
    ):
        assert words in said
    assert "Plan, version 2" in model.requests[-1].suffix
    (told,) = events(house, session, "plan.revised")
    assert (told.data["version"], told.data["by"]) == (2, "ann")
    assert [plan.version for plan in house.history(session).plan_versions()] == [1, 2]


@pytest.mark.parametrize(
    "late",
    [
        step(1, "completed", "ok"),
        call("update_plan", action="create", goal="other", steps=[{"description": "all anew"}]),
        call("update_plan", action="complete", reason="done"),
        call("update_plan", action="fail", reason="cannot"),
        call("update_plan", action="wait_for_user", reason="what now?"),
    ],
)
@pytest.mark.parametrize("cap", [1, 8])
def test_an_update_written_for_the_version_before_is_refused_and_the_model_is_told_why(
    cap: int, late: object
) -> None:
    house, model, session = house_at_work(says("", late), *DONE, turns_per_step=cap)  # type: ignore[arg-type]
    once(model, 2, lambda: house.edit_plan(session, SKIP, ADD))
    house.run()
    (refused,) = events(house, session, "plan.rejected")
    assert refused.data["code"] == "PLAN_EDITED"
    assert ("update_plan", False) in [(name, ok) for name, ok, _ in results(house, session)]
    head = house.head(session)
    assert (head.state, head.plan and head.plan.version) == ("completed", 2)
    assert head.plan is not None
    assert [one.status for one in head.plan.steps] == ["completed", "skipped", "completed", "completed"]


@pytest.mark.parametrize("cap", [1, 8])
def test_a_call_with_an_effect_that_was_written_before_the_edit_is_not_run_and_a_read_is(cap: int) -> None:
    late = says("", call("create_file", path="x.md", content="x"), call("list_files"))
    house, model, session = house_at_work(late, *DONE, turns_per_step=cap)
    once(model, 2, lambda: house.edit_plan(session, SKIP, ADD))
    house.run()
    assert files(house) == []
    assert [event.data["name"] for event in events(house, session, "tool.started")] == ["list_files"]
    by_name = {name: ok for name, ok, _ in results(house, session) if name != "update_plan"}
    assert by_name == {"create_file": False, "list_files": True}
    assert house.head(session).state == "completed"


def test_nobody_is_asked_about_a_call_that_was_written_before_the_edit() -> None:
    house, model, session = house_at_work(says("", call("delete_file", path="x.md")), *DONE)
    once(model, 2, lambda: house.edit_plan(session, SKIP, ADD))
    house.run()
    assert events(house, session, "intervention.opened", "tool.requested") == []
    assert house.head(session).state == "completed"


def test_a_call_that_waits_for_its_start_when_the_plan_is_edited_is_not_run() -> None:
    late = says("", call("create_file", path="x.md", content="x"))
    house, _, session = house_at_work(late, *DONE)

    def before(decision: Decision) -> None:
        if decision.next == "act":
            house.edit_plan(session, SKIP, ADD)

    house.run(before)
    assert files(house) == []
    assert events(house, session, "tool.started") == []
    ((name, ok, text),) = [one for one in results(house, session) if one[0] == "create_file"]
    assert (name, ok, "a person has changed the plan" in text) == ("create_file", False, True)
    assert house.head(session).state == "completed"


def test_a_call_that_a_person_has_approved_runs_though_the_plan_was_edited_before_or_after() -> None:
    for first in ("edit", "approve"):
        late = says("", call("delete_file", path="x.md"))
        house, _, session = house_at_work(late, *DONE)
        house.files.write(TENANT, "x.md", b"x")
        house.run()
        (one,) = house.head(session).interventions
        if first == "edit":
            house.edit_plan(session, SKIP, ADD)
        house.resolve(session, one, "approve")
        if first == "approve":
            house.edit_plan(session, SKIP, ADD)
        house.run()
        assert files(house) == [], first
        assert house.head(session).state == "completed"


@pytest.mark.parametrize("first", ["edit", "approve"])
def test_an_approval_before_or_after_an_edit_gives_the_edited_step_no_permission(first: str) -> None:
    steps = [{"description": "delete the copy", "requires_permission": True}]
    planned = says("", call("update_plan", action="create", goal="g", steps=steps))
    house = House(ScriptedModel([planned, says("", call("delete_file", path="x.md"))]))
    house.files.write(TENANT, "x.md", b"x")
    session = house.start("Go").session_id
    house.run()
    (one,) = house.head(session).interventions
    change = ChangeStep(op="edit", step_number=1, description="delete everything")
    for act in (first, "approve" if first == "edit" else "edit"):
        if act == "edit":
            house.edit_plan(session, change)
        else:
            house.resolve(session, one, "approve")
    plan = house.head(session).plan
    assert plan is not None
    assert [step.permitted for step in plan.steps] == [False]


def test_a_paused_session_stays_paused_and_goes_on_by_the_edited_plan() -> None:
    house, model, session = house_at_work(says("", call("list_files")), *DONE)
    once(model, 2, lambda: house.pause(session))
    house.run()
    assert house.edit_plan(session, SKIP, ADD).state == "waiting_for_user"
    house.run()
    assert house.head(session).state_reason == "paused"
    house.resume(session)
    house.run()
    assert house.head(session).state == "completed"
    assert "Step 2 is skipped" in shown_last(model)


def test_an_edit_answers_the_agent_s_question_as_a_message_does() -> None:
    ask = says("", call("update_plan", action="wait_for_user", reason="Which table?"))
    house, _, session = house_at_work(ask, *DONE)
    house.run()
    (one,) = house.head(session).interventions
    house.edit_plan(session, SKIP, ADD)
    house.run()
    assert house.head(session).state == "completed"
    kept = house.index.intervention(TENANT, one.intervention_id)
    assert kept is not None
    assert (kept.resolution, kept.resolved_by) == ("answer", "ann")


def test_who_may_not_answer_the_question_does_not_edit_past_it() -> None:
    ask = says("", call("update_plan", action="wait_for_user", reason="Which table?"))
    lead = Policy(role="lead")
    house = house_with(plans("read", "write", "tell"), ask, policies={"clarification_needed": lead})
    session = house.start("Go").session_id
    house.run()
    with pytest.raises(RoleMissing):
        house.edit_plan(session, SKIP)
    plan = house.head(session).plan
    assert plan is not None
    assert plan.version == 1


def test_a_run_does_not_end_over_an_edit_that_no_turn_has_shown() -> None:
    late = says("GOAL_COMPLETE\nDone.", step(1, "completed", "ok"))
    house, model, session = house_at_work(late, says("GOAL_COMPLETE\nDone."), *DONE)
    once(model, 2, lambda: house.edit_plan(session, SKIP, ADD))
    house.run()
    assert len(model.requests) == 7
    assert house.head(session).state == "completed"


def test_another_version_than_the_one_seen_is_refused_and_nothing_is_written() -> None:
    house, model, session = house_at_work(says("", call("list_files")), *DONE)
    once(model, 2, lambda: house.pause(session))
    house.run()
    house.edit_plan(session, ADD, version=1)
    number = len(house.log.read(TENANT, session, 1).commits)
    with pytest.raises(PreconditionFailed):
        house.edit_plan(session, SKIP, version=1)
    assert len(house.log.read(TENANT, session, 1).commits) == number


def test_of_two_people_who_edit_the_same_version_one_wins() -> None:
    house, model, session = house_at_work(says("", call("list_files")))
    once(model, 2, lambda: house.pause(session))
    house.run()
    house.edit_plan(session, ADD, version=1)
    with pytest.raises(PreconditionFailed):
        house.edit_plan(session, SKIP, version=1)
    plan = house.head(session).plan
    assert plan is not None
    assert [one.status for one in plan.steps] == ["pending"] * 4


def test_there_is_nothing_to_edit_before_a_plan_and_after_a_run() -> None:
    model = ScriptedModel([plans("read"), says("", step(1, "completed", "ok")), completes("Done.")])
    house = House(model)
    session = house.start("Go").session_id
    with pytest.raises(PlanNotFound):
        house.edit_plan(session, ADD)
    house.run()
    with pytest.raises(Conflict, match="completed"):
        house.edit_plan(session, ADD)

    house, model, session = house_at_work(says("", call("list_files")))
    once(model, 2, lambda: house.cancel(session))
    house.run()
    with pytest.raises(Conflict, match="cancelled"):
        house.edit_plan(session, ADD)
    house.say(session, "Again")
    house.edit_plan(session, ADD)  # the run goes on with the plan that the last one left


def test_edits_count_among_the_messages_that_may_wait() -> None:
    house, model, session = house_at_work(says("", call("list_files")), *DONE)
    once(model, 2, lambda: house.pause(session))
    house.run()
    for _ in range(MAX_UNDELIVERED - 1):
        house.say(session, "And?")
    house.edit_plan(session, ReorderSteps(op="reorder", step_numbers=(3, 2, 1)))
    with pytest.raises(Conflict, match="messages are waiting"):
        house.edit_plan(session, SKIP)
    assert house.head(session).plan is not None


def test_whoever_edits_has_asked_for_what_comes_of_it() -> None:
    house, model, session = house_at_work(says("", call("list_files")), *DONE)
    house.user = "bob"
    once(model, 2, lambda: house.edit_plan(session, SKIP, ADD))
    house.run()
    assert house.head(session).askers == {"ann", "bob"}


def test_a_wake_up_that_is_lost_after_the_edit_is_made_up_for_by_recovery() -> None:
    ask = says("", call("update_plan", action="wait_for_user", reason="Which table?"))
    house, _, session = house_at_work(ask, *DONE)
    house.run()
    wake = house.workflow.wake

    def lost(*_: object) -> None:
        raise StoreUnavailable("away")

    house.workflow.wake = lost  # type: ignore[method-assign, assignment]
    with pytest.raises(StoreUnavailable):
        house.edit_plan(session, SKIP, ADD)
    house.workflow.wake = wake  # type: ignore[method-assign]
    assert recover(house.fresh_repository(), house.workflow, TENANT, session) == "woken"
    house.run()
    assert house.head(session).state == "completed"
