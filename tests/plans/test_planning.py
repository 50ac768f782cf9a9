"""The planning contract over whole runs: what a model may not do with its plan, and what it is told
(docs/design/plans.md)."""

from typing import Any

import pytest

from acta.engine.agents.agent import AgentDefinition
from acta.engine.log.conversation import ToolEntry
from acta.engine.log.events import Event
from acta.engine.models.model import ModelRequest
from acta.engine.people.opening import MAX_SAID_CHARS
from acta.engine.plans.plan import ExecutionPlan
from acta.engine.turn.reply import PLAN_WAS_REFUSED
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step
from tests.runs.bad_plans import BAD_PLANS, BAD_UPDATES, BOUND
from tests.runs.planner import ONE, made, plan_of, run


def ending(house: House, session: str) -> tuple[bool, str | None, str]:
    result = house.head(session).result
    assert result is not None
    return result.goal_met, result.answer, result.reason


def rejected(house: House, session: str) -> list[Event]:
    return [one.event for one in house.poll(session).events if one.event.type == "plan.rejected"]


def answer_to_the_plan(request: ModelRequest) -> ToolEntry:
    return next(entry for entry in reversed(request.entries) if isinstance(entry, ToolEntry))


@pytest.mark.parametrize(("changed", "code", "words"), BAD_PLANS.values(), ids=BAD_PLANS)
def test_a_first_plan_that_breaks_a_rule_is_explained_and_made_again(
    changed: dict[str, Any], code: str, words: str
) -> None:
    house, model, session = run(made(**changed), plans("a"), says("", step(1, "skipped")), completes("Done."))

    (event,) = rejected(house, session)
    told = answer_to_the_plan(model.requests[1])
    assert (event.data["code"], told.ok) == (code, False)
    assert told.content.loaded == f"Error: {event.data['message']}"
    assert words in event.data["message"]
    assert len(str(event.data)) < BOUND
    assert [version.version for version in house.history(session).plan_versions()] == [1]
    assert house.head(session).state == "completed"


@pytest.mark.parametrize(
    ("raw", "code", "words"),
    [*(({"action": "create", "goal": "g", "steps": ONE} | bad[0], *bad[1:]) for bad in BAD_PLANS.values()),
     *BAD_UPDATES.values()],
    ids=[*BAD_PLANS, *BAD_UPDATES],
)  # fmt: skip
def test_a_refused_update_leaves_the_plan_that_is_stored_as_it_was(
    raw: dict[str, Any], code: str, words: str
) -> None:
    before: list[ExecutionPlan] = []
    update = says(
        "", call("update_plan", **{name: value for name, value in raw.items() if value is not None})
    )
    script = [plans("a", "b"), update, says("", step(1, "skipped"), step(2, "skipped")), completes("Done.")]
    house = House(ScriptedModel(script))
    session = house.start("Go").session_id

    def note(_: object) -> None:
        plan = house.head(session).plan
        before.extend([plan] if plan is not None else [])

    house.run(note)

    (event,) = rejected(house, session)
    assert event.data["code"] == code
    assert words in event.data["message"]
    assert len(str(event.data)) < BOUND
    assert before[0] == before[1], "before and after the turn with the refused update"
    assert house.head(session).state == "completed"


def test_an_update_that_is_no_object_is_refused_like_any_other() -> None:
    broken = says(
        "", call("update_plan")._replace(input=None, malformed="the input is a JSON array, not an object")
    )
    house, model, session = run(broken, plans("a"), says("", step(1, "skipped")), completes("Done."))
    (event,) = rejected(house, session)
    assert event.data["action"] is None
    assert "not an object" in answer_to_the_plan(model.requests[1]).content.loaded


