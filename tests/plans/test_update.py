"""`update_plan`, rule by rule (docs/design/plans.md 23). A refused update leaves the plan as it was: `apply` is
pure."""

from datetime import UTC, datetime
from typing import Any

import pytest

from acta.engine.errors import PlanRefused
from acta.engine.log.events import PlanStepChanged
from acta.engine.plans.plan import ExecutionPlan
from acta.engine.plans.update import AppliedUpdate, apply
from acta.engine.tools.builtin import builtins
from acta.engine.tools.registry import BuiltinRegistry

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
TOOLS = builtins()


def update(plan: ExecutionPlan | None, **raw: Any) -> AppliedUpdate:
    return apply(plan, raw, TOOLS, NOW, BuiltinRegistry().check)


def created(*descriptions: str) -> ExecutionPlan:
    steps = [{"description": text} for text in descriptions or ("read", "write")]
    plan = update(None, action="create", goal="the goal", steps=steps).plan
    assert plan is not None
    return plan


def refusal(plan: ExecutionPlan | None, **raw: Any) -> PlanRefused:
    with pytest.raises(PlanRefused) as refused:
        update(plan, **raw)
    return refused.value


def moved(plan: ExecutionPlan, number: int, status: str, result: str | None = None) -> ExecutionPlan:
    told = {"step_result": result} if result else {}
    applied = update(plan, action="update_step", step_number=number, step_status=status, **told)
    assert applied.plan is not None
    return applied.plan


def test_missing_step_numbers_are_filled_with_the_lowest_free_ones() -> None:
    steps = [{"description": "a", "step_number": 2}, {"description": "b"}, {"description": "c"}]
    plan = update(None, action="create", goal="g", steps=steps).plan
    assert plan is not None
    assert [step.step_number for step in plan.steps] == [2, 1, 3]


def test_a_plan_created_over_a_live_one_is_its_next_version() -> None:
    applied = update(created(), action="create", goal="other", steps=[{"description": "x"}])
    assert applied.plan is not None
    assert (applied.plan.version, applied.events[0].type) == (2, "plan.revised")


def test_the_registry_adds_a_permission_that_the_model_left_out() -> None:
    steps = [{"description": "delete", "tool": "delete_file", "requires_permission": False}]
    plan = update(None, action="create", goal="g", steps=steps).plan
    assert plan is not None
    assert plan.steps[0].requires_permission
    assert plan.risks == ("Step 1 uses delete_file (write, high stakes).",)


def test_a_permission_the_model_asks_for_is_kept() -> None:
    steps = [{"description": "look", "tool": "list_files", "requires_permission": True}]
    plan = update(None, action="create", goal="g", steps=steps).plan
    assert plan is not None
    assert plan.steps[0].requires_permission


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ({"action": "create", "goal": "  ", "steps": [{"description": "x"}]}, "GOAL_BLANK"),
        ({"action": "create", "goal": "g", "steps": []}, "STEP_COUNT"),
        ({"action": "create", "goal": "g"}, "STEP_COUNT"),
        ({"action": "create", "goal": "g", "steps": [{"description": "x"}] * 11}, "STEP_COUNT"),
        (
            {"action": "create", "goal": "g", "steps": [{"description": "x", "step_number": 1}] * 2},
            "DUPLICATE_STEP",
        ),
        (
            {"action": "create", "goal": "g", "steps": [{"description": "x", "tool": "read_fil"}]},
            "UNKNOWN_TOOL",
        ),
        ({"action": "create", "goal": "g", "steps": [{"description": ""}]}, "SCHEMA"),
        ({"action": "create", "goal": "g", "session_id": "ses_other"}, "SCHEMA"),
        ({"action": "dance"}, "SCHEMA"),
        ({"action": "update_step", "step_number": 1, "step_status": "completed"}, "NO_PLAN"),
        ({"action": "complete", "reason": "r"}, "NO_PLAN"),
        ({"action": "wait_for_user"}, "NO_REASON"),
    ],
)
def test_a_first_update_that_breaks_a_rule_is_refused(raw: dict[str, Any], code: str) -> None:
    assert refusal(None, **raw).code == code


