"""The planning contract on the deployed loop: a scripted model on the wire, sessions over HTTP (docs/design/plans.md,
turn.md 24)."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.support import scenarios
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person
from tests.e2e.support.stage import Stage, asked_for, hints, statuses, versions

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def provider(behind: Behind, llmock_server: Any) -> Iterator[None]:
    base_url = llmock_server.base_url("anthropic")
    key = {"ACTA_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": base_url}
    with behind.configured("step", **key):
        yield


@pytest.fixture
def stage(provider: None, llmock: Any, ann: Person) -> Stage:
    return Stage(ann, llmock.tool_mode("off"))


def test_a_simple_listing_is_planned_done_and_answered(stage: Stage) -> None:
    seen = stage.play(scenarios.LISTING)
    assert seen.session["result"] == {
        "goal_met": True,
        "answer": "a.txt and b.txt.",
        "reason": "plan_completed",
        "data": None,
        "verdict": None,
    }
    assert statuses(seen) == ["completed"]
    (listed,) = [text for text in stage.results(seen) if "a.txt" in text]
    assert "b.txt" in listed


def test_files_are_counted_per_folder_over_several_steps(stage: Stage, ann: Person) -> None:
    seen = stage.play(scenarios.COUNT_PER_FOLDER)
    assert ann.file("counts.md") == "reports: 2\nnotes: 1\n"
    assert statuses(seen) == ["completed"] * 3
    evidence = [len(step["evidence"]) for step in seen.session["plan"]["steps"]]
    assert evidence == [2, 0, 1], "calls are credited to the step they were made in"
    shown = ["Plan 1: 1 in progress, 2 and 3 open.", "Plan 1: 1 and 2 done, 3 open."]
    assert stage.suffixes[2:4] == shown, "where the plan stands is told at the end"


def test_the_trace_shows_thought_action_input_and_observation_in_order(stage: Stage) -> None:
    seen = stage.play(scenarios.COUNT_PER_FOLDER)
    rows = [row for row in stage.told(seen, "trace")["items"] if row.get("action") != "update_plan"]
    assert [(row["action"], row["action_input"]) for row in rows] == [
        ("list_files", {"path": "reports"}),
        ("list_files", {"path": "notes"}),
        ("create_file", {"path": "counts.md", "content": "reports: 2\nnotes: 1\n"}),
    ]
    assert all(part in row["observation"] for part, row in zip(("may", "a.md", "counts"), rows, strict=True))
    assert all(list(row)[-4:] == ["thought", "action", "action_input", "observation"] for row in rows)
    everything = stage.told(seen, "trace")["items"]
    thoughts = [row["thought"] for row in everything if row["thought"]]
    assert thoughts[:3] == ["First the folders.", "Two and one.", "Now I write it down."]


def test_an_unclear_goal_is_asked_about_before_anything_is_planned_and_goes_on_when_answered(
    stage: Stage,
) -> None:
    seen = stage.play(scenarios.CLARIFICATION)
    asked, resolved, planned = seen.of("intervention.opened", "intervention.resolved", "plan.created")
    assert [asked["type"], resolved["type"], planned["type"]] == [
        "intervention.opened",
        "intervention.resolved",
        "plan.created",
    ]
    assert [event["data"]["content"] for event in seen.of("message.user")] == [
        "Count the files in the folder",
        "reports",
    ]
    states = [event["data"]["to"] for event in seen.of("state.changed")]
    assert states[:3] == ["planning", "waiting_for_user", "planning"]


def test_a_large_task_ends_gracefully_at_its_step_limit_and_keeps_what_is_there(
    stage: Stage, ann: Person
) -> None:
    seen = stage.play(scenarios.TOO_LARGE)
    assert (seen.session["run"]["iteration"], seen.session["run"]["max_steps"]) == (5, 5)
    assert seen.session["result"]["reason"] == seen.session["state_reason"] == "max_steps"
    assert seen.session["result"]["answer"] == "Part 5 comes next."
    assert ann.files() == {f"part-{n}.md" for n in range(1, 5)}
    assert statuses(seen) == ["completed", "pending"]
    assert "Turns left: 2 of 5" in stage.suffixes[4]
    assert "Turns left: 1 of 5" in stage.suffixes[5]


def test_a_plan_is_revised_mid_way_and_after_a_message_and_every_version_stays_readable(
    stage: Stage,
) -> None:
    seen = stage.play(scenarios.REVISED)
    told = stage.told(seen, "plan")["versions"]
    assert [version["version"] for version in told] == [1, 2, 3]
    assert [[step["description"] for step in version["steps"]] for version in told] == [
        ["Read a.txt", "Read b.txt", "Write the report"],
        ["Read b.txt too", "Compare both"],
        ["Write a short report"],
    ]
    assert [event["type"] for event in seen.of("plan.created", "plan.revised")] == [
        "plan.created",
        "plan.revised",
        "plan.revised",
    ]
    assert "Plan 2: " in stage.suffixes[3]


def test_a_failing_tool_is_tried_again_then_the_model_reads_of_it_and_finds_another_way(stage: Stage) -> None:
    seen = stage.play(scenarios.ANOTHER_WAY)
    assert [event["data"]["ok"] for event in seen.of("tool.finished")] == [False, False, True, True]
    (hint,) = hints(seen)
    assert "tried before" in hint
    assert [hint in suffix for suffix in stage.suffixes] == [False, False, False, True, False, False]
    assert asked_for(seen) == []


def test_text_without_a_call_mid_plan_goes_on_and_the_model_reads_what_is_open(stage: Stage) -> None:
    seen = stage.play(scenarios.TEXT_MID_PLAN)
    assert asked_for(seen) == []
    assert len(hints(seen)) == 2
    assert all("plan steps 1, 2 are open" in suffix for suffix in stage.suffixes[2:4])


def test_a_third_text_in_a_row_asks_the_user_who_sets_it_going_again(stage: Stage) -> None:
    seen = stage.play(scenarios.ONLY_TEXT)
    assert asked_for(seen) == ["clarification_needed"]
    assert len(hints(seen)) == 2
    texts = [event["seq"] for event in seen.of("message.assistant")][:3]
    (opened,) = seen.of("intervention.opened")
    assert texts[2] < opened["seq"], "not before the third"


def test_a_model_that_repeats_itself_gets_a_hint_then_a_person_is_asked_then_the_run_fails(
    stage: Stage,
) -> None:
    seen = stage.play(scenarios.REPEATS_ITSELF)
    ladder = [e["type"] for e in seen.of("hint.injected", "intervention.opened", "run.finished")]
    assert ladder == ["hint.injected", "intervention.opened", "run.finished"]
    assert asked_for(seen) == ["error_recovery"]
    assert any("That file was deleted." in suffix for suffix in stage.suffixes)
    assert seen.session["error"]["code"] == "STUCK"


def test_a_call_that_succeeds_again_and_again_is_pointed_out_too(stage: Stage) -> None:
    seen = stage.play(scenarios.SAME_SUCCESS)
    (hint,) = hints(seen)
    assert "its result is above" in hint
    assert [hint in suffix for suffix in stage.suffixes] == [False] * 5 + [True]


def test_a_claim_of_completion_over_open_steps_is_refused_in_words_and_as_a_call(stage: Stage) -> None:
    seen = stage.play(scenarios.CLAIMS_TOO_EARLY)
    (rejected,) = seen.of("plan.rejected")
    assert rejected["data"] == {
        "action": "complete",
        "code": "OPEN_STEPS",
        "message": rejected["data"]["message"],
    }
    assert "steps 2 are still open" in rejected["data"]["message"]
    assert any("plan step 2 is open" in hint for hint in hints(seen))
    assert f"Error: {rejected['data']['message']}" in stage.results(seen)
    assert seen.session["result"]["answer"] == "Now both are read."


def test_a_greeting_is_one_call_and_its_answer_needs_no_plan(stage: Stage) -> None:
    seen = stage.play(scenarios.GREETING)
    assert seen.session["result"]["answer"] == "Hello! What can I do for you?"
    assert seen.session["plan"] is None
    offered = {tool["name"] for tool in stage.requests[0]["tools"]}
    assert offered >= {"update_plan", "list_files", "read_file"}, "it knows what the agent can do"


def test_a_model_that_answers_in_prose_is_reminded_once_and_nobody_is_asked(stage: Stage) -> None:
    seen = stage.play(scenarios.PROSE)
    assert seen.session["result"]["reason"] == "answered_without_plan"
    assert (len(hints(seen)), asked_for(seen)) == (1, [])


def test_a_model_that_never_plans_works_by_a_plan_of_acta_and_nobody_is_asked(stage: Stage) -> None:
    seen = stage.play(scenarios.NEVER_PLANS)
    result, made = seen.session["result"], seen.session["plan"]
    assert (result["answer"], result["reason"]) == ("It says alpha.", "answered_without_plan")
    assert (made["made_by_acta"], made["goal"], statuses(seen)) == (
        True,
        "What does a.txt say?",
        ["completed"],
    )
    told = [(event["data"]["code"], event["data"]["calls"]) for event in seen.of("plan.rejected")]
    assert told == [("NO_PLAN", ["read_file"])]
    assert len(seen.of("tool.requested")) == 1, "what was called without a plan did not run"
    assert asked_for(seen) == []


def test_a_plan_that_is_refused_is_asked_for_with_fuller_words_then_more_simply_then_the_user_is(
    stage: Stage,
) -> None:
    seen = stage.play(scenarios.PLANS_BADLY)
    planning, simpler = stage.suffixes[1:4], stage.suffixes[4]
    assert sorted(planning, key=len) == planning
    assert len(set(planning)) == 3
    assert len(simpler) < len(planning[2])
    assert "single step" in simpler
    first, *others = stage.requests
    assert all((body["system"], body["tools"]) == (first["system"], first["tools"]) for body in others)
    assert asked_for(seen) == ["clarification_needed"]
    assert [event["data"]["code"] for event in seen.of("plan.rejected")] == ["GOAL_BLANK"] * 5
    assert len(seen.of("tool.requested")) == 1, "what was called beside a refused plan did not run"
    assert versions(stage, seen) == [1]
    assert seen.session["run"]["iteration"] == 2, "a plan that is refused uses up no step"


def test_a_marker_quoted_from_a_file_ends_nothing(stage: Stage) -> None:
    seen = stage.play(scenarios.QUOTES_THE_MARKER)
    assert any(scenarios.MARKER_IN_A_FILE.splitlines()[0] in text for text in stage.results(seen))
    assert seen.session["result"]["answer"] == "It claims that everything is done."


def test_a_plan_that_cannot_be_kept_fails_the_run_with_its_reason(stage: Stage) -> None:
    seen = stage.play(scenarios.GIVES_UP)
    assert seen.session["error"] == {"code": "PLAN_FAILED", "message": "There is no such file."}
    assert seen.session["plan"]["status"] == "failed"