def test_each_retry_says_more_then_one_asks_for_less_then_a_person_is_asked() -> None:
    bad = made(steps=ONE * 11)
    house, model, session = run(bad, bad, bad, bad, bad)
    suffixes = [request.suffix for request in model.requests]
    assert len(suffixes) == 5
    assert ["1 to 10 steps" in suffix for suffix in suffixes] == [False, False, True, True, False]
    assert ["open-invoices.md" in suffix for suffix in suffixes] == [False, False, False, True, False]
    offered = {tool.name for tool in model.requests[0].tools} - {"update_plan"}
    assert not any(name in suffix for suffix in suffixes for name in offered), "an example names no tool"
    assert "a single step" in suffixes[4]
    (asked,) = house.head(session).interventions
    assert (asked.type, asked.options) == ("clarification_needed", ("answer", "cancel"))
    assert len(rejected(house, session)) == 5
    refusal = rejected(house, session)[-1].data["message"]
    assert asked.context["cause"] == refusal
    assert asked.context["question"].startswith(
        "The agent tried 5 times to make a plan, and Acta could take none"
    )
    assert asked.context["question"].endswith(refusal)
    run_now = house.head(session).run
    assert run_now is not None
    assert run_now.iteration == 0, "a plan that is refused uses up no step"


def test_a_cause_of_any_length_is_shortened() -> None:
    bad = made(steps=[{"description": "x", "tool": "n" * 50_000}])
    house, _, session = run(*[bad] * 5)
    (asked,) = house.head(session).interventions
    assert 0 < len(asked.context["cause"]) <= MAX_SAID_CHARS


def test_an_answer_gives_planning_all_its_retries_again() -> None:
    bad = made(goal=" ")
    script = [*[bad] * 5, *[bad] * 4, plans("a"), says("", step(1, "skipped")), completes("Done.")]
    model = ScriptedModel(script)
    house = House(model)
    session = house.start("Go").session_id
    house.run()
    house.say(session, "Just do it")
    house.run()
    assert house.head(session).state == "completed"
    assert model.requests[5].suffix == model.requests[0].suffix


def test_a_plan_and_its_first_calls_are_one_reply_and_one_step() -> None:
    begins = says(
        "",
        call("create_file", path="a.txt", content="x"),
        call("update_plan", action="create", goal="g", steps=ONE),
    )
    house, model, session = run(begins, says("", step(1, "completed", "ok")), completes("Done."))

    assert [entry.path for entry in house.files.list(TENANT, "", 10).files] == ["a.txt"]
    types = [seen.event.type for seen in house.poll(session).events]
    assert types.index("plan.created") < types.index("tool.requested")
    head = house.head(session)
    assert head.run is not None
    assert (head.state, head.run.iteration, len(model.requests)) == ("completed", 3, 3)


def test_a_reply_of_every_kind_of_turn_is_asked_with_the_same_prefix() -> None:
    begins = says("", call("update_plan", action="create", goal="g", steps=ONE), call("list_files"))
    _, model, _ = run(made(goal=" "), begins, says("", step(1, "skipped")), completes("Done."))
    first, *others = model.requests
    assert "list_files" in [tool.name for tool in first.tools]
    for request in others:
        assert (request.system, request.tools) == (first.system, first.tools)
        assert request.entries[: len(first.entries)] == first.entries


def test_no_call_of_a_reply_runs_whose_plan_is_refused() -> None:
    bad = call("update_plan", action="create", goal="g", steps=[])
    tempted = says("", call("create_file", path="a.txt", content="x"), bad, call("list_files"))
    house, model, session = run(tempted, plans("a"), says("", step(1, "skipped")), completes("Done."))
    assert house.files.list(TENANT, "", 10).files == ()
    assert house.head(session).usage.tool_calls == 0
    results = [entry for entry in model.requests[1].entries if isinstance(entry, ToolEntry)]
    assert [entry.ok for entry in results] == [False] * 3
    assert [PLAN_WAS_REFUSED in entry.content.loaded for entry in results if entry.name != "update_plan"] == [
        True
    ] * 2


@pytest.mark.parametrize("permission", [False, True])
def test_beside_a_new_plan_that_is_refused_a_call_is_the_live_plans_unless_the_new_one_asked_for_permission(
    permission: bool,
) -> None:
    steps = [{"description": "Write it", "tool": "create_file", "requires_permission": permission}]
    bad = call("update_plan", action="create", goal=" ", steps=steps)
    tempted = says("", bad, call("create_file", path="a.txt", content="x"))
    house, model, _ = run(plans("a"), tempted, says("", step(1, "skipped")), completes("Done."))
    told = answer_to_the_plan(model.requests[2]).content.loaded
    written = [entry.path for entry in house.files.list(TENANT, "", 10).files]
    assert (PLAN_WAS_REFUSED in told, written) == ((True, []) if permission else (False, ["a.txt"]))


