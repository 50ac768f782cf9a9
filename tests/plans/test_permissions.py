"""A permission a plan asks for ends when a person gives it, not when the model says so (docs/design/plans.md 25)."""

from datetime import UTC, datetime

import pytest

from acta.engine.plans.plan import (
    ANY_RISKY_TOOL,
    ExecutionPlan,
    PlanStep,
    StepStatus,
    needs_permission,
    permissions_approved,
    permissions_owed,
    with_permission,
    without_permissions,
)

AT = datetime(2026, 1, 1, tzinfo=UTC)


def plan(*steps: PlanStep, **fields: object) -> ExecutionPlan:
    return ExecutionPlan.model_validate(
        {"version": 1, "goal": "g", "steps": steps, "created_at": AT, "updated_at": AT, **fields}
    )


def step(number: int, tool: str | None = None, asks: bool = True, status: StepStatus = "pending") -> PlanStep:
    return PlanStep(step_number=number, description="d", tool=tool, requires_permission=asks, status=status)


@pytest.mark.parametrize("status", ["completed", "skipped", "failed"])
def test_a_step_closed_before_anybody_gave_its_permission_still_asks(status: StepStatus) -> None:
    closed = plan(step(1, "create_file", status=status), step(2, asks=False))
    assert needs_permission(closed, "create_file", risky=True)
    assert not needs_permission(closed, "remember", risky=True)
    assert not needs_permission(with_permission(closed, "create_file"), "create_file", risky=True)


def test_a_step_without_a_tool_asks_for_whatever_is_not_read_only() -> None:
    closed = plan(step(1, status="skipped"), step(2, asks=False))
    assert needs_permission(closed, "create_file", risky=True)
    assert not needs_permission(closed, "list_files", risky=False)


def test_each_call_of_a_step_being_worked_on_asks_also_after_the_first_was_let_run() -> None:
    working = plan(step(1, "create_file", status="in_progress"))
    assert needs_permission(with_permission(working, "create_file"), "create_file", risky=True)


def test_approving_a_call_that_only_reads_gives_no_permission_for_one_that_does_more() -> None:
    owing = plan(step(1, "list_files"), step(2, status="skipped"), owed=(ANY_RISKY_TOOL,))
    after = with_permission(owing, "list_files", risky=False)
    assert after.owed == (ANY_RISKY_TOOL,)
    assert [one.permitted for one in after.steps] == [True, False]
    assert needs_permission(after, "create_file", risky=True)


def test_a_permission_of_a_later_step_is_not_given_by_that_of_an_earlier_one() -> None:
    later = with_permission(plan(step(1, "create_file"), step(2, "create_file")), "create_file")
    assert [one.permitted for one in later.steps] == [True, False]


def test_after_an_edit_an_approval_is_none_of_a_step_that_has_not_begun() -> None:
    begun = plan(step(1, "create_file", status="in_progress"), step(2, "create_file"))
    after = with_permission(begun, "create_file", is_edited=True)
    assert [one.permitted for one in after.steps] == [True, False]
    pending = plan(step(1, "create_file", status="skipped"), step(2, "create_file"), owed=("create_file",))
    after = with_permission(pending, "create_file", is_edited=True)
    assert ([one.permitted for one in after.steps], after.owed) == ([True, False], ())


def test_a_new_version_owes_what_it_drops_and_not_what_it_asks_for_again() -> None:
    before = plan(step(1, "create_file"), step(2))
    assert permissions_owed(before, [step(1, asks=False)]) == ("", "create_file")
    assert permissions_owed(before, [step(1, "create_file"), step(2)]) == ()
    assert permissions_owed(with_permission(before, "create_file"), [step(1, asks=False)]) == ("",)


def test_what_is_owed_is_carried_on_until_it_is_given() -> None:
    second = plan(step(1, asks=False), owed=("create_file",))
    assert permissions_owed(second, [step(1, asks=False)]) == ("create_file",)
    assert needs_permission(second, "create_file", risky=True)
    assert with_permission(second, "create_file").owed == ()


@pytest.mark.parametrize("tool", ["create_file", ANY_RISKY_TOOL])
def test_a_permission_that_was_owed_and_given_is_owed_again_where_approvals_stay_behind(tool: str) -> None:
    given = with_permission(plan(step(1, asks=False), owed=(tool,), approved=()), "create_file")
    assert not needs_permission(given, "create_file", risky=True)
    assert needs_permission(without_permissions(given), "create_file", risky=True)


def test_a_given_permission_that_a_later_version_drops_is_owed_again_where_approvals_stay_behind() -> None:
    first = with_permission(plan(step(1, "create_file"), approved=()), "create_file")
    second = plan(step(1, asks=False), approved=permissions_approved(first))
    third = plan(step(1, asks=False), approved=permissions_approved(second))
    assert without_permissions(third).owed == ("create_file",)
    again = plan(step(1, asks=False), step(2, "create_file"), approved=permissions_approved(second))
    assert without_permissions(again).owed == (), "its own step asks"
    over = third.model_copy(update={"status": "completed"})
    assert permissions_approved(over) == ("create_file",)
    assert permissions_approved(None) == ()


def test_where_nobody_knows_what_was_approved_any_risky_tool_is_owed() -> None:
    stored = with_permission(plan(step(1, asks=False), owed=("create_file",)), "create_file")
    after = without_permissions(plan(step(1, asks=False), approved=permissions_approved(stored)))
    assert needs_permission(after, "create_file", risky=True)
    assert not needs_permission(after, "list_files", risky=False)


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_a_model_that_closes_its_plan_gets_rid_of_no_permission(status: str) -> None:
    closed = plan(step(1, "create_file", status="skipped"), status=status, owed=("send",))
    assert permissions_owed(closed, [step(1, asks=False)]) == ("create_file", "send")
    given = with_permission(with_permission(closed, "create_file"), "send")
    assert permissions_owed(given, [step(1, asks=False)]) == ()
    assert permissions_owed(None, [step(1)]) == ()


def test_a_tool_asks_as_soon_as_an_open_step_names_it_whichever_step_is_worked_on() -> None:
    looking = plan(step(1, asks=False, status="in_progress"), step(2, "create_file"), step(3, "create_file"))
    assert needs_permission(looking, "create_file", risky=True)
    assert not needs_permission(looking, "remember", risky=True)
    assert [one.permitted for one in with_permission(looking, "create_file").steps] == [False, True, False]
    after = with_permission(looking, "create_file", is_edited=True)
    assert [one.permitted for one in after.steps] == [False, False, False]
    owing = looking.model_copy(update={"owed": ("create_file",)})
    after = with_permission(owing, "create_file")
    assert ([one.permitted for one in after.steps], after.owed) == ([False, False, False], ())