def test_an_unknown_tool_is_refused_with_near_names() -> None:
    refused = refusal(None, action="create", goal="g", steps=[{"description": "x", "tool": "read_fil"}])
    assert "read_file" in str(refused)


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ({"action": "update_step", "step_number": 9, "step_status": "completed"}, "NO_SUCH_STEP"),
        ({"action": "update_step", "step_number": 1, "step_status": "completed"}, "NO_RESULT"),
        ({"action": "update_step", "step_number": 1}, "SCHEMA"),
        ({"action": "complete", "reason": "r"}, "OPEN_STEPS"),
        ({"action": "fail"}, "NO_REASON"),
    ],
)
def test_an_update_of_a_live_plan_that_breaks_a_rule_is_refused(raw: dict[str, Any], code: str) -> None:
    assert refusal(created(), **raw).code == code


def test_completing_names_the_steps_that_are_open() -> None:
    plan = moved(created("a", "b", "c"), 1, "completed", "ok")
    assert "2, 3" in str(refusal(plan, action="complete", reason="r"))


def test_a_step_may_go_from_pending_to_completed_with_a_result() -> None:
    step = moved(created(), 1, "completed", "found it").step(1)
    assert step is not None
    assert (step.status, step.result, step.completed_at) == ("completed", "found it", NOW)


def test_a_step_with_evidence_needs_no_result() -> None:
    plan = moved(created(), 1, "in_progress").with_evidence("call_1", NOW)
    step = moved(plan, 1, "completed").step(1)
    assert step is not None
    assert (step.status, step.evidence) == ("completed", ("call_1",))


def test_a_call_counts_for_the_first_open_step_where_none_was_begun() -> None:
    plan = created("a", "b", "c").with_evidence("call_1", NOW)
    assert [step.evidence for step in plan.steps] == [("call_1",), (), ()]
    plan = moved(moved(plan, 1, "completed"), 3, "in_progress").with_evidence("call_2", NOW)
    assert [step.evidence for step in plan.steps] == [("call_1",), (), ("call_2",)]


def test_a_call_from_before_a_person_s_edit_counts_for_no_step_that_the_person_could_change() -> None:
    plan = created("a", "b").with_evidence("call_1", NOW, is_edited=True)
    assert plan == created("a", "b")
    begun = moved(plan, 2, "in_progress").with_evidence("call_1", NOW, is_edited=True)
    assert [step.evidence for step in begun.steps] == [(), ("call_1",)]


def test_one_update_settles_several_steps() -> None:
    changes = [
        {"step_number": 1, "step_result": "found it"},
        {"step_number": 2, "step_status": "skipped"},
        {"step_number": 3, "step_status": "in_progress"},
        {"step_number": 4, "step_status": "pending"},
    ]
    applied = update(created("a", "b", "c", "d"), action="update_step", steps=changes)
    assert applied.plan is not None
    assert [(step.status, step.result) for step in applied.plan.steps] == [
        ("completed", "found it"), ("skipped", None), ("in_progress", None), ("pending", None),
    ]  # fmt: skip
    assert applied.events == tuple(
        PlanStepChanged(plan_step=number, before="pending", status=status)
        for number, status in ((1, "completed"), (2, "skipped"), (3, "in_progress"))
    )


@pytest.mark.parametrize(
    ("action", "status"),
    [("complete", "completed"), ("fail", "failed"), ("wait_for_user", "waiting_for_user")],
)
def test_the_last_results_come_with_the_end_of_a_plan_or_a_question(action: str, status: str) -> None:
    last = {"steps": [{"step_number": 1, "step_result": "a"}], "step_number": 2, "step_result": "b"}
    applied = update(created(), action=action, reason="r", **last)
    assert applied.plan is not None
    assert (applied.plan.status, [step.result for step in applied.plan.steps]) == (status, ["a", "b"])
    changed = ["plan.step"] * 2
    assert [event.type for event in applied.events] == changed + ["plan.closed"] * (action != "wait_for_user")