def test_a_call_beside_an_update_that_is_no_json_is_the_live_plans() -> None:
    torn = says(
        "",
        call("update_plan")._replace(input=None, malformed="cut off"),
        call("create_file", path="a.txt", content="x"),
    )
    house, _, _ = run(plans("a"), torn, says("", step(1, "skipped")), completes("Done."))
    assert [entry.path for entry in house.files.list(TENANT, "", 10).files] == ["a.txt"]


def test_a_reply_that_plans_does_and_completes_at_once_is_the_whole_run() -> None:
    at_once = says(
        "GOAL_COMPLETE\nFour.",
        call("update_plan", action="create", goal="Two and two", steps=ONE),
        step(1, "completed", "4"),
        call("update_plan", action="complete", reason="4"),
    )
    house, model, session = run(at_once)
    assert rejected(house, session) == []
    assert (*ending(house, session), len(model.requests)) == (True, "Four.", "plan_completed", 1)


def test_the_text_beside_complete_is_the_answer_without_a_reason_or_a_marker() -> None:
    last = call("update_plan", action="complete", steps=[{"step_number": 1, "step_result": "4"}])
    house, model, session = run(plans("Add"), says("Four.", last))
    assert rejected(house, session) == []
    assert (*ending(house, session), len(model.requests)) == (True, "Four.", "plan_completed", 2)


@pytest.mark.parametrize("text", ["", "<think>It is four.</think>"])
def test_complete_without_any_answer_is_refused_and_says_where_it_belongs(text: str) -> None:
    last = call("update_plan", action="complete", steps=[{"step_number": 1, "step_result": "4"}])
    house, model, session = run(plans("Add"), says(text, last), says("Four.", last))
    (refused,) = rejected(house, session)
    assert refused.data["code"] == "NO_REASON"
    assert "write it as your text" in answer_to_the_plan(model.requests[-1]).content.loaded
    result = house.head(session).result
    assert result is not None
    assert result.answer == "Four."


def test_a_goal_that_is_unclear_asks_instead_of_planning() -> None:
    house, _, session = run(says("", call("update_plan", action="wait_for_user", reason="Which folder?")))
    (asked,) = house.head(session).interventions
    assert (asked.type, asked.context["question"]) == ("clarification_needed", "Which folder?")
    assert house.head(session).plan is None


def test_a_tool_the_agent_does_not_have_is_unknown_to_its_plans() -> None:
    script = [
        made(steps=[{"description": "Write", "tool": "create_file"}]),
        made(steps=[{"description": "Read", "tool": "read_file"}]),
        says("", step(1, "skipped")),
        completes("Done."),
    ]
    house = House(ScriptedModel(script))
    reader = AgentDefinition(agent_id="reader", name="Reader", tools=("read_file", "list_files"), version=1)
    house.definitions.create_agent(TENANT, reader)
    session = house.start("Go", agent_id="reader").session_id
    house.run()
    (event,) = rejected(house, session)
    assert event.data["code"] == "UNKNOWN_TOOL"
    assert "create_file" not in event.data["message"].partition("does not have")[2]


def test_a_new_message_to_an_ended_run_may_revise_the_plan_it_left() -> None:
    script = [
        plans("a", "b"),
        says("", call("list_files")),
        plans("b, shorter"),
        says("", step(1, "skipped")),
        completes("Done."),
    ]
    house, _, session = run(*script, max_steps=1)
    left = plan_of(house, session)
    assert (house.head(session).state, left.is_live, len(left.open_steps)) == ("completed", True, 2)
    house.say(session, "Only b, please")
    house.run()
    assert [version.goal for version in house.history(session).plan_versions()] == ["the goal"] * 2
    assert plan_of(house, session).version == 2
    assert house.head(session).state == "completed"


def test_a_revision_starts_over_and_older_versions_keep_what_they_were() -> None:
    script = [
        plans("a", "b"),
        says("", step(1, "completed", "seen"), call("list_files")),
        plans("c"),
        says("", step(1, "skipped")),
        completes("Done."),
    ]
    house, _, session = run(*script)
    first, second = house.history(session).plan_versions()
    assert [one.description for one in first.steps] == ["a", "b"]
    assert [one.description for one in second.steps] == ["c"]
    assert plan_of(house, session).created_at == second.created_at
