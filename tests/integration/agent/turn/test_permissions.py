"""What a plan says of risk and permission, and what is asked for because of it (design §4)."""

from typing import Any

import pytest

from tests.in_process.scripted import call, completes, says, step
from tests.integration.agent.planner import made, plan_of, run


def test_risks_and_permissions_come_from_the_registry_and_are_only_added_to() -> None:
    steps = [
        {"description": "Look", "tool": "list_files", "requires_permission": True},
        {"description": "Write", "tool": "create_file"},
        {"description": "Delete", "tool": "delete_file", "requires_permission": False},
    ]
    skips = says("", *(step(number, "skipped") for number in (1, 2, 3)))
    house, _, session = run(made(steps=steps), skips, completes("Done."))
    plan = plan_of(house, session)
    assert [one.requires_permission for one in plan.steps] == [True, False, True]
    assert plan.risks == ("Step 2 uses create_file (write).", "Step 3 uses delete_file (write, high stakes).")


WRITE = call("create_file", path="a.txt", content="x")


@pytest.mark.parametrize(
    ("planned", "calls", "asks"),
    [
        ({"requires_permission": True}, (step(1, "in_progress"), WRITE), True),
        ({"requires_permission": True}, (WRITE,), True),
        ({"requires_permission": True}, (call("list_files"),), False),
        ({"requires_permission": True, "tool": "create_file"}, (WRITE,), True),
        ({"requires_permission": True, "tool": "list_files"}, (call("list_files"),), True),
        ({"requires_permission": True, "tool": "list_files"}, (WRITE,), False),
        ({"requires_permission": False}, (WRITE,), False),
    ],
)
def test_a_permission_the_plan_asks_for_is_asked_for_before_the_call_runs(
    planned: dict[str, Any], calls: tuple[Any, ...], asks: bool
) -> None:
    script = [
        made(steps=[{"description": "Do it", **planned}, {"description": "Tell"}]),
        says("", *calls),
        says("", step(1, "skipped"), step(2, "skipped")),
        completes("Done."),
    ]
    house, model, session = run(*script)
    kinds = [one.type for one in house.head(session).interventions]
    assert kinds == (["approval_required"] if asks else [])
    assert len(model.requests) == (2 if asks else 4)


def test_a_permission_of_a_step_that_is_not_worked_on_yet_holds_nothing_up() -> None:
    steps = [{"description": "CommitDraft"}, {"description": "Publish", "requires_permission": True}]
    house, _, session = run(made(steps=steps), says("", WRITE), says("", step(1, "completed", "ok"), WRITE))
    assert [one.type for one in house.head(session).interventions] == ["approval_required"]
    assert house.head(session).usage.tool_calls == 1
