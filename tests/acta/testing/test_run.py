"""`acta.testing.run`: what people write their agents' tests with."""

import json
from pathlib import Path

import pytest

from acta import Call, LaterAnswer, later, tool
from acta.engine.errors import Conflict
from acta.testing import (
    BadAgent,
    ScriptError,
    asks,
    completes,
    fails,
    judges,
    plans,
    run,
    says,
    step,
    tool_call,
    uses,
)

WRITES = [uses("create_file", path="a.txt", content="hello"), completes("Written.")]
DELETES = [uses("delete_file", path="a.txt"), completes("Deleted.")]


def test_a_session_shows_what_the_agent_did() -> None:
    session = run("Write a file", WRITES)

    assert (session.state, session.goal_met, session.answer) == ("completed", True, "Written.")
    assert session.files == {"a.txt": "hello"}
    (call,) = session.tool_calls
    assert (call.name, call.input, call.ok) == ("create_file", {"path": "a.txt", "content": "hello"}, True)
    assert call.result == "Created a.txt, 5 bytes."
    assert [each.kind for each in session.steps] == ["plan", "tool", "llm"]


def test_a_script_without_a_plan_gets_one_of_the_goal() -> None:
    session = run("Write a file", WRITES)
    assert session.plan is not None
    assert [each.description for each in session.plan.steps] == ["Write a file"]


def test_a_script_without_a_plan_gets_none_for_an_agent_that_plans_when_needed() -> None:
    session = run("Write a file", WRITES, agent={"planning": "when_needed"})
    assert (session.plan, session.goal_met, session.answer) == (None, True, "Written.")
    assert session.files == {"a.txt": "hello"}
    given_up = run("Write a file", [WRITES[0], fails("No room.")], agent={"planning": "when_needed"})
    assert (given_up.state, given_up.goal_met) == ("failed", False)


def test_a_script_may_make_the_plan_and_work_it_step_by_step() -> None:
    session = run(
        "Write a file",
        [
            plans("Write it", "Say so"),
            says("", step(1, "in_progress"), tool_call("create_file", path="a.txt", content="hello")),
            says("", step(1, "completed", "It is there."), step(2, "completed", "done")),
            completes("Written."),
        ],
    )
    assert session.plan is not None
    assert [(each.description, each.status, each.result) for each in session.plan.steps] == [
        ("Write it", "completed", "It is there."),
        ("Say so", "completed", "done"),
    ]


def test_a_text_from_outside_is_its_own_result_and_the_model_gets_it_marked() -> None:
    session = run(
        "Read it", [uses("read_file", path="a.txt"), completes("hello")], files={"a.txt": "hello\n"}
    )
    (call,) = session.tool_calls
    assert call.result == "hello\n"
    assert call.told is not None
    assert call.told.startswith("--- file: a.txt (6 bytes)")


def test_a_call_that_needs_an_approval_waits_for_it() -> None:
    session = run("Delete it", DELETES, files={"a.txt": "hello"})

    assert session.state == "waiting_for_user"
    (question,) = session.interventions
    assert question.type == "approval_required"
    assert question.tool_call is not None
    assert question.tool_call.input == {"path": "a.txt"}
    assert session.files == {"a.txt": "hello"}

    assert session.approve().state == "completed"
    assert session.files == {}


def test_a_rejected_call_does_not_run_and_the_model_is_told() -> None:
    session = run("Delete it", DELETES, files={"a.txt": "hello"}).reject("Not that one.")
    assert session.files == {"a.txt": "hello"}
    (call,) = session.tool_calls
    assert not call.ok
    assert call.told is not None
    assert "Not that one." in call.told


def test_a_changed_input_is_the_one_that_ran() -> None:
    files = {"a.txt": "hello", "b.txt": "there"}
    session = run("Delete it", DELETES, files=files).decide("modify", {"input": {"path": "b.txt"}})
    assert session.files == {"a.txt": "hello"}
    assert [call.input for call in session.tool_calls] == [{"path": "b.txt"}]


def test_somebody_else_decides_where_a_role_is_asked_for() -> None:
    agent = {"interventions": {"approval_required": {"role": "finance"}}}
    session = run("Delete it", DELETES, agent=agent, files={"a.txt": "hello"})
    with pytest.raises(Exception, match="finance"):
        session.approve()
    assert session.approve(by="bob", roles=["finance"]).state == "completed"


