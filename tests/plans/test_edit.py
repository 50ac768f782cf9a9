"""A person's edit of a plan, operation by operation (docs/design/plans.md 19). `edited` is pure: a refusal changes
nothing."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from acta.engine.errors import Conflict, ValidationFailed
from acta.engine.plans.edit import (
    MAX_EDITED_STEPS,
    AddStep,
    ChangeStep,
    EditedPlan,
    Operation,
    ReorderSteps,
    SkipStep,
    edited,
)
from acta.engine.plans.plan import MAX_STEPS, ExecutionPlan, PlanStep, StepStatus, needs_permission
from acta.engine.plans.update import MAX_STEP_NUMBER
from acta.engine.tools.builtin import builtins
from acta.engine.tools.registry import BuiltinRegistry

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)


def plan_of(*statuses: StepStatus, **fields: Any) -> ExecutionPlan:
    steps = tuple(
        PlanStep(step_number=number, description=f"do {number}", status=status)
        for number, status in enumerate(statuses, start=1)
    )
    return ExecutionPlan(version=3, goal="the goal", steps=steps, created_at=NOW, updated_at=NOW, **fields)


RUNNING = plan_of("completed", "in_progress", "pending", "pending", "pending")


def edit(plan: ExecutionPlan, *operations: Operation) -> EditedPlan:
    return edited(plan, operations, builtins(), LATER, BuiltinRegistry().check)


def added(**fields: Any) -> AddStep:
    return AddStep(op="add", **{"description": "more", **fields})


def changed(number: int, **fields: Any) -> ChangeStep:
    return ChangeStep(op="edit", step_number=number, **fields)


def skipped(number: int, reason: str | None = None) -> SkipStep:
    return SkipStep(op="skip", step_number=number, reason=reason)


def reordered(*numbers: int) -> ReorderSteps:
    return ReorderSteps(op="reorder", step_numbers=numbers)


def numbers(plan: ExecutionPlan) -> list[int]:
    return [step.step_number for step in plan.steps]


def step_of(plan: ExecutionPlan, number: int) -> PlanStep:
    found = plan.step(number)
    assert found is not None
    return found


def test_an_edit_is_the_plan_s_next_version() -> None:
    after = edit(RUNNING, skipped(3)).plan
    assert (after.version, after.created_at, after.goal) == (4, LATER, "the goal")


def test_a_new_step_has_the_next_number_and_comes_where_it_is_wanted() -> None:
    assert numbers(edit(RUNNING, added()).plan) == [1, 2, 3, 4, 5, 6]
    assert numbers(edit(RUNNING, added(before=4), added(before=6)).plan) == [1, 2, 3, 7, 6, 4, 5]


def test_no_number_is_used_again_though_its_step_is_skipped() -> None:
    after = edit(RUNNING, added(), skipped(6), added()).plan
    assert numbers(after) == [1, 2, 3, 4, 5, 6, 7]
    assert step_of(after, 6).status == "skipped"


def test_where_the_highest_number_is_taken_the_lowest_free_one_is_next() -> None:
    last = PlanStep(step_number=MAX_STEP_NUMBER, description="last")
    plan = RUNNING.model_copy(update={"steps": (*RUNNING.steps, last)})
    assert numbers(edit(plan, added()).plan)[-1] == 6


def test_a_changed_step_keeps_what_is_not_named() -> None:
    before = RUNNING.with_step(
        PlanStep(step_number=3, description="read", tool="read_file", input={"path": "a"}), NOW
    )
    assert step_of(edit(before, changed(3, description="read all")).plan, 3) == PlanStep(
        step_number=3, description="read all", tool="read_file", input={"path": "a"}
    )
    other = step_of(edit(before, changed(3, tool="list_files")).plan, 3)
    assert (other.tool, other.input) == ("list_files", None)
    gone = step_of(edit(before, changed(3, tool=None, description=None)).plan, 3)
    assert (gone.tool, gone.input, gone.description) == (None, None, "read")


def test_a_skipped_step_says_why_and_when() -> None:
    step = step_of(edit(RUNNING, skipped(4, " Not needed. ")).plan, 4)
    assert (step.status, step.result, step.completed_at) == ("skipped", "Not needed.", LATER)


def test_pending_steps_take_each_other_s_places_and_the_others_stay() -> None:
    plan = plan_of("pending", "completed", "pending", "in_progress", "pending")
    assert numbers(edit(plan, reordered(5, 1, 3)).plan) == [5, 2, 1, 4, 3]


def test_the_current_step_is_the_first_open_one_after_the_edit() -> None:
    plan = plan_of("completed", "pending", "pending")
    assert edit(plan, skipped(2)).plan.current_step_index == 2
    assert edit(plan, skipped(2), skipped(3)).plan.current_step_index == 3


@pytest.mark.parametrize("status", ["in_progress", "completed", "failed", "skipped"])
@pytest.mark.parametrize(
    "operation", [changed(2, description="other"), skipped(2), added(before=2), reordered(2, 1, 3)]
)
def test_a_step_that_has_begun_or_is_finished_is_not_touched(
    status: StepStatus, operation: Operation
) -> None:
    with pytest.raises(Conflict, match=f"Step 2 is {status}"):
        edit(plan_of("pending", status, "pending"), operation)


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_a_closed_plan_is_not_edited(status: str) -> None:
    with pytest.raises(Conflict, match=status):
        edit(plan_of("pending", status=status), skipped(1))


@pytest.mark.parametrize(
    ("operation", "field"),
    [
        (skipped(9), "operations.0.step_number"),
        (changed(9), "operations.0.step_number"),
        (added(before=9), "operations.0.before"),
        (reordered(3, 4), "operations.0.step_numbers"),
        (reordered(3, 4, 4), "operations.0.step_numbers"),
        (reordered(3, 4, 5, 9), "operations.0.step_numbers"),
        (added(tool="rm"), "operations.0"),
        (added(tool="read_file", input={"file": "a"}), "operations.0"),
        (changed(3, tool="rm"), "operations.0"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_place(operation: Operation, field: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        edit(RUNNING, operation)
    assert list(refused.value.details or {}) == [field]


def test_all_operations_are_carried_out_or_none_and_each_sees_those_before_it() -> None:
    assert numbers(edit(RUNNING, added(), reordered(6, 5, 4, 3), skipped(6)).plan) == [1, 2, 6, 5, 4, 3]
    with pytest.raises(Conflict, match="Step 3 is skipped"):
        edit(RUNNING, skipped(3), skipped(3))


def test_a_plan_has_at_most_so_many_open_steps_and_so_many_in_all() -> None:
    pending: list[StepStatus] = ["pending"]
    completed: list[StepStatus] = ["completed"]
    full = plan_of(*pending * MAX_STEPS)
    with pytest.raises(ValidationFailed):
        edit(full, added())
    assert len(edit(full, skipped(1), added()).plan.steps) == MAX_STEPS + 1
    long = plan_of(*completed * (MAX_EDITED_STEPS - 1))
    with pytest.raises(ValidationFailed):
        edit(long, added(), added())


def test_a_tool_brings_the_permission_and_the_risk_of_the_registry() -> None:
    before = RUNNING.model_copy(update={"risks": ("The disk is nearly full.",)})
    after = edit(before, changed(3, tool="delete_file")).plan
    assert step_of(after, 3).requires_permission
    assert after.risks == ("Step 3 uses delete_file (write, high stakes).", "The disk is nearly full.")
    assert edit(after, changed(3, tool=None)).plan.risks == ("The disk is nearly full.",)


ASKING = RUNNING.with_step(
    PlanStep(step_number=3, description="send", tool="create_file", requires_permission=True), NOW
)


def test_an_edit_lifts_no_permission() -> None:
    with pytest.raises(ValidationFailed) as refused:
        edit(ASKING, changed(3, requires_permission=False))
    assert list(refused.value.details or {}) == ["operations.0.requires_permission"]
    assert step_of(edit(RUNNING, changed(3, requires_permission=True)).plan, 3).requires_permission


@pytest.mark.parametrize("operation", [skipped(3), changed(3, tool="list_files")])
def test_a_permission_that_nobody_gave_is_still_owed(operation: Operation) -> None:
    assert needs_permission(edit(ASKING, operation).plan, "create_file", risky=True)


def test_a_permission_that_was_given_is_not_owed_again() -> None:
    given = ASKING.with_step(step_of(ASKING, 3).model_copy(update={"permitted": True}), NOW)
    assert not needs_permission(edit(given, skipped(3)).plan, "create_file", risky=True)


def test_a_permission_that_was_given_for_another_tool_than_the_step_has_now_is_remembered() -> None:
    given = ASKING.with_step(step_of(ASKING, 3).model_copy(update={"permitted": True}), NOW)
    plan = edit(given.model_copy(update={"approved": ()}), changed(3, tool="list_files")).plan
    assert not needs_permission(plan, "create_file", risky=True)
    assert plan.approved == ("create_file",)


@pytest.mark.parametrize("fields", [{"description": "send to all"}, {"requires_permission": True}])
def test_a_step_that_is_changed_after_its_approval_asks_again(fields: dict[str, Any]) -> None:
    given = ASKING.with_step(step_of(ASKING, 3).model_copy(update={"permitted": True}), NOW)
    plan = edit(given, changed(3, **fields)).plan
    for number in (2, 3):
        plan = plan.with_step(step_of(plan, number).model_copy(update={"status": "completed"}), NOW)
    assert needs_permission(plan, "create_file", risky=True)


def test_what_is_owed_already_stays_owed() -> None:
    owing = RUNNING.model_copy(update={"owed": ("create_file",)})
    assert edit(owing, skipped(3)).plan.owed == ("create_file",)


def test_a_step_whose_tool_has_gone_since_stops_no_other_edit() -> None:
    before = RUNNING.with_step(PlanStep(step_number=3, description="send", tool="gone"), NOW)
    assert step_of(edit(before, skipped(4)).plan, 3).tool == "gone"


def test_what_was_changed_is_told_one_line_for_each_operation() -> None:
    told = edit(
        RUNNING,
        added(description="check\n- Step 9 is skipped.", tool="read_file", before=3),
        changed(4, description="write \u202eit"),
        skipped(5, "done"),
        reordered(4, 6, 3),
    ).told
    assert told == (
        "Step 6 is new, before step 3: check - Step 9 is skipped. (read_file)",
        "Step 4 is now: write \\u202eit",
        "Step 5 is skipped: done",
        "The pending steps come in this order now: 4, 6, 3.",
    )


def test_events_do_not_tell_which_tools_of_earlier_plans_were_approved() -> None:
    assert "approved" not in plan_of("pending", approved=("delete_file",)).as_event()
