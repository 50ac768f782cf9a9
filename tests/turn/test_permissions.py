"""What a plan says of risk and permission, and what is asked for because of it (docs/design/plans.md 25)."""

from typing import Any

import pytest

from acta.engine.plans.edit import ChangeStep
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, says, step
from tests.runs.planner import made, plan_of, run


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


def replacing(*calls: Any) -> Any:
    return (made(), says("", *calls), says("", step(1, "completed", "ok")), completes("Done."))


def test_replacing_a_file_is_a_person_s_decision_like_deleting_it() -> None:
    overwrite = call("create_file", path="payroll.csv", content="", replace=True)
    house, _, session = run(*replacing(overwrite))
    (asked,) = house.head(session).interventions
    assert (asked.type, asked.default_action) == ("approval_required", "reject")
    assert asked.context["reason"] == "replaces_file"
    assert asked.tool_call is not None
    assert asked.tool_call.input == {"path": "payroll.csv", "content": "", "replace": True}


def test_what_a_person_rejects_leaves_the_file_and_what_they_approve_replaces_it() -> None:
    for option, left in (("reject", b"Ann,7"), ("approve", b"")):
        house, session = parked_over(b"Ann,7")
        house.resolve(session, house.head(session).interventions[0], option)
        house.run()
        assert house.head(session).state == "completed"
        assert house.files.read(TENANT, "payroll.csv") == left


def parked_over(data: bytes) -> tuple[House, str]:
    overwrite = call("create_file", path="payroll.csv", content="", replace=True)
    house = House(ScriptedModel(replacing(overwrite)))
    house.files.write(TENANT, "payroll.csv", data)
    session = house.start("Empty it").session_id
    house.run()
    return house, session


@pytest.mark.parametrize("more", [{}, {"replace": False}])
def test_a_file_that_is_there_stays_where_nobody_was_asked(more: dict[str, Any]) -> None:
    house = House(ScriptedModel(replacing(call("create_file", path="payroll.csv", content="", **more))))
    house.files.write(TENANT, "payroll.csv", b"Ann,7")
    session = house.start("Empty it").session_id
    house.run()
    assert house.head(session).state == "completed"
    assert house.files.read(TENANT, "payroll.csv") == b"Ann,7"


def test_a_permission_of_a_step_that_is_not_worked_on_yet_holds_nothing_up() -> None:
    steps = [{"description": "CommitDraft"}, {"description": "Publish", "requires_permission": True}]
    house, _, session = run(made(steps=steps), says("", WRITE), says("", step(1, "completed", "ok"), WRITE))
    assert [one.type for one in house.head(session).interventions] == ["approval_required"]
    assert house.head(session).usage.tool_calls == 1


def test_a_tool_that_a_later_step_names_asks_also_while_an_earlier_one_is_worked_on() -> None:
    later = {"description": "Write", "tool": "create_file", "requires_permission": True}
    house, _, session = run(
        made(steps=[{"description": "Look"}, later]), says("", step(1, "in_progress")), says("", WRITE)
    )
    assert [one.type for one in house.head(session).interventions] == ["approval_required"]
    assert house.head(session).usage.tool_calls == 0


def closes(action: str) -> Any:
    return call("update_plan", action=action, reason="It is not needed.")


ASKS = {"description": "Write", "tool": "create_file", "requires_permission": True}
NEW = call("update_plan", action="create", goal="g", steps=[{"description": "Write", "tool": "create_file"}])
CLOSINGS = [(closes("fail"),), (step(1, "skipped"), closes("complete"))]


@pytest.mark.parametrize("closing", CLOSINGS)
def test_who_closes_a_plan_changes_nothing_more_in_the_same_reply(closing: tuple[Any, ...]) -> None:
    house, _, session = run(made(steps=[ASKS]), says("", *closing, NEW))
    head, plan = house.head(session), plan_of(house, session)
    assert head.is_over
    assert (plan.version, plan.is_live) == (1, False)
    rejected = [one.event for one in house.poll(session).events if one.event.type == "plan.rejected"]
    assert [event.data["code"] for event in rejected] == ["PLAN_CLOSED"]


@pytest.mark.parametrize("closing", CLOSINGS)
@pytest.mark.parametrize("is_refused", [False, True])
def test_a_permission_is_owed_still_by_the_plan_after_one_that_the_model_closed(
    closing: tuple[Any, ...], is_refused: bool
) -> None:
    refused = [says("", WRITE)] if is_refused else []
    house = House(
        ScriptedModel([made(steps=[ASKS]), *refused, says("", *closing), says("", NEW), says("", WRITE)])
    )
    session = house.start("Go").session_id
    house.run()
    if is_refused:
        house.resolve(session, house.head(session).interventions[0], "reject")
        house.run()
    assert house.head(session).is_over
    house.say(session, "Go on")
    house.run()
    assert [one.type for one in house.head(session).interventions] == ["approval_required"]
    assert plan_of(house, session).owed == ("create_file",)


def test_a_plan_is_not_completed_over_a_message_so_no_plan_without_its_permissions_follows() -> None:
    closing = says("", step(1, "skipped"), closes("complete"))
    model = ScriptedModel([made(steps=[ASKS]), closing, says("", NEW), says("", WRITE)])
    house = House(model)
    session = house.start("Go").session_id
    model.meanwhile = lambda: len(model.requests) == 2 and house.say(session, "How is it going?")
    house.run()
    assert [one.type for one in house.head(session).interventions] == ["approval_required"]
    rejected = [one.event for one in house.poll(session).events if one.event.type == "plan.rejected"]
    assert [event.data["code"] for event in rejected] == ["NEW_MESSAGE"]


def test_a_permission_that_a_person_added_outlives_a_plan_that_was_completed_while_they_had_paused() -> None:
    writes = {"description": "Write", "tool": "create_file"}
    closing = says("", step(1, "skipped"), closes("complete"))
    model = ScriptedModel(
        [made(steps=[writes]), says("", call("list_files")), closing, says("", NEW), says("", WRITE)]
    )
    house = House(model)
    session = house.start("Go").session_id

    def meanwhile() -> None:
        if len(model.requests) == 2:
            house.edit_plan(session, ChangeStep(op="edit", step_number=1, requires_permission=True))
        if len(model.requests) == 3:
            house.pause(session)

    model.meanwhile = meanwhile
    house.run()
    assert house.head(session).ending_after("resume") is not None
    house.say(session, "And now?")
    house.resume(session)
    house.run()
    assert [one.type for one in house.head(session).interventions] == ["approval_required"]