@pytest.mark.parametrize(
    ("second", "code", "words"),
    [
        ({"step_number": 2}, "NO_RESULT", "Step 2 has no result"),
        ({"step_number": 7, "step_result": "r"}, "NO_SUCH_STEP", "no step 7"),
        ({"step_number": 1, "step_result": "r"}, "DUPLICATE_STEP", "Step 1 stands in this update twice"),
        ({"step_number": 3, "step_status": "in_progress"}, "STEP_TRANSITION", "Step 3 is skipped"),
        ({"step_result": "r"}, "SCHEMA", "Each of the steps needs its step_number"),
        (
            {"step_number": 2, "step_result": "r", "description": "c"},
            "STEP_FIXED",
            "Step 2 has another description",
        ),
        (
            {"step_number": 2, "step_result": "r", "tool": "read_file"},
            "STEP_FIXED",
            "Step 2 has another tool",
        ),
        (
            {"step_number": 2, "step_result": "r", "requires_permission": True},
            "STEP_FIXED",
            "requires_permission",
        ),
        ({"step_number": 2, "step_result": "r", "session": "s"}, "SCHEMA", "steps.1.session"),
    ],
)
@pytest.mark.parametrize("action", ["update_step", "complete"])
def test_of_several_steps_all_are_settled_or_none(
    action: str, second: dict[str, Any], code: str, words: str
) -> None:
    plan = moved(created("a", "b", "c"), 3, "skipped")
    refused = refusal(plan, action=action, reason="r", steps=[{"step_number": 1, "step_result": "r"}, second])
    assert (refused.code, words in str(refused)) == (code, True)


def test_a_plan_that_still_has_an_open_step_after_the_last_results_is_not_completed() -> None:
    refused = refusal(
        created(), action="complete", reason="r", steps=[{"step_number": 2, "step_result": "b"}]
    )
    assert (refused.code, "steps 1 are" in str(refused)) == ("OPEN_STEPS", True)


def test_a_question_that_names_a_step_settles_none() -> None:
    waiting = update(created(), action="wait_for_user", reason="Which one?", step_number=1).plan
    assert waiting is not None
    assert [step.status for step in waiting.steps] == ["pending", "pending"]


def test_a_model_may_fill_in_every_field_of_a_step() -> None:
    blank = {"tool": "", "input": {}, "requires_permission": False, "step_result": ""}
    first = {"step_number": 1, "description": "a", "step_status": "in_progress", **blank}
    second = {"step_number": 2, "description": "b", "step_status": "pending", **blank}
    applied = update(None, action="create", goal="g", steps=[first, second], reason="")
    assert applied.plan is not None
    assert [step.status for step in applied.plan.steps] == ["in_progress", "pending"]
    assert [event.type for event in applied.events] == ["plan.created", "plan.step"]
    done = {**first, "step_status": "completed", "step_result": "r"}
    settled = update(applied.plan, action="update_step", steps=[done, {**second, "description": ""}]).plan
    assert settled is not None
    assert [(step.status, step.description) for step in settled.steps] == [
        ("completed", "a"),
        ("pending", "b"),
    ]


def test_a_step_that_a_new_plan_calls_completed_without_a_result_is_pending_and_the_model_is_told() -> None:
    done = {"description": "a", "step_status": "completed"}
    steps = [done, {**done, "step_result": " "}, {**done, "step_result": "found"}, {"description": "b"}]
    applied = update(None, action="create", goal="g", steps=steps)
    assert applied.plan is not None
    assert [step.status for step in applied.plan.steps] == ["pending", "pending", "completed", "pending"]
    assert "pending: 1, 2. " in applied.result
    assert "pending" not in update(None, action="create", goal="g", steps=steps[2:]).result