def test_a_question_is_answered_and_the_agent_goes_on() -> None:
    session = run("Write it", [asks("Which file?"), *WRITES])
    assert (session.state, session.interventions[0].type) == ("waiting_for_user", "clarification_needed")
    assert session.say("a.txt").files == {"a.txt": "hello"}


def test_an_agent_that_gives_up_has_not_met_its_goal() -> None:
    session = run("Write it", [plans("a"), fails("I cannot.")])
    assert not session.goal_met


JUDGED = {"judge": {"model": "second", "times": 1}}


def test_a_script_says_what_the_agents_judge_says() -> None:
    not_yet, met = judges(False, "The file is empty."), judges(True, "It is written.")
    session = run("Write a file", [*WRITES, not_yet, completes("Written again."), met], agent=JUDGED)
    assert (session.goal_met, session.answer) == (True, "Written again.")
    assert session.verdict is not None
    assert (session.verdict.met, session.verdict.reason) == (True, "It is written.")
    assert not run("Write a file", [*WRITES, not_yet, WRITES[1], not_yet], agent=JUDGED).goal_met
    assert run("Write a file", WRITES).verdict is None


def test_a_script_that_forgets_the_judge_or_has_one_too_many_is_told_so() -> None:
    with pytest.raises(
        ScriptError, match=r"a call of create_file, and here the agent's judge is asked.*judges"
    ):
        run("Write a file", [*WRITES, WRITES[0]], agent=JUDGED)
    with pytest.raises(ScriptError, match="Next would have been a verdict"):
        run("Write a file", [*WRITES, judges(True, "Fine.")])


def test_a_message_after_the_end_begins_another_run() -> None:
    session = run("Write a file", [*WRITES, *DELETES][:2])
    assert session.state == "completed"
    with pytest.raises(ScriptError, match="none left"):
        session.say("Delete it")


def test_an_agent_is_its_fields_or_a_file_of_them(tmp_path: Path) -> None:
    fields = {"name": "Reader", "tools": ["read_file"], "system_prompt": "You read."}
    file, applied = tmp_path / "reader.json", tmp_path / "reader.yaml"
    file.write_text(json.dumps(fields))
    applied.write_text("name: Reader\ntools: [read_file]\nsystem_prompt: |\n  You read.\n")
    for agent in (fields, file, str(file), applied):
        session = run("Read", [completes("Nothing to read.")], agent=agent)
        assert [tool.name for tool in session.requests[0].tools] == [
            "read_file",
            "update_plan",
            "read_result",
        ]
        assert session.requests[0].system.startswith("You read.")


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ({"tools": ["read_fil"]}, "There is no tool 'read_fil'. Did you mean read_file"),
        ({"deny": ["read_fil"]}, "There is no tool 'read_fil'. Did you mean read_file"),
        ({"deny": ["read_result"]}, "Every agent has read_result"),
        ({"tool": ["read_file"]}, "tool: There is no such field."),
        ("pyproject.toml", "pyproject.toml is no JSON"),
        (
            "nowhere.json",
            r"No such file or directory\. It was looked for in .*Path\(__file__\)\.parent / .nowhere",
        ),
    ],
)
def test_a_definition_that_cannot_be_used_says_why(agent: dict[str, object] | str, said: str) -> None:
    with pytest.raises(BadAgent, match=said):
        run("Read", [completes("Done.")], agent=agent)


def test_a_script_that_runs_out_says_after_what() -> None:
    with pytest.raises(ScriptError, match=r"reply 2\. It had just got the result of create_file\. Most"):
        run("Write a file", WRITES[:1])


AMOUNT = {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}


def test_an_answer_that_is_no_text_is_sent_as_json() -> None:
    assert run("Read", [completes({"amount": 21.5})], output_schema=AMOUNT).data == {"amount": 21.5}


def test_an_answer_that_does_not_fit_says_what_was_expected_of_whom() -> None:
    with pytest.raises(ScriptError, match=r"The model of default .* amount must be of type number") as failed:
        run("Read", [completes({"amount": "a secret"})], output_schema=AMOUNT)
    assert "a secret" not in str(failed.value)


