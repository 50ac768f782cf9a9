"""`update_plan`, rule by rule (docs/design/plans.md 23). A refused update leaves the plan as it was: `apply` is
pure."""

from datetime import UTC, datetime
from typing import Any

import pytest

from acta_engine.errors import PlanRefused
from acta_engine.plans.plan import ExecutionPlan
from acta_engine.plans.update import AppliedUpdate, apply
from acta_engine.tools.builtin import builtins
from acta_engine.tools.registry import BuiltinRegistry

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
