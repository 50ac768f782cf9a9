"""The deployed loop with Anthropic's and OpenAI's official SDKs, against a server that nobody here wrote.

All of it over one wire in `make test`; `test_provider_wires.py` has a few turns over each of the others.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from llmock.scenarios import Reply, ToolCall, ToolFault

from tests.e2e.support.behind import Behind, as_text, entered
from tests.e2e.support.person import Person, Seen
from tests.e2e.support.thinking import calls, end, plan, step_done

KEY = "sk-not-to-be-seen-anywhere"
MODEL = "a-model-of-the-test"


@pytest.fixture(scope="module", params=["anthropic", pytest.param("openai", marks=pytest.mark.thorough)])
def provider(request: pytest.FixtureRequest, behind: Behind, llmock_server: Any) -> Iterator[str]:
    """The step function configured for it, key, base URL and model."""
    name = str(request.param)
    prefix = name.upper()
    variables = {
        "ACTA_PROVIDER": name,
        "ACTA_MODEL": MODEL,
        f"{prefix}_API_KEY": KEY,
        f"{prefix}_BASE_URL": llmock_server.base_url(name),
    }
    with behind.configured("step", **variables):
        yield name


@pytest.fixture
def model(provider: str, llmock: Any) -> Any:
    """Says what a test scripts, and nothing by itself."""
    return llmock.tool_mode("off")


def states_of(behind: Behind, seen: Seen) -> list[str]:
    (execution,) = behind.ended(seen.session["session_id"])
    return entered(behind.history(execution["executionArn"]))


def results(person: Person, seen: Seen) -> list[str]:
    messages = person.items(f"/v1/sessions/{seen.session['session_id']}/messages")
    return [message["content"] for message in messages if message["role"] == "tool"]


def test_a_plan_parallel_calls_and_an_end_make_a_completed_session(
    ann: Person, model: Any, behind: Behind
) -> None:
    for name in "abc":
        ann.put_file(f"{name}.txt", f"text {name}")
    reads = [("read_file", {"path": f"{name}.txt"}) for name in "abc"]
    model.add(
        plan("Read", "Write"),
        calls(*reads, text="Reading all three."),
        calls(step_done(1), ("create_file", {"path": "out.md", "content": "a, b and c"})),
        end("It is in out.md.", 2),
    )

    seen = ann.finished(ann.start("Read three and write one"))

    assert (seen.session["state"], seen.session["result"]["goal_met"]) == ("completed", True)
    assert seen.session["result"]["answer"] == "It is in out.md."
    assert ann.file("out.md") == "a, b and c"
    assert [step["status"] for step in seen.session["plan"]["steps"]] == ["completed", "completed"]
    told = " ".join(results(ann, seen))
    assert all(f"text {name}" in told for name in "abc")
    assert states_of(behind, seen) == [
        *("Route", "Plan", "Route", "Think", "Route"),
        *("Act", "Tool", "Tool", "Tool", "Think", "Route"),
        *("Act", "Tool", "Think", "Route", "Done"),
    ]
    steps = ann.items(f"/v1/sessions/{seen.session['session_id']}/steps")
    assert {step["name"] for step in steps if step["kind"] in ("plan", "llm")} == {MODEL}
    assert seen.session["usage"]["total_tokens"] > 0
    assert seen.session["usage"]["llm_calls"] == len(model.requests) == 4


def test_the_model_is_offered_every_tool_from_the_first_request_on(ann: Person, model: Any) -> None:
    model.add(plan(), end())
    ann.finished(ann.start("A goal of the user's own words"))
    planning, thinking = (record.body for record in model.requests)

    def offered(body: Any) -> set[str]:
        return {(tool.get("function") or tool)["name"] for tool in body["tools"]}

    assert planning["tools"] == thinking["tools"]
    assert offered(planning) >= {"update_plan", "list_files", "read_file", "create_file", "delete_file"}
    for body in (planning, thinking):
        assert body["model"] == MODEL
        assert "A goal of the user's own words" in json.dumps(body)
    model.assert_resilient()


def test_every_call_s_result_goes_back_to_the_model_in_one_piece(ann: Person, model: Any) -> None:
    ann.put_file("a.txt", "the content of a")
    model.add(plan(), calls(("read_file", {"path": "a.txt"}), ("read_file", {"path": "missing.txt"})), end())
    seen = ann.finished(ann.start("Read two"))
    assert seen.session["state"] == "completed"
    last = json.dumps(model.last_request.body)
    assert "the content of a" in last
    assert [event["data"]["ok"] for event in seen.of("tool.finished")].count(False) == 1


def test_a_rate_limit_with_retry_after_is_waited_for_in_the_engine_and_the_run_completes(
    ann: Person, model: Any, behind: Behind
) -> None:
    model.add(plan(), end())
    model.rate_limit(retry_after=1.0)

    seen = ann.finished(ann.start("A goal"))

    assert seen.session["state"] == "completed"
    (waited,) = seen.of("llm.retried")
    assert 1 <= waited["data"]["wait_seconds"] <= 2
    assert states_of(behind, seen)[:4] == ["Route", "Plan", "Route", "Wait"]
    assert len(model.requests) == 3


@pytest.mark.parametrize("status", [500, 502])
def test_a_provider_that_fails_for_a_moment_is_asked_again_by_the_engine(
    ann: Person, model: Any, behind: Behind, status: int
) -> None:
    model.add(plan(), end())
    model.fail(status)

    seen = ann.finished(ann.start("A goal"))

    assert seen.session["state"] == "completed"
    assert len(model.requests) == 3, "the SDK itself does not retry"
    steps = ann.items(f"/v1/sessions/{seen.session['session_id']}/steps")
    assert [(step["attempt"], step["error"]) for step in steps] == [
        (0, "PROVIDER_UNAVAILABLE"),
        (1, None),
        (0, None),
    ]


@pytest.mark.parametrize(
    ("status", "code"),
    [(401, "PROVIDER_KEY_REFUSED"), (402, "PROVIDER_QUOTA_EXCEEDED"), (400, "PROVIDER_REJECTED")],
)
def test_a_refused_key_quota_or_request_fails_the_session_at_once_with_a_code(
    ann: Person, model: Any, status: int, code: str
) -> None:
    model.fail(status, times=None, message=f"bad key {KEY}")

    seen = ann.finished(ann.start("A goal"))

    assert seen.session["state"] == "failed"
    assert seen.session["error"]["code"] == code
    assert KEY not in seen.session["error"]["message"]
    assert seen.session["result"] is None
    assert len(model.requests) == 1
    assert seen.events[-1]["data"] == {"state": "failed", "code": code}


def test_a_failed_session_can_be_written_to_and_starts_a_second_run(ann: Person, model: Any) -> None:
    model.fail(401)
    failed = ann.finished(ann.start("A goal"))
    session_id = failed.session["session_id"]
    model.add(plan(), end("Now it worked."))

    assert ann.post(f"/v1/sessions/{session_id}/messages", {"content": "Try again"}).status_code == 202

    seen = ann.finished(session_id, failed.cursor)
    assert seen.session["result"]["answer"] == "Now it worked."
    assert seen.session["error"] is None


@pytest.fixture
def planned(ann: Person, model: Any) -> str:
    """A session with a plan that asks something; an answer leads to the next reply of the script."""
    model.add(plan(), calls(("update_plan", {"action": "wait_for_user", "reason": "Shall I?"})))
    return str(ann.asked(ann.start("A goal")).session["session_id"])


def test_a_call_whose_arguments_are_not_json_is_not_run_and_the_model_reads_why(
    ann: Person, model: Any, planned: str
) -> None:
    model.add(
        calls(("create_file", {"path": "never.txt", "content": "x"})), ToolFault("malformed_arguments"), end()
    )
    ann.post(f"/v1/sessions/{planned}/messages", {"content": "Yes"})

    seen = ann.finished(planned)

    assert seen.session["state"] == "completed"
    assert ann.files() == set()
    assert seen.of("tool.started") == []
    assert any("Error" in text and "JSON" in text for text in results(ann, seen))


def test_a_call_cut_off_at_the_length_limit_is_not_run_and_the_model_reads_why(
    ann: Person, model: Any, planned: str
) -> None:
    half = ToolCall("create_file", {"path": "half.txt", "content": "ha"})
    model.add(Reply(tool_calls=(half,), finish_reason="length"), ToolFault("malformed_arguments"), end())
    ann.post(f"/v1/sessions/{planned}/messages", {"content": "Yes"})

    seen = ann.finished(planned)

    assert seen.session["state"] == "completed"
    assert ann.files() == set()
    assert seen.of("tool.started") == []
    assert any("cut off" in text for text in results(ann, seen))


def test_a_text_cut_off_at_the_length_limit_is_no_final_answer(ann: Person, model: Any, planned: str) -> None:
    model.add(
        Reply(text="GOAL_COMPLETE\nThe answer is fo", finish_reason="length"), end("The answer is forty.")
    )
    ann.post(f"/v1/sessions/{planned}/messages", {"content": "Yes"})
    assert ann.finished(planned).session["result"]["answer"] == "The answer is forty."


def test_a_tool_nobody_offered_is_not_run_and_the_model_reads_why(
    ann: Person, model: Any, planned: str
) -> None:
    model.add(calls(("format_disk", {})), end())
    ann.post(f"/v1/sessions/{planned}/messages", {"content": "Yes"})
    seen = ann.finished(planned)
    assert seen.of("tool.requested") == []
    assert any("no tool 'format_disk'" in text for text in results(ann, seen))


@pytest.mark.parametrize("kind", ["disconnect", "truncate", "corrupt"])
def test_an_answer_that_breaks_off_is_asked_for_again_and_never_half_run(
    ann: Person, model: Any, planned: str, kind: str
) -> None:
    early, half, whole = (
        ("create_file", {"path": f"{name}.txt", "content": "x" * 50}) for name in ("early", "half", "whole")
    )
    model.add(calls(early, half), calls(whole), end())
    getattr(model, kind)(after_chunks=14)  # the first call is whole by then, and the second begun
    ann.post(f"/v1/sessions/{planned}/messages", {"content": "Yes"})

    seen = ann.finished(planned)

    assert seen.session["state"] == "completed"
    assert ann.files() == {"whole.txt"}, "nothing of the answer that broke off was run"
    assert [event["data"]["name"] for event in seen.of("tool.started")] == ["create_file"]
    assert len(model.requests) == 5
    steps = ann.items(f"/v1/sessions/{planned}/steps")
    assert [(step["attempt"], step["error"]) for step in steps if step["kind"] == "llm"] == [
        (0, None),
        (0, "PROVIDER_STREAM_BROKEN"),
        (1, None),
        (0, None),
    ]


def test_a_refusal_of_the_model_ends_the_run_and_leaves_a_session_that_goes_on(
    ann: Person, model: Any
) -> None:
    model.add(Reply(text="I will not.", finish_reason="content_filter"))
    seen = ann.finished(ann.start("Poison of a goal"))
    error = seen.session["error"]
    assert (seen.session["state"], error["code"]) == ("failed", "MODEL_REFUSED")
    assert "is left out of the conversation from now on. Write to the session" in error["message"]

    model.add(plan(), end("It is done."))
    session = seen.session["session_id"]
    ann.post(f"/v1/sessions/{session}/messages", {"content": "Do something else"})
    seen = ann.finished(session)
    assert (seen.session["state"], seen.session["result"]["answer"]) == ("completed", "It is done.")
    for asked in model.requests[1:]:
        assert "Poison of a goal" not in json.dumps(asked.body)
        assert "Do something else" in json.dumps(asked.body)


def test_the_key_is_in_no_event_no_answer_no_log_line_and_no_history(
    ann: Person, model: Any, behind: Behind
) -> None:
    model.add(plan(), end())
    model.fail(500)
    seen = ann.finished(ann.start("A goal"))
    session = f"/v1/sessions/{seen.session['session_id']}"
    told = [
        ann.get(session + rest).text for rest in ("", "/events", "/messages", "/steps", "/trace", "/plan")
    ]
    (execution,) = behind.executions(seen.session["session_id"])
    history = as_text(behind.history(execution["executionArn"]))
    for text in (*told, *behind.log_lines(), history):
        assert KEY not in text
    assert model.requests