def test_a_failing_assertion_about_a_session_shows_how_it_stands_and_no_words_of_others() -> None:
    lost = run("Read", [uses("read_file", path="secret.txt"), completes("A secret.")])
    assert repr(lost) == (
        "<the session of default: completed (plan_completed); goal met; failed calls: read_file>"
    )
    asks = run(
        "Delete", [uses("delete_file", path="secret.txt"), completes("Done.")], files={"secret.txt": "x"}
    )
    assert repr(asks).endswith("waiting_for_user (approval_required); waits for a person: delete_file>")
    wrong = run("Read", [completes({"amount": "x"})] * 4, output_schema=AMOUNT)
    assert "failed (answer_invalid); ANSWER_INVALID: " in repr(wrong)


def test_a_script_that_has_more_to_say_says_what() -> None:
    with pytest.raises(
        ScriptError, match=r"completed .*; goal met, and its script has 1 more .* a call of read_file"
    ):
        run("Write a file", [*WRITES, uses("read_file", path="a.txt")])


def test_a_script_with_a_tool_that_the_agent_does_not_have_says_which_it_has() -> None:
    with pytest.raises(ScriptError, match=r"uses create_file, which this agent does not have.*read_file"):
        run("Write a file", WRITES, agent={"tools": ["read_file"]})


def test_an_input_that_the_schema_refuses_is_told_to_the_model() -> None:
    session = run("Write", [uses("create_file", path="a.txt"), completes("I could not.")])
    (call,) = session.tool_calls
    assert not call.ok
    assert call.told is not None
    assert call.told.startswith("Error: ")


def test_nothing_to_decide_is_said() -> None:
    with pytest.raises(Conflict, match="completed"):
        run("Write a file", WRITES).approve()


def test_a_private_session_has_its_own_files() -> None:
    script = [uses("create_file", path="~/plan.md", content="mine"), completes("Written.")]
    session = run("Write a plan", script, private=True)
    assert session.tool_calls[0].ok
    assert not run("Write a plan", script).tool_calls[0].ok


def test_limits_are_the_requests_then_the_agents() -> None:
    session = run("Write", WRITES, agent={"limits": {"max_steps": 7}})
    assert session.acta.head(session.session_id).max_steps == 7
    session = run("Write", WRITES, agent={"limits": {"max_steps": 7}}, max_steps=5)
    assert session.acta.head(session.session_id).max_steps == 5


def test_two_runs_of_one_test_are_equal() -> None:
    first, second = (run("Write a file", WRITES) for _ in range(2))
    assert first.events == second.events


@tool(effect="once", high_stakes=False, later=86_400)
def build(ref: str, call: Call) -> LaterAnswer:
    """Builds a branch."""
    assert call.callback_url.startswith("https://acta.test/v1/callbacks/")
    return later(default="not built" if ref == "old" else None)


BUILDS = [uses("build", ref="main"), completes("Built.")]


def test_a_call_that_is_answered_later_waits_until_the_test_answers_it() -> None:
    session = run("Build", BUILDS, tools=[build])
    assert (session.state, session.state_reason) == ("waiting_for_tool", "waiting_for_callback")

    session.answer_call("build", {"state": "green"})
    assert session.tool_calls[0].data == {"state": "green"}
    assert session.goal_met
    with pytest.raises(Conflict, match="No call of build waits"):
        session.answer_call("build", {"state": "red"})


def test_a_call_that_is_answered_later_may_fail() -> None:
    session = run("Build", BUILDS, tools=[build]).answer_call("build", error="3 tests failed")
    (call,) = session.tool_calls
    assert not call.ok
    assert "3 tests failed" in (call.told or "")


@pytest.mark.parametrize(("ref", "ok"), [("main", False), ("old", True)])
def test_a_test_moves_time_to_the_deadline_of_a_call(ref: str, ok: bool) -> None:
    session = run("Build", [uses("build", ref=ref), completes("Built.")], tools=[build])
    session.wait_out()
    assert (session.state, session.tool_calls[0].ok) == ("completed", ok)
    with pytest.raises(Conflict, match="waits for no answer"):
        session.wait_out()


def test_of_two_calls_of_a_tool_the_older_one_is_answered_first() -> None:
    both = [says("", tool_call("build", ref="a"), tool_call("build", ref="b")), completes("Built.")]
    session = run("Build", both, tools=[build], agent={"planning": "when_needed"})
    session.answer_call("build", "first")
    assert session.state_reason == "waiting_for_callback"
    session.answer_call("build", "second")
    assert [call.result for call in session.tool_calls] == ["first", "second"]
    assert session.state == "completed"