def test_a_step_may_be_its_description_alone_and_a_number_a_text() -> None:
    plan = update(None, action="create", goal="g", steps=["a", {"description": "b", "step_number": "5"}]).plan
    assert plan is not None
    assert [(step.step_number, step.description) for step in plan.steps] == [(1, "a"), (5, "b")]


@pytest.mark.parametrize("finished", ["completed", "skipped"])
def test_a_finished_step_does_not_reopen(finished: str) -> None:
    plan = moved(created(), 1, finished, "r")
    raw = {"action": "update_step", "step_number": 1, "step_status": "in_progress"}
    assert refusal(plan, **raw).code == "STEP_TRANSITION"


def test_the_refusal_names_the_way_that_is_open_from_the_steps_status() -> None:
    plan = moved(moved(created(), 1, "failed"), 2, "completed", "ok")
    failed = refusal(plan, action="update_step", step_number=1, step_status="completed", step_result="ok")
    completed = refusal(plan, action="update_step", step_number=2, step_status="in_progress")
    assert "make it in_progress first" in str(failed)
    assert "do not reopen" in str(completed)


def test_a_failed_step_may_be_taken_up_again() -> None:
    step = moved(moved(created(), 1, "failed"), 1, "in_progress").step(1)
    assert step is not None
    assert step.status == "in_progress"


def test_a_step_taken_up_again_keeps_the_result_that_was_given_for_it() -> None:
    failed = moved(created(), 1, "failed", "the file is locked")
    again = moved(failed, 1, "in_progress")
    assert [step.result for step in again.steps] == ["the file is locked", None]


def test_the_same_status_again_changes_nothing_and_is_no_event() -> None:
    plan = moved(created(), 1, "in_progress")
    applied = update(plan, action="update_step", step_number=1, step_status="in_progress")
    assert (applied.plan, applied.events) == (plan, ())


def test_a_plan_with_every_step_finished_can_be_completed() -> None:
    plan = moved(moved(created(), 1, "completed", "r"), 2, "skipped")
    applied = update(plan, action="complete", reason="all done")
    assert applied.plan is not None
    assert (applied.plan.status, applied.events[0].type) == ("completed", "plan.closed")


def test_a_closed_plan_takes_no_more_updates_but_a_new_one() -> None:
    closed = update(created(), action="fail", reason="cannot").plan
    assert refusal(closed, action="update_step", step_number=1, step_status="failed").code == "PLAN_CLOSED"
    again = update(closed, action="create", goal="g", steps=[{"description": "x"}])
    assert again.plan is not None
    assert (again.plan.version, again.events[0].type) == (2, "plan.created")


@pytest.mark.parametrize("end", ["fail", "complete"])
def test_a_question_leaves_a_closed_plan_closed(end: str) -> None:
    done = moved(moved(created(), 1, "completed", "r"), 2, "skipped")
    closed = update(done, action=end, reason="that is all").plan
    assert update(closed, action="wait_for_user", reason="And now?").plan == closed


def test_a_question_about_a_live_plan_makes_it_wait() -> None:
    waiting = update(created(), action="wait_for_user", reason="Which one?").plan
    assert waiting is not None
    assert waiting.status == "waiting_for_user"


def test_the_current_step_is_the_first_open_one() -> None:
    plan = moved(created("a", "b", "c"), 1, "completed", "r")
    assert plan.current_step_index == 1


def test_the_model_adds_risks_to_those_of_its_tools() -> None:
    steps = [{"description": "delete", "tool": "delete_file"}]
    plan = update(None, action="create", goal="g", steps=steps, risks=["The file may be shared."]).plan
    assert plan is not None
    assert plan.risks == ("Step 1 uses delete_file (write, high stakes).", "The file may be shared.")
